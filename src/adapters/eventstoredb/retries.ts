import type { Clock } from '../../ports/clock.ts';
import { openBackoff } from '../../concurrency/backoff.ts';
import { CallFailed, unavailable } from './failures.ts';

/** How long a caller is kept waiting for a store that is away, and by what it is named in messages. */
export type RetryPolicy = Readonly<{ clock: Clock; name: string; milliseconds: number; signal: AbortSignal }>;

/** Bounds the tries of one operation. */
export type Tries = Readonly<{
  /** Waits until the next try. @throws StoreUnavailable when there is none; what is no CallFailed as it is. */
  again: (failure: unknown) => Promise<void>;
  /** Something came through: the time counts from now. */
  progress: () => void;
}>;

export function openRetries({ clock, name, milliseconds, signal }: RetryPolicy): Tries {
  const backOff = openBackoff(clock);
  let since = clock.monotonicMilliseconds();
  return {
    again: async (failure) => {
      if (!(failure instanceof CallFailed)) throw failure;
      const late = clock.monotonicMilliseconds() - since + backOff.next() >= milliseconds;
      if (failure.denied || late || signal.aborted) throw unavailable(name, failure);
      await backOff.wait(signal).catch(() => undefined);
      if (signal.aborted) throw unavailable(name, signal.reason);
    },
    progress: () => {
      since = clock.monotonicMilliseconds();
      backOff.reset();
    },
  };
}
