import { RouterFailure } from '../../ports/routers.ts';

/** Lets a bounded number of works run at a time; the others wait in order, a bounded number of them. */
export type Turns = Readonly<{
  /** Runs the work when its turn comes. @throws RouterFailure `timed-out` when `signal` aborts before, `locked` when too many wait. */
  take: <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T>;
}>;

/** `atOnce` works run, `waiting` more may wait. */
export function createTurns(atOnce: number, waiting: number): Turns {
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

/** The failure of a call whose signal aborted before anything was sent. */
export function stoppedInTime(signal: AbortSignal): RouterFailure {
  return new RouterFailure('timed-out', 'stopped before anything was sent to the router', { cause: signal.reason });
}
