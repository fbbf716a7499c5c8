import { epochMilliseconds } from '../../domain/instants.ts';
import { type Month, monthBounds, monthOf, splitByMonth, withinMonth } from '../../domain/worker-pools/months.ts';

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

/**
 * What a month will come to if it goes on as it went since `since` (its start, or when the pool was created), in milliseconds.
 * A month that is over comes to what was used; `undefined` for one that has not begun.
 */
export function projectedMilliseconds(
  usedMilliseconds: number,
  month: Month,
  since: number,
  now: number,
): number | undefined {
  const { start, end } = monthBounds(month);
  const current = monthOf(now);
  if (month < current) return usedMilliseconds;
  if (month > current) return undefined;
  const from = Math.min(Math.max(start, since), now);
  const elapsed = now - from;
  if (elapsed === 0) return usedMilliseconds;
  return Math.round(usedMilliseconds + (usedMilliseconds / elapsed) * (end - now));
}
