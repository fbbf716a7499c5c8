import { canonicalJson } from '../../events/hash-chain.ts';

/** Tells whether two values say the same as JSON, whatever the order of their fields. */
export function sameJson(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b);
}
