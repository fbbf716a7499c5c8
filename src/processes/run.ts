import type { Temporal } from '@js-temporal/polyfill';
import type { Event } from '../kernel/event.ts';
import type { Duty, Perform, Process } from '../kernel/process.ts';
import type { Projection } from '../kernel/projection.ts';
import type { Clock } from '../ports/clock.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Log } from '../ports/log.ts';

/** How a process's states are kept: as the views of a projection of their own. */
export function statesOf<E extends Event, S extends object, D extends Duty>(
  process: Process<E, S, D>,
): Projection<E, S> {
  const { name, version, handles, keysOf, evolve } = process;
  return { name: `process-${name}`, version, handles, keysOf, evolve };
}

export type ProcessDependencies<S extends object> = Readonly<{
  states: Readonly<{
    get: (key: string) => Promise<S | undefined>;
    list: () => Promise<readonly Readonly<{ key: string; view: S }>[]>;
  }>;
  store: EventStore;
  clock: Clock;
  log: Log;
  /** Resolves when the states have applied this position. */
  reached: (position: bigint, timeoutMilliseconds: number) => Promise<boolean>;
  /** Duties performed at the same moment. */
  concurrency: number;
  /** Set: what is owed is looked for at this rhythm only (a scheduler), not at each event. */
  everyMilliseconds?: number;
}>;

/** One running process manager. */
export type RunningProcess = Readonly<{
  /** The states of these keys changed. */
  touched: (keys: readonly string[]) => void;
  /** Pays what is owed until `stop` aborts, then waits for what is under way; `abort` breaks that off too. */
  run: (stop: AbortSignal, abort: AbortSignal) => Promise<void>;
}>;

const RETRY_MILLISECONDS_MIN = 500;
const RETRY_MILLISECONDS_MAX = 60_000;
const REACH_MILLISECONDS = 10_000;
const REST_MILLISECONDS_MAX = 3_600_000;

/** Asks a process what it owes: on start for every open state, on each change, and when a state asked to be woken. */
export function openProcess<E extends Event, S extends object, D extends Duty>(
  process: Process<E, S, D>,
  perform: Perform<D>,
  dependencies: ProcessDependencies<S>,
): RunningProcess {
  return new ProcessRunner(process, perform, dependencies);
}

class ProcessRunner<E extends Event, S extends object, D extends Duty> implements RunningProcess {
  readonly #process: Process<E, S, D>;
  readonly #perform: Perform<D>;
  readonly #with: ProcessDependencies<S>;
  /** When to ask a key again, in epoch milliseconds; 0: at once. */
  readonly #agenda = new Map<string, number>();
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #failures = new Map<string, Readonly<{ count: number; notBefore: number }>>();
  /** Keys whose duty found no free place. */
  readonly #queued = new Set<string>();
  #rest = new AbortController();

  constructor(process: Process<E, S, D>, perform: Perform<D>, dependencies: ProcessDependencies<S>) {
    this.#process = process;
    this.#perform = perform;
    this.#with = dependencies;
  }

  touched(keys: readonly string[]): void {
    for (const key of keys) this.#agenda.set(key, 0);
    if (this.#with.everyMilliseconds === undefined) this.#rest.abort();
  }

  async run(stop: AbortSignal, abort: AbortSignal): Promise<void> {
    stop.addEventListener('abort', () => this.#rest.abort(), { once: true });
    for (const { key } of await this.#with.states.list()) this.#agenda.set(key, 0);
    while (!stop.aborted) {
      await this.#askDue(stop, abort);
      await this.#sleep(stop);
    }
    await Promise.all(this.#underWay.values());
  }

  async #askDue(stop: AbortSignal, abort: AbortSignal): Promise<void> {
    const now = this.#with.clock.now();
    const due = [...this.#agenda].filter(([, at]) => at <= now.epochMilliseconds).map(([key]) => key);
    for (const key of due) {
      // Taken off first: a change that comes while we look puts it back.
      this.#agenda.delete(key);
      const state = await this.#with.states.get(key);
      if (state === undefined || stop.aborted) continue;
      const wakeAt = this.#process.wakeAt(state)?.epochMilliseconds;
      if (wakeAt !== undefined && wakeAt > now.epochMilliseconds) this.#askAgainAt(key, wakeAt);
      for (const duty of this.#process.owed(state, now)) this.#take(key, duty, now, abort);
    }
  }

  #askAgainAt(key: string, epochMilliseconds: number): void {
    const planned = this.#agenda.get(key);
    if (planned === undefined || planned > epochMilliseconds) this.#agenda.set(key, epochMilliseconds);
  }

  #take(key: string, duty: D, now: Temporal.Instant, abort: AbortSignal): void {
    if (this.#underWay.has(duty.id)) return;
    const notBefore = this.#failures.get(duty.id)?.notBefore ?? 0;
    if (notBefore > now.epochMilliseconds) return this.#askAgainAt(key, notBefore);
    if (this.#underWay.size >= this.#with.concurrency) return void this.#queued.add(key);
    const paying = this.#pay(key, duty, abort).finally(() => {
      this.#underWay.delete(duty.id);
      if (this.#with.everyMilliseconds === undefined || this.#queued.size > 0) this.#rest.abort();
      for (const next of this.#queued) this.#agenda.set(next, 0);
      this.#queued.clear();
    });
    this.#underWay.set(duty.id, paying);
  }

  async #pay(key: string, duty: D, abort: AbortSignal): Promise<void> {
    const { store, clock, reached } = this.#with;
    try {
      await this.#perform(duty, abort);
      // The duty is gone once its settling event is in the state: only then may the state be asked again.
      await reached(await store.end(), REACH_MILLISECONDS);
      this.#failures.delete(duty.id);
      this.#askAgainAt(key, 0);
    } catch (error) {
      if (!abort.aborted) this.#askAfterFailure(key, duty, clock.now(), error);
    }
  }

  #askAfterFailure(key: string, { id }: D, now: Temporal.Instant, error: unknown): void {
    const count = (this.#failures.get(id)?.count ?? 0) + 1;
    const delay = Math.min(RETRY_MILLISECONDS_MIN * 2 ** (count - 1), RETRY_MILLISECONDS_MAX);
    const notBefore = now.epochMilliseconds + delay;
    this.#failures.set(id, { count, notBefore });
    this.#askAgainAt(key, notBefore);
    const fields = { process: this.#process.name, duty: id, error, retryMilliseconds: delay };
    this.#with.log.error(fields, 'a duty could not be paid; trying again');
  }

  async #sleep(stop: AbortSignal): Promise<void> {
    this.#rest = new AbortController();
    if (stop.aborted) return;
    const milliseconds = this.#with.everyMilliseconds ?? this.#untilNext();
    await this.#with.clock.wait(milliseconds, this.#rest.signal).catch(() => undefined);
  }

  #untilNext(): number {
    const now = this.#with.clock.now().epochMilliseconds;
    let next = now + REST_MILLISECONDS_MAX;
    for (const at of this.#agenda.values()) if (at < next) next = at;
    return Math.max(0, next - now);
  }
}
