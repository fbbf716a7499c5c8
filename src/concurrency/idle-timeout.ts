import type { Clock } from '../ports/clock.ts';

/** Tells when nothing has been heard for some time. One timer for many words: words are the rule. */
export type IdleTimeout = Readonly<{
  /** Something came. */
  heard: () => void;
  /** Whether nothing has come for the whole time. */
  isOverdue: () => boolean;
  /** Resolves when it is time to ask whether it is overdue. */
  due: () => Promise<void>;
  stop: () => void;
}>;

export function openIdleTimeout(clock: Clock, milliseconds: number): IdleTimeout {
  const stopped = new AbortController();
  let heardAt = clock.monotonicMilliseconds();
  /** Ends with each timer, so that those who wait for it, page after page, don't pile up. */
  let timer: Promise<void> | undefined;

  return {
    heard: () => void (heardAt = clock.monotonicMilliseconds()),
    isOverdue: () => clock.monotonicMilliseconds() - heardAt >= milliseconds,
    due: () => {
      timer ??= clock
        .wait(milliseconds, stopped.signal)
        .catch(() => undefined)
        .finally(() => void (timer = undefined));
      return timer;
    },
    stop: () => stopped.abort(),
  };
}
