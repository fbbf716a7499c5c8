import { BoundedMap } from '../kernel/bounded-map.ts';
import type { Clock } from '../ports/clock.ts';

const REMEMBERED_MAX = 100_000;

/**
 * Milliseconds since an instant (epoch milliseconds) of something; the same something has the same name each time. `most`: how old it is at
 * most when it is asked about for the first time, where more is known of that than when the look before was.
 */
type AgeOf = (what: string, atMilliseconds: number, most?: number) => number;

/**
 * How old things are whose instants a wall clock has written, for one who asks again and again. The wall clock is asked once for each of
 * them; from then on it ages by the monotonic clock, whatever is done to the other. An instant that is in the future then counts as that moment.
 */
export class Ages {
  readonly #clock: Pick<Clock, 'now' | 'monotonicMilliseconds'>;
  readonly #begun = new BoundedMap<string, number>(REMEMBERED_MAX);
  #lookedAt: number | undefined;

  constructor(clock: Pick<Clock, 'now' | 'monotonicMilliseconds'>) {
    this.#clock = clock;
  }

  /** The age of one thing, which is no older than `most` when it is asked about for the first time. */
  of(what: string, atMilliseconds: number, most = Number.POSITIVE_INFINITY): number {
    const now = this.#clock.monotonicMilliseconds();
    const begun = this.#begun.get(what);
    if (begun !== undefined) return now - begun;
    const age = Math.min(Math.max(0, this.#clock.now().epochMilliseconds - atMilliseconds), most);
    this.#begun.set(what, now - age);
    return age;
  }

  /** A look at everything that there is. What the look before has not asked about came after that, and is no older. */
  look(): AgeOf {
    const now = this.#clock.monotonicMilliseconds();
    const sinceLast = this.#lookedAt === undefined ? Number.POSITIVE_INFINITY : now - this.#lookedAt;
    this.#lookedAt = now;
    return (what, atMilliseconds, most = sinceLast) => this.of(what, atMilliseconds, most);
  }
}
