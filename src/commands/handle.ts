import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Command, type Decider, type Decision, isRefusal, type Refusal } from '../kernel/decider.ts';
import type { Event, Sealed } from '../kernel/event.ts';
import { coalesce } from '../concurrency/coalesce.ts';
import { isHandled } from '../kernel/event.ts';
import { streamName } from '../kernel/stream-name.ts';
import {
  BEGINNING,
  type EventStore,
  NO_STREAM,
  StoreUnavailable,
  WrongExpectedRevision,
} from '../ports/event-store.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Log } from '../ports/log.ts';
import type { Snapshots } from '../ports/snapshots.ts';
import { type Codec, UndecodableEvent } from '../events/codec.ts';
import { seal } from '../events/hash-chain.ts';
import { BoundedMap } from '../kernel/bounded-map.ts';

/** Who asks, and on whose request. */
export type CommandContext = Readonly<{ actor: string; requestId: string; causationId?: string }>;

/** What came of a command: the new events (`[]`: nothing new), the state after them, and the log position that shows it. */
export type Handled<S, E extends Event> = Readonly<{
  events: readonly Sealed<E>[];
  state: S;
  revision: bigint;
  position: bigint;
}>;

/** One stream category with its rules: the only way to change it. */
export type Aggregate<C extends Command, S, E extends Event> = Readonly<{
  /** Durable when it resolves. A lost race is decided anew, at most `RACES_MAX` times. */
  handle: (id: string | number, command: C, context: CommandContext) => Promise<Refusal | Handled<S, E>>;
  /** The state as the store has it now. */
  state: (id: string | number) => Promise<Readonly<{ state: S; revision: bigint; position: bigint }>>;
}>;

export type AggregateDependencies = Readonly<{
  store: EventStore;
  codec: Pick<Codec, 'schemaOf'>;
  snapshots: Snapshots;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** How many streams' states are kept in memory. */
  streamsMax?: number;
  /** A snapshot is kept after this many events. */
  snapshotEvery?: number;
}>;

const RACES_MAX = 20;
const STREAMS_MAX = 10_000;
const SNAPSHOT_EVERY = 1_000;
/** Commands on one stream. */
const WAITING_MAX = 10_000;
const APPEND_EVENTS_MAX = 500;

/** A line's state as of one revision. */
type Point<S> = Readonly<{ state: S; revision: bigint; hash: string; at: string }>;

/** What came of an append: a log position that shows it, or somebody else was first. */
type Outcome = Readonly<{ position: bigint }> | 'raced';

/** The events of one command on their way into the store. */
type Entry<S, E extends Event> = Readonly<{
  events: readonly Sealed<E>[];
  /** After the events. */
  point: Point<S>;
  appended: Promise<Outcome>;
  resolve: (outcome: Outcome) => void;
  reject: (error: unknown) => void;
}>;

/** The end of one stream as this process knows it, events that are not durable yet included. */
type StreamHead<S, E extends Event> = {
  state: S;
  revision: bigint;
  hash: string;
  /** Of the newest event. */
  at: string;
  /** The position of the newest event known to be durable. */
  position: bigint;
  /** The revision of the newest event known to be durable. Everything up to it was read from the store, or is our own. */
  durable: bigint;
  snapshotRevision: bigint;
  /** The next snapshot is kept after this many events: a large state is written seldom. */
  snapshotAfter: number;
  waiting: Entry<S, E>[];
  /** What came, or will come, of the newest events; it settles after all earlier ones. */
  newest: Promise<Outcome> | undefined;
  isAppending: boolean;
  /** An append failed or lost: nothing more may be decided on this line. */
  isLost: boolean;
};

type Opened<C extends Command, S, E extends Event> = Decider<C, S, E> & Readonly<{ handles: readonly E['type'][] }>;

/**
 * Opens a stream category for commands. Commands on one stream are decided one after another on the state that includes events
 * on their way to the store; none is answered before its own events, and those that it was decided on, are durable.
 * One append of a stream is under way at a time: were there two, the second could find the revision that it expects made by
 * somebody else, when the first had lost against them. What is decided meanwhile shares the next append.
 */
export function openAggregate<C extends Command, S, E extends Event>(
  decider: Opened<C, S, E>,
  dependencies: AggregateDependencies,
): Aggregate<C, S, E> {
  const lines = new StreamHeads(decider, dependencies);
  return {
    handle: (id, command, context) => lines.handle(streamName(decider.category, id), command, context),
    state: (id) => lines.state(streamName(decider.category, id)),
  };
}

/** The lines of one category, and everything that moves them on. */
class StreamHeads<C extends Command, S, E extends Event> {
  readonly #decider: Opened<C, S, E>;
  readonly #with: AggregateDependencies;
  readonly #handles: ReadonlySet<string>;
  readonly #lines: BoundedMap<string, StreamHead<S, E>>;
  readonly #loading = new Map<string, Promise<StreamHead<S, E>>>();
  readonly #snapshotEvery: number;

  constructor(decider: Opened<C, S, E>, dependencies: AggregateDependencies) {
    this.#decider = decider;
    this.#with = dependencies;
    this.#handles = new Set(decider.handles);
    this.#lines = new BoundedMap(dependencies.streamsMax ?? STREAMS_MAX);
    this.#snapshotEvery = dependencies.snapshotEvery ?? SNAPSHOT_EVERY;
  }

  async handle(stream: string, command: C, context: CommandContext): Promise<Refusal | Handled<S, E>> {
    for (let race = 0; race < RACES_MAX; race += 1) {
      const line = this.#lines.get(stream) ?? (await this.#load(stream));
      if (line.isLost) continue;
      // Decided and taken up in one turn of the event loop: nobody can come in between.
      const decision = this.#decider.decide(command, line.state);
      const answer =
        isRefusal(decision) || decision.length === 0
          ? await this.#settleUnchanged(stream, line, decision)
          : await this.#settleAppend(stream, line, decision, context);
      if (answer !== 'raced') return answer;
    }
    throw new StoreUnavailable(`${stream}: others were faster ${RACES_MAX} times`);
  }

  async state(stream: string): Promise<Readonly<{ state: S; revision: bigint; position: bigint }>> {
    for (;;) {
      const line = this.#lines.get(stream) ?? (await this.#load(stream));
      const { state, revision } = line;
      if (await this.#isCurrent(stream, line, revision)) return { state, revision, position: line.position };
    }
  }

  async #settleUnchanged(
    stream: string,
    line: StreamHead<S, E>,
    decision: Decision<E>,
  ): Promise<Refusal | Handled<S, E> | 'raced'> {
    const { state, revision } = line;
    if (!(await this.#isCurrent(stream, line, revision))) return 'raced';
    return isRefusal(decision) ? decision : { events: [], state, revision, position: line.position };
  }

  /** A "no" or a "nothing new" may rest on appends that fail, or on a state that another process has moved on. */
  async #isCurrent(stream: string, line: StreamHead<S, E>, revision: bigint): Promise<boolean> {
    if ((await line.newest?.catch(lostUnlessUnavailable)) === 'raced') return false;
    const last = await this.#with.store.revision(stream);
    if (last <= revision) return true;
    // Our own later events move the stream as well. Which ones are ours is known once they are settled.
    await line.newest?.catch(() => undefined);
    if (last <= line.durable) return true;
    this.#lose(stream, line);
    return false;
  }

  async #settleAppend(
    stream: string,
    line: StreamHead<S, E>,
    decision: readonly E[],
    context: CommandContext,
  ): Promise<Handled<S, E> | 'raced'> {
    if (line.waiting.length >= WAITING_MAX) {
      throw new StoreUnavailable(`${stream}: ${WAITING_MAX} commands wait for the store already`);
    }
    const { events, point, appended } = this.#enter(stream, line, decision, context);
    const outcome = await appended;
    if (outcome === 'raced') return outcome;
    return { events, state: point.state, revision: point.revision, position: outcome.position };
  }

  /** Takes events up into the line, and sees to it that they are appended. */
  #enter(stream: string, line: StreamHead<S, E>, decision: readonly E[], context: CommandContext): Entry<S, E> {
    try {
      const events = this.#sealed(stream, line, decision, context);
      for (const event of events) {
        line.revision += 1n;
        line.state = this.#decider.evolve(line.state, { revision: line.revision, ...event });
        line.hash = event.metadata.hash;
        line.at = event.metadata.at;
      }
      const { state, revision, hash, at } = line;
      const entry = entryOf(events, { state, revision, hash, at });
      line.newest = entry.appended;
      line.waiting.push(entry);
      if (!line.isAppending) {
        line.isAppending = true;
        void this.#appendWaiting(stream, line);
      }
      return entry;
    } catch (error) {
      // The line may have taken up a part of it.
      this.#lose(stream, line);
      throw error;
    }
  }

  async #appendWaiting(stream: string, line: StreamHead<S, E>): Promise<void> {
    while (line.waiting.length > 0) {
      await coalesce(line.waiting, yieldToEventLoop);
      await this.#append(stream, line, takeAppend(line.waiting));
    }
    line.isAppending = false;
  }

  async #append(stream: string, line: StreamHead<S, E>, entries: readonly Entry<S, E>[]): Promise<void> {
    const last = entries.at(-1);
    if (line.isLost || last === undefined) {
      for (const { resolve } of entries) resolve('raced');
      return;
    }
    try {
      const events = entries.flatMap((entry) => entry.events);
      const { position } = await this.#with.store.append(stream, line.durable, events);
      line.durable = last.point.revision;
      if (position > line.position) line.position = position;
      for (const { resolve } of entries) resolve({ position });
      this.#keepSnapshot(stream, line, last.point);
    } catch (error) {
      await this.#afterFailure(stream, line, entries, error);
    }
  }

  async #afterFailure(
    stream: string,
    line: StreamHead<S, E>,
    entries: readonly Entry<S, E>[],
    error: unknown,
  ): Promise<void> {
    const isRaced = error instanceof WrongExpectedRevision;
    if (entries.length > 1 && !isRaced && !(error instanceof StoreUnavailable)) {
      // Too large together, or one of them can't be written: no reason to fail the others.
      const half = Math.floor(entries.length / 2);
      await this.#append(stream, line, entries.slice(0, half));
      await this.#append(stream, line, entries.slice(half));
      return;
    }
    this.#lose(stream, line);
    for (const { resolve, reject } of entries) {
      if (isRaced) resolve('raced');
      else reject(error);
    }
  }

  #sealed(
    stream: string,
    line: StreamHead<S, E>,
    decision: readonly E[],
    context: CommandContext,
  ): readonly Sealed<E>[] {
    const { clock, codec, ids } = this.#with;
    return seal(decision, {
      stream,
      previousHash: line.hash,
      actor: context.actor,
      at: notBefore(line.at, clock.nowText()),
      correlationId: context.requestId,
      causationId: context.causationId ?? context.requestId,
      ids,
      schemaOf: codec.schemaOf,
    });
  }

  #lose(stream: string, line: StreamHead<S, E>): void {
    line.isLost = true;
    if (this.#lines.get(stream) === line) this.#lines.delete(stream);
  }

  #load(stream: string): Promise<StreamHead<S, E>> {
    const underWay = this.#loading.get(stream);
    if (underWay !== undefined) return underWay;
    const loading = this.#replay(stream).finally(() => this.#loading.delete(stream));
    this.#loading.set(stream, loading);
    return loading;
  }

  async #replay(stream: string): Promise<StreamHead<S, E>> {
    const kept = await this.#fromSnapshot(stream);
    const line = (kept && (await this.#readOn(stream, kept))) ?? (await this.#readOn(stream, this.#emptyLine()));
    if (line === undefined) throw new Error(`${stream} can't be read from its start`);
    this.#lines.set(stream, line);
    this.#keepSnapshot(stream, line, line);
    return line;
  }

  /** Takes a line to the end of its stream; `undefined` when the stream does not hold the event at which the line stands. */
  async #readOn(stream: string, line: StreamHead<S, E>): Promise<StreamHead<S, E> | undefined> {
    const { revision: from, hash } = line;
    let isAnchored = from === NO_STREAM;
    for await (const page of this.#with.store.read(stream, isAnchored ? from : from - 1n)) {
      for (const event of page) {
        if (!isHandled<E>(this.#handles, event)) {
          throw new Error(`${stream}: an event of type ${event.type} does not belong here`);
        }
        if (isAnchored) {
          if (event.metadata.previousHash !== line.hash)
            throw new UndecodableEvent(event, 'it does not follow the event before it: its chain is broken');
          line.state = this.#decider.evolve(line.state, event);
        } else if (event.revision !== from || event.metadata.hash !== hash) return undefined;
        isAnchored = true;
        line.revision = event.revision;
        line.position = event.position;
        line.hash = event.metadata.hash;
        line.at = event.metadata.at;
      }
    }
    line.durable = line.revision;
    return isAnchored ? line : undefined;
  }

  #emptyLine(): StreamHead<S, E> {
    return {
      state: this.#decider.initial,
      revision: NO_STREAM,
      hash: '',
      position: BEGINNING,
      at: '',
      snapshotRevision: NO_STREAM,
      snapshotAfter: this.#snapshotEvery,
      durable: NO_STREAM,
      waiting: [],
      newest: undefined,
      isAppending: false,
      isLost: false,
    };
  }

  async #fromSnapshot(stream: string): Promise<StreamHead<S, E> | undefined> {
    const { snapshot } = this.#decider;
    if (snapshot === undefined) return undefined;
    const { snapshots, log } = this.#with;
    try {
      const kept = await snapshots.load(stream);
      if (kept === undefined || kept.version !== snapshot.version || kept.revision < 0n) return undefined;
      const { revision, hash, at, json } = kept;
      return {
        ...this.#emptyLine(),
        state: snapshot.decode(JSON.parse(json)),
        revision,
        hash,
        at,
        snapshotRevision: revision,
        snapshotAfter: this.#snapshotInterval(json),
      };
    } catch (error) {
      log.warn({ stream, error }, 'a snapshot could not be used; the whole stream is read');
      return undefined;
    }
  }

  /** Writing a snapshot costs about as much as replaying one event for each 50 bytes of it. */
  #snapshotInterval(json: string): number {
    return Math.max(this.#snapshotEvery, Math.ceil(json.length / 50));
  }

  /** `point` is durable, whatever is under way after it. A snapshot is a cache: no failure of it is one of the command. */
  #keepSnapshot(stream: string, line: StreamHead<S, E>, { state, revision, hash, at }: Point<S>): void {
    const { snapshot } = this.#decider;
    if (snapshot === undefined || revision - line.snapshotRevision < BigInt(line.snapshotAfter)) return;
    line.snapshotRevision = revision;
    const { snapshots, log } = this.#with;
    const notKept = (error: unknown): void => log.warn({ stream, error }, 'a snapshot could not be kept');
    try {
      const json = JSON.stringify(snapshot.encode(state));
      line.snapshotAfter = this.#snapshotInterval(json);
      snapshots.save(stream, { version: snapshot.version, revision, hash, at, json }).catch(notKept);
    } catch (error) {
      notKept(error);
    }
  }
}

/** Whoever decided on events that can't be written decides anew; nobody decides without a store. */
function lostUnlessUnavailable(error: unknown): Outcome {
  if (error instanceof StoreUnavailable) throw error;
  return 'raced';
}

function entryOf<S, E extends Event>(events: readonly Sealed<E>[], point: Point<S>): Entry<S, E> {
  const { promise, resolve, reject } = withResolvers<Outcome>();
  return { events, point, appended: promise, resolve, reject };
}

function withResolvers<T>() {
  let settle: Readonly<{ resolve: (value: T) => void; reject: (error: unknown) => void }> | undefined;
  const promise = new Promise<T>((resolve, reject) => (settle = { resolve, reject }));
  if (settle === undefined) throw new Error('a promise calls its executor at once');
  return { promise, ...settle };
}

/** Takes from the front what goes into one append: whole commands, at least one. */
function takeAppend<S, E extends Event>(waiting: Entry<S, E>[]): readonly Entry<S, E>[] {
  let [count, events] = [0, 0];
  for (const entry of waiting) {
    events += entry.events.length;
    if (count > 0 && events > APPEND_EVENTS_MAX) break;
    count += 1;
  }
  return waiting.splice(0, count);
}

/** A stream's instants never run backwards, even when the clock does. Both have one format, so text order is time order. */
function notBefore(previous: string, now: string): string {
  return now < previous ? previous : now;
}
