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
  const { states, store, clock, log, reached, concurrency, everyMilliseconds } = dependencies;
  /** When to ask a key again, in epoch milliseconds; 0: at once. */
  const agenda = new Map<string, number>();
  const underWay = new Map<string, Promise<void>>();
  const failures = new Map<string, Readonly<{ count: number; notBefore: number }>>();
  /** Keys whose duty found no free place. */
  const queued = new Set<string>();
  let rest = new AbortController();

  return {
    touched: (keys) => {
      for (const key of keys) agenda.set(key, 0);
      if (everyMilliseconds === undefined) rest.abort();
    },
    run: async (stop, abort) => {
      stop.addEventListener('abort', () => rest.abort(), { once: true });
      for (const { key } of await states.list()) agenda.set(key, 0);
      while (!stop.aborted) {
        await askDue(stop, abort);
        await sleep(stop);
      }
      await Promise.all(underWay.values());
    },
  };

  async function askDue(stop: AbortSignal, abort: AbortSignal): Promise<void> {
    const now = clock.now();
    const due = [...agenda].filter(([, at]) => at <= now.epochMilliseconds).map(([key]) => key);
    for (const key of due) {
      // Taken off first: a change that comes while we look puts it back.
      agenda.delete(key);
      const state = await states.get(key);
      if (state === undefined || stop.aborted) continue;
      const wakeAt = process.wakeAt(state)?.epochMilliseconds;
      if (wakeAt !== undefined && wakeAt > now.epochMilliseconds) askAgainAt(key, wakeAt);
      for (const duty of process.owed(state, now)) take(key, duty, now, abort);
    }
  }

  function askAgainAt(key: string, epochMilliseconds: number): void {
    const planned = agenda.get(key);
    if (planned === undefined || planned > epochMilliseconds) agenda.set(key, epochMilliseconds);
  }

  function take(key: string, duty: D, now: Temporal.Instant, abort: AbortSignal): void {
    if (underWay.has(duty.id)) return;
    const notBefore = failures.get(duty.id)?.notBefore ?? 0;
    if (notBefore > now.epochMilliseconds) return askAgainAt(key, notBefore);
    if (underWay.size >= concurrency) return void queued.add(key);
    const paying = pay(key, duty, abort).finally(() => {
      underWay.delete(duty.id);
      if (everyMilliseconds === undefined || queued.size > 0) rest.abort();
      for (const next of queued) agenda.set(next, 0);
      queued.clear();
    });
    underWay.set(duty.id, paying);
  }

  async function pay(key: string, duty: D, abort: AbortSignal): Promise<void> {
    try {
      await perform(duty, abort);
      // The duty is gone once its settling event is in the state: only then may the state be asked again.
      await reached(await store.end(), REACH_MILLISECONDS);
      failures.delete(duty.id);
      askAgainAt(key, 0);
    } catch (error) {
      if (abort.aborted) return;
      const count = (failures.get(duty.id)?.count ?? 0) + 1;
      const delay = Math.min(RETRY_MILLISECONDS_MIN * 2 ** (count - 1), RETRY_MILLISECONDS_MAX);
      const notBefore = clock.now().epochMilliseconds + delay;
      failures.set(duty.id, { count, notBefore });
      askAgainAt(key, notBefore);
      log.error({ process: process.name, duty: duty.id, error, retryMilliseconds: delay }, 'a duty could not be paid; trying again');
    }
  }

  async function sleep(stop: AbortSignal): Promise<void> {
    rest = new AbortController();
    if (stop.aborted) return;
    const milliseconds = everyMilliseconds ?? untilNext();
    await clock.wait(milliseconds, rest.signal).catch(() => undefined);
  }

  function untilNext(): number {
    let next = clock.now().epochMilliseconds + REST_MILLISECONDS_MAX;
    for (const at of agenda.values()) if (at < next) next = at;
    return Math.max(0, next - clock.now().epochMilliseconds);
  }
}
