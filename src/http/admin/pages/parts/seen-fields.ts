import { createHash } from 'node:crypto';
import { z } from 'zod';

const SUM_CHARACTERS = 16;

const sums = z.record(z.string(), z.string());

/** A sum of each field of what was shown, which goes through a form in its place. */
export function sumsOfFields(fields: object): string {
  return JSON.stringify(Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, sumOf(value)])));
}

/**
 * Tells of a field, by name and value, whether it is otherwise than it was shown; of each where it is not known how that was. What others have
 * changed meanwhile stays.
 */
export function changedSince(seen: string): (field: readonly [string, unknown]) => boolean {
  const known = sumsIn(seen);
  return ([name, value]) => known.get(name) !== sumOf(value);
}

function sumsIn(text: string): ReadonlyMap<string, string> {
  try {
    return new Map(Object.entries(sums.safeParse(JSON.parse(text)).data ?? {}));
  } catch {
    return new Map();
  }
}

function sumOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(value) ?? '')
    .digest('hex')
    .slice(0, SUM_CHARACTERS);
}
