import { createHash } from 'node:crypto';
import { z } from 'zod';

/** The fields of a document by their names. */
type Fields = Readonly<Record<string, unknown>>;

const SUM_CHARACTERS = 16;

const sums = z.record(z.string(), z.string());

/** A sum of each field of a document as it was shown, which goes through a form in place of the document. */
export function sumsOfFields(fields: Fields): string {
  return JSON.stringify(Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, sumOf(value)])));
}

/** Of a document the fields that are otherwise than they were shown; all of them where it is not known how that was. */
export function fieldsChanged(fields: Fields, seen: string): Fields {
  const known = sumsIn(seen);
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => known.get(name) !== sumOf(value)));
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
