import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ensureAsset } from '../../src/application/worker-pools/assets.ts';
import { ensurePool } from '../../src/application/worker-pools/pools.ts';
import { submitWork } from '../../src/application/worker-pools/work-requests.ts';
import { launchWorkers } from '../../src/application/worker-pools/workers.ts';
import type { AssetRecord } from '../../src/events/worker-pools/asset-records.ts';
import type { OpenCloud } from '../../src/ports/clouds.ts';
import type { EventStore } from '../../src/ports/event-store.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { failingAppends } from '../support/stores/failing-appends.ts';
import { openTestApplication, type TestApplication } from '../support/test-application.ts';
import { createDummyCloud, type DummyCloud } from '../support/worker-pools/dummy-cloud.ts';
import { type PoolServer, startPoolServer } from '../support/worker-pools/pool-server.ts';
import { accepted, foundPool } from '../support/worker-pools/records.ts';

type Scene = Readonly<{ application: TestApplication; server: PoolServer; cloud: DummyCloud; other: DummyCloud }>;

const LIMITS = { max_active_instances: 30, target_max_seconds_per_month: null, max_idle_seconds: 600 };

type Between = (store: EventStore) => EventStore;

/** A pool `spot` of the account `hcloud`, and `east` of `other`, at providers of their own; a server runs them. */
async function withServer(work: (scene: Scene) => Promise<void>, between?: Between): Promise<void> {
  const application = await openTestApplication(createManualClock(), between);
  try {
    const [cloud, other] = [createDummyCloud(application.clock), createDummyCloud(application.clock)];
    await foundPool(application, { limits: LIMITS });
    await foundOther(application);
    const openCloud: OpenCloud = (account) => (account.name === 'other' ? other : cloud).openCloud(account);
    const server = await startPoolServer(application, openCloud);
    try {
      await work({ application, server, cloud, other });
    } finally {
      other.answer();
      await server.kill();
    }
  } finally {
    await application.close();
  }
}

async function foundOther(application: TestApplication): Promise<void> {
  const record: AssetRecord = {
    category: 'cloud-provider-account',
    name: 'other',
    provider_type: 'hetzner',
    configuration: {},
    credential_names: ['api_token'],
  };
  const asset = { record, credentials: { api_token: 'hunter3' } };
  accepted(await ensureAsset(asset, application.context, application));
  const { specifications, architectures } = (await application.workerPools.state('spot')).state.record ?? {};
  assert.ok(specifications && architectures);
  const given = { provider_account: 'other', specifications, architectures, limits: LIMITS };
  accepted(await ensurePool('east', given, { dryRun: false }, application.context, application));
}

async function connect(application: TestApplication, worker: string): Promise<void> {
  const run = (await application.workers.state(worker)).state.lastRun ?? null;
  const data = { run, dynamicMetadata: {}, at: application.clock.nowText() };
  accepted(await application.workers.handle(worker, { type: 'RecordWorkerConnected', data }, application.context));
}

test('without any command, what idles and what never gets ready is ended', () =>
  withServer(async ({ application, server, cloud }) => {
    accepted(await launchWorkers('spot', 2, application.context, application));
    await server.pass(5);
    assert.is(cloud.instances().length, 2);
    await connect(application, 'spot-001');
    await server.pass(660, 30);
    assert.equal(
      cloud.instances().map(({ worker }) => worker),
      ['spot-002'],
    );
    await server.pass(1_260, 30);
    assert.equal(cloud.instances(), []);
    const failures = (await server.aggregates.workerPools.state('spot')).state.failures;
    assert.is(failures?.code, 'boot-timed-out', 'one that never got ready is a failed launch');
    const decision = (await server.views.workerPools.get('spot'))?.decision;
    assert.equal(
      [decision?.launches, decision?.terminations, decision?.nothing?.code],
      [[], [], 'nothing-pending'],
      'the newest decision is shown with its reason, though nothing is done',
    );
  }));

test('an instance of which the provider tells late has no longer to get ready than any other', () =>
  withServer(async ({ application, server, cloud }) => {
    const notDone = { call: 'create', code: 'timed-out' } as const;
    cloud.fail(notDone, ...Array.from({ length: 9 }, () => ({ ...notDone, after: true }) as const));
    accepted(await launchWorkers('spot', 1, application.context, application));
    await server.pass(240, 5);
    const createdInTheLog = async () => (await server.aggregates.workers.state('spot-001')).state.instance?.created;
    assert.is(await createdInTheLog(), undefined, 'four minutes later it is not in the log yet');
    assert.is(cloud.instances().length, 1);
    await server.pass(60, 5);
    assert.ok(await createdInTheLog());
    await server.pass(1_470, 30);
    assert.is(cloud.instances().length, 1);
    await server.pass(120, 30);
    assert.equal(cloud.instances(), []);
  }));

test('a decision of which records fail is made again in a moment, not in the next round', () => {
  const failing = failingAppends('system:scaling');
  return withServer(async ({ application, server, cloud }) => {
    accepted(await launchWorkers('spot', 1, application.context, application));
    await server.pass(5);
    await connect(application, 'spot-001');
    await server.pass(590, 10);
    failing.next(3);
    await server.pass(90, 5);
    assert.is(failing.left(), 0);
    assert.equal(cloud.instances(), []);
  }, failing.between);
});

test('set back an hour, the wall clock keeps no idle instance longer', () =>
  withServer(async ({ application, server, cloud }) => {
    accepted(await launchWorkers('spot', 1, application.context, application));
    await server.pass(5);
    await connect(application, 'spot-001');
    await server.pass(60, 5);
    application.clock.setWallClock(application.clock.now().subtract({ hours: 1 }));
    await server.pass(480, 30);
    assert.is(cloud.instances().length, 1);
    await server.pass(180, 30);
    assert.equal(cloud.instances(), []);
  }));

test('set forward an hour, it ends none that boots, and none that has just become idle', () =>
  withServer(async ({ application, server, cloud }) => {
    const setForward = (): void => application.clock.setWallClock(application.clock.now().add({ hours: 1 }));
    accepted(await launchWorkers('spot', 2, application.context, application));
    await server.pass(5);
    setForward();
    await server.pass(120, 5);
    assert.is(cloud.instances().length, 2);
    await connect(application, 'spot-001');
    setForward();
    await server.pass(480, 30);
    assert.is(cloud.instances().length, 2);
    assert.is((await server.aggregates.workerPools.state('spot')).state.failures, undefined);
  }));

test('set back an hour, it keeps no pool from launching after a failure for longer than its rest', () =>
  withServer(async ({ application, server, cloud }) => {
    cloud.fail({ call: 'create', code: 'no-capacity' });
    accepted(await launchWorkers('spot', 1, application.context, application));
    await server.pass(10);
    assert.is((await server.aggregates.workerPools.state('spot')).state.failures?.code, 'no-capacity');
    application.clock.setWallClock(application.clock.now().subtract({ hours: 1 }));
    const work = { scope: 'debian', architecture: 'amd64', pool: 'spot', payload: null, expectedSeconds: 600 } as const;
    accepted(await submitWork(work, application.context, application));
    await server.pass(120, 10);
    assert.is(cloud.instances().length, 0);
    await server.pass(120, 10);
    assert.is(cloud.instances().length, 1);
  }));

test('a provider that hangs has as many calls as its lane, and delays no other account', () =>
  withServer(async ({ application, server, cloud, other }) => {
    other.hang('create');
    other.hang('list');
    accepted(await launchWorkers('east', 20, application.context, application));
    accepted(await launchWorkers('spot', 8, application.context, application));
    await server.pass(90, 5);
    assert.is(other.calls()['create'], 4);
    assert.is(cloud.instances().length, 8);
    assert.ok((cloud.calls()['list'] ?? 0) >= 2, 'the account that answers is compared with the log');
    other.answer();
    await server.pass(30);
    assert.is(other.instances().length, 20);
  }));

test('what the provider takes away is noticed, closed and its place freed', () =>
  withServer(async ({ application, server, cloud }) => {
    accepted(await launchWorkers('spot', 1, application.context, application));
    await server.pass(60, 5);
    const [instance] = cloud.instances();
    cloud.interrupt(instance?.run ?? '', 'spot capacity was reclaimed');
    await server.pass(70, 5);
    assert.is((await server.views.workers.get('spot-001'))?.phase, 'stopped');
    assert.equal((await server.views.workerPools.get('spot'))?.active, []);
  }));

test.run();
