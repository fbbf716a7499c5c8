import type { Architecture } from '../../src/events/worker-pools/architectures.ts';
import type { ScalingDecision } from '../../src/domain/worker-pools/scaling/decision.ts';
import type {
  PendingTasks,
  PoolSnapshot,
  ScalingSnapshot,
  ScopePoolSnapshot,
  WorkerActivity,
  WorkerSnapshot,
} from '../../src/domain/worker-pools/scaling/snapshot.ts';

export const NOW = 1_800_000_000_000;

/** A pool without any bound, changed where a test says so. */
export function pool(name: string, changes: Partial<PoolSnapshot> = {}): PoolSnapshot {
  return {
    name,
    enabled: true,
    architectures: ['amd64'],
    instanceWide: false,
    ephemeral: false,
    maxActiveInstances: null,
    targetMaxSecondsPerMonth: null,
    maxIdleSeconds: 3600,
    usedSeconds: 0,
    ...changes,
  };
}

export function link(name: string, changes: Partial<ScopePoolSnapshot> = {}): ScopePoolSnapshot {
  return {
    pool: name,
    priority: 0,
    targetMaxSecondsPerMonth: null,
    targetLatencySeconds: 600,
    usedSeconds: 0,
    ...changes,
  };
}

export function worker(
  name: string,
  inPool: string | null,
  activity: WorkerActivity,
  architectures: readonly Architecture[] = ['amd64'],
): WorkerSnapshot {
  return { name, pool: inPool, activity, architectures };
}

export function idle(seconds = 0, tasksRun = 1): WorkerActivity {
  return { state: 'idle', since: NOW - seconds * 1000, tasksRun };
}

export function busy(scope: string, remainingSeconds: number, draining = false): WorkerActivity {
  return { state: 'busy', scope, remainingSeconds, draining };
}

export function booting(seconds = 0): WorkerActivity {
  return { state: 'booting', since: NOW - seconds * 1000 };
}

export function pending(
  scope: string,
  count: number,
  expectedSeconds: number,
  architecture: Architecture = 'amd64',
): PendingTasks {
  return { scope, count, expectedSeconds, architecture };
}

export function scene(changes: Partial<ScalingSnapshot>): ScalingSnapshot {
  return {
    nowMilliseconds: NOW,
    bootSeconds: 120,
    bootTimeoutSeconds: 1800,
    pools: [],
    scopes: [],
    workers: [],
    queue: [],
    ...changes,
  };
}

/** How many instances a decision launches, by pool. */
export function launched({ launches }: ScalingDecision): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { pool: name, count } of launches) counts[name] = (counts[name] ?? 0) + count;
  return counts;
}

export function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** The snapshot that a decision leads to, at the same moment. */
export function carriedOut(snapshot: ScalingSnapshot, decision: ScalingDecision): ScalingSnapshot {
  const ended = new Map(decision.terminations.map((termination) => [termination.worker, termination]));
  const kept = snapshot.workers.flatMap((known): readonly WorkerSnapshot[] => {
    const termination = ended.get(known.name);
    if (termination === undefined) return [known];
    if (termination.afterTask && known.activity.state === 'busy')
      return [{ ...known, activity: { ...known.activity, draining: true } }];
    return [{ ...known, activity: { state: 'terminating' } }];
  });
  const started = decision.launches.flatMap((launch, at) => {
    const architectures = snapshot.pools.find(({ name }) => name === launch.pool)?.architectures ?? [];
    return Array.from({ length: launch.count }, (_, index): WorkerSnapshot => ({
      name: `${launch.pool}-new-${snapshot.workers.length}-${at}-${index}`,
      pool: launch.pool,
      architectures,
      activity: { state: 'booting', since: snapshot.nowMilliseconds },
    }));
  });
  return { ...snapshot, workers: [...kept, ...started] };
}
