import { epochMilliseconds } from '../../domain/instants.ts';
import { type Month, splitByMonth, withinMonth } from '../../domain/worker-pools/months.ts';

/** Milliseconds of what is over, by month. */
export type MonthSums = Readonly<Record<Month, number>>;

/** Adds a span that is over to the months that it falls into. */
export function withSpan(sums: MonthSums, from: string, to: string): MonthSums {
  const grown: Record<Month, number> = { ...sums };
  for (const { month, milliseconds } of splitByMonth(epochMilliseconds(from), epochMilliseconds(to))) {
    grown[month] = (grown[month] ?? 0) + milliseconds;
  }
  return grown;
}

/** Milliseconds of a month: what is over, and what still runs up to `now` (epoch milliseconds). */
export function monthMilliseconds(sums: MonthSums, runningSince: readonly string[], month: Month, now: number): number {
  const running = runningSince.map((since) => withinMonth(epochMilliseconds(since), now, month));
  return running.reduce((sum, milliseconds) => sum + milliseconds, sums[month] ?? 0);
}
