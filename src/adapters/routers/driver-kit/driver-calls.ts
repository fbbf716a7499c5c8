import { Semaphore, SemaphoreFull, stopOf } from '../../../concurrency/semaphore.ts';
import { RouterFailure } from '../../../ports/routers.ts';
import { requireListName } from './prefix-lists.ts';

/** The calls that run on a driver, so that it closes after the last of them. */
export type DriverCalls = Readonly<{
  /** Runs a call, on a list of ours or on the router as a whole. @throws RouterFailure when it may not begin */
  run: <T>(signal: AbortSignal, list: string | undefined, work: () => Promise<T>) => Promise<T>;
  /** Lets no more calls begin, waits for those that run, then does what is left to do. Closing again does nothing. */
  close: (end: () => Promise<void>) => Promise<void>;
}>;

export function createDriverCalls(): DriverCalls {
  const running = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;
  return {
    run: async (signal, list, work) => {
      if (list !== undefined) requireListName(list);
      if (closing !== undefined) throw new RouterFailure('unreachable', 'the driver is closed');
      if (signal.aborted) throw stoppedInTime(signal);
      const call = work();
      running.add(call);
      try {
        return await call;
      } finally {
        running.delete(call);
      }
    },
    close: (end) => {
      closing ??= Promise.allSettled(running).then(end);
      return closing;
    },
  };
}

/** The turns of the works on one router. */
type RouterTurns = Readonly<{
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
