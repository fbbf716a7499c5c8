import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Temporal } from '@js-temporal/polyfill';
import { createSystemClock, systemClock } from '../../src/adapters/clock.ts';
import { createManualClock } from '../support/manual-clock.ts';

const SIXTY_DAYS = 60 * 24 * 60 * 60 * 1000;

test('now is the wall clock, in whole milliseconds', () => {
  const before = Date.now();
  const now = systemClock.now();
  assert.ok(now.epochMilliseconds >= before);
  assert.is(now.epochNanoseconds % 1_000_000n, 0n);
});

test('the text of now has milliseconds and a numeric offset, and is the same instant', () => {
  for (let count = 0; count < 1_000; count += 1) {
    const before = systemClock.now();
    const text = systemClock.nowText();
    const after = systemClock.now();
    assert.match(text, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
    const instant = Temporal.Instant.from(text);
    assert.ok(Temporal.Instant.compare(before, instant) <= 0);
    assert.ok(Temporal.Instant.compare(instant, after) <= 0);
  }
});

test('monotonic time only grows, and is what waits are measured with', async () => {
  const start = systemClock.monotonicMilliseconds();
  await systemClock.wait(12);
  assert.ok(systemClock.monotonicMilliseconds() - start >= 12);
});

test('a wait of nothing is over at once', async () => {
  await systemClock.wait(0);
  await systemClock.wait(-1);
});

test('a wait that is longer than a timer can be is made of several', async () => {
  const clock = createSystemClock(3);
  const start = clock.monotonicMilliseconds();
  await clock.wait(20);
  assert.ok(clock.monotonicMilliseconds() - start >= 20);
});

test('a wait of sixty days is not over at once, and ends with the reason of its signal', async () => {
  const controller = new AbortController();
  let over = false;
  const waiting = systemClock.wait(SIXTY_DAYS, controller.signal).finally(() => (over = true));
  await systemClock.wait(30);
  assert.not.ok(over);
  const reason = new Error('shutting down');
  controller.abort(reason);
  assert.is(await waiting.catch((error: unknown) => error), reason);
});

test('a wait with a signal that has aborted does not begin', async () => {
  const reason = new Error('too late');
  assert.is(await systemClock.wait(SIXTY_DAYS, AbortSignal.abort(reason)).catch((error: unknown) => error), reason);
});

test('the manual clock resolves waits in the order of their ends, each at its own time', async () => {
  const clock = createManualClock('2026-11-27T20:50:00.123Z');
  const ends: string[] = [];
  const waitFor = async (milliseconds: number): Promise<void> => {
    await clock.wait(milliseconds);
    ends.push(clock.nowText());
  };
  const all = Promise.all([waitFor(3000), waitFor(1000).then(() => waitFor(1000))]);
  await clock.advance({ milliseconds: 999 });
  assert.equal(ends, []);
  await clock.advance('PT10S');
  await all;
  assert.equal(ends, [
    '2026-11-27T20:50:01.123+00:00',
    '2026-11-27T20:50:02.123+00:00',
    '2026-11-27T20:50:03.123+00:00',
  ]);
  assert.is(clock.monotonicMilliseconds(), 10_999);
  assert.is(clock.waiting(), 0);
});

test('the wall clock of the manual clock can be set; waits know nothing of it', async () => {
  const clock = createManualClock();
  let over = false;
  const waiting = clock.wait(1000).then(() => (over = true));
  clock.setWallClock('2027-01-01T00:00:00Z');
  await clock.advance({ milliseconds: 500 });
  assert.not.ok(over);
  assert.is(clock.nowText(), '2027-01-01T00:00:00.500+00:00');
  await clock.advance({ milliseconds: 500 });
  await waiting;
});

test('a wait on the manual clock ends with the reason of its signal', async () => {
  const clock = createManualClock();
  const controller = new AbortController();
  const waiting = clock.wait(SIXTY_DAYS, controller.signal);
  const reason = new Error('shutting down');
  controller.abort(reason);
  assert.is(await waiting.catch((error: unknown) => error), reason);
  assert.is(clock.waiting(), 0);
});

test.run();
