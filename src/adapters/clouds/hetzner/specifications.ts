import { z } from 'zod';
import { distroRelease, nameText } from '../../../events/worker-pools/fields.ts';
import { across } from '../../../events/worker-pools/document-checks.ts';

/** What Hetzner Cloud takes as a label: an optional DNS prefix, then up to 63 characters. */
const LABEL_NAME = '^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$';
const LABEL_VALUE = '^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$';

const labels = z
  .record(z.string(), z.string())
  .check(
    across((value, report) => {
      for (const [name, text] of Object.entries(value)) {
        if (!new RegExp(LABEL_NAME).test(name))
          report(
            [name],
            'must have a name of letters, digits, dots, dashes and underscores, at most 63, with an optional DNS prefix/',
          );
        else if (name.startsWith('edgeward/'))
          report([name], 'must not start with edgeward/, by which the service finds its own servers');
        if (typeof text === 'string' && !new RegExp(LABEL_VALUE).test(text))
          report(
            [name],
            'must have a value that is empty or letters, digits, dots, dashes and underscores, at most 63, with a letter or digit at both ends',
          );
      }
    }),
  )
  .meta({
    description: 'label name to value, added to spawned instances',
    propertyNames: { pattern: LABEL_NAME, not: { pattern: '^edgeward/' } },
    additionalProperties: { type: 'string', pattern: LABEL_VALUE },
  });

export const hetznerSpecifications = z
  .strictObject({
    provider_type: z.literal('hetzner').describe('selects this format'),
    server_type: nameText('name of the server type'),
    image_name: nameText('image identifier; an image with the worker software pre-installed speeds up startup'),
    ssh_keys: z.array(nameText('SSH key name')).optional().describe('SSH key names for admin access'),
    networks: z.array(nameText('private network name')).optional().describe('private network names to attach'),
    location: nameText('location code name').optional(),
    labels: labels.optional(),
    enable_ipv4: z.boolean().default(true).describe('assigns a public IPv4 address, which costs extra'),
    enable_ipv6: z.boolean().default(true).describe('assigns a public IPv6 address'),
    distro_release: distroRelease.optional(),
    worker_install_source: z
      .enum(['release', 'backports', 'daily-builds', 'pre-installed'])
      .default('release')
      .describe('where the worker software is installed from on first boot; pre-installed takes no action'),
  })
  .meta({ title: 'specifications of a worker pool on Hetzner Cloud' });

export type HetznerSpecifications = z.infer<typeof hetznerSpecifications>;
