import { getEventListeners } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Semaphore, SemaphoreFull, stopOf } from '../../src/concurrency/semaphore.ts';

const never = () => stopOf(new AbortController().signal);

test('as many enter as there are places; the others follow in order, one for each that leaves', async () => {
  const semaphore = new Semaphore(2, 10);
  const entered: string[] = [];
  const enter = async (name: string): Promise<void> => {
    await semaphore.enter(never());
    entered.push(name);
  };
  const all = ['a', 'b', 'c', 'd'].map(enter);
  await Promise.all(all.slice(0, 2));
  assert.equal(entered, ['a', 'b']);
  assert.not(semaphore.tryEnter());
  semaphore.leave();
  await all[2];
  assert.equal(entered, ['a', 'b', 'c']);
  semaphore.leave();
  await all[3];
  assert.equal(entered, ['a', 'b', 'c', 'd']);
  semaphore.leave();
  assert.not(semaphore.isEmpty);
  semaphore.leave();
  assert.ok(semaphore.isEmpty);
});

test('more than may wait are turned away', async () => {
  const semaphore = new Semaphore(1, 1);
  assert.ok(semaphore.tryEnter());
  const waiting = semaphore.enter(never());
  assert.instance(await rejection(semaphore.enter(never())), SemaphoreFull);
  semaphore.leave();
  await waiting;
});

test('what is stopped while it waits leaves its place in the queue to the next, and its signal is not listened to any longer', async () => {
  const semaphore = new Semaphore(1, 2);
  assert.ok(semaphore.tryEnter());
  const stop = new AbortController();
  const next = new AbortController();
  const stopped = rejection(semaphore.enter(stopOf(stop.signal)));
  const second = semaphore.enter(stopOf(next.signal));
  assert.is(getEventListeners(next.signal, 'abort').length, 1);
  const reason = new Error('no longer wanted');
  stop.abort(reason);
  assert.is(await stopped, reason);
  semaphore.leave();
  await second;
  assert.is(getEventListeners(next.signal, 'abort').length, 0);
  semaphore.leave();
  assert.ok(semaphore.isEmpty);
});

test('what was stopped before does not enter', async () => {
  const semaphore = new Semaphore(1, 1);
  const reason = new Error('too late');
  assert.is(await rejection(semaphore.enter(stopOf(AbortSignal.abort(reason)))), reason);
  assert.ok(semaphore.isEmpty);
});

test.run();

function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => assert.unreachable('it was not rejected'),
    (reason: unknown) => reason,
  );
}
