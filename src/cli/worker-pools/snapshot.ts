import { z } from 'zod';
import type { Application } from '../../application/application.ts';
import { launchesFrom } from '../../commands/worker-pools/pool-state.ts';
import { epochMilliseconds } from '../../domain/instants.ts';
import { monthOf } from '../../domain/worker-pools/months.ts';
import type {
  PendingTasks,
  PoolSnapshot,
  ScalingSnapshot,
  ScopeSnapshot,
  WorkerActivity,
  WorkerSnapshot,
} from '../../domain/worker-pools/scaling/snapshot.ts';
import { architecture } from '../../events/worker-pools/architectures.ts';
import { check } from '../../events/worker-pools/document-checks.ts';
import { scopeName } from '../../events/worker-pools/names.ts';
import { poolMonthMilliseconds } from '../../projections/worker-pools/pool-usage-view.ts';
import { scopeMonthMilliseconds } from '../../projections/worker-pools/scope-usage-view.ts';
import type { WorkerView } from '../../projections/worker-pools/worker-view.ts';
import { readDocument } from './documents.ts';
import { problemsFailure } from './print.ts';

const QUEUE_ENTRIES_MAX = 10_000;

const queueDocument = z
  .array(
    z.strictObject({
      scope: scopeName,
      architecture,
      count: z.int().min(0).max(1_000_000),
      expected_seconds: z.number().min(0).max(31_536_000),
    }),
  )
  .max(QUEUE_ENTRIES_MAX);

/** Pending tasks from a file, in the order in which they will be dispatched. @throws CommandFailure usage */
export async function readQueue(source: string): Promise<readonly PendingTasks[]> {
  const checked = check(queueDocument, 'queue', await readDocument('--queue', source));
  if (!checked.ok) throw problemsFailure(checked.problems);
  return checked.value.map(({ expected_seconds: expectedSeconds, ...tasks }) => ({ ...tasks, expectedSeconds }));
}

/** What scaling looks at, as the views have it now. */
export async function scalingSnapshot(
  application: Application,
  queue: readonly PendingTasks[],
  { bootSeconds, bootTimeoutSeconds }: Pick<ScalingSnapshot, 'bootSeconds' | 'bootTimeoutSeconds'>,
): Promise<ScalingSnapshot> {
  const nowMilliseconds = application.clock.now().epochMilliseconds;
  const [pools, scopes, workers] = await Promise.all([
    poolSnapshots(application, nowMilliseconds),
    scopeSnapshots(application, nowMilliseconds),
    workerSnapshots(application, nowMilliseconds),
  ]);
  return { nowMilliseconds, bootSeconds, bootTimeoutSeconds, pools, scopes, workers, queue };
}

async function poolSnapshots({ views, workerPools }: Application, now: number): Promise<readonly PoolSnapshot[]> {
  const pools = await views.workerPools.list();
  return Promise.all(
    pools.map(async ({ key, view: { record } }) => {
      const usage = await views.poolUsage.get(key);
      const from = launchesFrom((await workerPools.state(key)).state, now);
      return {
        name: record.name,
        enabled: record.enabled,
        architectures: record.architectures,
        instanceWide: record.instance_wide,
        ephemeral: record.ephemeral,
        maxActiveInstances: record.limits.max_active_instances,
        targetMaxSecondsPerMonth: record.limits.target_max_seconds_per_month,
        maxIdleSeconds: record.limits.max_idle_seconds,
        usedSeconds: poolMonthMilliseconds(usage, monthOf(now), now) / 1000,
        ...(from === undefined ? {} : { launchesFromMilliseconds: from }),
      };
    }),
  );
}

async function scopeSnapshots({ views }: Application, now: number): Promise<readonly ScopeSnapshot[]> {
  const scopes = await views.scopes.list();
  return Promise.all(
    scopes.map(async ({ key, view }) => {
      const usage = await views.scopeUsage.get(key);
      const pools = Object.entries(view.pools).map(([pool, { priority, limits }]) => ({
        pool,
        priority,
        targetMaxSecondsPerMonth: limits.target_max_seconds_per_month,
        targetLatencySeconds: limits.target_latency_seconds,
        usedSeconds: scopeMonthMilliseconds(usage, pool, monthOf(now), now) / 1000,
      }));
      return { name: view.scope, pools };
    }),
  );
}

/** Reserved places whose worker has no instance yet count as booting: they are on their way. */
async function workerSnapshots({ views }: Application, now: number): Promise<readonly WorkerSnapshot[]> {
  const workers = new Map((await views.workers.list()).map(({ key, view }) => [key, view]));
  const withoutPool = [...workers.values()].filter(({ pool }) => pool === null);
  const active = (await views.workerPools.list()).flatMap(({ view: { record, active: slots } }) =>
    slots.map(({ worker, run, since }): WorkerSnapshot => {
      const known = workers.get(worker);
      const isThisRun = known?.run === run;
      return {
        name: worker,
        pool: record.name,
        architectures: isThisRun ? known.architectures : record.architectures,
        activity: isThisRun ? activityOf(known, since, now) : { state: 'booting', since: epochMilliseconds(since) },
      };
    }),
  );
  return [
    ...withoutPool.map((view) => ({
      name: view.worker,
      pool: null,
      architectures: view.architectures,
      activity: activityOf(view, view.registeredAt, now),
    })),
    ...active,
  ];
}

function activityOf(view: WorkerView, since: string, now: number): WorkerActivity {
  const { task, ending, phase } = view;
  if (task !== null) {
    const ranSeconds = (now - epochMilliseconds(task.startedAt)) / 1000;
    // A task that runs longer than was expected ends at any moment, or much later: nobody knows.
    const remainingSeconds = Math.max(0, task.expectedSeconds - ranSeconds);
    return { state: 'busy', scope: task.scope, remainingSeconds, draining: ending !== null };
  }
  if (ending !== null) return { state: 'terminating' };
  if (phase !== 'ready') return { state: 'booting', since: epochMilliseconds(view.instanceCreatedAt ?? since) };
  return { state: 'idle', since: epochMilliseconds(view.idleSince ?? since), tasksRun: view.hasRunTask ? 1 : 0 };
}
