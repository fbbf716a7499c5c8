import { type Demand, type UsablePool, waitSeconds } from './demand.ts';
import type { LaunchRefusalCode } from './decision.ts';
import { LAUNCHES_PER_DECISION_MAX } from './seats.ts';
import type { PoolSnapshot, ScalingSnapshot } from './snapshot.ts';

/** Why instances are launched, for an administrator. */
export function launch(demand: Demand, held: number): string {
  const wait = waitSeconds(demand.tasks, held);
  const latencies = demand.pools.filter(({ pool }) => pool.enabled).map(({ latencySeconds }) => latencySeconds);
  const target = Math.min(...latencies);
  const work = `${queueOf(demand)} (${duration(demand.workSeconds)} of work)`;
  if (held === 0) return `${work} and no worker to run them`;
  return `${work}: with ${count(held, 'worker')} the last would wait ${duration(wait)}, its target is ${duration(target)}`;
}

export function idle(idleSeconds: number, maxIdleSeconds: number): string {
  return `idle for ${duration(idleSeconds)}, max_idle_seconds is ${maxIdleSeconds}, and nothing pending needs it`;
}

export function monthSpent(pool: PoolSnapshot): string {
  return `the pool has used ${Math.floor(pool.usedSeconds)} of ${pool.targetMaxSecondsPerMonth ?? 0} seconds of this month`;
}

export function ephemeralDone({ ephemeral }: Pick<PoolSnapshot, 'ephemeral'>): string {
  return `the pool ${ephemeral ? 'is' : 'was'} ephemeral, and the worker has run its one task`;
}

export function bootTimedOut(bootTimeoutSeconds: number): string {
  return `not ready ${duration(bootTimeoutSeconds)} after its instance was created`;
}

export function nothingPending(): string {
  return 'nothing is pending that this pool could run, and no worker is to end';
}

export function enoughWorkers(pending: number): string {
  return `${count(pending, 'pending task')} that this pool could run: the workers that are there or on their way are enough`;
}

export function noPool(demand: Demand, snapshot: ScalingSnapshot): string {
  const known = snapshot.scopes.find(({ name }) => name === demand.scope);
  const linked = known === undefined ? 0 : known.pools.length;
  return linked === 0
    ? `scope ${demand.scope} may use no pool for ${demand.architecture}`
    : `none of the pools of scope ${demand.scope} supports ${demand.architecture}`;
}

/** Why a pool gives a part of the queue no further instance. */
export function refusal(
  code: LaunchRefusalCode,
  usable: UsablePool,
  demand: Demand,
  snapshot: ScalingSnapshot,
): string {
  const { pool, terms, latencySeconds } = usable;
  switch (code) {
    case 'pool-disabled':
      return `${pool.name} is disabled`;
    case 'launches-failing': {
      const seconds = ((pool.launchesFromMilliseconds ?? 0) - snapshot.nowMilliseconds) / 1000;
      return `launches in ${pool.name} failed; the next try is in ${duration(seconds)}`;
    }
    case 'launches-blocked':
      return `${pool.name} launches nothing: ${pool.blocked ?? 'it failed before'}`;
    case 'max-active-instances':
      return `${pool.name} has its ${count(pool.maxActiveInstances ?? 0, 'active instance')} (max_active_instances)`;
    case 'pool-month-spent':
      return `what is left of the month's ${pool.targetMaxSecondsPerMonth ?? 0} seconds of ${pool.name} is taken (${Math.floor(pool.usedSeconds)} used)`;
    case 'scope-month-spent':
      return `what is left of the month's ${terms.targetMaxSecondsPerMonth ?? 0} seconds of scope ${demand.scope} in ${pool.name} is taken (${Math.floor(terms.usedSeconds)} used)`;
    case 'launches-per-decision':
      return `${LAUNCHES_PER_DECISION_MAX} launches in ${pool.name} are enough for one decision`;
    case 'latency-met':
      return `${pool.name} is for waits over ${duration(latencySeconds)} (target_latency_seconds), which are met`;
    case 'shared-with-others':
      return `${pool.name} is shared: what it can launch went to scopes that hold fewer workers`;
    case 'no-pool':
      return noPool(demand, snapshot);
  }
}

function queueOf({ scope, architecture, pendingCount }: Demand): string {
  return `scope ${scope} has ${count(pendingCount, `pending ${architecture} task`)}`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}

/** Two figures that a person can read: `45 s`, `35 min`, `2.5 h`, `3.1 d`. */
function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return 'for ever';
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${(seconds / 3600).toFixed(1)} h`;
  return `${(seconds / 86_400).toFixed(1)} d`;
}
