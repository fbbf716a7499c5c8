import type { Clock } from '../../../ports/clock.ts';
import { RouterFailure } from '../../../ports/routers.ts';
import type { DriverCalls } from '../driver-kit/driver-calls.ts';

/** A disk that answers ends what it has begun within this time after it was told to stop. */
const END_MILLISECONDS = 1_000;

/**
 * The calls to a folder whose disk may hang, as one over a network does that is gone: nothing stops a call of the operating system. One that
 * hangs is waited for no longer than a moment after its signal, keeps its turns until it ends, and until then no other is begun: each
 * would take a thread of this process.
 */
export function unlessHung(calls: DriverCalls, folder: string, clock: Pick<Clock, 'wait'>): DriverCalls {
  let hanging = 0;
  const hung = (work: Promise<unknown>): RouterFailure => {
    hanging += 1;
    const ended = (): void => void (hanging -= 1);
    work.then(ended, ended);
    return new RouterFailure('outcome-unknown', `${folder} does not answer: what was begun may still come into effect`);
  };
  return {
    run: (signal, list, work) =>
      calls.run(signal, list, () => {
        if (hanging > 0) throw new RouterFailure('unreachable', `${folder} has not answered to an earlier call yet`);
        return endOf(work(), signal, clock, hung);
      }),
    close: calls.close,
  };
}

function endOf<T>(
  work: Promise<T>,
  signal: AbortSignal,
  clock: Pick<Clock, 'wait'>,
  hung: (work: Promise<T>) => RouterFailure,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let over: AbortController | undefined;
    const stop = (): void => {
      over = new AbortController();
      clock.wait(END_MILLISECONDS, over.signal).then(
        () => reject(hung(work)),
        () => undefined,
      );
    };
    signal.addEventListener('abort', stop, { once: true });
    const forget = (): void => {
      signal.removeEventListener('abort', stop);
      over?.abort();
    };
    work.then(resolve, reject).finally(forget);
  });
}
