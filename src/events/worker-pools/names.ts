import { z } from 'zod';

/** A host name label: it becomes part of names that providers and DNS must accept (RFC 1123). */
const SLUG = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

function slug(what: string, most: number) {
  return z
    .string()
    .min(1)
    .max(most)
    .regex(SLUG, { error: `must be a slug: lower-case letters, digits and dashes, no dash at an end (${what})` });
}

/** Workers of a pool are hosts `<pool>-001`; with the number they must fit a host name label of 63 characters. */
export const POOL_NAME_MAX = 50;

export const poolName = slug('like spot-amd64', POOL_NAME_MAX).describe('pool name, unique');
/** A worker without a pool; its name must be no instance's of a pool. */
export const workerName = slug('like builder-a', 63)
  .regex(/[^0-9-]$|^[^-]*$/, {
    error: 'must not end with a dash and a number: that is how workers of pools are called',
  })
  .describe('worker name, unique');
export const scopeName = slug('like debian', 63).describe('scope name, unique');

export const assetName = z
  .string()
  .min(1)
  .max(63)
  .regex(/^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/, {
    error:
      'must be lower-case letters, digits, dots, dashes and underscores, starting and ending with a letter or digit',
  })
  .describe('asset name, unique');

/** The name of a pool's worker number `number` (from 1). */
export function workerNameOf(pool: string, number: number): string {
  return `${pool}-${String(number).padStart(3, '0')}`;
}
