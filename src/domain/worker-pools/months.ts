import { Temporal } from '@js-temporal/polyfill';

/** A calendar month, Gregorian, UTC: `2026-11`. Text order is time order. */
export type Month = string;

/** The part of a run that falls into one month. */
export type MonthShare = Readonly<{ month: Month; milliseconds: number }>;

/** The first millisecond of a month, and the first of the next one, in epoch milliseconds. */
export type MonthBounds = Readonly<{ start: number; end: number }>;

/** The month that an instant falls into, whatever the host's time zone is. */
export function monthOf(epoch: number): Month {
  const { year, month } = Temporal.Instant.fromEpochMilliseconds(epoch).toZonedDateTimeISO('UTC');
  return monthText(year, month);
}

/** Where a month starts and ends. @throws RangeError when the text is no month. */
export function monthBounds(month: Month): MonthBounds {
  const first = Temporal.PlainYearMonth.from(month).toPlainDate({ day: 1 });
  return { start: startOfDay(first), end: startOfDay(first.add({ months: 1 })) };
}

/** Tells a month from other text: four digits, a dash, 01 to 12. */
export function isMonth(text: string): boolean {
  return /^\d{4}-(?:0[1-9]|1[0-2])$/.test(text);
}

/**
 * Splits the time from `start` (inclusive) to `end` (exclusive) at the ends of months: the shares add up to exactly `end - start`.
 * An end that is not after the start (a clock that was set back) gives no share.
 */
export function splitByMonth(start: number, end: number): readonly MonthShare[] {
  const shares: MonthShare[] = [];
  for (let from = start; from < end;) {
    const month = monthOf(from);
    const to = Math.min(end, monthBounds(month).end);
    shares.push({ month, milliseconds: to - from });
    from = to;
  }
  return shares;
}

/** How much of the time from `start` to `end` falls into `month`, in milliseconds. */
export function withinMonth(start: number, end: number, month: Month): number {
  const bounds = monthBounds(month);
  return Math.max(0, Math.min(end, bounds.end) - Math.max(start, bounds.start));
}

function monthText(year: number, month: number): Month {
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}`;
}

function startOfDay(date: Temporal.PlainDate): number {
  return date.toZonedDateTime('UTC').epochMilliseconds;
}
