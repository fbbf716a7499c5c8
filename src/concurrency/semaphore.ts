/** More are waiting than there is room for. */
export class SemaphoreFull extends Error {
  override readonly name = 'SemaphoreFull';
}

/** What can stop a wait: it tells its one listener, once. */
export type Stop = Readonly<{
  /** Why it was stopped, once it was. */
  stopped: Readonly<{ reason: unknown }> | undefined;
  /** The wait listens, or listens no longer. */
  listen: (listener: (() => void) | undefined) => void;
}>;

/** Lets a bounded number in at a time; the others wait in order, a bounded number of them. */
export class Semaphore {
  readonly #places: number;
  readonly #room: number;
  readonly #queue = new Set<() => void>();
  #inside = 0;

  /** A semaphore with `places` inside and `room` for those who wait before it. */
  constructor(places: number, room: number) {
    this.#places = places;
    this.#room = room;
  }

  /** Enters when there is a place. */
  tryEnter(): boolean {
    if (this.#inside >= this.#places) return false;
    this.#inside += 1;
    return true;
  }

  /** Resolves when there is a place, and has taken it; rejects with the reason for which `stop` is stopped, or SemaphoreFull. */
  enter(stop: Stop): Promise<void> {
    return new Promise((resolve, reject) => {
      if (stop.stopped !== undefined) reject(stop.stopped.reason);
      else if (this.tryEnter()) resolve();
      else if (this.#queue.size >= this.#room) reject(new SemaphoreFull(`${this.#room} are waiting already`));
      else {
        const go = (): void => {
          stop.listen(undefined);
          resolve();
        };
        this.#queue.add(go);
        stop.listen(() => {
          this.#queue.delete(go);
          reject(stop.stopped?.reason);
        });
      }
    });
  }

  /** Gives a place back: to the one that has waited longest. */
  leave(): void {
    const [next] = this.#queue;
    if (next === undefined) this.#inside -= 1;
    else {
      this.#queue.delete(next);
      next();
    }
  }

  /** There is nothing inside, so nothing waits. */
  get isEmpty(): boolean {
    return this.#inside === 0;
  }
}

/** A signal as what stops a wait. */
export function stopOf(signal: AbortSignal): Stop {
  let heard: (() => void) | undefined;
  return {
    get stopped() {
      return signal.aborted ? { reason: signal.reason } : undefined;
    },
    listen: (listener) => {
      if (heard !== undefined) signal.removeEventListener('abort', heard);
      heard = listener;
      if (listener !== undefined) signal.addEventListener('abort', listener, { once: true });
    },
  };
}
