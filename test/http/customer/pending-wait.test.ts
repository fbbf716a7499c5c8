import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openWaiting } from '../../../src/http/customer/pending-wait.ts';

const MINUTE = 60_000;

/** Places to wait in, and time that a test lets pass. */
function opened() {
  let now = 0;
  const looks = new Set<() => void>();
  const wait = openWaiting({
    monotonicMilliseconds: () => now,
    wait: (_milliseconds, signal) =>
      new Promise((resolve) => {
        looks.add(resolve);
        signal?.addEventListener('abort', () => resolve());
      }),
  });
  return {
    /** Asks so many times at the same moment and waits for a minute. */
    ask: (customerId: number, times = 1) => {
      const answered = { count: 0 };
      const responses = Array.from({ length: times }, () => new ServerResponse(new IncomingMessage(new Socket())));
      for (const response of responses)
        void wait(customerId, async () => 1n, MINUTE, response).then(() => (answered.count += 1));
      return { answered, leave: () => responses.forEach((response) => response.emit('close')) };
    },
    pass: async (milliseconds: number) => {
      now += milliseconds;
      for (const look of looks) look();
      looks.clear();
      await settled();
    },
  };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
}

test('a customer with many requests that wait takes the places of no other; what has none is answered at once', async () => {
  const { ask, pass } = opened();
  const many = ask(1, 3_000);
  const other = ask(2);
  await pass(1_000);
  assert.equal([many.answered.count, other.answered.count], [3_000 - 64, 0]);
  many.leave();
  await settled();
  assert.is(many.answered.count, 3_000);
  const again = ask(1, 65);
  await pass(1_000);
  assert.is(again.answered.count, 1, 'places are free again');
  await pass(MINUTE);
  assert.equal([again.answered.count, other.answered.count], [65, 1]);
});

test('thousands of customers have a bound in all', async () => {
  const { ask, pass } = opened();
  const all = Array.from({ length: 3_000 }, (_, customerId) => ask(customerId));
  await pass(1_000);
  assert.is(all.filter(({ answered }) => answered.count === 0).length, 2_048);
  await pass(MINUTE);
  assert.ok(all.every(({ answered }) => answered.count === 1));
});

test.run();
