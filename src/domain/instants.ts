import { Temporal } from '@js-temporal/polyfill';
import { BoundedMap } from '../kernel/bounded-map.ts';

/** An instant as it is recorded: a day, and how far in it. */
const PLAIN = /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{3}))?(?:Z|\+00:00)$/;
const DAY_MILLISECONDS = 86_400_000;
/** Reckoning with days takes most of the time that an instant takes, and a page is about few days. */
const DAYS_MAX = 1_000;
const dayStarts = new BoundedMap<string, number>(DAYS_MAX);
const dayTexts = new BoundedMap<number, string>(DAYS_MAX);

/** The instant of an ISO 8601 text with offset, in epoch milliseconds. @throws RangeError when it is none. */
export function epochMilliseconds(text: string): number {
  const [, day, hours, minutes, seconds, milliseconds = 0] = PLAIN.exec(text) ?? [];
  if (day === undefined) return Temporal.Instant.from(text).epochMilliseconds;
  const inDay = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  return dayStart(day) + inDay * 1_000 + Number(milliseconds);
}

/** An instant of epoch milliseconds as ISO 8601 in UTC, with as many digits of a second as it needs. */
export function instantText(milliseconds: number): string {
  const day = Math.floor(milliseconds / DAY_MILLISECONDS);
  const inDay = milliseconds - day * DAY_MILLISECONDS;
  const [seconds, rest] = [Math.floor(inDay / 1_000), inDay % 1_000];
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const fraction = rest === 0 ? '' : `.${padded(rest, 3).replace(/0+$/, '')}`;
  return `${dayText(day)}T${padded(hours)}:${padded(minutes)}:${padded(seconds % 60)}${fraction}Z`;
}

/** An instant as events and answers write it: in UTC, to the millisecond, with a numeric offset. */
export function writtenText(instant: Temporal.Instant): string {
  return instant.toZonedDateTimeISO('UTC').toString({ fractionalSecondDigits: 3, timeZoneName: 'never' });
}

/** An instant of an ISO 8601 text with offset as an audit needs it: to the second, in UTC, with its offset. @throws RangeError when it is none. */
export function exactText(text: string): string {
  return instantText(Math.floor(epochMilliseconds(text) / 1_000) * 1_000)
    .replace('T', ' ')
    .replace('Z', ' +00:00');
}

function dayStart(day: string): number {
  const known = dayStarts.get(day);
  if (known !== undefined) return known;
  const start = Temporal.Instant.from(`${day}T00:00Z`).epochMilliseconds;
  dayStarts.set(day, start);
  return start;
}

function dayText(day: number): string {
  const known = dayTexts.get(day);
  if (known !== undefined) return known;
  const [text = ''] = Temporal.Instant.fromEpochMilliseconds(day * DAY_MILLISECONDS)
    .toString()
    .split('T');
  dayTexts.set(day, text);
  return text;
}

function padded(value: number, digits = 2): string {
  return String(value).padStart(digits, '0');
}
