import { Temporal } from '@js-temporal/polyfill';

/** The instant of an ISO 8601 text with offset, in epoch milliseconds. @throws RangeError when it is none. */
export function epochMilliseconds(text: string): number {
  return Temporal.Instant.from(text).epochMilliseconds;
}

/** An instant as events write it: `2026-11-27T20:50:00.123+00:00`. */
export function instantText(epoch: number): string {
  const text = Temporal.Instant.fromEpochMilliseconds(epoch).toString({ fractionalSecondDigits: 3 });
  return text.replace('Z', '+00:00');
}
