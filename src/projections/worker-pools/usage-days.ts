import { epochMilliseconds } from '../../domain/instants.ts';
import { type Day, daysBefore, type DayShare, splitByDay } from '../../domain/worker-pools/days.ts';

/** Milliseconds of what is over, by day; of the newest days in which something ran. */
export type DaySums = Readonly<Record<Day, number>>;

/** So many days can be shown: a month, whichever it is. */
export const DAYS_KEPT = 31;

/** Adds a span that is over to the days that it falls into, and forgets the oldest ones. */
export function withDays(sums: DaySums, from: string, to: string): DaySums {
  const grown: Record<Day, number> = { ...sums };
  for (const { day, milliseconds } of splitByDay(epochMilliseconds(from), epochMilliseconds(to), DAYS_KEPT))
    grown[day] = (grown[day] ?? 0) + milliseconds;
  const kept = Object.entries(grown).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(kept.slice(-DAYS_KEPT));
}

/** The last days, the oldest first: what is over, and what still runs up to `now` (epoch milliseconds). */
export function dayUsages(sums: DaySums, runningSince: readonly string[], now: number): readonly DayShare[] {
  const used = new Map(daysBefore(now, DAYS_KEPT).map((day) => [day, sums[day] ?? 0]));
  for (const since of runningSince)
    for (const { day, milliseconds } of splitByDay(epochMilliseconds(since), now, DAYS_KEPT))
      used.set(day, (used.get(day) ?? 0) + milliseconds);
  return [...used].map(([day, milliseconds]) => ({ day, milliseconds }));
}
