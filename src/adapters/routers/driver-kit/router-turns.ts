import { Semaphore, SemaphoreFull, stopOf } from '../../../concurrency/semaphore.ts';
import { RouterFailure } from '../../../ports/routers.ts';
import { stoppedInTime } from './stopped.ts';

/** The turns of the works on one router. */
export type RouterTurns = Readonly<{
  /** Runs the work when its turn comes. @throws RouterFailure `timed-out` when `signal` aborts before, `locked` when too many wait. */
  take: <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T>;
}>;

/** `atOnce` works run, `waiting` more may wait. */
export function createRouterTurns(atOnce: number, waiting: number): RouterTurns {
  const places = new Semaphore(atOnce, waiting);
  return {
    take: async (signal, work) => {
      await places.enter(stopOf(signal)).catch((error: unknown) => {
        if (!(error instanceof SemaphoreFull)) throw stoppedInTime(signal);
        throw new RouterFailure('locked', `${waiting} others wait for this router already`);
      });
      try {
        return await work();
      } finally {
        places.leave();
      }
    },
  };
}
