import { Temporal } from '@js-temporal/polyfill';
import { writtenText } from '../instants.ts';

/** When disabled addresses are enabled by themselves: an instant with offset, and how far off it is. */
export type DisabledTerm = Readonly<{ until: string; milliseconds: number }>;

const TERM_DAYS_MAX = 90;

/** What a client says of it: an instant, or how long from now on. */
export type Until = Temporal.Instant | Temporal.Duration;

/** Reads an ISO 8601 instant with offset or an ISO 8601 duration; `undefined` for any other text. */
export function parseUntil(text: string): Until | undefined {
  try {
    return /^[+-]?P/i.test(text) ? Temporal.Duration.from(text) : Temporal.Instant.from(text);
  } catch {
    return undefined;
  }
}

/** The term that begins now, to the millisecond; a problem where it is over already, or too long. */
export function termFrom(until: Until, now: Temporal.Instant): DisabledTerm | Readonly<{ problem: string }> {
  const end = endOf(until, now);
  if (end === undefined || end.epochMilliseconds > now.add({ hours: 24 * TERM_DAYS_MAX }).epochMilliseconds)
    return { problem: `must be at most ${TERM_DAYS_MAX} days from now.` };
  const milliseconds = end.epochMilliseconds - now.epochMilliseconds;
  if (milliseconds <= 0) return { problem: 'must be in the future.' };
  return { until: writtenText(end), milliseconds };
}

/** `undefined`: farther than any instant. Months and days are those of the calendar in UTC. */
function endOf(until: Until, now: Temporal.Instant): Temporal.Instant | undefined {
  if (until instanceof Temporal.Instant) return until;
  try {
    return now.toZonedDateTimeISO('UTC').add(until).toInstant();
  } catch {
    return undefined;
  }
}
