import type { ProviderAccountEvent } from '../../events/worker-pools/provider-account.ts';
import type { WorkerEvent } from '../../events/worker-pools/worker.ts';
import type { DayShare } from '../../domain/worker-pools/days.ts';
import type { Month } from '../../domain/worker-pools/months.ts';
import type { Projection } from '../../kernel/projection.ts';
import { type DaySums, dayUsages, withDays } from './usage-days.ts';
import { monthMilliseconds, type MonthSums, withSpan } from './usage-months.ts';

type Watched = Extract<WorkerEvent, { type: 'InstanceCreated' | 'InstanceTerminated' }> | ProviderAccountEvent;

/** Instance run-time of a pool, from the creation of each instance to its end. Outlives the pool: what was used was used. */
export type PoolUsageView = Readonly<{
  /** The newest event in the sums: applied again, nothing is counted twice. */
  position: string;
  months: MonthSums;
  days: DaySums;
  /** When the instances that are not gone were created, by run. */
  running: Readonly<Record<string, Readonly<{ worker: string; createdAt: string }>>>;
}>;

const NOTHING: PoolUsageView = { position: '-1', months: {}, days: {}, running: {} };

/** Usage by pool. */
export const poolUsageProjection: Projection<Watched, PoolUsageView> = {
  name: 'worker-pool-usage',
  version: 3,
  handles: ['InstanceCreated', 'InstanceTerminated', 'UnknownInstanceEnded'],
  keysOf: ({ data }) => [data.pool],
  evolve: (view = NOTHING, event) => {
    if (event.position <= BigInt(view.position)) return view;
    const position = String(event.position);
    if (event.type === 'UnknownInstanceEnded') {
      const { createdAt, endedAt, accountedUntil = createdAt } = event.data;
      return { ...view, position, ...grown(view, accountedUntil, endedAt) };
    }
    const { run, worker, instanceCreatedAt } = event.data;
    if (event.type === 'InstanceCreated') {
      return { ...view, position, running: { ...view.running, [run]: { worker, createdAt: instanceCreatedAt } } };
    }
    const { [run]: ended, ...running } = view.running;
    // One account per run.
    if (ended === undefined) return { ...view, position };
    return { position, running, ...grown(view, ended.createdAt, event.data.terminatedAt) };
  },
};

function grown({ months, days }: PoolUsageView, from: string, to: string): Pick<PoolUsageView, 'months' | 'days'> {
  return { months: withSpan(months, from, to), days: withDays(days, from, to) };
}

/** Instance-milliseconds of a pool by day, the oldest first, running instances up to `now` (epoch milliseconds). */
export function poolDayMilliseconds(view: PoolUsageView | undefined, now: number): readonly DayShare[] {
  const { days, running } = view ?? NOTHING;
  const since = Object.values(running).map(({ createdAt }) => createdAt);
  return dayUsages(days, since, now);
}

/** Instance-milliseconds of a pool in a month, running instances up to `now` (epoch milliseconds). */
export function poolMonthMilliseconds(view: PoolUsageView | undefined, month: Month, now: number): number {
  const { months, running } = view ?? NOTHING;
  return monthMilliseconds(
    months,
    Object.values(running).map(({ createdAt }) => createdAt),
    month,
    now,
  );
}
