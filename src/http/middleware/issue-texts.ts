import type { z } from 'zod';

/** How zod begins where a schema has no words of its own. */
const ZOD_WORDS = /^(?:Invalid|Too big|Too small)\b/;

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true or false',
  number: 'a number',
  int: 'a whole number',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** What is wrong with a value, and what would be right: in the words of its schema, or, where that has none, in those of the service. */
export function issueText(issue: z.core.$ZodIssue): string {
  const { message } = issue;
  if (!ZOD_WORDS.test(message)) return message;
  if (issue.code === 'invalid_type') {
    const kind = KINDS[issue.expected] ?? issue.expected;
    return message.endsWith('received undefined') ? `is required: ${kind}.` : `must be ${kind}.`;
  }
  if (issue.code === 'invalid_value') {
    const values = issue.values.map(String);
    return values.length === 1 ? `must be ${values[0]}.` : `must be one of ${values.join(', ')}.`;
  }
  if (issue.code === 'too_big') return `must ${sizeText('at most', issue.origin, issue.maximum)}`;
  if (issue.code === 'too_small') return `must ${sizeText('at least', issue.origin, issue.minimum)}`;
  return 'is not of the form that is described.';
}

function sizeText(bound: 'at most' | 'at least', origin: string, size: number | bigint): string {
  if (origin === 'string') return `have ${bound} ${counted(size, 'character', 'characters')}.`;
  if (origin === 'array' || origin === 'set') return `have ${bound} ${counted(size, 'entry', 'entries')}.`;
  return `be ${bound} ${size}.`;
}

function counted(size: number | bigint, one: string, several: string): string {
  return `${size} ${Number(size) === 1 ? one : several}`;
}
