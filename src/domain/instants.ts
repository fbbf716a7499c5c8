import { Temporal } from '@js-temporal/polyfill';

/** The instant of an ISO 8601 text with offset, in epoch milliseconds. @throws RangeError when it is none. */
export function epochMilliseconds(text: string): number {
  return Temporal.Instant.from(text).epochMilliseconds;
}
