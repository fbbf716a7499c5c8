import { z } from 'zod';
import { poolLimits, scopeLimits } from '../../events/worker-pools/limits.ts';

const LIMITS = { limits: poolLimits, 'scope-limits': scopeLimits } as const;

/** The formats of specifications, by provider. */
type SpecificationFormats = readonly Readonly<{ providerType: string; specificationsSchema: () => object }>[];

/** The documents that have a published schema: the specifications of each provider, and the limits. */
export function schemaNames(formats: SpecificationFormats): readonly string[] {
  return [...formats.map(({ providerType }) => providerType), ...Object.keys(LIMITS)];
}

/** The JSON Schema (draft 2020-12) of a document as it is written by hand, from the same source as the checks; undefined: no such document. */
export function jsonSchema(name: string, formats: SpecificationFormats): object | undefined {
  const format = formats.find(({ providerType }) => providerType === name);
  if (format !== undefined) return format.specificationsSchema();
  return name === 'limits' || name === 'scope-limits' ? z.toJSONSchema(LIMITS[name], { io: 'input' }) : undefined;
}
