import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { rateLimit, type Store } from 'express-rate-limit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../src/adapters/clock.ts';
import { startMongoServer } from '../../support/stores/ferretdb.ts';
import { type Place, placeOn } from './opening.ts';

/** A clock that goes on by itself, for the driver; a test moves it, and sets its wall clock, by seconds. */
function movedClock(wallSeconds = 0) {
  let [moved, set] = [0, wallSeconds * 1_000];
  return {
    ...systemClock,
    now: () => systemClock.now().add({ milliseconds: Math.round(moved + set) }),
    monotonicMilliseconds: () => systemClock.monotonicMilliseconds() + moved,
    advance: (seconds: number) => void (moved += seconds * 1_000),
    set: (seconds: number) => void (set += seconds * 1_000),
  };
}

const server = await startMongoServer();
const test = suite<{ place: Place }>('request counts in MongoDB');

if (server === undefined) test.skip('there is no server');
else {
  test.before.each(async (context) => {
    context.place = await placeOn(server);
  });
  test.after.each(({ place }) => place.stop());

  test('requests of all servers make one count', async ({ place }) => {
    const [one, other] = [(await place.open()).rateLimits, (await place.open()).rateLimits];
    const first = await one.increment('customer:1');
    const second = await other.increment('customer:1');
    assert.equal([first.totalHits, second.totalHits], [1, 2]);
    assert.equal(first.resetTime, second.resetTime);
    assert.is((await one.increment('customer:2')).totalHits, 1);
    await other.decrement('customer:1');
    assert.is((await one.get('customer:1'))?.totalHits, 1);
    await one.resetKey('customer:1');
    assert.is(await other.get('customer:1'), undefined);
  });

  if (server.updatesInOneStep) {
    test('requests at the same moment are counted exactly', async ({ place }) => {
      const [one, other] = [(await place.open()).rateLimits, (await place.open()).rateLimits];
      const counting = Array.from({ length: 60 }, (_, index) =>
        (index % 2 === 0 ? one : other).increment('customer:1'),
      );
      const hits = (await Promise.all(counting)).map(({ totalHits }) => totalHits);
      assert.equal(
        hits.toSorted((a, b) => a - b),
        Array.from({ length: 60 }, (_, index) => index + 1),
      );
    });
  }

  test('a window begins with its first request, and the count anew with the next window', async ({ place }) => {
    const clock = movedClock();
    const { rateLimits } = await place.open({ clock });
    rateLimits.init({ windowMs: 10_000 });
    const first = await rateLimits.increment('customer:1');
    clock.advance(9);
    const second = await rateLimits.increment('customer:1');
    assert.equal([second.totalHits, second.resetTime], [2, first.resetTime]);
    clock.advance(1.001);
    assert.is(await rateLimits.get('customer:1'), undefined);
    const third = await rateLimits.increment('customer:1');
    assert.is(third.totalHits, 1);
    assert.ok(third.resetTime > first.resetTime);
  });

  test('servers whose clocks differ, and are set, count in one window, which lasts no longer than it should', async ({
    place,
  }) => {
    const clocks = [0, 3_600, -3_600].map((start) => movedClock(start));
    const servers = [];
    for (const clock of clocks) servers.push({ clock, store: (await place.open({ clock })).rateLimits });
    let hits = 0;
    for (let second = 0; second < 60; second += 5) {
      for (const { clock, store } of servers) {
        hits += 1;
        const { totalHits, resetTime } = await store.increment('customer:1');
        assert.is(totalHits, hits);
        const left = resetTime.getTime() - clock.now().epochMilliseconds;
        assert.ok(left > 0 && left <= 60_000, `${left} ms are left`);
        clock.set(second % 10 === 0 ? 3_600 : -3_600);
        clock.advance(5);
      }
    }
    // The first one has seen the window for longest: it begins the next one, and the others count in that.
    const after = [];
    for (const { store } of servers) after.push((await store.increment('customer:1')).totalHits);
    assert.equal(after, [1, 2, 3]);
  });

  test('a window that is over for the database is over for a server that sees it for the first time', async ({
    place,
  }) => {
    const { rateLimits } = await place.open({ clock: movedClock() });
    await rateLimits.increment('customer:1');
    const counts = place.look.db().collection<{ _id: string }>('rateLimits');
    const age = async (milliseconds: number) =>
      counts.updateOne({ _id: 'customer:1' }, { $set: { hits: 60, startedAt: new Date(Date.now() - milliseconds) } });
    await age(61_000);
    const [late, later] = [(await place.open()).rateLimits, (await place.open()).rateLimits];
    assert.is((await late.increment('customer:1')).totalHits, 1, 'nobody is refused for what is long over');
    await age(50_000);
    const { totalHits, resetTime } = await later.increment('customer:1');
    assert.is(totalHits, 61);
    const left = resetTime.getTime() - Date.now();
    assert.ok(left > 5_000 && left <= 10_000, `${left} ms are left`);
    await age(-3_600_000);
    const { resetTime: bounded } = await (await place.open()).rateLimits.increment('customer:1');
    assert.ok(bounded.getTime() - Date.now() <= 60_000, 'a window lasts no longer than a window');
  });

  test('what is over is swept away, whatever the clock says, and nothing else', async ({ place }) => {
    const clock = movedClock();
    const { rateLimits } = await place.open({ clock });
    const keys = async () =>
      (await place.look.db().collection('rateLimits').find().toArray()).map(({ _id }) => String(_id)).sort();
    const countAfter = async (seconds: number, key: string): Promise<number> => {
      clock.advance(seconds);
      return (await rateLimits.increment(key)).totalHits;
    };
    await countAfter(0, 'old');
    await countAfter(61, 'earlier');
    await countAfter(59, 'busy');
    clock.set(86_400);
    await countAfter(2, 'other');
    assert.equal(await keys(), ['busy', 'earlier', 'other']);
    clock.set(86_400);
    assert.is(await countAfter(57, 'busy'), 2, 'it has been seen, and is not over');
    await countAfter(4, 'other');
    assert.equal(await keys(), ['other']);
  });

  test('two servers limit as one', async ({ place }) => {
    const [one, other] = [
      await limited((await place.open()).rateLimits),
      await limited((await place.open()).rateLimits),
    ];
    const statuses: number[] = [];
    for (let request = 0; request < 8; request += 1) {
      const { port } = (request % 2 === 0 ? one : other).address() as AddressInfo;
      statuses.push((await fetch(`http://127.0.0.1:${port}`)).status);
    }
    assert.equal(statuses, [200, 200, 200, 200, 200, 429, 429, 429]);
    one.close();
    other.close();
  });
}

/** A server that answers five requests a minute. */
async function limited(store: Store): Promise<Server> {
  const app = express();
  app.use(rateLimit({ windowMs: 60_000, limit: 5, store, validate: false, keyGenerator: () => 'customer:1' }));
  app.get('/', (_request, response) => void response.end());
  const http = createServer(app);
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return http;
}

test.run();
