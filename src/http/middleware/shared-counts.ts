import type { Store } from 'express-rate-limit';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { windowCounts } from './window-counts.ts';

/** After a failure the shared count is left alone for this long: no request waits for a store that is away, request after request. */
const LEFT_ALONE_MILLISECONDS = 5_000;

/**
 * One count for all servers. While the store that keeps it is away each server counts for itself: a limit that is not exact is
 * better than no answer.
 */
export function sharedCounts(
  shared: Store,
  { clock, log, windowMilliseconds }: Readonly<{ clock: Clock; log: Log; windowMilliseconds?: number }>,
): Store {
  const own = windowCounts(clock, windowMilliseconds);
  let leftAloneUntil = Number.NEGATIVE_INFINITY;

  return {
    localKeys: false,
    init: (options) => {
      void shared.init?.(options);
      void own.init?.(options);
    },
    get: (key) => onEither((store) => store.get?.(key)),
    increment: (key) => onEither((store) => store.increment(key)),
    decrement: (key) => onEither((store) => store.decrement(key)),
    resetKey: (key) => onEither((store) => store.resetKey(key)),
  };

  async function onEither<T>(use: (store: Store) => T | Promise<T>): Promise<T> {
    if (clock.monotonicMilliseconds() < leftAloneUntil) return use(own);
    try {
      return await use(shared);
    } catch (error) {
      const now = clock.monotonicMilliseconds();
      if (now >= leftAloneUntil)
        log.warn({ error }, 'requests can not be counted for all servers; each counts its own');
      leftAloneUntil = now + LEFT_ALONE_MILLISECONDS;
      return use(own);
    }
  }
}
