import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ensureAsset } from '../../../src/application/worker-pools/assets.ts';
import { deletePool, editPool } from '../../../src/application/worker-pools/pools.ts';
import type { AssetRecord } from '../../../src/events/worker-pools/asset-records.ts';
import type { WorkerPoolEvent } from '../../../src/events/worker-pools/worker-pool.ts';
import type { WorkerEvent } from '../../../src/events/worker-pools/worker.ts';
import { DutyQueue } from '../../../src/processes/duty-queue.ts';
import { type InstanceDuty, instanceLifecycle } from '../../../src/processes/worker-pools/instance-lifecycle.ts';
import { poolMonthMilliseconds } from '../../../src/projections/worker-pools/pool-usage-view.ts';
import { foldViews, recordedInOrder, specifyProcess } from '../../specification.ts';
import { createDummyCloud, type DummyCloud } from '../../support/worker-pools/dummy-cloud.ts';
import { openTestApplication, type TestApplication } from '../../support/test-application.ts';
import {
  type InstanceRunner,
  openInstanceRunner,
  type RunnerTools,
} from '../../support/worker-pools/instance-runner.ts';
import { accepted, foundPool } from '../../support/worker-pools/records.ts';

type Watched =
  | Extract<WorkerPoolEvent, { type: 'InstanceReserved' | 'InstanceReleased' | 'WorkerPoolDeleted' }>
  | Extract<
      WorkerEvent,
      {
        type:
          | 'InstanceLaunchRequested'
          | 'InstanceCreated'
          | 'InstanceLaunchFailed'
          | 'TaskStarted'
          | 'TaskFinished'
          | 'InstanceTerminationRequested'
          | 'InstanceTerminated';
      }
    >;

const AT = '2026-11-27T20:50:00.000+00:00';
const run = { worker: 'spot-001', pool: 'spot', run: 'a' } as const;
const ofAccount = { ...run, account: 'hcloud' } as const;

const reserved: Watched = { type: 'InstanceReserved', data: { ...run, number: 1, because: 'asked', reservedAt: AT } };
const requested: Watched = {
  type: 'InstanceLaunchRequested',
  data: {
    ...run,
    providerAccount: 'hcloud',
    architectures: ['amd64'],
    activationSha256: 'x',
    because: 'asked',
    requestedAt: AT,
  },
};
const created: Watched = { type: 'InstanceCreated', data: { ...run, instanceCreatedAt: AT, workerPoolData: {} } };
const started: Watched = {
  type: 'TaskStarted',
  data: { ...run, task: 't', scope: 'debian', expectedSeconds: 1, startedAt: AT },
};
const finished: Watched = {
  type: 'TaskFinished',
  data: { ...run, task: 't', scope: 'debian', outcome: 'finished', startedAt: AT, finishedAt: AT },
};
const gone: Watched = {
  type: 'InstanceTerminated',
  data: { ...run, instanceCreatedAt: AT, terminatedAt: AT, because: 'idle' },
};
const deleted: Watched = { type: 'WorkerPoolDeleted', data: { pool: 'spot', scopes: [], running: ['spot-001'] } };

function ending(forced: boolean): Watched {
  const why = { code: 'idle', because: 'idle', forced, requestedAt: AT };
  return { type: 'InstanceTerminationRequested', data: { ...run, ...why } };
}

function given(...events: readonly Watched[]) {
  return specifyProcess(instanceLifecycle).given(...recordedInOrder(events, AT, 1, 'worker-spot-001'));
}

test('a reserved place becomes a request, the request an instance', () => {
  given(reserved)
    .at(AT)
    .owes({ type: 'RequestLaunch', data: { ...run, account: null, because: 'asked' } });
  given(reserved, requested).at(AT).owes({ type: 'CreateInstance', data: ofAccount });
  given(reserved, requested, created).at(AT).owesNothing();
});

test('an instance is ended when that was asked for and its task has ended, or at once by force', () => {
  const terminate = { type: 'TerminateInstance', data: { ...ofAccount, because: 'idle' } } as const;
  given(reserved, requested, created, ending(false)).at(AT).owes(terminate);
  given(reserved, requested, created, started, ending(false)).at(AT).owesNothing();
  given(reserved, requested, created, started, ending(false), finished).at(AT).owes(terminate);
  given(reserved, requested, created, started, ending(true)).at(AT).owes(terminate);
});

test('an instance that is wanted gone before it was created is created first: nobody knows whether it exists', () => {
  given(reserved, requested, ending(false)).at(AT).owes({ type: 'CreateInstance', data: ofAccount });
});

test('what is over gives its place back, and then is forgotten', () => {
  const released: Watched = {
    type: 'InstanceReleased',
    data: { ...run, number: 1, outcome: 'terminated', releasedAt: AT },
  };
  const history = [reserved, requested, created, ending(false), gone];
  given(...history)
    .at(AT)
    .owes({ type: 'ReleaseInstance', data: { ...ofAccount, outcome: 'terminated', failure: null } });
  given(...history, released).isOver();
  const failed: Watched = { type: 'InstanceLaunchFailed', data: { ...run, code: 'x', because: 'x', failedAt: AT } };
  given(reserved, requested, failed)
    .at(AT)
    .owes({
      type: 'ReleaseInstance',
      data: { ...ofAccount, outcome: 'launch-failed', failure: { code: 'x', because: 'x' } },
    });
});

function owed(...events: readonly Watched[]): readonly InstanceDuty[] {
  const states = foldViews(instanceLifecycle, recordedInOrder(events, AT, 1, 'worker-spot-001'));
  return [...states.values()].flatMap((state) => instanceLifecycle.owed(state, () => 0));
}

test('a place whose pool is deleted is given back only after what was begun for it has ended', () => {
  const queue = new DutyQueue<InstanceDuty>({ clock: { monotonicMilliseconds: () => 0 }, concurrency: 10 });
  const [begun] = owed(reserved);
  const [released] = owed(reserved, deleted);
  assert.ok(begun && released);
  const performed: string[] = [];
  const perform = (type: string) => (): Promise<void> => {
    performed.push(type);
    return new Promise(() => undefined);
  };
  for (const duty of [begun, released]) queue.start('spot-001', duty, perform(duty.type), () => undefined);
  assert.equal(performed, ['RequestLaunch'], 'a launch that is requested after its place was given back is nobody’s');
});

test('a pool deleted by force ends what runs, and what has not begun gives its place back', () => {
  given(reserved, requested, created, deleted).at(AT).owes({ type: 'EndForDeletion', data: ofAccount });
  given(reserved, deleted)
    .at(AT)
    .owes({
      type: 'ReleaseInstance',
      data: {
        ...run,
        account: null,
        outcome: 'launch-failed',
        failure: { code: 'pool-deleted', because: 'the worker pool was deleted' },
      },
    });
});

// With real streams, views and secrets, and a provider in memory

/** One server's provisioning each, as long as it runs. */
const runners = new WeakMap<RunnerTools, InstanceRunner>();

async function settle(
  application: TestApplication,
  cloud: DummyCloud,
  tools: RunnerTools = application,
): Promise<void> {
  const runner = runners.get(tools) ?? openInstanceRunner(application, cloud, tools);
  runners.set(tools, runner);
  await runner.settle();
}

async function reserve(application: TestApplication, runs: readonly string[]): Promise<void> {
  const data = { runs, because: 'asked', at: application.clock.nowText(), partly: false };
  accepted(await application.workerPools.handle('spot', { type: 'ReserveInstances', data }, application.context));
}

async function askForEnd(application: TestApplication, worker: string): Promise<void> {
  const data = { code: 'asked', because: 'asked', forced: false, at: application.clock.nowText() };
  accepted(await application.workers.handle(worker, { type: 'RequestTermination', data }, application.context));
}

async function withApplication(
  work: (application: TestApplication, cloud: DummyCloud) => Promise<void>,
): Promise<void> {
  const application = await openTestApplication();
  try {
    const cloud = createDummyCloud(application.clock);
    await foundPool(application);
    await work(application, cloud);
    assert.is(cloud.openCount(), 0, 'every account that was opened is closed');
  } finally {
    await application.close();
  }
}

async function usedSeconds(application: TestApplication): Promise<number> {
  await application.catchUp();
  const view = await application.views.poolUsage.get('spot');
  return poolMonthMilliseconds(view, '2026-11', application.clock.now().epochMilliseconds) / 1000;
}

test('an instance is created, accounted from its creation, ended, accounted once, and its worker used again', () =>
  withApplication(async (application, cloud) => {
    await reserve(application, ['a', 'b']);
    await settle(application, cloud);
    assert.equal(
      cloud.instances().map((instance) => instance.run),
      ['a', 'b'],
    );
    assert.match(cloud.requests()[0]!.userData[0]!, '"hostname": "spot-001"');
    await application.clock.advance({ hours: 1 });
    assert.is(await usedSeconds(application), 7200);
    await askForEnd(application, 'spot-001');
    await settle(application, cloud);
    assert.equal(
      cloud.instances().map((instance) => instance.run),
      ['b'],
    );
    await application.clock.advance({ hours: 1 });
    assert.is(await usedSeconds(application), 3600 + 7200);
    await reserve(application, ['c']);
    await settle(application, cloud);
    const view = await application.views.workers.get('spot-001');
    await application.catchUp();
    assert.is((await application.views.workers.get('spot-001'))?.run, 'c');
    assert.is((await application.views.workers.get('spot-001'))?.registeredAt, view?.registeredAt);
  }));

test('a termination that fails and is tried again and again is one account', () =>
  withApplication(async (application, cloud) => {
    await reserve(application, ['a']);
    await settle(application, cloud);
    await application.clock.advance({ minutes: 10 });
    await askForEnd(application, 'spot-001');
    cloud.fail(
      { call: 'terminate', code: 'unreachable' },
      { call: 'terminate', code: 'outcome-unknown', after: true },
      { call: 'terminate', code: 'timed-out' },
    );
    for (let tries = 1; tries <= 3; tries += 1) {
      await settle(application, cloud).then(
        () => assert.unreachable('it was to fail'),
        () => undefined,
      );
    }
    await settle(application, cloud);
    assert.is(cloud.calls()['terminate'], 4);
    assert.is(await usedSeconds(application), 600);
    await application.clock.advance({ hours: 5 });
    assert.is(await usedSeconds(application), 600);
  }));

test('an instance whose creation was answered by nobody is found again, not created twice', () =>
  withApplication(async (application, cloud) => {
    await reserve(application, ['a']);
    cloud.fail({ call: 'create', code: 'outcome-unknown', after: true });
    await settle(application, cloud).then(
      () => assert.unreachable('it was to fail'),
      () => undefined,
    );
    const createdAt = application.clock.nowText();
    await application.clock.advance({ minutes: 3 });
    await settle(application, cloud);
    assert.is(cloud.createdCount(), 1);
    await application.catchUp();
    assert.is((await application.views.workers.get('spot-001'))?.instanceCreatedAt, createdAt);
    assert.is(await usedSeconds(application), 180);
  }));

test('a launch that the provider refuses is recorded with its reason and gives its place back', () =>
  withApplication(async (application, cloud) => {
    await reserve(application, ['a']);
    cloud.fail({ call: 'create', code: 'no-capacity' });
    await settle(application, cloud);
    await application.catchUp();
    const worker = await application.views.workers.get('spot-001');
    assert.is(worker?.phase, 'stopped');
    assert.is(worker?.failure?.code, 'no-capacity');
    assert.equal((await application.views.workerPools.get('spot'))?.active, []);
    assert.is(await usedSeconds(application), 0);
  }));

test('after the patience with an uncertain launch, what the provider lists is what counts', () =>
  withApplication(async (application, cloud) => {
    const unreachable = { call: 'create', code: 'unreachable' } as const;
    for (const [wanted, isCreated] of [
      ['a', false],
      ['b', true],
    ] as const) {
      await reserve(application, [wanted]);
      // A clock that is set forward is no patience.
      for (const { seconds } of [{ seconds: 0 }, { seconds: 7_200 }]) {
        application.clock.setWallClock(application.clock.now().add({ seconds }));
        cloud.fail(isCreated ? { ...unreachable, after: true } : unreachable);
        await settle(application, cloud).then(
          () => assert.unreachable('it was to fail'),
          () => undefined,
        );
      }
      await application.clock.advance({ minutes: 11 });
      await settle(application, cloud);
      await application.catchUp();
      const worker = await application.views.workers.get('spot-001');
      if (isCreated) assert.is(worker?.phase, 'booting');
      else assert.is(worker?.failure?.code, 'unreachable');
    }
    assert.is(cloud.instances().length, 1);
  }));

test('a running task holds its instance until it has ended', () =>
  withApplication(async (application, cloud) => {
    await reserve(application, ['a']);
    await settle(application, cloud);
    const at = () => application.clock.nowText();
    const connect = {
      type: 'RecordWorkerConnected',
      data: { run: 'a', dynamicMetadata: { cpus: 4 }, at: at() },
    } as const;
    accepted(await application.workers.handle('spot-001', connect, application.context));
    const task = { type: 'StartTask', data: { task: 't', scope: 'debian', expectedSeconds: 60, at: at() } } as const;
    accepted(await application.workers.handle('spot-001', task, application.context));
    await askForEnd(application, 'spot-001');
    await settle(application, cloud);
    assert.is(cloud.instances().length, 1);
    accepted(
      await application.workers.handle(
        'spot-001',
        { type: 'FinishTask', data: { task: 't', at: at() } },
        application.context,
      ),
    );
    await settle(application, cloud);
    assert.is(cloud.instances().length, 0);
  }));

test('a pool deleted by force ends everything and leaves no secret of its runs', () =>
  withApplication(async (application, cloud) => {
    await reserve(application, ['a', 'b']);
    await settle(application, cloud);
    assert.is(application.secretIds().filter((id) => id.startsWith('activation-')).length, 2);
    const answer = accepted(await deletePool('spot', { force: true }, application.context, application));
    assert.equal(answer, { scopes: ['debian'], ending: ['spot-001', 'spot-002'] });
    await settle(application, cloud);
    assert.is(cloud.instances().length, 0);
    assert.equal(
      (await application.workerPools.state('spot')).state.slots.filter(({ isActive }) => isActive),
      [],
    );
    assert.equal(
      application.secretIds().filter((id) => id.startsWith('activation-')),
      [],
    );
    assert.equal((await application.scopes.state('debian')).state.pools, {});
  }));

test('an instance is ended with the account that created it, whatever the pool says by then', () =>
  withApplication(async (application, cloud) => {
    await reserve(application, ['a']);
    await settle(application, cloud);
    const other: AssetRecord = {
      category: 'cloud-provider-account',
      name: 'hcloud-2',
      provider_type: 'hetzner',
      configuration: {},
      credential_names: ['api_token'],
    };
    const asset = { record: other, credentials: { api_token: 'hunter3' } };
    accepted(await ensureAsset(asset, application.context, application));
    const changes = { provider_account: 'hcloud-2' };
    accepted(await editPool('spot', changes, { dryRun: false }, application.context, application));
    await askForEnd(application, 'spot-001');
    await settle(application, cloud);
    await reserve(application, ['b']);
    await settle(application, cloud);
    assert.equal(cloud.accounts(), ['hcloud', 'hcloud', 'hcloud-2']);
  }));

test('a crash before or after any step loses nothing and does nothing twice', async () => {
  for (let crashAt = 1; ; crashAt += 1) {
    const application = await openTestApplication();
    try {
      const cloud = createDummyCloud(application.clock);
      await foundPool(application);
      await reserve(application, ['a']);
      const crashed = await settle(application, cloud, crashing(application, crashAt)).then(
        () => false,
        () => true,
      );
      // Another process takes over.
      await settle(application, cloud, { ...application, ...application.anotherProcess() });
      assert.is(cloud.createdCount(), 1, `crash ${crashAt}`);
      await askForEnd(application, 'spot-001');
      await settle(application, cloud, crashing(application, crashAt)).catch(() => undefined);
      await settle(application, cloud, { ...application, ...application.anotherProcess() });
      assert.is(cloud.instances().length, 0);
      assert.equal(await openInstanceRunner(application, cloud).states(), []);
      assert.equal(
        application.secretIds().filter((id) => id.startsWith('activation-')),
        [],
      );
      if (!crashed) {
        assert.ok(crashAt > 5, 'several crashes were tried');
        return;
      }
    } finally {
      await application.close();
    }
  }
});

/** Tools of a process that dies at its n-th change: for odd n before it is made, for even n after it. */
function crashing(application: TestApplication, crashAt: number): RunnerTools {
  let changes = 0;
  const { workerPools, workers, assets, providerAccounts } = application.anotherProcess();
  async function change<T>(work: () => Promise<T>): Promise<T> {
    changes += 1;
    const dies = changes === Math.ceil(crashAt / 2);
    if (dies && crashAt % 2 === 1) throw new Error('crashed before a change');
    const done = await work();
    if (dies) throw new Error('crashed after a change');
    return done;
  }
  return {
    assets,
    providerAccounts,
    workerPools: { ...workerPools, handle: (...args) => change(() => workerPools.handle(...args)) },
    workers: { ...workers, handle: (...args) => change(() => workers.handle(...args)) },
    secrets: {
      ...application.secrets,
      put: (id, value) => change(() => application.secrets.put(id, value)),
      remove: (id) => change(() => application.secrets.remove(id)),
    },
  };
}

test.run();
