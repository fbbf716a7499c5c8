import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Store } from 'express-rate-limit';
import { rateLimit } from 'express-rate-limit';
import { createLog } from '../../../src/adapters/log.ts';
import { sharedCounts } from '../../../src/http/middleware/shared-counts.ts';
import { StoreUnavailable } from '../../../src/ports/event-store.ts';
import { createManualClock } from '../../support/manual-clock.ts';

/** A store that all servers share, until it goes away. */
function sharedStore() {
  const counts = new Map<string, number>();
  const store = { isAway: false, asked: 0 };
  const increment: Store['increment'] = async (key) => {
    store.asked += 1;
    if (store.isAway) throw new StoreUnavailable('away');
    counts.set(key, (counts.get(key) ?? 0) + 1);
    return { totalHits: counts.get(key) ?? 0, resetTime: undefined };
  };
  const forget = async (key: string): Promise<void> => void counts.delete(key);
  const get: Store['get'] = async (key) => {
    if (store.isAway) throw new StoreUnavailable('away');
    return { totalHits: counts.get(key) ?? 0, resetTime: undefined };
  };
  return Object.assign(store, { get, increment, decrement: forget, resetKey: forget });
}

function serverOn(shared: Store) {
  const lines: string[] = [];
  const clock = createManualClock();
  const log = createLog({ level: 'warn', destination: (line) => void lines.push(line) });
  const store = sharedCounts(shared, { clock, log });
  // The middleware opens the store with its window.
  rateLimit({ windowMs: 60_000, store, validate: false });
  return { clock, lines, count: async (key: string) => (await store.increment(key)).totalHits };
}

test('all servers count together', async () => {
  const shared = sharedStore();
  const [one, two] = [serverOn(shared), serverOn(shared)];
  assert.equal([await one.count('a'), await two.count('a'), await one.count('b'), await two.count('a')], [1, 2, 1, 3]);
});

test('while the store is away each counts for itself, without asking it again and again, and says so once', async () => {
  const shared = sharedStore();
  const { clock, lines, count } = serverOn(shared);
  await count('a');
  shared.isAway = true;
  assert.equal([await count('a'), await count('a'), await count('a')], [1, 2, 3]);
  assert.is(shared.asked, 2);
  assert.is(lines.length, 1);
  await clock.advance('PT5S');
  assert.is(await count('a'), 4, 'still away');
  assert.is(shared.asked, 3);
  shared.isAway = false;
  await clock.advance('PT5S');
  assert.is(await count('a'), 2, 'back');
});

test('a window of another length holds while the store is away, and a count is read without counting', async () => {
  const shared = sharedStore();
  const clock = createManualClock();
  const log = createLog({ level: 'error', destination: () => undefined });
  const store = sharedCounts(shared, { clock, log, windowMilliseconds: 15 * 60_000 });
  const read = async (): Promise<number | undefined> => (await store.get?.('a'))?.totalHits;
  await store.increment('a');
  await store.increment('a');
  assert.equal([await read(), await read()], [2, 2]);
  shared.isAway = true;
  await store.increment('a');
  await clock.advance('PT14M');
  await store.increment('a');
  assert.is(await read(), 2);
  await clock.advance('PT1M');
  assert.is(await read(), undefined);
});

test.run();
