import type { TimeLimit } from './time-limit.ts';

/** More are waiting at a gate than it has room for. */
export class GateFull extends Error {
  override readonly name = 'GateFull';
}

/** Lets a bounded number in at a time; the others wait in order, a bounded number of them. */
export class Gate {
  readonly #places: number;
  readonly #room: number;
  readonly #queue = new Set<() => void>();
  #inside = 0;

  /** A gate with `places` inside and `room` for those who wait before it. */
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

  /** Resolves when there is a place, and has taken it; rejects with the reason for which `limit` is stopped, or GateFull. */
  enter(limit: TimeLimit): Promise<void> {
    return new Promise((resolve, reject) => {
      if (limit.stopped !== undefined) reject(limit.stopped.reason);
      else if (this.tryEnter()) resolve();
      else if (this.#queue.size >= this.#room) reject(new GateFull(`${this.#room} are waiting already`));
      else {
        const go = (): void => {
          limit.listen(undefined);
          resolve();
        };
        this.#queue.add(go);
        limit.listen(() => {
          this.#queue.delete(go);
          reject(limit.stopped?.reason);
        });
      }
    });
  }

  /** Gives a place back: to whoever waited longest. */
  leave(): void {
    const [next] = this.#queue;
    if (next === undefined) this.#inside -= 1;
    else {
      this.#queue.delete(next);
      next();
    }
  }

  /** Nobody is inside, so nobody waits. */
  get isEmpty(): boolean {
    return this.#inside === 0;
  }
}
