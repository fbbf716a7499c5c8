import type { z } from 'zod';
import { type FieldErrors, invalid, type Problem } from '../problems.ts';

/** The first wrong fields tell enough; naming them all would let a small request ask for a large answer. */
const FIELDS_MAX = 100;

/** What a schema says of a body: its value, or a 422 that names every field as the client sent it, after those that are known to be wrong already. */
export function checked<T>(
  schema: z.ZodType<T>,
  body: unknown,
  known: FieldErrors = {},
): Readonly<{ value: T }> | Readonly<{ problem: Problem }> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { problem: invalid({ ...known, body: ['must be a JSON object.'] }) };
  }
  const parsed = schema.safeParse(body);
  if (!parsed.success) return { problem: invalid(withoutMore(known, errorsByField(parsed.error.issues))) };
  return Object.keys(known).length > 0 ? { problem: invalid(known) } : { value: parsed.data };
}

/** What is known of a field already says enough about it. */
function withoutMore(known: FieldErrors, others: FieldErrors): FieldErrors {
  const more = Object.entries(others).filter(([field]) => !Object.hasOwn(known, field));
  return Object.fromEntries([...Object.entries(known), ...more].slice(0, FIELDS_MAX));
}

function errorsByField(issues: readonly z.core.$ZodIssue[]): Record<string, string[]> {
  const errors = new Map<string, string[]>();
  const add = (field: string, message: string): void => {
    const messages = errors.get(field);
    if (messages !== undefined) messages.push(message);
    else if (errors.size < FIELDS_MAX) errors.set(field, [message]);
  };
  for (const issue of issues) {
    const path = issue.path.map(String);
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) add([...path, key].join('.'), 'is not a known field.');
    } else {
      add(path.join('.') || 'body', issue.message);
    }
  }
  return Object.fromEntries(errors);
}
