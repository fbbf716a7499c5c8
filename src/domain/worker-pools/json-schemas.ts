import { z } from 'zod';
import { awsSpecifications } from '../../events/worker-pools/aws-specifications.ts';
import { hetznerSpecifications } from '../../events/worker-pools/hetzner-specifications.ts';
import { poolLimits, scopeLimits } from '../../events/worker-pools/limits.ts';

const SCHEMAS = {
  aws: awsSpecifications,
  hetzner: hetznerSpecifications,
  limits: poolLimits,
  'scope-limits': scopeLimits,
} as const;

export type SchemaName = keyof typeof SCHEMAS;

export const SCHEMA_NAMES: readonly SchemaName[] = ['aws', 'hetzner', 'limits', 'scope-limits'];

/** The JSON Schema (draft 2020-12) of a record as it is written by hand, from the same source as the checks. */
export function jsonSchema(name: SchemaName): object {
  return z.toJSONSchema(SCHEMAS[name], { io: 'input' });
}
