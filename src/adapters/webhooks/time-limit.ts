import type { Clock } from '../../ports/clock.ts';

/** The time is up. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut';
}

/** One signal for all that can stop a piece of work. `end` must be called when the work is over. */
export type TimeLimit = Readonly<{ signal: AbortSignal; stop: (reason: Error) => void; end: () => void }>;

const OVER = new Error('the work is over');

/** Aborts with TimedOut after `milliseconds`, with `outer`'s reason when that aborts first, or with what `stop` is given. */
export function startTimeLimit(clock: Clock, milliseconds: number, outer: AbortSignal): TimeLimit {
  const controller = new AbortController();
  const onOuter = (): void => controller.abort(outer.reason);
  outer.addEventListener('abort', onOuter, { once: true });
  clock.wait(milliseconds, controller.signal).then(
    () => controller.abort(new TimedOut()),
    // The wait ends early for the reasons that have aborted the signal already.
    () => undefined,
  );
  return {
    signal: controller.signal,
    stop: (reason) => controller.abort(reason),
    end: () => {
      outer.removeEventListener('abort', onOuter);
      controller.abort(OVER);
    },
  };
}
