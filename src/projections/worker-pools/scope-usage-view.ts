import type { WorkerEvent } from '../../events/worker-pools/worker.ts';
import type { Month } from '../../domain/worker-pools/months.ts';
import type { Projection } from '../../kernel/projection.ts';
import { monthMilliseconds, type MonthSums, withSpan } from './usage-months.ts';

type Watched = Extract<WorkerEvent, { type: 'TaskStarted' | 'TaskFinished' }>;

/** Task run-time of a scope. Idle and booting time counts for no scope. */
export type ScopeUsageView = Readonly<{
  /** The newest event in the sums: applied again, nothing is counted twice. */
  position: string;
  /** By pool; `-` stands for the workers without one. */
  pools: Readonly<Record<string, MonthSums>>;
  /** By worker and task. */
  running: Readonly<Record<string, Readonly<{ pool: string; startedAt: string }>>>;
}>;

/** Where the time of workers without a pool is kept; no pool can have this name. */
export const WITHOUT_POOL = '-';

const NOTHING: ScopeUsageView = { position: '-1', pools: {}, running: {} };

/** Usage by scope. */
export const scopeUsageProjection: Projection<Watched, ScopeUsageView> = {
  name: 'scope-usage',
  version: 1,
  handles: ['TaskStarted', 'TaskFinished'],
  keysOf: ({ data }) => [data.scope],
  evolve: (view = NOTHING, event) => {
    if (event.position <= BigInt(view.position)) return view;
    const position = String(event.position);
    const key = `${event.data.worker} ${event.data.task}`;
    if (event.type === 'TaskStarted') {
      const started = { pool: event.data.pool ?? WITHOUT_POOL, startedAt: event.data.startedAt };
      return { ...view, position, running: { ...view.running, [key]: started } };
    }
    const { [key]: ended, ...running } = view.running;
    if (ended === undefined) return { ...view, position };
    const sums = withSpan(view.pools[ended.pool] ?? {}, ended.startedAt, event.data.finishedAt);
    return { position, running, pools: { ...view.pools, [ended.pool]: sums } };
  },
};

/** Task-milliseconds of a scope in one pool and month, running tasks up to `now` (epoch milliseconds). */
export function scopeMonthMilliseconds(
  view: ScopeUsageView | undefined,
  pool: string,
  month: Month,
  now: number,
): number {
  const { pools, running } = view ?? NOTHING;
  const since = Object.values(running).flatMap((task) => (task.pool === pool ? [task.startedAt] : []));
  return monthMilliseconds(pools[pool] ?? {}, since, month, now);
}
