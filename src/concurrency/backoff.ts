import type { Clock } from '../ports/clock.ts';

/** Waiting times between tries: doubling from `first` up to `most`, less up to a quarter so that many don't come at once. */
export type Backoff = Readonly<{
  /** How long the next wait is, in milliseconds. */
  next: () => number;
  /** Waits that long. Rejects with the signal's reason. */
  wait: (signal: AbortSignal) => Promise<void>;
  reset: () => void;
}>;

export function openBackoff(clock: Clock, first = 50, most = 2_000): Backoff {
  let tries = 0;
  const next = (): number => Math.min(most, first * 2 ** Math.min(tries, 20)) * (1 - Math.random() / 4);
  return {
    next,
    wait: async (signal) => {
      const milliseconds = next();
      tries += 1;
      await clock.wait(milliseconds, signal);
    },
    reset: () => void (tries = 0),
  };
}
