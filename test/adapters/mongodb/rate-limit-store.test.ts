import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { rateLimit, type Store } from 'express-rate-limit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../src/adapters/clock.ts';
import { startMongoServer } from '../../support/ferretdb.ts';
import { type Place, placeOn } from './opening.ts';

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
    let later = 0;
    const clock = { ...systemClock, now: () => systemClock.now().add({ milliseconds: later }) };
    const { rateLimits } = await place.open({ clock });
    rateLimits.init({ windowMs: 10_000 });
    const first = await rateLimits.increment('customer:1');
    later = 9_000;
    const second = await rateLimits.increment('customer:1');
    assert.equal([second.totalHits, second.resetTime], [2, first.resetTime]);
    later = 10_001;
    assert.is(await rateLimits.get('customer:1'), undefined);
    const third = await rateLimits.increment('customer:1');
    assert.is(third.totalHits, 1);
    assert.ok(third.resetTime > first.resetTime);
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
