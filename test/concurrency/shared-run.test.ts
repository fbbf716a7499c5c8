import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { sharedRun } from '../../src/concurrency/shared-run.ts';

/** Runs that end when they are told to. */
function runs() {
  const open: Readonly<{ end: (value: number) => void; fail: (error: Error) => void }>[] = [];
  const ask = sharedRun(() => new Promise<number>((resolve, reject) => void open.push({ end: resolve, fail: reject })));
  return { open, ask };
}

/** What is due now has happened. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test('who asks at once shares a run', async () => {
  const { open, ask } = runs();
  const asked = [ask(), ask(), ask()];
  await turn();
  assert.is(open.length, 1);
  open[0]?.end(7);
  assert.equal(await Promise.all(asked), [7, 7, 7]);
});

test('who asks while a run is under way gets the next one, which begins when that is over', async () => {
  const { open, ask } = runs();
  const first = ask();
  await turn();
  const later = [ask(), ask()];
  await turn();
  assert.is(open.length, 1);
  open[0]?.end(1);
  assert.is(await first, 1);
  await turn();
  assert.is(open.length, 2);
  open[1]?.end(2);
  assert.equal(await Promise.all(later), [2, 2]);
});

test('a run that fails does so for all who share it, and for nobody after them', async () => {
  const { open, ask } = runs();
  const first = Promise.allSettled([ask(), ask()]);
  await turn();
  const later = ask();
  open[0]?.fail(new Error('the disk is full'));
  assert.equal(
    (await first).map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  await turn();
  open[1]?.end(3);
  assert.is(await later, 3);
});

test.run();
