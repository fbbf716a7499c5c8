import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { RegionRouter } from '../../../../src/commands/ip-control/region-state.ts';
import { StoreUnavailable } from '../../../../src/ports/event-store.ts';
import { AttemptPushes, type PushRouter } from '../../../../src/processes/ip-control/pushing/attempt-pushes.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

function router(name: string): RegionRouter {
  const seen = { isDrained: false, since: 0n, drifts: new Map(), unowned: [], checks: new Set<string>() };
  return { router: name, driver: 'file', options: { path: `/lists/${name}` }, phase: 'enabled', repair: true, ...seen };
}

const ROUTERS = [router('core1'), router('core2')];

/** The steps of one attempt, each with what its routers answer. */
function openAttempt() {
  const pushes = new AttemptPushes();
  return (push: PushRouter) => pushes.step(ROUTERS, push, 30_000, createManualClock());
}

const confirmed: PushRouter = async ({ router: name }) => ({
  outcome: { router: name, result: 'confirmed', untouched: false, milliseconds: 1 },
});
const sliced: PushRouter = async ({ router: name }) => ({ router: name, done: 10 });

const storeIsAway: PushRouter = async (one) => {
  if (one.router === 'core2') throw new StoreUnavailable('the store is away');
  return confirmed(one);
};

test('a push that could not be made, as the store was away, is made when the step is taken again', async () => {
  const step = openAttempt();
  assert.is((await step(sliced))?.sliced.length, 2);
  try {
    await step(storeIsAway);
    assert.unreachable('a step whose push could not be made has failed');
  } catch (error) {
    assert.instance(error, StoreUnavailable);
  }
  const asked: string[] = [];
  const again = await step(async (one) => {
    asked.push(one.router);
    return confirmed(one);
  });
  assert.equal(asked, ['core2'], 'the one that has given its outcome is not asked again');
  assert.equal(
    again?.outcomes.map(({ router: name, result }) => `${name} ${result}`),
    ['core1 confirmed', 'core2 confirmed'],
  );
});

test.run();
