/** One work at a time on each list of a router: deployments, repairs and removals never meet. */
export type KeyedMutex = Readonly<{
  /** Runs the work when all that were there before are over. Rejects with the signal's reason when it aborts first. */
  take: <T>(key: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;
}>;

/** The turn of one list on one router of a region: a router that hangs holds up its own lists alone. */
export function listTurn(regionId: number, list: string, router: string): string {
  return `${regionId}/${list}/${router}`;
}

/** The turn of slices on one router: no more than one of them is ever before a change that others wait for. */
export function sliceTurn(regionId: number, router: string): string {
  return `${regionId}//${router}`;
}

/** The turn of a region whose routers change together: two such changes would wait for each other's routers. */
export function regionTurn(regionId: number): string {
  return `${regionId}`;
}

export function createKeyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<unknown>>();
  return {
    take: (key, signal, work) => {
      const before = last.get(key);
      const taken = afterwards(before, signal, work);
      // A caller that gives up while it waits still keeps the others in order.
      const over = Promise.allSettled([before, taken]);
      last.set(key, over);
      void forget(last, key, over);
      return taken;
    },
  };
}

async function afterwards<T>(
  before: Promise<unknown> | undefined,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  if (before !== undefined) await orAborted(before, signal);
  return work();
}

async function orAborted(before: Promise<unknown>, signal: AbortSignal): Promise<void> {
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    await Promise.race([before, aborted]);
  } finally {
    if (stop !== undefined) signal.removeEventListener('abort', stop);
  }
}

async function forget(last: Map<string, Promise<unknown>>, key: string, over: Promise<unknown>): Promise<void> {
  await over;
  if (last.get(key) === over) last.delete(key);
}
