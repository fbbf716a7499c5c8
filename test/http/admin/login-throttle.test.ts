import express from 'express';
import type { Store } from 'express-rate-limit';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createLog } from '../../../src/adapters/log.ts';
import {
  type LoginThrottle,
  openLoginThrottle,
  THROTTLE_MILLISECONDS,
} from '../../../src/http/admin/login-throttle.ts';
import { sharedCounts } from '../../../src/http/middleware/shared-counts.ts';
import { windowCounts } from '../../../src/http/middleware/window-counts.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const clock = createManualClock();
const request: express.Request = Object.create(express.request, { ip: { value: '192.0.2.1' } });
const TWELVE = Array.from({ length: 12 });

/** Counts, and the keys that they were asked for. */
function watchedCounts(): Readonly<{ counts: Store; keys: Set<string> }> {
  const counts = windowCounts(clock, THROTTLE_MILLISECONDS);
  const keys = new Set<string>();
  return { keys, counts: { ...counts, increment: (key) => (keys.add(key), counts.increment(key)) } };
}

/** How a try ends whose check says `isRight`. */
async function heard(throttle: LoginThrottle, account: string, isRight: boolean): Promise<boolean | 'waits'> {
  const tried = { request, account, isKnownDevice: false };
  const found = await throttle.hear(
    tried,
    () => Promise.resolve({ isRight }),
    (checked) => !checked.isRight,
  );
  return 'waitSeconds' in found ? 'waits' : found.isRight;
}

test('a name that no account can have is kept in no key', async () => {
  const { counts, keys } = watchedCounts();
  const throttle = openLoginThrottle(counts, clock);
  for (const name of ['x'.repeat(60_000), 'Ada', '', '\0']) assert.is(await heard(throttle, name, false), false);
  assert.equal([...keys], ['login-address:192.0.2.1']);
  await heard(throttle, 'ada', false);
  assert.equal([...keys].slice(1), ['login-stranger:ada', 'login-account:ada']);
});

test('failures on all servers make one count', async () => {
  const shared = windowCounts(clock, THROTTLE_MILLISECONDS);
  const log = createLog({ level: 'error', destination: () => undefined });
  const options = { clock, log, windowMilliseconds: THROTTLE_MILLISECONDS };
  const [one, two] = [
    openLoginThrottle(sharedCounts(shared, options), clock),
    openLoginThrottle(sharedCounts(shared, options), clock),
  ];
  for (const server of [one, two, one, two, one, two, one, two, one, two]) await heard(server, 'ada', false);
  assert.is(await two.failures('ada'), 10);
  assert.equal([await heard(one, 'ada', true), await heard(two, 'ada', true)], ['waits', 'waits']);
});

const away = () => Promise.reject<boolean>(new Error('away'));

test('a check that can not be made counts for nothing', async () => {
  const throttle = openLoginThrottle(windowCounts(clock, THROTTLE_MILLISECONDS), clock);
  for (const _ of TWELVE) {
    const tried = { request, account: 'ada', isKnownDevice: false };
    const error = await throttle.hear(tried, away, () => true).catch((thrown: unknown) => thrown);
    assert.match(String(error), /away/);
  }
  assert.is(await heard(throttle, 'ada', true), true);
});

test.run();
