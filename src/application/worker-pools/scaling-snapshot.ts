import { launchesRest } from '../../commands/worker-pools/pool-state.ts';
import { Ages } from '../../concurrency/ages.ts';
import { epochMilliseconds } from '../../domain/instants.ts';
import { monthOf } from '../../domain/worker-pools/months.ts';
import type { WorkersUrl } from '../../domain/worker-pools/workers-url.ts';
import { maxBootSeconds } from '../../events/worker-pools/limits.ts';
import type {
  PendingTasks,
  PoolSnapshot,
  ScalingSnapshot,
  ScopeSnapshot,
  WorkerActivity,
  WorkerSnapshot,
} from '../../domain/worker-pools/scaling/snapshot.ts';
import { poolMonthMilliseconds } from '../../projections/worker-pools/pool-usage-view.ts';
import { scopeMonthMilliseconds } from '../../projections/worker-pools/scope-usage-view.ts';
import type { OpenWork } from '../../projections/worker-pools/work-request-view.ts';
import type { WorkerView } from '../../projections/worker-pools/worker-view.ts';
import type { Application } from '../application.ts';

/** What a task takes when its sender does not say. */
const EXPECTED_SECONDS_DEFAULT = 600;

/** How long an instance is expected to boot, and after how long one that is not ready is given up; seconds. */
export type BootTimes = Pick<ScalingSnapshot, 'bootSeconds' | 'bootTimeoutSeconds'>;

export type ScalingSnapshotDependencies = Pick<Application, 'workerPools' | 'assets' | 'clock' | 'catchUp'> &
  Readonly<{
    views: Pick<Application['views'], 'workerPools' | 'poolUsage' | 'scopes' | 'scopeUsage' | 'workers'>;
    /** Where new workers find the service: where that can't be told them, nothing is launched. */
    workersUrl: WorkersUrl;
    /** Of one who looks again and again: how long workers idle and boot, and pools rest, whatever is done to the wall clock. */
    ages?: Ages;
  }>;

/**
 * One look at the clocks. Instants of a snapshot are told back from its now by how long ago they really were: of what is new since the last
 * look not before that, or not before `earliest`.
 */
type Look = Readonly<{ now: number; since: (what: string, at: string, earliest?: number) => number }>;

/** What scaling looks at: the queue, and everything else as it is now. */
export async function scalingSnapshot(
  queue: readonly PendingTasks[],
  { bootSeconds, bootTimeoutSeconds }: BootTimes,
  dependencies: ScalingSnapshotDependencies,
): Promise<ScalingSnapshot> {
  await dependencies.catchUp();
  const { clock, ages = new Ages(clock) } = dependencies;
  const nowMilliseconds = clock.now().epochMilliseconds;
  const ageOf = ages.look();
  const since: Look['since'] = (what, at, earliest) => {
    const most = earliest === undefined ? undefined : nowMilliseconds - earliest;
    return nowMilliseconds - ageOf(`${what} ${at}`, epochMilliseconds(at), most);
  };
  const look = { now: nowMilliseconds, since };
  const [pools, scopes, workers] = await Promise.all([
    poolSnapshots(dependencies, look),
    scopeSnapshots(dependencies, look),
    workerSnapshots(dependencies, look),
  ]);
  return { nowMilliseconds, bootSeconds, bootTimeoutSeconds, pools, scopes, workers, queue };
}

/** The waiting work as scaling looks at it: alike requests together, in the order in which the first of each was submitted. */
export function pendingTasks(open: readonly OpenWork[]): readonly PendingTasks[] {
  const grouped = new Map<string, PendingTasks>();
  for (const { scope, architecture, pool, expectedSeconds, isWaiting } of open.toSorted((a, b) => a.order - b.order)) {
    if (!isWaiting) continue;
    const seconds = expectedSeconds ?? EXPECTED_SECONDS_DEFAULT;
    const key = `${scope} ${architecture} ${pool ?? ''} ${seconds}`;
    const known = grouped.get(key);
    const alike = known ?? {
      scope,
      architecture,
      count: 0,
      expectedSeconds: seconds,
      ...(pool === null ? {} : { pool }),
    };
    grouped.set(key, { ...alike, count: alike.count + 1 });
  }
  return [...grouped.values()];
}

async function poolSnapshots(
  { views, workerPools, assets, workersUrl }: ScalingSnapshotDependencies,
  { now, since }: Look,
): Promise<readonly PoolSnapshot[]> {
  const pools = await views.workerPools.list();
  return Promise.all(
    pools.map(async ({ key, view: { record } }) => {
      const usage = await views.poolUsage.get(key);
      const { state } = await workerPools.state(key);
      const account = await assets.state(record.provider_account);
      const { failures } = state;
      const rest = launchesRest(state, String(account.revision));
      const failedAt = failures === undefined ? now : since(`failure ${key}`, failures.lastAt);
      const blocked = blockedBecause(account.state.record?.configuration, rest, failures?.because, workersUrl);
      return {
        name: record.name,
        enabled: record.enabled,
        architectures: record.architectures,
        instanceWide: record.instance_wide,
        ephemeral: record.ephemeral,
        maxActiveInstances: record.limits.max_active_instances,
        targetMaxSecondsPerMonth: record.limits.target_max_seconds_per_month,
        maxIdleSeconds: record.limits.max_idle_seconds,
        maxBootSeconds: maxBootSeconds(record.limits),
        usedSeconds: poolMonthMilliseconds(usage, monthOf(now), now) / 1000,
        ...(rest === undefined ? {} : { launchesFromMilliseconds: failedAt + rest }),
        ...(blocked === undefined ? {} : { blocked }),
      };
    }),
  );
}

/** Why a pool launches nothing before something is edited; `undefined`: it may launch. */
function blockedBecause(
  configuration: Readonly<Record<string, unknown>> | undefined,
  rest: number | undefined,
  failedBecause: string | undefined,
  workersUrl: WorkersUrl,
): string | undefined {
  if ('problem' in workersUrl && typeof configuration?.['server_url'] !== 'string') return workersUrl.problem;
  if (rest !== Number.POSITIVE_INFINITY) return undefined;
  return `${failedBecause ?? 'launches failed'} (before the pool or its account has been edited)`;
}

async function scopeSnapshots(
  { views }: ScalingSnapshotDependencies,
  { now }: Look,
): Promise<readonly ScopeSnapshot[]> {
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
async function workerSnapshots({ views }: ScalingSnapshotDependencies, look: Look): Promise<readonly WorkerSnapshot[]> {
  const workers = new Map((await views.workers.list()).map(({ key, view }) => [key, view]));
  const withoutPool = [...workers.values()].filter(
    ({ pool, phase, silentSince }) => pool === null && phase === 'ready' && silentSince === null,
  );
  const active = (await views.workerPools.list()).flatMap(({ view: { record, active: slots } }) =>
    slots.map(({ worker, run, since }): WorkerSnapshot => {
      const known = workers.get(worker);
      const isThisRun = known?.run === run;
      const placeSince = look.since(`place ${run}`, since);
      return {
        name: worker,
        pool: record.name,
        architectures: isThisRun ? known.architectures : record.architectures,
        activity: isThisRun ? activityOf(known, placeSince, look) : { state: 'booting', since: placeSince },
        ...(isThisRun && known.ephemeral ? { ephemeral: true } : {}),
      };
    }),
  );
  return [
    ...withoutPool.map((view) => ({
      name: view.worker,
      pool: null,
      architectures: view.architectures,
      activity: activityOf(view, look.since(`place ${view.worker}`, view.registeredAt), look),
    })),
    ...active,
  ];
}

/** `placeSince`: from when on it has had its place, as the snapshot tells it. */
function activityOf(view: WorkerView, placeSince: number, { now, since }: Look): WorkerActivity {
  const { task, ending, phase, worker, instanceCreatedAt, idleSince } = view;
  if (task !== null) {
    const ranSeconds = (now - since(`task ${worker}`, task.startedAt)) / 1000;
    // A task that runs longer than was expected may end at any moment, or much later.
    const remainingSeconds = Math.max(0, task.expectedSeconds - ranSeconds);
    return { state: 'busy', scope: task.scope, remainingSeconds, draining: ending !== null };
  }
  // What has fallen silent is given no work.
  if (ending !== null || view.silentSince !== null) return { state: 'terminating' };
  if (phase !== 'ready') {
    // A provider may tell late of an instance: it boots from its creation on, which came after its place.
    const bootsSince = instanceCreatedAt === null ? placeSince : since(`boot ${worker}`, instanceCreatedAt, placeSince);
    return { state: 'booting', since: bootsSince };
  }
  const idlesSince = idleSince === null ? placeSince : since(`idle ${worker}`, idleSince);
  return { state: 'idle', since: idlesSince, tasksRun: view.hasRunTask ? 1 : 0 };
}
