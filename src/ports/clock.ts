import type { Temporal } from '@js-temporal/polyfill';

/** Time from outside. Tests move it. */
export type Clock = Readonly<{
  /** The wall clock, to the millisecond. */
  now: () => Temporal.Instant;
  /** The wall clock as events write it: `2026-11-27T20:50:00.123+00:00`. Cheap enough for every event. */
  nowText: () => string;
  /** Milliseconds that only grow; for durations. */
  monotonicMilliseconds: () => number;
  /** Resolves after `milliseconds` of monotonic time (any length); rejects with the signal's reason when it aborts first. */
  wait: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}>;
