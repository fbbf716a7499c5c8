import { type Codec, UndecodableEvent } from '../events/codec.ts';
import { BoundedMap } from '../kernel/bounded-map.ts';
import { type Command, type Decider, type Decision, isRefusal, type Refusal, refuse } from '../kernel/decider.ts';
import { type Event, isHandled, type Sealed } from '../kernel/event.ts';
import { streamName } from '../kernel/stream-name.ts';
import type { Clock } from '../ports/clock.ts';
import {
  AppendInDoubt,
  BEGINNING,
  type EventStore,
  NO_STREAM,
  StoreUnavailable,
  WrongExpectedRevision,
} from '../ports/event-store.ts';
import type { Ids } from '../ports/ids.ts';
import type { Log } from '../ports/log.ts';
import type { Snapshots } from '../ports/read-models.ts';
import { Snapshotting } from './snapshotting.ts';
import { type AppendOutcome, type Cause, type DoubtfulAppend, type StreamHead, StreamWriter } from './stream-writer.ts';

/** Who asks, and on whose request. */
export type CommandContext = Cause;

/** What came of a command: the new events (`[]`: nothing new), the state after them, and the log position that shows it. */
export type Handled<S, E extends Event> = Readonly<{
  events: readonly Sealed<E>[];
  state: S;
  revision: bigint;
  position: bigint;
}>;

/** One stream category with its rules: the only way to change it. */
export type Aggregate<C extends Command, S, E extends Event> = Readonly<{
  /**
   * Durable when it resolves. A lost race is decided again, at most `RACES_MAX` times. With `revision` the stream must stand there: it is refused with
   * `revision-differs` otherwise.
   */
  handle: (
    id: string | number,
    command: C,
    context: CommandContext,
    revision?: bigint,
  ) => Promise<Refusal | Handled<S, E>>;
  /** The state as the store has it now. */
  state: (id: string | number) => Promise<Readonly<{ state: S; revision: bigint; position: bigint }>>;
}>;

/** Reads a stream, and keeps a snapshot of it where a later reader would have to read long; resolves when it is kept. */
export type SnapshotKeeper = Readonly<{ category: string; keepSnapshot: (id: string | number) => Promise<void> }>;

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

type Opened<C extends Command, S, E extends Event> = Decider<C, S, E> & Readonly<{ handles: readonly E['type'][] }>;

/**
 * Opens a stream category for commands. Commands on one stream are decided one after another on the state that includes events
 * on their way to the store; none is answered before its own events, and those that it was decided on, are durable.
 */
export function openAggregate<C extends Command, S, E extends Event>(
  decider: Opened<C, S, E>,
  dependencies: AggregateDependencies,
): Aggregate<C, S, E> & SnapshotKeeper {
  const heads = new StreamHeads(decider, dependencies);
  return {
    category: decider.category,
    handle: (id, command, context, revision) =>
      heads.handle(streamName(decider.category, id), command, context, revision),
    state: (id) => heads.state(streamName(decider.category, id)),
    keepSnapshot: (id) => heads.keepSnapshot(streamName(decider.category, id)),
  };
}

const REVISION_DIFFERS = refuse('revision-differs', 'it was changed meanwhile.');

/** The heads of one category's streams: read from the store, and decided on. */
class StreamHeads<C extends Command, S, E extends Event> {
  readonly #decider: Opened<C, S, E>;
  readonly #with: AggregateDependencies;
  readonly #handles: ReadonlySet<string>;
  readonly #heads: BoundedMap<string, StreamHead<S, E>>;
  readonly #loading = new Map<string, Promise<StreamHead<S, E>>>();
  /** Streams on which nothing may be said before it is known whether an append was made. */
  readonly #doubts = new Map<string, DoubtfulAppend>();
  readonly #settling = new Map<string, Promise<void>>();
  readonly #writer: StreamWriter<S, E>;
  readonly #snapshotting: Snapshotting<S>;

  constructor(decider: Opened<C, S, E>, dependencies: AggregateDependencies) {
    this.#decider = decider;
    this.#with = dependencies;
    this.#handles = new Set(decider.handles);
    this.#heads = new BoundedMap(dependencies.streamsMax ?? STREAMS_MAX);
    this.#snapshotting = new Snapshotting(decider.snapshot, dependencies);
    this.#writer = new StreamWriter({
      ...dependencies,
      evolve: decider.evolve,
      weight: decider.snapshot?.weight,
      doubt: (stream, append) => void this.#doubts.set(stream, append),
      lose: (stream, head) => this.#lose(stream, head),
      whenDurable: (stream, head, point) => this.#snapshotting.keep(stream, head, point),
    });
  }

  async handle(
    stream: string,
    command: C,
    context: CommandContext,
    revision?: bigint,
  ): Promise<Refusal | Handled<S, E>> {
    for (let race = 0; race < RACES_MAX; race += 1) {
      if (this.#doubts.has(stream)) await this.#settleDoubt(stream);
      const head = this.#heads.get(stream) ?? (await this.#load(stream));
      if (head.isLost) continue;
      // Decided and taken up in one turn of the event loop: no other command comes in between.
      const hasMoved = revision !== undefined && head.revision !== revision;
      const decision = hasMoved ? REVISION_DIFFERS : this.#decider.decide(command, head.state);
      const answer =
        isRefusal(decision) || decision.length === 0
          ? await this.#settleUnchanged(stream, head, decision)
          : await this.#settleAppend(stream, head, decision, context);
      if (answer !== 'raced') return answer;
    }
    throw new StoreUnavailable(`${stream}: others were faster ${RACES_MAX} times`);
  }

  async state(stream: string): Promise<Readonly<{ state: S; revision: bigint; position: bigint }>> {
    for (;;) {
      if (this.#doubts.has(stream)) await this.#settleDoubt(stream);
      const head = this.#heads.get(stream) ?? (await this.#load(stream));
      const { state, revision } = head;
      if (await this.#isCurrent(stream, head, revision)) return { state, revision, position: head.position };
    }
  }

  async keepSnapshot(stream: string): Promise<void> {
    if (this.#decider.snapshot === undefined) return;
    const isInUse = this.#heads.get(stream) !== undefined;
    const head = await this.#load(stream);
    // What waits for the store may never be there.
    if (head.revision === head.durable) await this.#snapshotting.keepNow(stream, head);
    if (!isInUse && head.newest === undefined && this.#heads.get(stream) === head) this.#heads.delete(stream);
  }

  async #settleUnchanged(
    stream: string,
    head: StreamHead<S, E>,
    decision: Decision<E>,
  ): Promise<Refusal | Handled<S, E> | 'raced'> {
    const { state, revision } = head;
    if (!(await this.#isCurrent(stream, head, revision))) return 'raced';
    return isRefusal(decision) ? decision : { events: [], state, revision, position: head.position };
  }

  /** A "no" or a "nothing new" may rest on appends that fail, or on a state that another process has moved on. */
  async #isCurrent(stream: string, head: StreamHead<S, E>, revision: bigint): Promise<boolean> {
    if ((await head.newest?.catch(lostUnlessUnavailable)) === 'raced') return false;
    const last = await this.#with.store.revision(stream);
    if (last <= revision) return true;
    // Our own later events move the stream as well. Which ones are ours is known once they are settled.
    await head.newest?.catch(() => undefined);
    if (last <= head.durable) return true;
    this.#lose(stream, head);
    return false;
  }

  /** The same events at the same revision: they are there, or are made now, or can never be made any more. @throws AppendInDoubt as long as that can't be said */
  #settleDoubt(stream: string): Promise<void> {
    const settling =
      this.#settling.get(stream) ?? this.#appendAgain(stream).finally(() => this.#settling.delete(stream));
    this.#settling.set(stream, settling);
    return settling;
  }

  async #appendAgain(stream: string): Promise<void> {
    const doubt = this.#doubts.get(stream);
    if (doubt === undefined) return;
    try {
      await this.#with.store.append(stream, doubt.expected, doubt.events);
    } catch (error) {
      if (error instanceof StoreUnavailable) throw new AppendInDoubt(error.message, { cause: error });
      if (!(error instanceof WrongExpectedRevision)) throw error;
    }
    this.#doubts.delete(stream);
  }

  async #settleAppend(
    stream: string,
    head: StreamHead<S, E>,
    decision: readonly E[],
    context: CommandContext,
  ): Promise<Handled<S, E> | 'raced'> {
    const { events, point, appended } = this.#writer.enter(stream, head, decision, context);
    const outcome = await appended;
    if (outcome === 'raced') return outcome;
    return { events, state: point.state, revision: point.revision, position: outcome.position };
  }

  #lose(stream: string, head: StreamHead<S, E>): void {
    head.isLost = true;
    if (this.#heads.get(stream) === head) this.#heads.delete(stream);
  }

  #load(stream: string): Promise<StreamHead<S, E>> {
    const underWay = this.#loading.get(stream);
    if (underWay !== undefined) return underWay;
    const loading = this.#replay(stream).finally(() => this.#loading.delete(stream));
    this.#loading.set(stream, loading);
    return loading;
  }

  async #replay(stream: string): Promise<StreamHead<S, E>> {
    const kept = await this.#snapshotting.load(stream);
    const head =
      (kept && (await this.#readOn(stream, { ...this.#emptyHead(), ...kept }))) ??
      (await this.#readOn(stream, this.#emptyHead()));
    if (head === undefined) throw new Error(`${stream} can't be read from its start`);
    this.#heads.set(stream, head);
    this.#snapshotting.keep(stream, head, head);
    return head;
  }

  /** Takes a head to the end of its stream; `undefined` when the stream does not hold the event at which the head stands. */
  async #readOn(stream: string, head: StreamHead<S, E>): Promise<StreamHead<S, E> | undefined> {
    const { revision: from, hash } = head;
    let isAnchored = from === NO_STREAM;
    for await (const page of this.#with.store.read(stream, isAnchored ? from : from - 1n)) {
      for (const event of page) {
        if (!isHandled<E>(this.#handles, event)) {
          throw new Error(`${stream}: an event of type ${event.type} does not belong here`);
        }
        if (isAnchored) {
          if (event.metadata.previousHash !== head.hash)
            throw new UndecodableEvent(event, 'it does not follow the event before it: its chain is broken');
          head.state = this.#decider.evolve(head.state, event);
          head.snapshotWeight += (this.#decider.snapshot?.weight?.(event) ?? 1) - 1;
        } else if (event.revision !== from || event.metadata.hash !== hash) return undefined;
        isAnchored = true;
        head.revision = event.revision;
        head.position = event.position;
        head.hash = event.metadata.hash;
        head.at = event.metadata.at;
      }
    }
    head.durable = head.revision;
    return isAnchored ? head : undefined;
  }

  #emptyHead(): StreamHead<S, E> {
    return {
      state: this.#decider.initial,
      revision: NO_STREAM,
      hash: '',
      position: BEGINNING,
      at: '',
      snapshotRevision: NO_STREAM,
      snapshotWeight: 0,
      snapshotAfter: this.#snapshotting.every,
      durable: NO_STREAM,
      waiting: [],
      newest: undefined,
      isAppending: false,
      isLost: false,
    };
  }
}

/** A decision on events that can't be written is made again; none is made without a store. */
function lostUnlessUnavailable(error: unknown): AppendOutcome {
  if (error instanceof StoreUnavailable) throw error;
  return 'raced';
}
