import type { Architecture } from '../../../events/worker-pools/architectures.ts';
import type { PendingTasks, PoolSnapshot, ScalingSnapshot, ScopePoolSnapshot, ScopeSnapshot } from './snapshot.ts';

/** A scope that says nothing about latency has its queue cleared within the hour: an instance is worth starting for that. */
export const LATENCY_SECONDS_DEFAULT = 3600;

/** A pool that a scope may use, with what the scope says about it. */
export type UsablePool = Readonly<{ pool: PoolSnapshot; terms: ScopePoolSnapshot; latencySeconds: number }>;

/** Pending work of one scope for one architecture. */
export type Demand = Readonly<{
  scope: string;
  architecture: Architecture;
  /** The one pool that it must be; absent: any, and workers without one. */
  onlyPool?: string;
  tasks: readonly PendingTasks[];
  pendingCount: number;
  workSeconds: number;
  /** Pools that support the architecture, best first. */
  pools: readonly UsablePool[];
  /** Workers that are wanted for the tightest latency of any enabled pool. */
  wanted: number;
  /** What one of the wanted workers has to do, in seconds. */
  shareSeconds: number;
}>;

/** The pending work by scope and architecture, in the order of the queue. Work of an unknown scope has no pools but the shared ones. */
export function demandsOf(snapshot: ScalingSnapshot): readonly Demand[] {
  const grouped = new Map<string, PendingTasks[]>();
  for (const tasks of snapshot.queue) {
    if (tasks.count <= 0) continue;
    const key = `${tasks.architecture} ${tasks.scope} ${tasks.pool ?? ''}`;
    const group = grouped.get(key);
    if (group === undefined) grouped.set(key, [tasks]);
    else group.push(tasks);
  }
  return [...grouped.values()].map((tasks) => demandOf(snapshot, tasks));
}

function demandOf(snapshot: ScalingSnapshot, tasks: readonly PendingTasks[]): Demand {
  const [{ scope, architecture, pool: onlyPool } = NO_TASKS] = tasks;
  const known = snapshot.scopes.find(({ name }) => name === scope) ?? { name: scope, pools: [] };
  const pools = usablePools(known, snapshot.pools).filter(
    ({ pool }) => pool.architectures.includes(architecture) && (onlyPool === undefined || pool.name === onlyPool),
  );
  const enabled = pools.filter(({ pool }) => pool.enabled);
  const pendingCount = tasks.reduce((sum, { count }) => sum + count, 0);
  const workSeconds = tasks.reduce((sum, { count, expectedSeconds }) => sum + count * taskSeconds(expectedSeconds), 0);
  const latencies = enabled.map(({ latencySeconds }) => latencySeconds);
  const tightest = latencies.length === 0 ? LATENCY_SECONDS_DEFAULT : Math.min(...latencies);
  const oneTaskEach = enabled.length > 0 && enabled.every(({ pool }) => pool.ephemeral);
  const wanted = oneTaskEach ? pendingCount : workersFor(tasks, tightest);
  const demand = { scope, architecture, tasks, pendingCount, workSeconds, pools, wanted };
  const shareSeconds = workSeconds / wanted;
  return onlyPool === undefined ? { ...demand, shareSeconds } : { ...demand, onlyPool, shareSeconds };
}

const NO_TASKS: Pick<PendingTasks, 'scope' | 'architecture' | 'pool'> = { scope: '', architecture: 'amd64' };

/** The pools of a scope: those that it is linked to, then every other instance-wide one, which any scope may use. */
function usablePools(scope: ScopeSnapshot, pools: readonly PoolSnapshot[]): readonly UsablePool[] {
  return pools
    .flatMap((pool): readonly UsablePool[] => {
      const terms =
        scope.pools.find((linked) => linked.pool === pool.name) ?? (pool.instanceWide ? unlinked(pool) : undefined);
      return terms === undefined
        ? []
        : [{ pool, terms, latencySeconds: terms.targetLatencySeconds ?? LATENCY_SECONDS_DEFAULT }];
    })
    .sort((a, b) => b.terms.priority - a.terms.priority || (a.pool.name < b.pool.name ? -1 : 1));
}

function unlinked(pool: PoolSnapshot): ScopePoolSnapshot {
  return { pool: pool.name, priority: 0, targetMaxSecondsPerMonth: null, targetLatencySeconds: null, usedSeconds: 0 };
}

/**
 * How many workers dispatch the last of these tasks within `latencySeconds`: a worker that is free now
 * starts one task at once and another each time one ends, as long as that is in time.
 */
export function workersFor(tasks: readonly PendingTasks[], latencySeconds: number): number {
  const workers = tasks.reduce((sum, { count, expectedSeconds }) => {
    return sum + count / (Math.floor(latencySeconds / taskSeconds(expectedSeconds)) + 1);
  }, 0);
  // Thirds and tenths don't add up exactly; a worker more because of that is a worker too many.
  return Math.max(1, Math.ceil(workers - 1e-6));
}

/** The wait of the last of these tasks with so many workers, in whole seconds; infinite with none. */
export function waitSeconds(tasks: readonly PendingTasks[], workers: number): number {
  if (workers < 1) return Number.POSITIVE_INFINITY;
  let within = Math.ceil(
    tasks.reduce((sum, { count, expectedSeconds }) => sum + count * taskSeconds(expectedSeconds), 0),
  );
  let beyond = -1;
  while (within - beyond > 1) {
    const middle = Math.floor((within + beyond) / 2);
    if (workersFor(tasks, middle) <= workers) within = middle;
    else beyond = middle;
  }
  return within;
}

/** A task takes at least a second: what was never measured must not look free. */
function taskSeconds(expectedSeconds: number): number {
  return Math.max(1, expectedSeconds);
}
