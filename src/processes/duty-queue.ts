import { BoundedMap } from '../kernel/bounded-map.ts';
import type { Duty } from '../kernel/process.ts';
import type { Clock } from '../ports/clock.ts';

export type DutyQueueOptions<D extends Duty> = Readonly<{
  clock: Pick<Clock, 'monotonicMilliseconds'>;
  /** Duties performed at the same moment. */
  concurrency: number;
  /** Set: duties of one partition (a region, a receiver) get no more than a part of the places, so that a bad one leaves some to the others. */
  partitions?: Readonly<{ of: (duty: D) => string; concurrency: number }>;
}>;

/** Duties that share places among themselves. */
type Partition = {
  /** Places in use, or kept for a key that waited. */
  taken: number;
  /** Keys whose duty found no free place, first come first served. */
  readonly queued: Set<string>;
};

/** What is known of a duty that was tried: how often, and when it may be tried again. */
type Tried = Readonly<{ count: number; notBefore: number }>;

const RETRY_MILLISECONDS_MIN = 500;
const RETRY_MILLISECONDS_MAX = 60_000;
const REMEMBERED_MAX = 50_000;

/**
 * Which duties are performed now: each once at a time, within the places that all have and those of its partition, and not before its rest
 * after an earlier try has passed. All times are monotonic milliseconds.
 */
export class DutyQueue<D extends Duty> {
  readonly #with: DutyQueueOptions<D>;
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #tried = new BoundedMap<string, Tried>(REMEMBERED_MAX);
  readonly #partitions = new Map<string, Partition>();
  /** Those in which keys wait, the one whose turn it is first. */
  readonly #waiting = new Set<Partition>();
  /** Keys for which a place is kept until they have been asked. */
  readonly #admitted = new Map<string, Partition>();

  constructor(options: DutyQueueOptions<D>) {
    this.#with = options;
  }

  /**
   * Starts `perform`, unless the duty is under way or must rest; `freed` is called when its place is free again. Where no place is free its key waits
   * for one (see `admit`). Gives the milliseconds of its rest; `undefined`: it does not rest.
   */
  start(key: string, duty: D, perform: () => Promise<void>, freed: () => void): number | undefined {
    if (this.#underWay.has(duty.id)) return undefined;
    const rest = (this.#tried.get(duty.id)?.notBefore ?? 0) - this.#with.clock.monotonicMilliseconds();
    if (rest > 0) return rest;
    const partition = this.#partitionOf(duty);
    const isFull = this.#underWay.size + this.#admitted.size >= this.#with.concurrency;
    if (isFull || partition.taken >= this.#partitionConcurrency()) {
      partition.queued.add(key);
      this.#waiting.add(partition);
      return undefined;
    }
    partition.taken += 1;
    const performing = perform().finally(() => {
      this.#underWay.delete(duty.id);
      partition.taken -= 1;
      if (partition.taken === 0 && partition.queued.size === 0) this.#partitions.delete(this.#nameOf(duty));
      freed();
    });
    this.#underWay.set(duty.id, performing);
    return undefined;
  }

  /** Keeps free places for keys that wait for one, and gives those keys: the partitions take turns, in a partition first come first served. */
  admit(): readonly string[] {
    const keys: string[] = [];
    let free = this.#with.concurrency - this.#underWay.size - this.#admitted.size;
    for (let hasAdmitted = true; hasAdmitted && free > 0;) {
      hasAdmitted = false;
      // Partitions that had their turn come again at the end: each is looked at once.
      let left = this.#waiting.size;
      for (const partition of this.#waiting) {
        if (free === 0 || left === 0) break;
        left -= 1;
        const [key] = partition.queued;
        if (key === undefined || partition.taken >= this.#partitionConcurrency()) continue;
        // A key that waits in two partitions is asked about both.
        if (this.#admitted.has(key)) continue;
        free -= 1;
        partition.queued.delete(key);
        partition.taken += 1;
        this.#admitted.set(key, partition);
        keys.push(key);
        hasAdmitted = true;
        // It was this partition's turn.
        this.#waiting.delete(partition);
        if (partition.queued.size > 0) this.#waiting.add(partition);
      }
    }
    return keys;
  }

  /** A key that is asked uses the place that was kept for it, or gives it back. */
  giveBack(key: string): void {
    const partition = this.#admitted.get(key);
    if (partition === undefined) return;
    partition.taken -= 1;
    this.#admitted.delete(key);
  }

  /** A duty was tried: gives the milliseconds of its rest before the next try, longer each time. */
  tried(id: string): number {
    const count = (this.#tried.get(id)?.count ?? 0) + 1;
    const delay = retryDelay(count);
    this.#tried.set(id, { count, notBefore: this.#with.clock.monotonicMilliseconds() + delay });
    return delay;
  }

  /** Resolves when what is under way has ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay.values());
  }

  #partitionOf(duty: D): Partition {
    const name = this.#nameOf(duty);
    const known = this.#partitions.get(name);
    if (known !== undefined) return known;
    const partition: Partition = { taken: 0, queued: new Set() };
    this.#partitions.set(name, partition);
    return partition;
  }

  #nameOf(duty: D): string {
    return this.#with.partitions?.of(duty) ?? '';
  }

  #partitionConcurrency(): number {
    return this.#with.partitions?.concurrency ?? this.#with.concurrency;
  }
}

/** Milliseconds before the next try, after so many. */
export function retryDelay(tries: number): number {
  return Math.min(RETRY_MILLISECONDS_MIN * 2 ** (tries - 1), RETRY_MILLISECONDS_MAX);
}
