import { Temporal } from '@js-temporal/polyfill';
import type { Clock } from '../../src/ports/clock.ts';

/** A clock that stands still until a test moves it. */
export type ManualClock = Clock &
  Readonly<{
    /** Moves time on; waits that are over by then resolve, the earliest first, each at its own time. */
    advance: (duration: Temporal.DurationLike | string) => Promise<void>;
    /** Sets the wall clock, as an administrator might; monotonic time and waits know nothing of it. */
    setWallClock: (instant: Temporal.Instant | string) => void;
    /** How many waits are not over. */
    waiting: () => number;
    /** In how many milliseconds the earliest of them ends; undefined when there is none. */
    untilNext: () => number | undefined;
  }>;

type Wait = Readonly<{ end: number; resolve: () => void }>;

export function createManualClock(start: Temporal.Instant | string = '2026-11-27T20:50:00.123Z'): ManualClock {
  let wall = Temporal.Instant.from(start).epochMilliseconds;
  let monotonic = 0;
  let waits: readonly Wait[] = [];

  return {
    now: () => Temporal.Instant.fromEpochMilliseconds(wall),
    nowText: () =>
      Temporal.Instant.fromEpochMilliseconds(wall)
        .toZonedDateTimeISO('UTC')
        .toString({ fractionalSecondDigits: 3, timeZoneName: 'never' }),
    monotonicMilliseconds: () => monotonic,
    wait: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        if (milliseconds <= 0) return resolve();
        const abort = (): void => {
          waits = waits.filter((other) => other !== wait);
          reject(signal?.reason);
        };
        const wait: Wait = {
          end: monotonic + milliseconds,
          resolve: () => {
            signal?.removeEventListener('abort', abort);
            resolve();
          },
        };
        waits = [...waits, wait].sort((a, b) => a.end - b.end);
        signal?.addEventListener('abort', abort, { once: true });
      }),
    advance: async (duration) => {
      const end = monotonic + Temporal.Duration.from(duration).total('milliseconds');
      for (let next = waits[0]; next !== undefined && next.end <= end; next = waits[0]) {
        moveTo(next.end);
        waits = waits.slice(1);
        next.resolve();
        // The code that waited goes on, and may wait again, before time does.
        await settled();
      }
      moveTo(end);
      await settled();
    },
    setWallClock: (instant) => void (wall = Temporal.Instant.from(instant).epochMilliseconds),
    waiting: () => waits.length,
    untilNext: () => (waits[0] === undefined ? undefined : waits[0].end - monotonic),
  };

  function moveTo(time: number): void {
    wall += time - monotonic;
    monotonic = time;
  }
}

function settled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
