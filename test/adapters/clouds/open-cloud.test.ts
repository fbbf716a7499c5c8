import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CLOUD_DRIVERS, createOpenCloud } from '../../../src/adapters/clouds/open-cloud.ts';
import { type CloudDriver, CloudFailure } from '../../../src/ports/clouds.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { createDummyCloud, type DummyCloud } from '../../support/worker-pools/dummy-cloud.ts';

const signal = new AbortController().signal;
const account = { name: 'one', providerType: 'dummy', configuration: {}, credentials: { api_token: 't' } };
const BRIEF = { create: 300, terminate: 300, list: 300, inspect: 300, removeLeftovers: 300, check: 300 };
const request = {
  installation: 'here',
  pool: 'spot',
  worker: 'spot-001',
  run: 'run-1',
  specifications: { provider_type: 'dummy' },
  userData: [],
};

function driverOf({ openCloud }: DummyCloud): CloudDriver {
  const [any] = CLOUD_DRIVERS;
  if (any === undefined) throw new Error('there are drivers');
  return { ...any, providerType: 'dummy', open: openCloud };
}

async function failureOf(work: Promise<unknown>): Promise<CloudFailure> {
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure instanceof CloudFailure) return failure;
  throw new Error(`not a CloudFailure: ${String(failure)}`);
}

test('a provider without a driver is told by its name', () => {
  const openCloud = createOpenCloud();
  assert.throws(
    () => openCloud({ ...account, providerType: 'toString' }),
    (error: unknown) => error instanceof CloudFailure && error.code === 'no-driver',
  );
});

test('an account that lacks a field is refused before anything is asked, without its values', () => {
  const openCloud = createOpenCloud();
  const wrong = { ...account, providerType: 'aws', credentials: { access_key_id: 'hunter2' } };
  assert.throws(
    () => openCloud(wrong),
    (error: unknown) =>
      error instanceof CloudFailure &&
      error.code === 'bad-account' &&
      error.message.includes('credentials.secret_access_key is required') &&
      !error.message.includes('hunter2'),
  );
});

test('an account has four calls under way, however often it is opened; another account is another lane', async () => {
  const dummy = createDummyCloud(createManualClock());
  const openCloud = createOpenCloud([driverOf(dummy)]);
  dummy.hang('create');
  const creating = Array.from({ length: 6 }, (_, index) =>
    openCloud(account).create({ ...request, run: `run-${index}` }, signal),
  );
  assert.equal(await openCloud({ ...account, name: 'two' }).list('here', signal), []);
  assert.is(dummy.calls()['create'], 4);
  dummy.answer();
  await Promise.all(creating);
  assert.is(dummy.instances().length, 6);
});

test('a call that hangs ends at its bound as uncertain; one that did not get its turn by then was not made', async () => {
  const dummy = createDummyCloud(createManualClock());
  const openCloud = createOpenCloud([driverOf(dummy)], { ...BRIEF, list: 50 });
  // A real call has a socket, which keeps the process; the dummy has nothing.
  const alive = setInterval(() => undefined, 1_000);
  dummy.hang('create');
  const hanging = Array.from({ length: 4 }, () => failureOf(openCloud(account).create(request, signal)));
  const { code, kind } = await failureOf(openCloud(account).list('here', signal));
  assert.equal([code, kind], ['throttled', 'later']);
  const failures = await Promise.all(hanging);
  clearInterval(alive);
  for (const failure of failures) assert.equal([failure.code, failure.kind], ['timed-out', 'uncertain']);
});

test('who stops a call stops it at once, and its turn is another’s', async () => {
  const dummy = createDummyCloud(createManualClock());
  const openCloud = createOpenCloud([driverOf(dummy)]);
  dummy.hang('create');
  const stop = new AbortController();
  const stopped = Array.from({ length: 5 }, () => openCloud(account).create(request, stop.signal));
  stop.abort(new Error('enough'));
  for (const outcome of await Promise.allSettled(stopped)) {
    assert.is(outcome.status, 'rejected');
    if (outcome.status === 'rejected') assert.match(String(outcome.reason), 'enough');
  }
  assert.equal(await openCloud(account).list('here', signal), []);
});

test.run();
