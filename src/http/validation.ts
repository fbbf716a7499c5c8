import type { z } from 'zod';
import type { Problem } from './problems.ts';
import { invalid } from './problems.ts';

/** What a schema says of a body: its value, or a 422 that names every field as the client sent it. */
export function checked<T>(
  schema: z.ZodType<T>,
  body: unknown,
): Readonly<{ value: T }> | Readonly<{ problem: Problem }> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { problem: invalid({ body: ['must be a JSON object.'] }) };
  }
  const parsed = schema.safeParse(body);
  // A key that sets an object's prototype in careless code is only one more unknown field here.
  const hostile = Object.hasOwn(body, '__proto__') ? ['__proto__'] : [];
  if (parsed.success && hostile.length === 0) return { value: parsed.data };
  return { problem: invalid(errorsByField(parsed.error?.issues ?? [], hostile)) };
}

function errorsByField(
  issues: readonly z.core.$ZodIssue[],
  unknownFields: readonly string[],
): Record<string, string[]> {
  const errors = new Map<string, string[]>();
  const add = (field: string, message: string): void => {
    const messages = errors.get(field);
    if (messages === undefined) errors.set(field, [message]);
    else messages.push(message);
  };
  for (const issue of issues) {
    const path = issue.path.map(String);
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) add([...path, key].join('.'), 'is not a known field.');
    } else {
      add(path.join('.') || 'body', issue.message);
    }
  }
  for (const field of unknownFields) if (!errors.has(field)) add(field, 'is not a known field.');
  return Object.fromEntries(errors);
}
