import { aborted } from '../concurrency/deadline.ts';
import type { Event } from '../kernel/event.ts';
import type { Duty, Perform, Process } from '../kernel/process.ts';
import type { Projection } from '../kernel/projection.ts';
import type { Clock } from '../ports/clock.ts';
import { type EventStore, levelOfFailure, ViewsBehind } from '../ports/event-store.ts';
import type { Log } from '../ports/log.ts';
import { DutyQueue, type DutyQueueOptions, retryDelay } from './duty-queue.ts';
import { Sightings } from './sightings.ts';

/** How a process's states are kept: as the views of a projection of their own. */
export function statesOf<E extends Event, S extends object, D extends Duty>(
  process: Process<E, S, D>,
): Projection<E, S> {
  const { name, version, handles, keysOf, evolve, stored } = process;
  return { name: `process-${name}`, version, handles, keysOf, evolve, ...(stored === undefined ? {} : { stored }) };
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
  /** Set: what is owed is looked for at this rhythm only (a scheduler), not at each event. */
  everyMilliseconds?: number;
}> &
  Pick<DutyQueueOptions<D>, 'concurrency' | 'partitions'>;

/** One running process manager. */
export type RunningProcess = Readonly<{
  /** The log was applied up to this position, which changed the states of these keys. */
  touched: (keys: readonly string[], position: bigint) => void;
  /** Pays what is owed until `stop` aborts, then waits for what is under way; `abort` breaks that off too. */
  run: (stop: AbortSignal, abort: AbortSignal) => Promise<void>;
}>;

const REACH_MILLISECONDS = 10_000;
/** A reason for every end of a rest: the platform would make a new one for each, with its stack. */
const WOKEN = new Error('there is something to do');

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
  readonly #queue: DutyQueue<D>;
  /** A place became free for a key that waited for it: no rest before it has been asked. */
  #goesOn = false;
  #rest = new AbortController();
  readonly #sightings: Sightings;

  constructor(process: Process<E, S, D>, perform: Perform<D>, dependencies: ProcessDependencies<S, D>) {
    this.#process = process;
    this.#perform = perform;
    this.#with = dependencies;
    this.#queue = new DutyQueue(dependencies);
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
      await this.#queue.settled();
    }
  }

  /** Every open state is asked once at the start; what the log holds by now happened before. */
  async #recall(stop: AbortSignal): Promise<void> {
    const stopped = aborted(stop).then(() => []);
    for (let tries = 1; !stop.aborted; tries += 1) {
      try {
        this.#sightings.begin(await this.#with.store.end());
        // States that can't be read for a while need not be waited for by one who stops.
        const states = await Promise.race([this.#with.states.list(), stopped]);
        for (const { key } of states) this.#due.add(key);
        return;
      } catch (error) {
        // Views that are behind have been waited for: nothing is gained by coming ever later.
        const delay = retryDelay(error instanceof ViewsBehind ? 1 : tries);
        const fields = { process: this.#process.name, error, retryMilliseconds: delay };
        this.#with.log[levelOfFailure(error)](fields, 'what is open could not be read; trying again');
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
      this.#queue.giveBack(key);
    }
  }

  async #ask(key: string, stop: AbortSignal, abort: AbortSignal): Promise<void> {
    const { states, log } = this.#with;
    let state: S | undefined;
    try {
      state = await states.get(key);
    } catch (error) {
      log[levelOfFailure(error)](
        { process: this.#process.name, key, error },
        'a state could not be read; trying again',
      );
      this.#askIn(key, retryDelay(1));
      return;
    }
    if (state === undefined || stop.aborted) return;
    const since = this.#sightings.since();
    const sleeps = this.#process.wakesIn(state, since) ?? 0;
    if (sleeps > 0 && sleeps < Number.POSITIVE_INFINITY) this.#askIn(key, sleeps);
    this.#queue.giveBack(key);
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
    const freed = (): void => {
      this.#admit();
      if (this.#goesOn || this.#with.everyMilliseconds === undefined) this.#rest.abort(WOKEN);
    };
    const rest = this.#queue.start(key, duty, () => this.#pay(key, duty, abort), freed);
    if (rest !== undefined) this.#askIn(key, rest);
  }

  /** Keys for which a place is kept are asked at once. */
  #admit(): void {
    for (const key of this.#queue.admit()) {
      this.#due.add(key);
      this.#goesOn = true;
    }
  }

  async #pay(key: string, duty: D, abort: AbortSignal): Promise<void> {
    const { store, reached, log } = this.#with;
    try {
      await this.#perform(duty, abort);
      // The duty is gone once its settling event is in the state: only then may the state be asked again.
      await reached(await store.end(), REACH_MILLISECONDS);
      // Should it be owed still, it must not be paid again and again without a rest.
      this.#queue.tried(duty.id);
      this.#due.add(key);
    } catch (error) {
      if (abort.aborted) return;
      const retryMilliseconds = this.#queue.tried(duty.id);
      this.#askIn(key, retryMilliseconds);
      const fields = { process: this.#process.name, duty: duty.id, error, retryMilliseconds };
      log.error(fields, 'a duty could not be paid; trying again');
    }
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
