import type { Architecture } from '../../../events/worker-pools/architectures.ts';
import { type Demand, demandsOf } from './demand.ts';
import { launchWorkersMax, placeAll, type Placement } from './placement.ts';
import * as reasons from './reasons.ts';
import { bootTimedOut, freeIn, isSpent, type LaunchLimit, runsOneTask } from './seats.ts';
import type { PoolSnapshot, ScalingSnapshot, WorkerSnapshot } from './snapshot.ts';

/** Instances to launch in one pool for one part of the queue. */
export type Launch = Readonly<{
  pool: string;
  scope: string;
  architecture: Architecture;
  count: number;
  because: string;
}>;

export type TerminationCode = 'idle' | 'month-spent' | 'ephemeral-done' | 'boot-timed-out';

/** A worker to end: now, or (`afterTask`) when its running task has ended. */
export type Termination = Readonly<{
  pool: string;
  worker: string;
  afterTask: boolean;
  code: TerminationCode;
  because: string;
}>;

export type LaunchRefusalCode = Exclude<LaunchLimit, 'none'> | 'no-pool' | 'latency-met' | 'shared-with-others';

/** Workers that are wanted and not launched. `pool` is null where no pool could be asked. */
export type LaunchRefusal = Readonly<{
  pool: string | null;
  scope: string;
  architecture: Architecture;
  unmet: number;
  code: LaunchRefusalCode;
  because: string;
}>;

/** Why a pool launches nothing, ends nothing and refuses nothing. */
export type NothingDone = Readonly<{ pool: string; code: 'nothing-pending' | 'enough-workers'; because: string }>;

export type ScalingDecision = Readonly<{
  launches: readonly Launch[];
  terminations: readonly Termination[];
  refusals: readonly LaunchRefusal[];
}>;

/**
 * What to launch and what to end, and why, as the snapshot stands. Pure: the same snapshot gives the same decision, and the
 * snapshot that carrying it out leads to gives an empty one. Never kills a running task, never passes a pool's bound.
 */
export function decideScaling(snapshot: ScalingSnapshot): ScalingDecision {
  const demands = demandsOf(snapshot);
  const placement = placeAll(snapshot, demands);
  return {
    launches: launches(demands, placement),
    terminations: snapshot.pools.flatMap((pool) => terminations(pool, placement.needed.get(pool.name) ?? 0, snapshot)),
    refusals: [...placement.unplaced].flatMap(([demand, unmet]) => refusals(demand, unmet, placement, snapshot)),
  };
}

/** For each pool in which nothing is done and nothing refused: why. */
export function nothingDone(
  { launches: started, terminations: ended, refusals: refused }: ScalingDecision,
  { pools, scopes, queue }: ScalingSnapshot,
): readonly NothingDone[] {
  const done = new Set([...started, ...ended, ...refused].map(({ pool }) => pool));
  return pools.flatMap(({ name: pool, instanceWide, architectures }): readonly NothingDone[] => {
    if (done.has(pool)) return [];
    const users = new Set(
      scopes.filter((scope) => scope.pools.some((linked) => linked.pool === pool)).map(({ name }) => name),
    );
    const pending = queue
      .filter(
        ({ scope, architecture, pool: only = pool }) =>
          only === pool && (instanceWide || users.has(scope)) && architectures.includes(architecture),
      )
      .reduce((sum, { count }) => sum + count, 0);
    return pending === 0
      ? [{ pool, code: 'nothing-pending', because: reasons.nothingPending() }]
      : [{ pool, code: 'enough-workers', because: reasons.enoughWorkers(pending) }];
  });
}

function launches(demands: readonly Demand[], placement: Placement): readonly Launch[] {
  return demands.flatMap((demand) => {
    const own = placement.launches.filter((launch) => launch.demand === demand);
    const because = reasons.launch(demand, placement.held.get(demand) ?? 0);
    return [...new Set(own.map(({ pool }) => pool))].map((pool) => {
      const count = own.filter((launch) => launch.pool === pool).length;
      return { pool, scope: demand.scope, architecture: demand.architecture, count, because };
    });
  });
}

function terminations(pool: PoolSnapshot, needed: number, snapshot: ScalingSnapshot): readonly Termination[] {
  const own = snapshot.workers.filter((worker) => worker.pool === pool.name);
  const spent = isSpent(pool);
  let spare =
    own.filter((worker) => freeIn(worker, pool, snapshot) === 0 && worker.activity.state !== 'busy').length - needed;
  // Those that have been idle for longest end first.
  const oldestFirst = own.toSorted((a, b) => idleSince(a) - idleSince(b));
  return oldestFirst.flatMap((worker): readonly Termination[] => {
    const { activity } = worker;
    const ends = (code: TerminationCode, because: string, afterTask = false): readonly Termination[] => [
      { pool: pool.name, worker: worker.name, afterTask, code, because },
    ];
    if (activity.state === 'booting' && bootTimedOut(activity.since, pool, snapshot))
      return ends('boot-timed-out', reasons.bootTimedOut(pool.maxBootSeconds ?? snapshot.bootTimeoutSeconds));
    if (activity.state === 'booting') return spent ? ends('month-spent', reasons.monthSpent(pool)) : [];
    if (activity.state === 'busy') {
      return spent && !activity.draining ? ends('month-spent', reasons.monthSpent(pool), true) : [];
    }
    if (activity.state !== 'idle') return [];
    if (runsOneTask(worker, pool) && activity.tasksRun > 0) return ends('ephemeral-done', reasons.ephemeralDone(pool));
    if (spent) return ends('month-spent', reasons.monthSpent(pool));
    const idleSeconds = (snapshot.nowMilliseconds - activity.since) / 1000;
    if (idleSeconds < pool.maxIdleSeconds || spare <= 0) return [];
    spare -= 1;
    return ends('idle', reasons.idle(idleSeconds, pool.maxIdleSeconds));
  });
}

function idleSince({ activity }: WorkerSnapshot): number {
  return activity.state === 'idle' ? activity.since : Number.POSITIVE_INFINITY;
}

function refusals(
  demand: Demand,
  unmet: number,
  placement: Placement,
  snapshot: ScalingSnapshot,
): readonly LaunchRefusal[] {
  const about = { scope: demand.scope, architecture: demand.architecture, unmet };
  if (demand.pools.length === 0)
    return [{ ...about, pool: null, code: 'no-pool', because: reasons.noPool(demand, snapshot) }];
  return demand.pools.map((usable) => {
    const { pool } = usable;
    const code = limitOf(demand, pool.name, launchWorkersMax(demand, usable), placement);
    return { ...about, pool: pool.name, code, because: reasons.refusal(code, usable, demand, snapshot) };
  });
}

function limitOf(demand: Demand, pool: string, workersMax: number, placement: Placement): LaunchRefusalCode {
  const room = placement.rooms.get(pool);
  const ofScope = placement.scopeRooms.get(demand)?.get(pool);
  if (room !== undefined && room.free === 0 && room.limit !== 'none') return room.limit;
  if (ofScope?.free === 0) return 'scope-month-spent';
  const launched = placement.launches.filter((launch) => launch.pool === pool);
  if (
    launched.filter((launch) => launch.demand.scope === demand.scope).length >=
    (ofScope?.free ?? Number.POSITIVE_INFINITY)
  )
    return 'scope-month-spent';
  if (room === undefined || launched.length < room.free)
    return workersMax < demand.wanted ? 'latency-met' : 'shared-with-others';
  if (room.limit === 'launches-per-decision') return room.limit;
  const byOthers = launched.some((launch) => launch.demand !== demand);
  return byOthers || room.limit === 'none' ? 'shared-with-others' : room.limit;
}
