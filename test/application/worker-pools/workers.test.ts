import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { poolUsage } from '../../../src/application/worker-pools/pool-usage.ts';
import { scale } from '../../../src/application/worker-pools/apply-scaling.ts';
import { deletePool } from '../../../src/application/worker-pools/pools.ts';
import { scalingSnapshot } from '../../../src/application/worker-pools/scaling-snapshot.ts';
import {
  launchWorkers,
  listWorkers,
  showWorker,
  terminateWorker,
} from '../../../src/application/worker-pools/workers.ts';
import type { WorkerCommand } from '../../../src/commands/worker-pools/worker.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { openTestApplication, type TestApplication } from '../../support/test-application.ts';
import { accepted, foundPool } from '../../support/worker-pools/records.ts';

const BOOT = { bootSeconds: 120, bootTimeoutSeconds: 1800 };
const MONTH = '2026-11';

async function withApplication(work: (application: TestApplication) => Promise<void>): Promise<void> {
  const application = await openTestApplication();
  try {
    const limits = { max_active_instances: 2, target_max_seconds_per_month: 36_000, max_idle_seconds: 600 };
    await foundPool(application, { limits });
    await work(application);
  } finally {
    await application.close();
  }
}

/** What the provider and the worker report of a run that was asked for: it is there, and is ready. */
async function boot(application: TestApplication, worker: string): Promise<void> {
  const at = application.clock.nowText();
  const slot = (await application.workerPools.state('spot')).state.slots.find((known) => known.worker === worker);
  const run = slot?.run ?? '';
  const architectures = ['amd64'] as const;
  const launch = { run, providerAccount: 'hcloud', architectures, activationSha256: 'a'.repeat(64), because: 'x', at };
  const commands: readonly WorkerCommand[] = [
    { type: 'RegisterWorker', data: { worker, pool: 'spot', architectures, at } },
    { type: 'RequestLaunch', data: launch },
    { type: 'RecordInstanceCreated', data: { run, instanceCreatedAt: at, workerPoolData: {} } },
    { type: 'RecordWorkerConnected', data: { run, dynamicMetadata: {}, at } },
  ];
  for (const command of commands) accepted(await application.workers.handle(worker, command, application.context));
}

async function startTask(application: TestApplication, worker: string): Promise<void> {
  const data = { task: 't1', scope: 'debian', expectedSeconds: 600, at: application.clock.nowText() };
  accepted(await application.workers.handle(worker, { type: 'StartTask', data }, application.context));
}

test('a launch by hand beyond the month’s target is made, and says so', () =>
  withApplication(async (application) => {
    accepted(await launchWorkers('spot', 1, application.context, application));
    await boot(application, 'spot-001');
    await application.clock.advance({ seconds: 36_000 });
    const { workers, notes } = accepted(await launchWorkers('spot', 1, application.context, application));
    assert.equal(workers, ['spot-002']);
    assert.equal(notes, [
      '36000 seconds of this month are used, limits.target_max_seconds_per_month is 36000: this launch is beyond the target, and the next decision ends what idles',
    ]);
  }));

test('instances are launched by hand all together or not at all', () =>
  withApplication(async (application) => {
    const tooMany = await launchWorkers('spot', 3, application.context, application);
    assert.ok(isRefusal(tooMany) && tooMany.refused === 'max-active-instances-in-use');
    const launched = await launchWorkers('spot', 2, application.context, application);
    assert.equal(launched, { workers: ['spot-001', 'spot-002'], notes: [] });
    const unknown = await launchWorkers('nothing', 1, application.context, application);
    assert.ok(isRefusal(unknown) && unknown.refused === 'worker-pool-not-found');
  }));

test('an instance ends after its task, or by force at once', () =>
  withApplication(async (application) => {
    accepted(await launchWorkers('spot', 1, application.context, application));
    await boot(application, 'spot-001');
    await startTask(application, 'spot-001');
    const end = (forced: boolean) => terminateWorker('spot-001', { forced }, application.context, application);
    assert.equal(await end(false), { changed: true, waitsForTask: 't1' });
    assert.equal(await end(false), { changed: false, waitsForTask: 't1' });
    assert.equal(await end(true), { changed: true, waitsForTask: null });
    const unknown = await terminateWorker('spot-009', { forced: true }, application.context, application);
    assert.ok(isRefusal(unknown) && unknown.refused === 'worker-not-found');
  }));

test('workers are read with how long their instance runs; one that does not exist is not found', () =>
  withApplication(async (application) => {
    accepted(await launchWorkers('spot', 1, application.context, application));
    await boot(application, 'spot-001');
    await application.clock.advance({ seconds: 90 });
    const shown = accepted(await showWorker('spot-001', application));
    assert.is(shown.runtimeSeconds, 90);
    assert.equal(await listWorkers({}, application), [shown]);
    assert.equal(await listWorkers({ pool: 'spot' }, application), [shown]);
    assert.equal(await listWorkers({ pool: 'other' }, application), []);
    const because = 'worker spot-009 not found.';
    assert.equal(await showWorker('spot-009', application), { refused: 'not-found', because, field: 'worker' });
  }));

test('scaling looks at every worker: one that boots, one that is busy, and a place that was just reserved', () =>
  withApplication(async (application) => {
    accepted(await launchWorkers('spot', 2, application.context, application));
    await boot(application, 'spot-001');
    await startTask(application, 'spot-001');
    await application.clock.advance({ seconds: 60 });
    const { pools, scopes, workers, nowMilliseconds } = await scalingSnapshot([], BOOT, application);
    assert.is(pools[0]?.usedSeconds, 60);
    assert.equal(
      scopes.map(({ name, pools: used }) => [name, used.map(({ pool }) => pool)]),
      [['debian', ['spot']]],
    );
    assert.equal(
      workers.map(({ name, activity }) => [name, activity]),
      [
        ['spot-001', { state: 'busy', scope: 'debian', remainingSeconds: 540, draining: false }],
        ['spot-002', { state: 'booting', since: nowMilliseconds - 60_000 }],
      ],
    );
  }));

test('a queue is decided on and the decision applied; a dry run decides the same and applies nothing', () =>
  withApplication(async (application) => {
    const queue = [{ scope: 'debian', architecture: 'amd64' as const, count: 4, expectedSeconds: 3_600 }];
    const dry = await scale(queue, { ...BOOT, dryRun: true }, application.context, application);
    assert.equal(dry.applied, { reserved: [], ending: [] });
    assert.equal((await application.workerPools.state('spot')).state.slots, []);
    const done = await scale(queue, { ...BOOT, dryRun: false }, application.context, application);
    assert.equal(done.decision, dry.decision);
    assert.equal(done.applied, { reserved: ['spot-001', 'spot-002'], ending: [] });
  }));

test('a month’s account counts running instances up to now, and stays when the pool is gone', () =>
  withApplication(async (application) => {
    accepted(await launchWorkers('spot', 1, application.context, application));
    await boot(application, 'spot-001');
    await startTask(application, 'spot-001');
    await application.clock.advance({ hours: 1 });
    const { scopes, ...account } = accepted(await poolUsage('spot', MONTH, application));
    assert.is(account.running_instances, 1);
    assert.is(account.used_seconds, 3_600);
    assert.is(account.target_max_seconds_per_month, 36_000);
    assert.ok((account.projected_seconds ?? 0) > 3_600);
    assert.equal(
      scopes.map(({ scope, used_seconds }) => [scope, used_seconds]),
      [['debian', 3_600]],
    );
    accepted(await deletePool('spot', { force: true }, application.context, application));
    assert.is(accepted(await poolUsage('spot', MONTH, application)).used_seconds, 3_600);
    const unknown = await poolUsage('nothing', MONTH, application);
    assert.ok(isRefusal(unknown) && unknown.refused === 'not-found');
  }));

test.run();
