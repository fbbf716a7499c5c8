import { coalesce } from '../concurrency/coalesce.ts';
import { type Grounds, saidOf } from '../domain/grounds.ts';
import type { Codec } from '../events/codec.ts';
import { seal } from '../events/hash-chain.ts';
import type { Command, Decider } from '../kernel/decider.ts';
import type { Event, Sealed } from '../kernel/event.ts';
import type { Clock } from '../ports/clock.ts';
import { AppendInDoubt, type EventStore, StoreUnavailable, WrongExpectedRevision } from '../ports/event-store.ts';
import type { Ids } from '../ports/ids.ts';
import { yieldToEventLoop } from '../concurrency/yield-to-event-loop.ts';

/** What events say of where they come from, and why, where the one who acts has said so. */
export type Cause = Readonly<{ actor: string; requestId: string; causationId?: string }> & Grounds;

/** A stream's state as of one revision. */
export type Point<S> = Readonly<{ state: S; revision: bigint; hash: string; at: string }>;

/** What came of an append: a log position that shows it, or another process was first. */
export type AppendOutcome = Readonly<{ position: bigint }> | 'raced';

/** The events of one command on their way into the store. */
export type Entry<S, E extends Event> = Readonly<{
  events: readonly Sealed<E>[];
  /** After the events. */
  point: Point<S>;
  appended: Promise<AppendOutcome>;
  resolve: (outcome: AppendOutcome) => void;
  reject: (error: unknown) => void;
}>;

/** The end of one stream as this process knows it, events that are not durable yet included. */
export type StreamHead<S, E extends Event> = {
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
  /** What the events since the snapshot weigh beyond one each. */
  snapshotWeight: number;
  /** The next snapshot is kept after this many events: a large state is written seldom. */
  snapshotAfter: number;
  waiting: Entry<S, E>[];
  /** What came, or will come, of the newest events; it settles after all earlier ones. */
  newest: Promise<AppendOutcome> | undefined;
  isAppending: boolean;
  /** An append failed or lost: nothing more may be decided on it. */
  isLost: boolean;
};

/** What may have been appended, and is settled by the same append once more. */
export type DoubtfulAppend = Readonly<{ expected: bigint; events: readonly Sealed[] }>;

export type StreamWriting<S, E extends Event> = Readonly<{
  evolve: Decider<Command, S, E>['evolve'];
  /** How many small events one takes as long to replay as. */
  weight: ((event: E) => number) | undefined;
  store: Pick<EventStore, 'append'>;
  codec: Pick<Codec, 'schemaOf'>;
  clock: Clock;
  ids: Ids;
  /** Whether this append was made can't be said. */
  doubt: (stream: string, append: DoubtfulAppend) => void;
  /** Nothing more may be decided on this head. */
  lose: (stream: string, head: StreamHead<S, E>) => void;
  /** The events up to this point are durable. */
  whenDurable: (stream: string, head: StreamHead<S, E>, point: Point<S>) => void;
}>;

/** Commands on one stream. */
const WAITING_MAX = 10_000;
const APPEND_EVENTS_MAX = 500;

/**
 * Appends what was decided, behind the head of its stream. One append of a stream is under way at a time: were there two, the second could
 * find the revision that it expects made by another process, to which the first had lost. What is decided meanwhile shares the next append.
 */
export class StreamWriter<S, E extends Event> {
  readonly #with: StreamWriting<S, E>;

  constructor(writing: StreamWriting<S, E>) {
    this.#with = writing;
  }

  /** Takes events up into the head, and appends them. Synchronous: no other command comes between the decision and this. */
  enter(stream: string, head: StreamHead<S, E>, decision: readonly E[], context: Cause): Entry<S, E> {
    if (head.waiting.length >= WAITING_MAX) {
      throw new StoreUnavailable(`${stream}: ${WAITING_MAX} commands wait for the store already`);
    }
    try {
      const events = this.#sealed(stream, head, decision, context);
      for (const event of events) {
        head.revision += 1n;
        head.state = this.#with.evolve(head.state, { revision: head.revision, ...event });
        if (this.#with.weight !== undefined) head.snapshotWeight += this.#with.weight(event) - 1;
        head.hash = event.metadata.hash;
        head.at = event.metadata.at;
      }
      const { state, revision, hash, at } = head;
      const entry = entryOf(events, { state, revision, hash, at });
      head.newest = entry.appended;
      head.waiting.push(entry);
      if (!head.isAppending) {
        head.isAppending = true;
        void this.#appendWaiting(stream, head);
      }
      return entry;
    } catch (error) {
      // The head may have taken up a part of them.
      this.#with.lose(stream, head);
      throw error;
    }
  }

  async #appendWaiting(stream: string, head: StreamHead<S, E>): Promise<void> {
    while (head.waiting.length > 0) {
      await coalesce(head.waiting, yieldToEventLoop);
      await this.#append(stream, head, takeAppend(head.waiting));
    }
    head.isAppending = false;
  }

  async #append(stream: string, head: StreamHead<S, E>, entries: readonly Entry<S, E>[]): Promise<void> {
    const last = entries.at(-1);
    if (head.isLost || last === undefined) {
      for (const { resolve } of entries) resolve('raced');
      return;
    }
    try {
      const events = entries.flatMap((entry) => entry.events);
      const { position } = await this.#with.store.append(stream, head.durable, events);
      head.durable = last.point.revision;
      if (position > head.position) head.position = position;
      for (const { resolve } of entries) resolve({ position });
      this.#with.whenDurable(stream, head, last.point);
    } catch (error) {
      await this.#afterFailure(stream, head, entries, error);
    }
  }

  async #afterFailure(
    stream: string,
    head: StreamHead<S, E>,
    entries: readonly Entry<S, E>[],
    error: unknown,
  ): Promise<void> {
    const isRaced = error instanceof WrongExpectedRevision;
    if (entries.length > 1 && !isRaced && !(error instanceof StoreUnavailable)) {
      // Too large together, or one of them can't be written: no reason to fail the others.
      const half = Math.floor(entries.length / 2);
      await this.#append(stream, head, entries.slice(0, half));
      await this.#append(stream, head, entries.slice(half));
      return;
    }
    if (error instanceof AppendInDoubt) {
      const events = entries.flatMap((entry) => entry.events);
      this.#with.doubt(stream, { expected: head.durable, events });
    }
    this.#with.lose(stream, head);
    for (const { resolve, reject } of entries) {
      if (isRaced) resolve('raced');
      else reject(error);
    }
  }

  #sealed(stream: string, head: StreamHead<S, E>, decision: readonly E[], context: Cause): readonly Sealed<E>[] {
    const { clock, codec, ids } = this.#with;
    return seal(onGrounds(decision, context), {
      stream,
      previousHash: head.hash,
      actor: context.actor,
      at: notBefore(head.at, clock.nowText()),
      correlationId: context.requestId,
      causationId: context.causationId ?? context.requestId,
      ids,
      schemaOf: codec.schemaOf,
    });
  }
}

/**
 * The events with why they came to be: as `reason` and `ticket` of their data. A type whose `reason` is one of its own has the words of the
 * one who acted in `because`.
 */
function onGrounds<E extends Event>(events: readonly E[], grounds: Grounds): readonly E[] {
  if (grounds.reason === undefined && grounds.ticket === undefined) return events;
  const { reason, ...ticket } = saidOf(grounds);
  const inOtherWords = reason === undefined ? ticket : { ...ticket, because: reason };
  return events.map((event) => {
    const said = 'reason' in event.data ? inOtherWords : saidOf(grounds);
    return { ...event, data: { ...event.data, ...said } };
  });
}

function entryOf<S, E extends Event>(events: readonly Sealed<E>[], point: Point<S>): Entry<S, E> {
  const { promise, resolve, reject } = withResolvers<AppendOutcome>();
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
