import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { reasonText, saidOf, ticketText } from '../../src/domain/grounds.ts';

function problem(schema: typeof reasonText, text: unknown): string | undefined {
  const read = schema.safeParse(text);
  return read.success ? undefined : read.error.issues.map(({ message }) => message).join(' ');
}

test('a reason has 1 to 500 characters, a ticket 1 to 100, whatever plane of Unicode they are of', () => {
  for (const [schema, most] of [
    [reasonText, 500],
    [ticketText, 100],
  ] as const) {
    for (const character of ['a', 'é', '漢', '🙂']) {
      assert.is(problem(schema, character.repeat(most)), undefined);
      assert.is(problem(schema, character.repeat(most + 1)), `must be text of 1 to ${most} characters.`);
    }
    for (const wrong of ['', 7, null, ['a']]) {
      assert.is(problem(schema, wrong), `must be text of 1 to ${most} characters.`);
    }
  }
});

test('a reason may have lines, a ticket is one; neither has what a terminal obeys, or half a character', () => {
  assert.is(problem(reasonText, 'one\r\n\ttwo'), undefined);
  assert.is(problem(ticketText, 'one\ntwo'), 'must be one line, without control characters.');
  for (const wrong of ['\u0000', '\u001B[2J', '\u007F', '\u009B2J', '\uD800', 'a\uDC00']) {
    assert.is(problem(reasonText, wrong), 'must not have control characters.');
    assert.is(problem(ticketText, wrong), 'must be one line, without control characters.');
  }
});

test('what is taken is what was given', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 600 }), (text) => {
      const read = reasonText.safeParse(text);
      if (read.success) assert.is(read.data, text);
    }),
  );
});

test('what was not said is no field', () => {
  assert.equal(Object.keys(saidOf({ reason: undefined, ticket: 'NET-7' })), ['ticket']);
  assert.equal(Object.keys(saidOf({})), []);
});

test.run();
