import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { applyScaling, scale } from '../../../src/application/worker-pools/apply-scaling.ts';
import { activeSlots } from '../../../src/commands/worker-pools/pool-state.ts';
import type { ScalingDecision } from '../../../src/domain/worker-pools/scaling/decision.ts';
import { editPool, ensurePool } from '../../../src/application/worker-pools/pools.ts';
import { StoreUnavailable } from '../../../src/ports/event-store.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { failingAppends } from '../../support/stores/failing-appends.ts';
import { openTestApplication } from '../../support/test-application.ts';
import { accepted, foundPool } from '../../support/worker-pools/records.ts';

const limits = { max_active_instances: 5, target_max_seconds_per_month: null, max_idle_seconds: 3600 };

function launching(count: number): ScalingDecision {
  const launch = { pool: 'spot', scope: 'debian', architecture: 'amd64' as const, count, because: 'a queue' };
  return { launches: [launch], terminations: [], refusals: [] };
}

test('several runs of scaling at once, in processes of their own, never pass max_active_instances', async () => {
  const application = await openTestApplication();
  try {
    await foundPool(application, { limits });
    const outcomes = await Promise.all(
      [3, 3, 3, 3].map((count) =>
        applyScaling(launching(count), ['spot'], application.context, {
          ...application.anotherProcess(),
          ids: application.ids,
          clock: application.clock,
        }),
      ),
    );
    const workers = outcomes.flatMap(({ reserved }) => reserved);
    assert.equal(workers.toSorted(), ['spot-001', 'spot-002', 'spot-003', 'spot-004', 'spot-005']);
    assert.is(activeSlots((await application.workerPools.state('spot')).state).length, 5);
  } finally {
    await application.close();
  }
});

test('a decision is kept with its reasons before it is carried out; a worker without an instance is passed over', async () => {
  const application = await openTestApplication();
  try {
    await foundPool(application, { limits });
    const register = {
      worker: 'spot-001',
      pool: 'spot',
      architectures: ['amd64'] as const,
      at: application.clock.nowText(),
    };
    accepted(
      await application.workers.handle('spot-001', { type: 'RegisterWorker', data: register }, application.context),
    );
    const ending = {
      pool: 'spot',
      worker: 'spot-001',
      afterTask: false,
      code: 'idle' as const,
      because: 'idle for long',
    };
    const refusal = { scope: 'debian', architecture: 's390x' as const, unmet: 1, because: 'no pool supports it' };
    const decision: ScalingDecision = {
      ...launching(1),
      terminations: [ending],
      refusals: [{ ...refusal, pool: null, code: 'no-pool' }],
    };
    const done = await applyScaling(decision, ['spot'], application.context, application);
    assert.equal(done, { reserved: ['spot-001'], ending: [] });
    await application.catchUp();
    const view = await application.views.workerPools.get('spot');
    assert.equal(
      view?.decision?.launches.map(({ because }) => because),
      ['a queue'],
    );
    assert.equal(
      view?.decision?.terminations.map(({ because }) => because),
      ['idle for long'],
    );
    assert.is((await application.views.scopes.get('debian'))?.refused['s390x']?.because, 'no pool supports it');
  } finally {
    await application.close();
  }
});

test('a pool whose records fail keeps no other from its places and its ends, and the failure is told', async () => {
  const failing = failingAppends('admin:test');
  const application = await openTestApplication(createManualClock(), failing.between);
  try {
    await foundPool(application, { limits });
    const { record } = (await application.workerPools.state('spot')).state;
    assert.ok(record);
    const { name: _name, ...given } = record;
    accepted(await ensurePool('east', given, { dryRun: false }, application.context, application));
    const [of = { pool: '', scope: '', architecture: 'amd64', count: 0, because: '' }] = launching(1).launches;
    const decision: ScalingDecision = {
      launches: [of, { ...of, pool: 'east' }],
      terminations: [],
      refusals: [],
    };
    failing.next(1);
    const error = await applyScaling(decision, ['spot', 'east'], application.context, application).catch(
      (thrown: unknown) => thrown,
    );
    assert.instance(error, StoreUnavailable);
    const places = async (pool: string) => activeSlots((await application.workerPools.state(pool)).state).length;
    assert.is(await places('spot'), 0);
    assert.is(await places('east'), 1);
  } finally {
    await application.close();
  }
});

test('an ephemeral worker that has run its one task is ended and no capacity, whatever its pool says by then', async () => {
  const application = await openTestApplication();
  try {
    const { workers, workerPools, clock, context } = application;
    await foundPool(application, { limits, ephemeral: true });
    const at = clock.nowText();
    const run = 'run-1';
    const reserved = { runs: [run], because: 'asked', at, partly: false };
    accepted(await workerPools.handle('spot', { type: 'ReserveInstances', data: reserved }, context));
    const tell = async (command: Parameters<typeof workers.handle>[1]): Promise<void> =>
      void accepted(await workers.handle('spot-001', command, context));
    const architectures = ['amd64'] as const;
    await tell({ type: 'RegisterWorker', data: { worker: 'spot-001', pool: 'spot', architectures, at } });
    const asked = { run, providerAccount: 'hcloud', architectures, activationSha256: 'a'.repeat(64), at };
    await tell({ type: 'RequestLaunch', data: { ...asked, ephemeral: true, because: 'asked' } });
    await tell({ type: 'RecordInstanceCreated', data: { run, instanceCreatedAt: at, workerPoolData: {} } });
    await tell({ type: 'RecordWorkerConnected', data: { run, dynamicMetadata: {}, at } });
    await tell({ type: 'StartTask', data: { task: 't', scope: 'debian', expectedSeconds: 60, at } });
    accepted(await editPool('spot', { ephemeral: false }, { dryRun: false }, context, application));
    const queue = [{ scope: 'debian', architecture: 'amd64', count: 1, expectedSeconds: 60 }] as const;
    const times = { bootSeconds: 60, bootTimeoutSeconds: 1_800, dryRun: true };
    const busy = (await scale(queue, times, context, application)).decision;
    assert.is(busy.launches[0]?.count, 1, 'it will take no other task');
    await tell({ type: 'FinishTask', data: { task: 't', at } });
    const { launches, terminations } = (await scale(queue, times, context, application)).decision;
    assert.is(launches[0]?.count, 1);
    assert.equal(
      terminations.map(({ worker, code }) => [worker, code]),
      [['spot-001', 'ephemeral-done']],
    );
  } finally {
    await application.close();
  }
});

test.run();
