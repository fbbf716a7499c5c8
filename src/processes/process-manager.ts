import { BoundedMap } from '../kernel/bounded-map.ts';
import type { Event } from '../kernel/event.ts';
import type { Duty, Perform, Process } from '../kernel/process.ts';
import type { Projection } from '../kernel/projection.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Log } from '../ports/log.ts';
import { Sightings } from './sightings.ts';

/** How a process's states are kept: as the views of a projection of their own. */
export function statesOf<E extends Event, S extends object, D extends Duty>(
  process: Process<E, S, D>,
): Projection<E, S> {
  const { name, version, handles, keysOf, evolve } = process;
  return { name: `process-${name}`, version, handles, keysOf, evolve };
}

export type ProcessDependencies<S extends object, D extends Duty = Duty> = Readonly<{
  states: Readonly<{
    get: (key: string) => Promise<S | undefined>;
    list: () => Promise<readonly Readonly<{ key: string; view: S }>[]>;
  }>;
  store: Pick<EventStore, 'end'>;
  clock: Clock;
  log: Log;
  /** Resolves when the states have applied this position. */
  reached: (position: bigint, timeoutMilliseconds: number) => Promise<boolean>;
  /** Duties performed at the same moment. */
  concurrency: number;
  /** Set: duties of one lane (a region, a receiver) get no more than a part of the places, so that a bad one leaves some to the others. */
  lanes?: Readonly<{ of: (duty: D) => string; concurrency: number }>;
  /** Set: what is owed is looked for at this rhythm only (a scheduler), not at each event. */
  everyMilliseconds?: number;
}>;

/** One running process manager. */
export type RunningProcess = Readonly<{
  /** The log was applied up to this position, which changed the states of these keys. */
  touched: (keys: readonly string[], position: bigint) => void;
  /** Pays what is owed until `stop` aborts, then waits for what is under way; `abort` breaks that off too. */
  run: (stop: AbortSignal, abort: AbortSignal) => Promise<void>;
}>;

const RETRY_MILLISECONDS_MIN = 500;
const RETRY_MILLISECONDS_MAX = 60_000;
const REACH_MILLISECONDS = 10_000;
const REMEMBERED_MAX = 50_000;
/** A reason for every end of a rest: the platform would make a new one for each, with its stack. */
const WOKEN = new Error('there is something to do');

/** Duties that share places among themselves. */
type Lane = {
  /** Places in use, or kept for a key that waited. */
  taken: number;
  /** Keys whose duty found no free place, first come first served. */
  readonly queued: Set<string>;
};

/** What is known of a duty that was tried: how often, and when it may be tried again. */
type Tried = Readonly<{ count: number; notBefore: number }>;

/** Asks a process what it owes: on start for every open state, on each change, and when a state asked to be woken. */
export function openProcess<E extends Event, S extends object, D extends Duty>(
  process: Process<E, S, D>,
  perform: Perform<D>,
  dependencies: ProcessDependencies<S, D>,
): RunningProcess {
  const runner = new ProcessRunner(process, perform, dependencies);
  return { touched: (keys, position) => runner.touched(keys, position), run: (stop, abort) => runner.run(stop, abort) };
}

/** All times are monotonic milliseconds: a wall clock that is set back or forward delays and hastens nothing. */
class ProcessRunner<E extends Event, S extends object, D extends Duty> implements RunningProcess {
  readonly #process: Process<E, S, D>;
  readonly #perform: Perform<D>;
  readonly #with: ProcessDependencies<S, D>;
  /** Keys to be asked at once. */
  readonly #due = new Set<string>();
  /** When to ask other keys again. */
  readonly #later = new Map<string, number>();
  /** No key is to be asked again before this. */
  #nextAt = Number.POSITIVE_INFINITY;
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #tried = new BoundedMap<string, Tried>(REMEMBERED_MAX);
  readonly #lanes = new Map<string, Lane>();
  /** Those in which keys wait, the one whose turn it is first. */
  readonly #queues = new Set<Lane>();
  /** Keys for which a place is kept until they have been asked. */
  readonly #admitted = new Map<string, Lane>();
  /** A place became free for a key that waited for it: no rest before it has been asked. */
  #goesOn = false;
  #rest = new AbortController();
  readonly #sightings: Sightings;

  constructor(process: Process<E, S, D>, perform: Perform<D>, dependencies: ProcessDependencies<S, D>) {
    this.#process = process;
    this.#perform = perform;
    this.#with = dependencies;
    this.#sightings = new Sightings(dependencies.clock);
  }

  touched(keys: readonly string[], position: bigint): void {
    this.#sightings.passed(position);
    for (const key of keys) this.#due.add(key);
    if (this.#with.everyMilliseconds === undefined) this.#rest.abort(WOKEN);
  }

  async run(stop: AbortSignal, abort: AbortSignal): Promise<void> {
    const wake = (): void => this.#rest.abort(WOKEN);
    stop.addEventListener('abort', wake);
    try {
      await this.#recall(stop);
      while (!stop.aborted) {
        await this.#askDue(stop, abort);
        this.#admit();
        if (this.#goesOn) this.#goesOn = false;
        else await this.#sleep(stop, this.#with.everyMilliseconds ?? this.#untilNext());
      }
    } finally {
      stop.removeEventListener('abort', wake);
      await Promise.all(this.#underWay.values());
    }
  }

  /** Every open state is asked once at the start; what the log holds by now happened before. */
  async #recall(stop: AbortSignal): Promise<void> {
    for (let tries = 1; !stop.aborted; tries += 1) {
      try {
        this.#sightings.begin(await this.#with.store.end());
        for (const { key } of await this.#with.states.list()) this.#due.add(key);
        return;
      } catch (error) {
        const delay = retryDelay(tries);
        const fields = { process: this.#process.name, error, retryMilliseconds: delay };
        this.#with.log.error(fields, 'what is open could not be read; trying again');
        await this.#sleep(stop, delay);
      }
    }
  }

  async #askDue(stop: AbortSignal, abort: AbortSignal): Promise<void> {
    this.#wakeLater();
    const keys = [...this.#due];
    this.#due.clear();
    for (const key of keys) {
      if (stop.aborted) return;
      this.#later.delete(key);
      await this.#ask(key, stop, abort);
      this.#giveBack(key);
    }
  }

  async #ask(key: string, stop: AbortSignal, abort: AbortSignal): Promise<void> {
    const { states, log } = this.#with;
    let state: S | undefined;
    try {
      state = await states.get(key);
    } catch (error) {
      log.error({ process: this.#process.name, key, error }, 'a state could not be read; trying again');
      this.#askIn(key, RETRY_MILLISECONDS_MIN);
      return;
    }
    if (state === undefined || stop.aborted) return;
    const since = this.#sightings.since();
    const sleeps = this.#process.wakesIn(state, since) ?? 0;
    if (sleeps > 0 && sleeps < Number.POSITIVE_INFINITY) this.#askIn(key, sleeps);
    this.#giveBack(key);
    for (const duty of this.#process.owed(state, since)) this.#take(key, duty, abort);
  }

  #askIn(key: string, milliseconds: number): void {
    const at = this.#with.clock.monotonicMilliseconds() + milliseconds;
    const planned = this.#later.get(key);
    if (planned === undefined || planned > at) this.#later.set(key, at);
    if (at < this.#nextAt) this.#nextAt = at;
  }

  #wakeLater(): void {
    const now = this.#with.clock.monotonicMilliseconds();
    if (this.#nextAt > now) return;
    this.#nextAt = Number.POSITIVE_INFINITY;
    for (const [key, at] of this.#later) {
      if (at <= now) this.#due.add(key);
      else if (at < this.#nextAt) this.#nextAt = at;
    }
  }

  #take(key: string, duty: D, abort: AbortSignal): void {
    if (this.#underWay.has(duty.id)) return;
    const waits = (this.#tried.get(duty.id)?.notBefore ?? 0) - this.#with.clock.monotonicMilliseconds();
    if (waits > 0) return this.#askIn(key, waits);
    const lane = this.#laneOf(duty);
    const isFull = this.#underWay.size + this.#admitted.size >= this.#with.concurrency;
    if (isFull || lane.taken >= this.#laneConcurrency()) return this.#queue(key, lane);
    lane.taken += 1;
    const paying = this.#pay(key, duty, abort).finally(() => {
      this.#underWay.delete(duty.id);
      lane.taken -= 1;
      if (lane.taken === 0 && lane.queued.size === 0) this.#lanes.delete(this.#laneName(duty));
      this.#admit();
      if (this.#goesOn || this.#with.everyMilliseconds === undefined) this.#rest.abort(WOKEN);
    });
    this.#underWay.set(duty.id, paying);
  }

  #laneOf(duty: D): Lane {
    const name = this.#laneName(duty);
    const known = this.#lanes.get(name);
    if (known !== undefined) return known;
    const lane: Lane = { taken: 0, queued: new Set() };
    this.#lanes.set(name, lane);
    return lane;
  }

  #laneName(duty: D): string {
    return this.#with.lanes?.of(duty) ?? '';
  }

  #laneConcurrency(): number {
    return this.#with.lanes?.concurrency ?? this.#with.concurrency;
  }

  #queue(key: string, lane: Lane): void {
    lane.queued.add(key);
    this.#queues.add(lane);
  }

  /** Keeps free places for keys that wait for one: the lanes take turns, in a lane first come first served. */
  #admit(): void {
    let free = this.#with.concurrency - this.#underWay.size - this.#admitted.size;
    for (let hasAdmitted = true; hasAdmitted && free > 0;) {
      hasAdmitted = false;
      // Lanes that had their turn come again at the end: each is looked at once.
      let left = this.#queues.size;
      for (const lane of this.#queues) {
        if (free === 0 || left === 0) break;
        left -= 1;
        const [key] = lane.queued;
        if (key === undefined || lane.taken >= this.#laneConcurrency()) continue;
        // It waits in two lanes, and is asked about both.
        if (this.#admitted.has(key)) continue;
        free -= 1;
        lane.queued.delete(key);
        lane.taken += 1;
        this.#admitted.set(key, lane);
        this.#due.add(key);
        this.#goesOn = hasAdmitted = true;
        // It was this lane's turn.
        this.#queues.delete(lane);
        if (lane.queued.size > 0) this.#queues.add(lane);
      }
    }
  }

  /** A key that is asked uses the place that was kept for it, or gives it back. */
  #giveBack(key: string): void {
    const lane = this.#admitted.get(key);
    if (lane === undefined) return;
    lane.taken -= 1;
    this.#admitted.delete(key);
  }

  async #pay(key: string, duty: D, abort: AbortSignal): Promise<void> {
    const { store, reached, log } = this.#with;
    try {
      await this.#perform(duty, abort);
      // The duty is gone once its settling event is in the state: only then may the state be asked again.
      await reached(await store.end(), REACH_MILLISECONDS);
      // Should it be owed still, it must not be paid again and again without a rest.
      this.#tryAgainAfterRest(duty.id);
      this.#due.add(key);
    } catch (error) {
      if (abort.aborted) return;
      const retryMilliseconds = this.#tryAgainAfterRest(duty.id);
      this.#askIn(key, retryMilliseconds);
      const fields = { process: this.#process.name, duty: duty.id, error, retryMilliseconds };
      log.error(fields, 'a duty could not be paid; trying again');
    }
  }

  #tryAgainAfterRest(id: string): number {
    const count = (this.#tried.get(id)?.count ?? 0) + 1;
    const delay = retryDelay(count);
    this.#tried.set(id, { count, notBefore: this.#with.clock.monotonicMilliseconds() + delay });
    return delay;
  }

  async #sleep(stop: AbortSignal, milliseconds: number): Promise<void> {
    this.#rest = new AbortController();
    if (stop.aborted) return;
    await this.#with.clock.wait(milliseconds, this.#rest.signal).catch(() => undefined);
  }

  #untilNext(): number {
    if (this.#due.size > 0) return 0;
    return Math.max(0, this.#nextAt - this.#with.clock.monotonicMilliseconds());
  }
}

function retryDelay(tries: number): number {
  return Math.min(RETRY_MILLISECONDS_MIN * 2 ** (tries - 1), RETRY_MILLISECONDS_MAX);
}
