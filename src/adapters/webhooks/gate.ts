/** More are waiting at a gate than it has room for. */
export class GateFull extends Error {
  override readonly name = 'GateFull';
}

/** Lets a bounded number in at a time; the others wait in order, a bounded number of them. */
export type Gate = Readonly<{
  /** Enters at once when a place is free (then there is nothing to wait for), or resolves when one is; rejects with the signal's reason, or GateFull. */
  enter: (signal: AbortSignal) => Promise<void> | undefined;
  /** Gives the place back: to whoever waited longest. */
  leave: () => void;
  /** Nobody is inside or waiting. */
  isIdle: () => boolean;
}>;

/** A gate with `places` inside and room for `waiting` before it. */
export function createGate(places: number, waiting: number): Gate {
  let inside = 0;
  const queue = new Set<() => void>();
  return {
    enter: (signal) => {
      if (inside < places) {
        inside += 1;
        return undefined;
      }
      if (signal.aborted) return Promise.reject(signal.reason);
      if (queue.size >= waiting) return Promise.reject(new GateFull(`${waiting} are waiting already`));
      return new Promise((resolve, reject) => {
        const stop = (): void => {
          queue.delete(go);
          reject(signal.reason);
        };
        const go = (): void => {
          signal.removeEventListener('abort', stop);
          resolve();
        };
        signal.addEventListener('abort', stop, { once: true });
        queue.add(go);
      });
    },
    leave: () => {
      const [next] = queue;
      if (next === undefined) {
        inside -= 1;
        return;
      }
      queue.delete(next);
      next();
    },
    isIdle: () => inside === 0 && queue.size === 0,
  };
}
