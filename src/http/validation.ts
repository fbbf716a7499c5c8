import type { z } from 'zod';
import type { Problem } from './problems.ts';
import { invalid } from './problems.ts';

/** The first wrong fields tell enough; naming them all would let a small request ask for a large answer. */
const FIELDS_MAX = 100;

/** What a schema says of a body: its value, or a 422 that names every field as the client sent it. */
export function checked<T>(
  schema: z.ZodType<T>,
  body: unknown,
): Readonly<{ value: T }> | Readonly<{ problem: Problem }> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { problem: invalid({ body: ['must be a JSON object.'] }) };
  }
  const parsed = schema.safeParse(body);
  return parsed.success ? { value: parsed.data } : { problem: invalid(errorsByField(parsed.error.issues)) };
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
