import type { Store } from 'express-rate-limit';
import type { Clock } from '../../ports/clock.ts';

type Window = { hits: number; endsAt: number };

/**
 * Counts in the memory of this server. A window begins with the first request of a key and is over after `windowMs` by the monotonic clock,
 * whatever becomes of the wall clock; that tells only what to call its end.
 */
export function windowCounts(clock: Clock, windowMillisecondsAtFirst = 60_000): Store {
  const windows = new Map<string, Window>();
  let windowMilliseconds = windowMillisecondsAtFirst;
  let sweepAt = Number.NEGATIVE_INFINITY;

  return {
    localKeys: true,
    init: ({ windowMs }) => void (windowMilliseconds = windowMs),
    get: (key) => {
      const window = current(key);
      return window === undefined ? undefined : shown(window);
    },
    increment: (key) => {
      sweepSometimes();
      const window = current(key) ?? { hits: 0, endsAt: clock.monotonicMilliseconds() + windowMilliseconds };
      window.hits += 1;
      windows.set(key, window);
      return shown(window);
    },
    decrement: (key) => {
      const window = current(key);
      if (window !== undefined && window.hits > 0) window.hits -= 1;
    },
    resetKey: (key) => void windows.delete(key),
    resetAll: () => windows.clear(),
  };

  function current(key: string): Window | undefined {
    const window = windows.get(key);
    return window !== undefined && clock.monotonicMilliseconds() < window.endsAt ? window : undefined;
  }

  function shown({ hits, endsAt }: Window): Readonly<{ totalHits: number; resetTime: Date }> {
    const left = endsAt - clock.monotonicMilliseconds();
    return { totalHits: hits, resetTime: new Date(clock.now().epochMilliseconds + left) };
  }

  /** Windows that are over would otherwise stay, one for each address that ever called. */
  function sweepSometimes(): void {
    const now = clock.monotonicMilliseconds();
    if (now < sweepAt) return;
    sweepAt = now + windowMilliseconds;
    for (const [key, { endsAt }] of windows) if (endsAt <= now) windows.delete(key);
  }
}
