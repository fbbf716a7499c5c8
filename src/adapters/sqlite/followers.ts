import type { RecordedEvent } from '../../kernel/event.ts';
import type { Page } from './event-reader.ts';
import type { FileAccess } from './file-access.ts';
import { yieldToEventLoop } from '../../concurrency/yield-to-event-loop.ts';

export type Followers = Readonly<{
  /** The log from `after`, then what is appended, until `signal` aborts. */
  follow: (after: bigint, signal: AbortSignal) => AsyncGenerator<readonly RecordedEvent[], void>;
  /** Hands on what this process has just committed, in the order of the log. */
  publish: (events: readonly RecordedEvent[]) => void;
  /** Whether anyone is here to be handed something. */
  any: () => boolean;
  /** Ends every follower with an error. */
  fail: (error: Error) => void;
}>;

export type FollowersOptions = Readonly<{
  free: FileAccess;
  readPage: (after: bigint) => Page;
  /** A value that changes whenever another process has changed the file. */
  foreignChanges: () => unknown;
}>;

/** Another process's events are seen after at most this long: sooner than the operator who ran a command can ask. Looking costs microseconds. */
const LOOK_MILLISECONDS = 25;
const PAGE_EVENTS = 1_000;
/** A follower that is further behind reads the file again, so that what waits for it stays bounded. */
const QUEUE_EVENTS_MAX = 10_000;

/** One reader of the log. */
type Seat = {
  /** Committed here since it was at the end, without a gap. */
  queue: RecordedEvent[];
  /** The position that continues the queue. */
  next: bigint;
  /** Whether the file may hold events that are neither taken nor in the queue. */
  behind: boolean;
  wake: () => void;
};

/**
 * Followers of one file. At the end of the log they are handed what this process commits as it is, without reading it
 * again; behind, after a gap that another process has filled, or when they are slow, they read the file.
 */
export function createFollowers({ free, readPage, foreignChanges }: FollowersOptions): Followers {
  const seats = new Set<Seat>();
  const watch = createWatch(foreignChanges, () => {
    for (const seat of seats) fallBehind(seat);
  });
  let failure: Error | undefined;

  return {
    follow,
    publish: (events) => {
      for (const seat of seats) hand(seat, events);
    },
    any: () => seats.size > 0,
    fail: (error) => {
      failure = error;
      for (const seat of seats) leave(seat);
    },
  };

  async function* follow(after: bigint, signal: AbortSignal): AsyncGenerator<readonly RecordedEvent[], void> {
    const seat: Seat = { queue: [], next: after + 1n, behind: true, wake: () => undefined };
    if (signal.aborted) return;
    const end = (): void => leave(seat);
    signal.addEventListener('abort', end);
    seats.add(seat);
    watch.start();
    try {
      let position = after;
      while (!signal.aborted) {
        if (failure !== undefined) throw failure;
        const page = await nextPage(seat, position);
        const last = page.at(-1);
        if (last !== undefined && !signal.aborted) {
          yield page;
          position = last.position;
        } else if (!seat.behind && seat.queue.length === 0 && !signal.aborted) {
          await new Promise<void>((resolve) => (seat.wake = resolve));
        }
      }
    } finally {
      signal.removeEventListener('abort', end);
      leave(seat);
    }
  }

  function leave(seat: Seat): void {
    seats.delete(seat);
    if (seats.size === 0) watch.stop();
    seat.wake();
  }

  async function nextPage(seat: Seat, position: bigint): Promise<readonly RecordedEvent[]> {
    if (seat.queue.length > 0) return seat.queue.splice(0, PAGE_EVENTS);
    if (!seat.behind) return [];
    await yieldToEventLoop();
    return free(() => {
      const { events, atEnd } = readPage(position);
      if (atEnd) {
        // Nothing can be committed here before this function ends: what comes next is handed over.
        seat.behind = false;
        seat.next = (events.at(-1)?.position ?? position) + 1n;
      }
      return events;
    });
  }
}

function hand(seat: Seat, events: readonly RecordedEvent[]): void {
  const last = events.at(-1);
  if (seat.behind || last === undefined) return;
  const next = last.position + 1n;
  const continues = events[0]?.position === seat.next && next - seat.next === BigInt(events.length);
  if (!continues || seat.queue.length + events.length > QUEUE_EVENTS_MAX) return fallBehind(seat);
  for (const event of events) seat.queue.push(event);
  seat.next = next;
  seat.wake();
}

/** It takes what is in its queue, then reads the file. */
function fallBehind(seat: Seat): void {
  seat.behind = true;
  seat.wake();
}

/** Looks for changes that other processes have made. */
function createWatch(
  foreignChanges: () => unknown,
  changed: () => void,
): Readonly<{ start: () => void; stop: () => void }> {
  let timer: NodeJS.Timeout | undefined;
  let seen: unknown;
  return {
    start: () => {
      if (timer !== undefined) return;
      seen = changesNow();
      timer = setInterval(look, LOOK_MILLISECONDS);
    },
    stop: () => {
      clearInterval(timer);
      timer = undefined;
    },
  };

  function look(): void {
    const now = changesNow();
    if (now === seen && now !== undefined) return;
    seen = now;
    changed();
  }

  function changesNow(): unknown {
    try {
      return foreignChanges();
    } catch {
      // The follower reads the file then, and meets the failure where it can be handled.
      return undefined;
    }
  }
}
