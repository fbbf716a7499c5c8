import { RouterFailure } from '../../../ports/routers.ts';
import { requireListName } from './list-name.ts';
import { stoppedInTime } from './stopped.ts';

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
