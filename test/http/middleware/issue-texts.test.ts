import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { issueText } from '../../../src/http/middleware/issue-texts.ts';

const schema = z.strictObject({
  flag: z.boolean().optional(),
  label: z.string().min(1).max(3).optional(),
  count: z.int().min(1).max(9).optional(),
  rows: z.array(z.string()).min(1).max(2).optional(),
  settings: z.strictObject({}).optional(),
  kind: z.enum(['a', 'b']).optional(),
  until: z.uuid().optional(),
  own: z.string({ error: 'must be a word of mine.' }).optional(),
});

const ROWS: readonly (readonly [field: keyof z.infer<typeof schema>, value: unknown, text: string])[] = [
  ['flag', 'true', 'must be true or false.'],
  ['label', 7, 'must be text.'],
  ['label', '', 'must have at least 1 character.'],
  ['label', 'long', 'must have at most 3 characters.'],
  ['count', '7', 'must be a number.'],
  ['count', 7.5, 'must be a whole number.'],
  ['count', 0, 'must be at least 1.'],
  ['count', 10, 'must be at most 9.'],
  ['rows', 'a', 'must be a list.'],
  ['rows', [], 'must have at least 1 entry.'],
  ['rows', ['a', 'b', 'c'], 'must have at most 2 entries.'],
  ['settings', [], 'must be an object.'],
  ['kind', 'c', 'must be one of a, b.'],
  ['until', 'x', 'is not of the form that is described.'],
  ['own', 7, 'must be a word of mine.'],
];

for (const [field, value, text] of ROWS) {
  test(`of ${field}, ${JSON.stringify(value)} ${text}`, () => {
    const { error } = schema.safeParse({ [field]: value });
    assert.equal(error?.issues.map(issueText), [text]);
  });
}

test('what is missing is required, and of which kind', () => {
  const { error } = z.strictObject({ customer: z.string() }).safeParse({});
  assert.equal(error?.issues.map(issueText), ['is required: text.']);
});

test.run();
