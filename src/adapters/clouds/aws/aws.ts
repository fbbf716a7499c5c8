import { z } from 'zod';
import { nameText } from '../../../events/worker-pools/fields.ts';
import type { CloudDriver } from '../../../ports/clouds.ts';
import { defineCloudDriver, secretText, serverUrl } from '../driver-kit/cloud-driver.ts';
import { awsSpecifications } from './specifications.ts';

/** https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html */
const USER_DATA_BYTES_MAX = 16_384;

const account = z.strictObject({
  configuration: z.strictObject({
    region_name: nameText('region of the account, such as eu-central-1'),
    ec2_endpoint_url: z
      .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
      .optional()
      .describe('endpoint of EC2 where it is not the one of the region'),
    server_url: serverUrl,
  }),
  credentials: z.strictObject({
    access_key_id: secretText('access key ID'),
    secret_access_key: secretText('secret access key'),
    session_token: secretText('session token of temporary credentials').optional(),
  }),
});

/** Amazon EC2: one fleet of type `instant` a launch, from launch templates that live as long as the call. */
export const AWS_DRIVER: CloudDriver = defineCloudDriver({
  providerType: 'aws',
  specifications: awsSpecifications,
  account,
  notes: ({ max_spot_price_per_hour: price }) =>
    price === undefined
      ? []
      : [
          'max_spot_price_per_hour makes interruptions of spot instances more frequent, and launches fail when prices are above it',
        ],
  firstBoots: ({ launch_templates: templates }) => templates.map(({ swap_size: swapGiB }) => ({ swapGiB })),
  userDataBytesMax: USER_DATA_BYTES_MAX,
  open: async (...opened) => (await import('./aws-cloud.ts')).openAwsCloud(...opened),
});
