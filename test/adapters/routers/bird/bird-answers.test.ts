import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { answerIn, valueIn } from '../../../../src/adapters/routers/bird/bird-answers.ts';
import { RouterFailure, type RouterFailureCode } from '../../../../src/ports/routers.ts';

// As BIRD 2.0.12 and 2.17.6 print them.
const WELCOME = '0001 BIRD 2.0.12 ready.\n';

function failure(look: () => unknown): Readonly<{ code: RouterFailureCode; message: string }> {
  try {
    look();
  } catch (error) {
    if (error instanceof RouterFailure) return error;
    throw error;
  }
  throw new Error('no failure');
}

test('the last of several lines is the answer', () => {
  const output = `${WELCOME}0002-Reading configuration from bird.conf\n0022-Undo scheduled in 3 s\n0003 Reconfigured\n`;
  assert.equal(answerIn(output, 'the change'), { code: 3, text: 'Reconfigured' });
});

test('an error is what BIRD says', () => {
  const output = `${WELCOME}0002-Reading configuration from bird.conf\n8002 lists/a.conf:1:2 syntax error\n`;
  const { code, message } = failure(() => answerIn(output, 'the change'));
  assert.is(code, 'rejected');
  assert.is(message, 'the change: BIRD says: lists/a.conf:1:2 syntax error');
});

test('a restricted socket does not permit', () => {
  assert.is(
    failure(() => answerIn(`${WELCOME}0016 Access restricted\n8007 Access denied\n`, 'x')).code,
    'not-permitted',
  );
});

for (const output of ['Unable to connect to server control socket (/run/bird.ctl): Connection refused', '', WELCOME]) {
  test(`no answer: ${JSON.stringify(output)}`, () => {
    assert.is(failure(() => answerIn(output, 'x')).code, 'unreachable');
    assert.is(failure(() => valueIn(output, 'x')).code, 'unreachable');
  });
}

test('the value of a symbol', () => {
  assert.is(valueIn(`${WELCOME}0023 9a7f 00ff\n`, 'x'), '9a7f 00ff');
});

test('a symbol that BIRD does not know has no value', () => {
  assert.is(valueIn(`${WELCOME}9001 syntax error, unexpected CF_SYM_UNDEFINED\n`, 'x'), undefined);
});

test('an answer to something else can’t be read', () => {
  assert.is(failure(() => valueIn(`${WELCOME}0013 Daemon is up and running\n`, 'x')).code, 'unreadable-answer');
});

test.run();
