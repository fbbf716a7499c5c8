import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { rateLimit } from 'express-rate-limit';
import { windowCounts } from '../../../src/http/middleware/window-counts.ts';
import { createManualClock } from '../../support/manual-clock.ts';

function opened() {
  const clock = createManualClock();
  const store = windowCounts(clock);
  // The middleware opens the store with its window.
  rateLimit({ windowMs: 60_000, store, validate: false });
  const count = async (key = 'a') => {
    const { totalHits, resetTime } = await store.increment(key);
    return { hits: totalHits, left: (resetTime?.getTime() ?? Number.NaN) - clock.now().epochMilliseconds };
  };
  return { clock, store, count };
}

test('a window begins with its first request, and lasts a minute', async () => {
  const { clock, store, count } = opened();
  assert.equal(await count(), { hits: 1, left: 60_000 });
  await clock.advance('PT59.999S');
  assert.equal(await count(), { hits: 2, left: 1 });
  assert.is((await store.get?.('a'))?.totalHits, 2);
  assert.equal(await count('b'), { hits: 1, left: 60_000 });
  await clock.advance('PT0.001S');
  assert.is(await store.get?.('a'), undefined);
  assert.equal(await count(), { hits: 1, left: 60_000 });
  await store.decrement('b');
  await store.resetKey('a');
  assert.equal([(await count()).hits, (await count('b')).hits], [1, 1]);
});

test('a clock that is set, to whatever time, changes no window', async () => {
  const step = fc.record({
    seconds: fc.nat(40),
    clock: fc.option(fc.integer({ min: -86_400, max: 86_400 }), { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const { clock, count } = opened();
      let [begun, hits, elapsed] = [0, 0, 0];
      for (const { seconds, clock: set } of steps) {
        await clock.advance({ seconds });
        elapsed += seconds;
        if (set !== undefined) clock.setWallClock(clock.now().add({ seconds: set }));
        if (hits === 0 || elapsed - begun >= 60) [begun, hits] = [elapsed, 0];
        hits += 1;
        assert.equal(await count(), { hits, left: (60 - (elapsed - begun)) * 1_000 });
      }
    }),
    { numRuns: 200 },
  );
});

test.run();
