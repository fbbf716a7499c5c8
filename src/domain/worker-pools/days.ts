import { Temporal } from '@js-temporal/polyfill';

/** A calendar day, UTC: `2026-11-28`. Text order is time order. */
export type Day = string;

/** The part of a run that falls into one day. */
export type DayShare = Readonly<{ day: Day; milliseconds: number }>;

/** Days of UTC are of one length: epoch milliseconds know no leap seconds. */
const DAY_MILLISECONDS = 86_400_000;

/** The day that an instant falls into, whatever the host's time zone is. */
export function dayOf(epoch: number): Day {
  return Temporal.Instant.fromEpochMilliseconds(epoch).toZonedDateTimeISO('UTC').toPlainDate().toString();
}

/** The day of an instant and those before it, `many` in all, the oldest first. */
export function daysBefore(epoch: number, many: number): readonly Day[] {
  return Array.from({ length: many }, (_, at) => dayOf(epoch - (many - 1 - at) * DAY_MILLISECONDS));
}

/**
 * Splits the time from `start` (inclusive) to `end` (exclusive) at midnights, of which the last `most` days are told. An end that is not after
 * the start (a clock that was set back) gives no share.
 */
export function splitByDay(start: number, end: number, most: number): readonly DayShare[] {
  const shares: DayShare[] = [];
  const midnight = Math.floor((end - 1) / DAY_MILLISECONDS) * DAY_MILLISECONDS;
  for (let from = Math.max(start, midnight - (most - 1) * DAY_MILLISECONDS); from < end;) {
    const to = Math.min(end, (Math.floor(from / DAY_MILLISECONDS) + 1) * DAY_MILLISECONDS);
    shares.push({ day: dayOf(from), milliseconds: to - from });
    from = to;
  }
  return shares;
}
