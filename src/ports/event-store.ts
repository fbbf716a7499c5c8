import type { RecordedEvent, Sealed } from '../kernel/event.ts';

/** The revision of a stream that does not exist yet. */
export const NO_STREAM = -1n;

/** The position before the first event of the log. */
export const BEGINNING = -1n;

/** Where a stream ended after an append, and the log position of its last event. */
export type Appended = Readonly<{ revision: bigint; position: bigint }>;

/**
 * An event by its places and its hash, kept with the views that have applied the log up to it: an older state of the log, or another
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
   * @throws WrongExpectedRevision when the stream is elsewhere, StoreUnavailable when the store can't be reached (nothing was written),
   * AppendInDoubt when it can't be said whether it was,
   * AppendTooLarge when the store would not take that much at once.
   */
  append: (stream: string, expected: bigint, events: readonly Sealed[]) => Promise<Appended>;
  /** The whole log in order from `after` (exclusive) to its end as of the call. */
  readAll: (after: bigint) => AsyncIterable<readonly RecordedEvent[]>;
  /**
   * The whole log from `after` (exclusive), then what is appended by anyone, for ever, until `signal` aborts (then it ends).
   */
  follow: (after: bigint, signal: AbortSignal, told?: Following) => AsyncIterable<readonly RecordedEvent[]>;
  /**
   * The position of the newest event; `BEGINNING` for an empty log. Of a store that others write to as well it may be a later one, up to
   * which another reader has looked before and there is no more of ours.
   */
  end: () => Promise<bigint>;
  /** Where the event at a revision of a stream is in the log, and its hash; `undefined` when there is none. */
  eventAt: (stream: string, revision: bigint) => Promise<Pick<Anchor, 'position' | 'hash'> | undefined>;
  close: () => Promise<void>;
}>;

/** What a follower hears beside the events. */
export type Following = Readonly<{
  /**
   * A store that others write to as well has been looked through up to a later position, and nothing more of ours was found: who keeps that
   * need not look through the same stretch again.
   */
  passed?: (position: bigint) => void;
  /** Whether the log is followed at this moment: a store on a server may be away. Without a word it is. */
  isFollowed?: (is: boolean) => void;
}>;

/** Another writer appended first: read the stream and decide again. */
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
  override readonly name: string = 'StoreUnavailable';
}

/** The views have not applied yet what readers must find in them. No fault: it ends by itself. */
export class ViewsBehind extends StoreUnavailable {}

/** The level of a line about what failed for now. Views that are behind catch up by themselves, and are told of where that is done. */
export function levelOfFailure(error: unknown): 'debug' | 'error' {
  return error instanceof ViewsBehind ? 'debug' : 'error';
}

/**
 * It can't be said whether the events of an append were made: they may come into effect later. It is settled by the same append, sent again
 * until it is answered.
 */
export class AppendInDoubt extends StoreUnavailable {}

/** The events of one append are more than the store takes at once; nothing was written. Sizes in bytes. */
export class AppendTooLarge extends Error {
  override readonly name = 'AppendTooLarge';
  readonly stream: string;
  readonly bytes: number;
  readonly limitBytes: number;
  constructor(stream: string, bytes: number, limitBytes: number, options?: ErrorOptions) {
    super(
      `${bytes} bytes are too many for one append to ${stream}: the store takes at most ${limitBytes}; do it in smaller steps`,
      options,
    );
    this.stream = stream;
    this.bytes = bytes;
    this.limitBytes = limitBytes;
  }
}
