import { type Command, type Decider, type Decision, isRefusal, type Refusal } from '../kernel/decider.ts';
import type { Event, Sealed } from '../kernel/event.ts';
import { isHandled } from '../kernel/event.ts';
import { streamName, type StreamCategory } from '../kernel/stream-name.ts';
import { BEGINNING, type EventStore, NO_STREAM, WrongExpectedRevision } from '../ports/event-store.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Log } from '../ports/log.ts';
import type { Snapshots } from '../ports/snapshots.ts';
import type { Codec } from '../events/codec.ts';
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

/** The end of one stream as this process knows it, appends under way included. */
type Line<S> = {
  state: S;
  revision: bigint;
  hash: string;
  /** Of the newest event known to be durable. */
  position: bigint;
  /** Of the newest event. */
  at: string;
  snapshotRevision: bigint;
  /** The next snapshot is kept after this many events: a large state is written seldom. */
  snapshotAfter: number;
  /** The newest append under way; it settles after all earlier ones. */
  pending: Promise<unknown> | undefined;
};

type Opened<C extends Command, S, E extends Event> = Decider<C, S, E> &
  Readonly<{ category: StreamCategory; handles: readonly E['type'][] }>;

/**
 * Opens a stream category for commands. Commands on one stream are decided one after another on the state that includes appends
 * under way, so that they share one write to disk; none is answered before its own events, and those that it was decided on, are durable.
 */
export function openAggregate<C extends Command, S, E extends Event>(
  decider: Opened<C, S, E>,
  dependencies: AggregateDependencies,
): Aggregate<C, S, E> {
  const lines = new StreamLines(decider, dependencies);
  return {
    handle: (id, command, context) => lines.handle(streamName(decider.category, id), command, context),
    state: (id) => lines.state(streamName(decider.category, id)),
  };
}

/** The lines of one category, and everything that moves them on. */
class StreamLines<C extends Command, S, E extends Event> {
  readonly #decider: Opened<C, S, E>;
  readonly #with: AggregateDependencies;
  readonly #handles: ReadonlySet<string>;
  readonly #lines: BoundedMap<string, Line<S>>;
  readonly #loading = new Map<string, Promise<Line<S>>>();
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
      // Decided and taken up in one turn of the event loop: nobody can come in between.
      const decision = this.#decider.decide(command, line.state);
      const answer =
        isRefusal(decision) || decision.length === 0
          ? await this.#settleUnchanged(stream, line, decision)
          : await this.#settleAppend(stream, line, decision, context);
      if (answer !== 'raced') return answer;
    }
    throw new Error(`${stream}: still losing races after ${RACES_MAX} tries`);
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
    line: Line<S>,
    decision: Decision<E>,
  ): Promise<Refusal | Handled<S, E> | 'raced'> {
    const { state, revision } = line;
    if (!(await this.#isCurrent(stream, line, revision))) return 'raced';
    return isRefusal(decision) ? decision : { events: [], state, revision, position: line.position };
  }

  /** A "no" or a "nothing new" may rest on appends that fail, or on a state that another process has moved on. */
  async #isCurrent(stream: string, line: Line<S>, revision: bigint): Promise<boolean> {
    try {
      await line.pending;
    } catch (error) {
      if (error instanceof WrongExpectedRevision) return false;
      throw error;
    }
    const last = (await this.#with.store.last(stream))?.revision ?? NO_STREAM;
    if (last <= revision) return true;
    // Our own later appends move the stream as well; only a stream that is ahead of us is news.
    if (this.#lines.get(stream) === line && last <= line.revision) return true;
    this.#forget(stream, line);
    return false;
  }

  async #settleAppend(
    stream: string,
    line: Line<S>,
    decision: readonly E[],
    context: CommandContext,
  ): Promise<Handled<S, E> | 'raced'> {
    const expected = line.revision;
    const events = this.#sealed(stream, line, decision, context);
    for (const event of events) {
      line.revision += 1n;
      line.state = this.#decider.evolve(line.state, { ...event, revision: line.revision });
      line.hash = event.metadata.hash;
      line.at = event.metadata.at;
    }
    const { state, revision } = line;
    const appending = this.#with.store.append(stream, expected, events);
    line.pending = appending;
    try {
      const { position } = await appending;
      if (position > line.position) line.position = position;
      if (line.pending === appending) line.pending = undefined;
      this.#keepSnapshot(stream, line);
      return { events, state, revision, position };
    } catch (error) {
      this.#forget(stream, line);
      if (error instanceof WrongExpectedRevision) return 'raced';
      throw error;
    }
  }

  #sealed(stream: string, line: Line<S>, decision: readonly E[], context: CommandContext): readonly Sealed<E>[] {
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

  #forget(stream: string, line: Line<S>): void {
    if (this.#lines.get(stream) === line) this.#lines.delete(stream);
  }

  #load(stream: string): Promise<Line<S>> {
    const underWay = this.#loading.get(stream);
    if (underWay !== undefined) return underWay;
    const loading = this.#replay(stream).finally(() => this.#loading.delete(stream));
    this.#loading.set(stream, loading);
    return loading;
  }

  async #replay(stream: string): Promise<Line<S>> {
    const line = (await this.#fromSnapshot(stream)) ?? this.#emptyLine();
    for await (const page of this.#with.store.read(stream, line.revision)) {
      for (const event of page) {
        if (!isHandled<E>(this.#handles, event)) {
          throw new Error(`${stream}: an event of type ${event.type} does not belong here`);
        }
        line.state = this.#decider.evolve(line.state, event);
        line.revision = event.revision;
        line.position = event.position;
        line.hash = event.metadata.hash;
        line.at = event.metadata.at;
      }
    }
    this.#lines.set(stream, line);
    this.#keepSnapshot(stream, line);
    return line;
  }

  #emptyLine(): Line<S> {
    return {
      state: this.#decider.initial,
      revision: NO_STREAM,
      hash: '',
      position: BEGINNING,
      at: '',
      snapshotRevision: NO_STREAM,
      snapshotAfter: this.#snapshotEvery,
      pending: undefined,
    };
  }

  async #fromSnapshot(stream: string): Promise<Line<S> | undefined> {
    const { snapshot } = this.#decider;
    if (snapshot === undefined) return undefined;
    const { snapshots, store, log } = this.#with;
    try {
      const kept = await snapshots.load(stream);
      if (kept === undefined || kept.version !== snapshot.version) return undefined;
      const last = await store.last(stream);
      if (last === undefined || last.revision < kept.revision) return undefined;
      return {
        state: snapshot.decode(JSON.parse(kept.json)),
        revision: kept.revision,
        hash: kept.hash,
        position: last.position,
        at: kept.at,
        snapshotRevision: kept.revision,
        snapshotAfter: this.#snapshotInterval(kept.json),
        pending: undefined,
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

  #keepSnapshot(stream: string, line: Line<S>): void {
    const { snapshot } = this.#decider;
    if (snapshot === undefined || line.pending !== undefined) return;
    if (line.revision - line.snapshotRevision < BigInt(line.snapshotAfter)) return;
    line.snapshotRevision = line.revision;
    const { revision, hash, at } = line;
    const json = JSON.stringify(snapshot.encode(line.state));
    line.snapshotAfter = this.#snapshotInterval(json);
    const { snapshots, log } = this.#with;
    snapshots
      .save(stream, { version: snapshot.version, revision, hash, at, json })
      .catch((error: unknown) => log.warn({ stream, error }, 'a snapshot could not be kept'));
  }
}

/** A stream's instants never run backwards, even when the clock does. Both have one format, so text order is time order. */
function notBefore(previous: string, now: string): string {
  return now < previous ? previous : now;
}
