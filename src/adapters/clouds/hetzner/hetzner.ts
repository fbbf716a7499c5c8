import { z } from 'zod';
import type { CloudDriver } from '../../../ports/clouds.ts';
import { defineCloudDriver, secretText, serverUrl } from '../driver-kit/cloud-driver.ts';
import { hetznerSpecifications } from './specifications.ts';

/** https://docs.hetzner.cloud, `user_data` of a new server. */
const USER_DATA_BYTES_MAX = 32_768;

const account = z.strictObject({
  configuration: z.strictObject({
    endpoint: z
      .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
      .optional()
      .describe('address of the API; default: https://api.hetzner.cloud/v1'),
    server_url: serverUrl,
  }),
  credentials: z.strictObject({ api_token: secretText('API token of the project, with read and write permission') }),
});

/** Hetzner Cloud: one server a launch, whose name is the key by which it is found again. */
export const HETZNER_DRIVER: CloudDriver = defineCloudDriver({
  providerType: 'hetzner',
  specifications: hetznerSpecifications,
  account,
  notes: ({ enable_ipv4, enable_ipv6, networks = [] }) =>
    enable_ipv4 || enable_ipv6 || networks.length > 0
      ? []
      : [
          'enable_ipv4 and enable_ipv6 are false and there are no networks: the provider creates no server without an address',
        ],
  firstBoots: () => [{}],
  userDataBytesMax: USER_DATA_BYTES_MAX,
  open: async (...opened) => (await import('./hetzner-cloud.ts')).openHetznerCloud(...opened),
});
