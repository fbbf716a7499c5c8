import { z } from 'zod';
import { architectures } from './architectures.ts';
import { freeJson } from './fields.ts';
import { poolLimits } from './limits.ts';
import { assetName, poolName } from './names.ts';
import { check, type Checked } from './document-checks.ts';
import { specifications } from './specifications.ts';

const METADATA_BYTES_MAX = 65_536;

export const staticMetadata = freeJson('static metadata for workers in the pool', METADATA_BYTES_MAX);

/** A worker pool as administrators write it; `dynamic_metadata` is reported by workers, not written. */
export const poolRecord = z.strictObject({
  name: poolName,
  provider_account: assetName.describe('the cloud-provider-account asset with the details of the provider account'),
  enabled: z.boolean().default(true).describe('when true, the pool is available for creating instances'),
  architectures,
  static_metadata: staticMetadata.default({}),
  specifications,
  instance_wide: z
    .boolean()
    .default(true)
    .describe('when true, any scope may use the pool; when false, only a single scope'),
  ephemeral: z
    .boolean()
    .default(false)
    .describe('when true, a worker shuts down and needs reprovisioning after a single work request'),
  limits: poolLimits.prefault({}),
  apt_authentication: assetName
    .nullable()
    .default(null)
    .describe('the apt-authentication asset for the repository that the worker software is installed from'),
});

export type PoolRecord = z.infer<typeof poolRecord>;

/** The fields that an administrator may give or change, each by itself. */
export type PoolChanges = Partial<Omit<PoolRecord, 'name'>>;

/** A new pool of what was given, with the defaults for the rest; names what is missing. */
export function newPool(name: string, given: PoolChanges): Checked<PoolRecord> {
  return check(poolRecord, '', { name, ...given });
}
