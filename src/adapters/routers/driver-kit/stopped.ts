import { RouterFailure } from '../../../ports/routers.ts';

/** Makes the failure of a call whose signal aborted. */
export type Stopped = (signal: AbortSignal) => RouterFailure;

/** The failure of a call whose signal aborted before anything was sent. */
export function stoppedInTime(signal: AbortSignal): RouterFailure {
  return stoppedBefore('anything', signal);
}

/** The same for a step that was not begun; what was sent before it is not in force, or is taken back. */
export function stoppedBefore(what: string, signal: AbortSignal): RouterFailure {
  return new RouterFailure('timed-out', `stopped before ${what} was sent to the router`, { cause: signal.reason });
}

/** The failure of a call whose signal aborted while something was waited for from the router, and no change had been put in force. */
export function stoppedWaiting(what: string): Stopped {
  return (signal) =>
    new RouterFailure('timed-out', `${what} when the wait was stopped; no change was put in force`, {
      cause: signal.reason,
    });
}

/** Waits for what has begun, or fails when the signal aborts first. */
export function stoppable<T>(signal: AbortSignal, work: Promise<T>, stopped: Stopped): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(stopped(signal));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    const forget = (): void => signal.removeEventListener('abort', stop);
    work.then(resolve, reject).finally(forget);
  });
}
