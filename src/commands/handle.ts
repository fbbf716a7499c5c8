import { type Command, type Decider, type Decision, isRefusal, type Refusal } from '../kernel/decider.ts';
import type { Event, Recorded, Sealed } from '../kernel/event.ts';
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

/**
 * Opens a stream category for commands. Commands on one stream are decided one after another on the state that includes appends
 * under way, so that they share one write to disk; none is answered before its own events, and those that it was decided on, are durable.
 */
export function openAggregate<C extends Command, S, E extends Event>(
  decider: Decider<C, S, E> & Readonly<{ category: StreamCategory; handles: readonly E['type'][] }>,
  dependencies: AggregateDependencies,
): Aggregate<C, S, E> {
  const { store, codec, snapshots, clock, ids, log, streamsMax = 10_000, snapshotEvery = 1_000 } = dependencies;
  const handles = new Set<string>(decider.handles);
  const lines = new BoundedMap<string, Line<S>>(streamsMax);
  const loading = new Map<string, Promise<Line<S>>>();

  return {
    handle: async (id, command, context) => {
      const stream = streamName(decider.category, id);
      for (let race = 0; race < RACES_MAX; race += 1) {
        const line = lines.get(stream) ?? (await load(stream));
        // Decided and taken up in one turn of the event loop: nobody can come in between.
        const decision = decider.decide(command, line.state);
        const answer = isRefusal(decision) || decision.length === 0
          ? await settleUnchanged(stream, line, decision)
          : await settleAppend(stream, line, decision, context);
        if (answer !== 'raced') return answer;
      }
      throw new Error(`${stream}: still losing races after ${RACES_MAX} tries`);
    },
    state: async (id) => {
      const stream = streamName(decider.category, id);
      for (;;) {
        const line = lines.get(stream) ?? (await load(stream));
        const { state, revision } = line;
        if (await isCurrent(stream, line, revision)) return { state, revision, position: line.position };
      }
    },
  };

  async function settleUnchanged(
    stream: string,
    line: Line<S>,
    decision: Decision<E>,
  ): Promise<Refusal | Handled<S, E> | 'raced'> {
    const { state, revision } = line;
    if (!(await isCurrent(stream, line, revision))) return 'raced';
    return isRefusal(decision) ? decision : { events: [], state, revision, position: line.position };
  }

  /** A "no" or a "nothing new" may rest on appends that fail, or on a state that another process has moved on. */
  async function isCurrent(stream: string, line: Line<S>, revision: bigint): Promise<boolean> {
    if (line.pending !== undefined) {
      try {
        await line.pending;
      } catch (error) {
        if (error instanceof WrongExpectedRevision) return false;
        throw error;
      }
    }
    const last = await store.last(stream);
    if ((last?.revision ?? NO_STREAM) <= revision) return true;
    // Our own later appends move the stream as well; only a stream that is ahead of us is news.
    if (lines.get(stream) === line && (last?.revision ?? NO_STREAM) <= line.revision) return true;
    forget(stream, line);
    return false;
  }

  async function settleAppend(
    stream: string,
    line: Line<S>,
    decision: readonly E[],
    context: CommandContext,
  ): Promise<Handled<S, E> | 'raced'> {
    const expected = line.revision;
    const events = seal(decision, {
      stream,
      previousHash: line.hash,
      actor: context.actor,
      at: notBefore(line.at, clock.nowText()),
      correlationId: context.requestId,
      causationId: context.causationId ?? context.requestId,
      ids,
      schemaOf: codec.schemaOf,
    });
    for (const event of events) {
      line.revision += 1n;
      line.state = decider.evolve(line.state, { ...event, revision: line.revision });
      line.hash = event.metadata.hash;
      line.at = event.metadata.at;
    }
    const { state, revision } = line;
    const appending = store.append(stream, expected, events);
    line.pending = appending;
    try {
      const { position } = await appending;
      if (position > line.position) line.position = position;
      if (line.pending === appending) line.pending = undefined;
      keepSnapshot(stream, line);
      return { events, state, revision, position };
    } catch (error) {
      forget(stream, line);
      if (error instanceof WrongExpectedRevision) return 'raced';
      throw error;
    }
  }

  function forget(stream: string, line: Line<S>): void {
    if (lines.get(stream) === line) lines.delete(stream);
  }

  function load(stream: string): Promise<Line<S>> {
    const underWay = loading.get(stream);
    if (underWay !== undefined) return underWay;
    const loaded = replay(stream).finally(() => loading.delete(stream));
    loading.set(stream, loaded);
    return loaded;
  }

  async function replay(stream: string): Promise<Line<S>> {
    const line: Line<S> = (await fromSnapshot(stream)) ?? emptyLine();
    for await (const page of store.read(stream, line.revision)) {
      for (const event of page) {
        if (!isHandled<E>(handles, event)) throw new Error(`${stream}: an event of type ${event.type} does not belong here`);
        advance(line, event);
      }
    }
    lines.set(stream, line);
    keepSnapshot(stream, line);
    return line;
  }

  function advance(line: Line<S>, event: Recorded<E>): void {
    line.state = decider.evolve(line.state, event);
    line.revision = event.revision;
    line.position = event.position;
    line.hash = event.metadata.hash;
    line.at = event.metadata.at;
  }

  function emptyLine(): Line<S> {
    return {
      state: decider.initial,
      revision: NO_STREAM,
      hash: '',
      position: BEGINNING,
      at: '',
      snapshotRevision: NO_STREAM,
      snapshotAfter: snapshotEvery,
      pending: undefined,
    };
  }

  async function fromSnapshot(stream: string): Promise<Line<S> | undefined> {
    if (decider.snapshot === undefined) return undefined;
    try {
      const snapshot = await snapshots.load(stream);
      if (snapshot === undefined || snapshot.version !== decider.snapshot.version) return undefined;
      const last = await store.last(stream);
      if (last === undefined || last.revision < snapshot.revision) return undefined;
      return {
        state: decider.snapshot.decode(JSON.parse(snapshot.json)),
        revision: snapshot.revision,
        hash: snapshot.hash,
        position: last.position,
        at: snapshot.at,
        snapshotRevision: snapshot.revision,
        snapshotAfter: snapshotInterval(snapshot.json),
        pending: undefined,
      };
    } catch (error) {
      log.warn({ stream, error }, 'a snapshot could not be used; the whole stream is read');
      return undefined;
    }
  }

  /** Writing a snapshot costs about as much as replaying one event for each 50 bytes of it. */
  function snapshotInterval(json: string): number {
    return Math.max(snapshotEvery, Math.ceil(json.length / 50));
  }

  function keepSnapshot(stream: string, line: Line<S>): void {
    if (decider.snapshot === undefined || line.pending !== undefined) return;
    if (line.revision - line.snapshotRevision < BigInt(line.snapshotAfter)) return;
    line.snapshotRevision = line.revision;
    const { revision, hash, at } = line;
    const json = JSON.stringify(decider.snapshot.encode(line.state));
    line.snapshotAfter = snapshotInterval(json);
    snapshots
      .save(stream, { version: decider.snapshot.version, revision, hash, at, json })
      .catch((error: unknown) => log.warn({ stream, error }, 'a snapshot could not be kept'));
  }
}

/** A stream's instants never run backwards, even when the clock does. Both have one format, so text order is time order. */
function notBefore(previous: string, now: string): string {
  return now < previous ? previous : now;
}
