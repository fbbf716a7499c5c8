import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { coalesce } from '../../src/concurrency/coalesce.ts';

/** How many turns it waited, and what had gathered, when each turn brought so many. */
async function gathered(
  first: number,
  ...turns: readonly number[]
): Promise<Readonly<{ turns: number; count: number }>> {
  const waiting = Array.from({ length: first }, () => 'asked');
  let turn = 0;
  await coalesce(waiting, async () => {
    for (let more = turns[turn] ?? 0; more > 0; more -= 1) waiting.push('asked');
    turn += 1;
  });
  return { turns: turn, count: waiting.length };
}

test('what comes alone waits for one turn', async () => {
  assert.equal(await gathered(1), { turns: 1, count: 1 });
});

test('as long as each turn brings more, it waits for another', async () => {
  assert.equal(await gathered(1, 3, 1, 0, 5), { turns: 3, count: 5 });
});

test('however much comes, it ends when many have gathered', async () => {
  assert.equal(await gathered(1, 40, 40, 40), { turns: 2, count: 81 });
  assert.equal(await gathered(64, 1), { turns: 0, count: 64 });
});

test('nothing waits for nothing', async () => {
  assert.equal(await gathered(0), { turns: 0, count: 0 });
});

test.run();
