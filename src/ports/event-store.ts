import type { RecordedEvent, Sealed } from '../kernel/event.ts';

/** The revision of a stream that does not exist yet. */
export const NO_STREAM = -1n;

/** The position before the first event of the log. */
export const BEGINNING = -1n;

/** Where a stream ended after an append, and the log position of its last event. */
export type Appended = Readonly<{ revision: bigint; position: bigint }>;

/**
 * An event by its places and its hash, kept by whoever has applied the log up to it: an older state of the log, or another
 * log, does not hold it, even where another event has its position by now.
 */
export type Anchor = Readonly<{ position: bigint; stream: string; revision: bigint; hash: string }>;

/**
 * The log. Events come in pages, so that order and back-pressure come free and bulk reads stay cheap; a page is never empty.
 */
export type EventStore = Readonly<{
  /** Where it is, for people: the path of its file, or what its server is called. */
  name: string;
  /** One stream in order, from `after` (a revision, exclusive; default: from its start) to its end now. Missing: no page. */
  read: (stream: string, after?: bigint) => AsyncIterable<readonly RecordedEvent[]>;
  /** The revision of a stream's last event; `NO_STREAM` when it has none. */
  revision: (stream: string) => Promise<bigint>;
  /**
   * Appends all or none, durably, where `expected` is the revision of the stream's last event (`NO_STREAM`: none).
   * Repeating an append whose event ids are all there already is a success with the same answer.
   * @throws WrongExpectedRevision when the stream is elsewhere, StoreUnavailable when the store can't be reached,
   * AppendTooLarge when the store would not take that much at once.
   */
  append: (stream: string, expected: bigint, events: readonly Sealed[]) => Promise<Appended>;
  /** The whole log in order from `after` (exclusive) to its end as of the call. */
  readAll: (after: bigint) => AsyncIterable<readonly RecordedEvent[]>;
  /**
   * The whole log from `after` (exclusive), then what is appended by anyone, for ever, until `signal` aborts (then it ends).
   * A store that others write to as well calls `passed` with a later position up to which nothing more of ours was found,
   * so that whoever keeps it need not look through the same stretch again.
   */
  follow: (
    after: bigint,
    signal: AbortSignal,
    passed?: (position: bigint) => void,
  ) => AsyncIterable<readonly RecordedEvent[]>;
  /** The position of the newest event; `BEGINNING` for an empty log. */
  end: () => Promise<bigint>;
  /** Where the event at a revision of a stream is in the log, and its hash; `undefined` when there is none. */
  eventAt: (stream: string, revision: bigint) => Promise<Pick<Anchor, 'position' | 'hash'> | undefined>;
  close: () => Promise<void>;
}>;

/** Somebody else appended first: read again and decide anew. */
export class WrongExpectedRevision extends Error {
  override readonly name = 'WrongExpectedRevision';
  readonly stream: string;
  readonly expected: bigint;
  readonly actual: bigint;
  constructor(stream: string, expected: bigint, actual: bigint) {
    super(`stream ${stream} is at revision ${actual}, not ${expected}`);
    this.stream = stream;
    this.expected = expected;
    this.actual = actual;
  }
}

/** A store that can't be reached, is busy beyond its bound, or is closed. `cause` says why. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** The events of one append are more than the store takes at once; nothing was written. Sizes in bytes. */
export class AppendTooLarge extends Error {
  override readonly name = 'AppendTooLarge';
  readonly stream: string;
  readonly bytes: number;
  readonly limitBytes: number;
  constructor(stream: string, bytes: number, limitBytes: number, options?: ErrorOptions) {
    super(`${bytes} bytes are too many for one append to ${stream}: the store takes at most ${limitBytes}`, options);
    this.stream = stream;
    this.bytes = bytes;
    this.limitBytes = limitBytes;
  }
}
