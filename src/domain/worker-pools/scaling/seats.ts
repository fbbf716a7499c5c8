import type { Demand, UsablePool } from './demand.ts';
import type { PoolSnapshot, ScalingSnapshot, WorkerSnapshot } from './snapshot.ts';

/** Workers that do the same for every task: they are free at the same moment and run the same architectures. */
export type WorkerGroup = Readonly<{
  pool: string | null;
  architectures: readonly string[];
  /** Until they are free; 0 for idle and booting ones. */
  freeInSeconds: number;
  count: number;
}>;

/** Why a pool, or a scope in a pool, gets no further instance; `free` is how many it may get. */
export type LaunchRoom = Readonly<{ free: number; limit: LaunchLimit }>;

export type LaunchLimit =
  | 'pool-disabled'
  | 'launches-failing'
  | 'launches-blocked'
  | 'max-active-instances'
  | 'pool-month-spent'
  | 'launches-per-decision'
  | 'scope-month-spent'
  | 'none';

/** More in one decision would act on a guess; the next decision follows soon. */
export const LAUNCHES_PER_DECISION_MAX = 100;

/** The pool has used what it should use this month: nothing new starts in it and idle workers end. */
export function isSpent(pool: PoolSnapshot): boolean {
  return pool.targetMaxSecondsPerMonth !== null && pool.usedSeconds >= pool.targetMaxSecondsPerMonth;
}

/** The capacity that is there or already on its way, by group. Booting workers count as if they were free. */
export function workerGroups(snapshot: ScalingSnapshot): readonly WorkerGroup[] {
  const pools = new Map(snapshot.pools.map((pool) => [pool.name, pool]));
  const groups = new Map<string, WorkerGroup>();
  for (const worker of snapshot.workers) {
    const pool = worker.pool === null ? undefined : pools.get(worker.pool);
    const freeInSeconds = freeIn(worker, pool, snapshot);
    if (freeInSeconds === undefined) continue;
    const key = `${worker.pool ?? ''} ${worker.architectures.join(',')} ${freeInSeconds}`;
    const count = (groups.get(key)?.count ?? 0) + 1;
    groups.set(key, { pool: worker.pool, architectures: worker.architectures, freeInSeconds, count });
  }
  return [...groups.values()];
}

/** How long until a worker takes its next task. `undefined`: it takes none. */
export function freeIn(
  worker: WorkerSnapshot,
  pool: PoolSnapshot | undefined,
  snapshot: ScalingSnapshot,
): number | undefined {
  const { activity } = worker;
  if (pool !== undefined && isSpent(pool)) return undefined;
  switch (activity.state) {
    case 'booting':
      return bootTimedOut(activity.since, pool, snapshot) ? undefined : 0;
    case 'idle':
      return runsOneTask(worker, pool) && activity.tasksRun > 0 ? undefined : 0;
    case 'busy':
      return activity.draining || runsOneTask(worker, pool)
        ? undefined
        : Math.max(0, Math.ceil(activity.remainingSeconds));
    case 'terminating':
      return undefined;
  }
}

/** Whether a worker ends after one task: by what it was launched as, or by what its pool says now. */
export function runsOneTask(
  { ephemeral }: Pick<WorkerSnapshot, 'ephemeral'>,
  pool: Pick<PoolSnapshot, 'ephemeral'> | undefined,
): boolean {
  return ephemeral === true || pool?.ephemeral === true;
}

/** Whether an instance has taken longer to get ready than its pool allows. */
export function bootTimedOut(
  since: number,
  pool: Pick<PoolSnapshot, 'maxBootSeconds'> | undefined,
  { nowMilliseconds, bootTimeoutSeconds }: ScalingSnapshot,
): boolean {
  return nowMilliseconds - since >= (pool?.maxBootSeconds ?? bootTimeoutSeconds) * 1000;
}

/** How many instances a pool may launch now, and what stops it from more. */
export function launchRoom(pool: PoolSnapshot, demands: readonly Demand[], snapshot: ScalingSnapshot): LaunchRoom {
  if (!pool.enabled) return { free: 0, limit: 'pool-disabled' };
  if (pool.blocked !== undefined) return { free: 0, limit: 'launches-blocked' };
  if (pool.launchesFromMilliseconds !== undefined && pool.launchesFromMilliseconds > snapshot.nowMilliseconds)
    return { free: 0, limit: 'launches-failing' };
  const active = snapshot.workers.filter((worker) => worker.pool === pool.name);
  const rooms: LaunchRoom[] = [
    { free: LAUNCHES_PER_DECISION_MAX, limit: 'launches-per-decision' },
    { free: budgetRoom(pool, active, demands, snapshot), limit: 'pool-month-spent' },
    { free: (pool.maxActiveInstances ?? Number.POSITIVE_INFINITY) - active.length, limit: 'max-active-instances' },
  ];
  const tightest = rooms.reduce((least, room) => (room.free <= least.free ? room : least));
  return { free: Math.max(0, tightest.free), limit: tightest.limit };
}

/**
 * What is left of the month, in instances that each boot and do one share of the work, less the ones that are running.
 * A rest smaller than a share still starts one instance; a rest that booting would eat starts none.
 */
function budgetRoom(
  pool: PoolSnapshot,
  active: readonly WorkerSnapshot[],
  demands: readonly Demand[],
  snapshot: ScalingSnapshot,
): number {
  const { bootSeconds } = snapshot;
  if (pool.targetMaxSecondsPerMonth === null) return Number.POSITIVE_INFINITY;
  const leftSeconds = pool.targetMaxSecondsPerMonth - pool.usedSeconds;
  if (leftSeconds <= bootSeconds) return 0;
  const shares = demands
    .filter(({ pools }) => pools.some((usable) => usable.pool.name === pool.name))
    .map(({ shareSeconds }) => shareSeconds);
  const running = active.filter(
    (worker) => worker.activity.state === 'busy' || freeIn(worker, pool, snapshot) !== undefined,
  ).length;
  return Math.ceil(leftSeconds / (bootSeconds + Math.max(1, ...shares))) - running;
}

/** How many more workers of a pool a scope may use at once, by its own monthly target. */
export function scopeRoom(
  scope: string,
  usable: UsablePool,
  demands: readonly Demand[],
  snapshot: ScalingSnapshot,
): LaunchRoom {
  const { pool, terms } = usable;
  if (terms.targetMaxSecondsPerMonth === null) return { free: Number.POSITIVE_INFINITY, limit: 'none' };
  const leftSeconds = terms.targetMaxSecondsPerMonth - terms.usedSeconds;
  if (leftSeconds <= 0) return { free: 0, limit: 'scope-month-spent' };
  const shares = demands.filter((demand) => demand.scope === scope).map(({ shareSeconds }) => shareSeconds);
  const running = snapshot.workers.filter(
    ({ pool: name, activity }) => name === pool.name && activity.state === 'busy' && activity.scope === scope,
  );
  const free = Math.ceil(leftSeconds / Math.max(1, ...shares)) - running.length;
  return { free: Math.max(0, free), limit: 'scope-month-spent' };
}
