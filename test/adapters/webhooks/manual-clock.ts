import { Temporal } from '@js-temporal/polyfill';
import type { Clock } from '../../../src/ports/clock.ts';

export type ManualClock = Clock &
  Readonly<{
    /** Lets time pass; waits that are over resolve. */
    advance: (milliseconds: number) => void;
    /** How many wait. */
    waits: () => number;
  }>;

/** Stands still until it is told. */
export function createManualClock(): ManualClock {
  const start = Temporal.Instant.from('2026-11-27T20:50:00Z');
  const waits = new Set<Readonly<{ at: number; resolve: () => void }>>();
  let passed = 0;
  const now = (): Temporal.Instant => start.add({ milliseconds: passed });
  return {
    now,
    nowText: () => now().toString({ timeZone: 'UTC', smallestUnit: 'millisecond' }),
    monotonicMilliseconds: () => passed,
    wait: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        const entry = { at: passed + milliseconds, resolve };
        waits.add(entry);
        signal?.addEventListener('abort', () => {
          waits.delete(entry);
          reject(signal.reason);
        });
      }),
    advance: (milliseconds) => {
      passed += milliseconds;
      for (const wait of waits) {
        if (wait.at > passed) continue;
        waits.delete(wait);
        wait.resolve();
      }
    },
    waits: () => waits.size,
  };
}
