import { RouterFailure } from '../../../ports/routers.ts';

/** Lets a bounded number of works run at a time; the others wait in order, a bounded number of them. */
export type Semaphore = Readonly<{
  /** Runs the work when its turn comes. @throws RouterFailure `timed-out` when `signal` aborts before, `locked` when too many wait. */
  take: <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T>;
}>;

/** `atOnce` works run, `waiting` more may wait. */
export function createSemaphore(atOnce: number, waiting: number): Semaphore {
  let running = 0;
  const queue = new Set<() => void>();

  const enter = (signal: AbortSignal): Promise<void> => {
    if (signal.aborted) return Promise.reject(stoppedInTime(signal));
    if (running < atOnce) {
      running += 1;
      return Promise.resolve();
    }
    if (queue.size >= waiting) {
      return Promise.reject(new RouterFailure('locked', `${waiting} others wait for this router already`));
    }
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        queue.delete(go);
        reject(stoppedInTime(signal));
      };
      const go = (): void => {
        signal.removeEventListener('abort', stop);
        resolve();
      };
      signal.addEventListener('abort', stop, { once: true });
      queue.add(go);
    });
  };

  const leave = (): void => {
    const [next] = queue;
    if (next === undefined) {
      running -= 1;
      return;
    }
    queue.delete(next);
    next();
  };

  return {
    take: async (signal, work) => {
      await enter(signal);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}

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
