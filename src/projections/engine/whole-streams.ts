import type { RecordedEvent } from '../../kernel/event.ts';
import { BEGINNING, type EventStore } from '../../ports/event-store.ts';
import type { Log } from '../../ports/log.ts';
import { lastRevisionWithin } from './stream-continuity.ts';

export type WholeStreamsOptions = Readonly<{
  store: Pick<EventStore, 'name' | 'read' | 'eventAt' | 'follow'>;
  log: Log;
  /** The position behind which the following begins first. */
  from: bigint;
  /** The streams of which no event may be missed; what comes of others is handed on as it comes. */
  isWanted: (stream: string) => boolean;
}>;

/**
 * Follows the log for something that is kept in memory, one stream independent of another. Views, which take events in the order of the whole log,
 * begin the reading again instead where it has left one out: `StreamContinuity`.
 */
export type WholeStreams = Readonly<{
  /**
   * As the store's `follow`, but of a stream that is wanted each revision comes once and in order. One that the reading leaves out is
   * noticed at the next one of its stream, told in one line of the log, and read from the stream itself: its position lies then before
   * those of other streams' events that came already.
   */
  follow: (after: bigint, signal: AbortSignal) => AsyncIterable<readonly RecordedEvent[]>;
}>;

/** It remembers the newest revision of each wanted stream that it has met: 60 to 100 bytes a stream. */
export function openWholeStreams({ store, log, from, isWanted }: WholeStreamsOptions): WholeStreams {
  const newest = new Map<string, bigint>();

  return {
    follow: async function* (after, signal) {
      for await (const page of store.follow(after, signal)) {
        const whole: RecordedEvent[] = [];
        for (const event of page) {
          if (!isWanted(event.stream)) whole.push(event);
          else await take(event, whole);
        }
        if (whole.length > 0) yield whole;
      }
    },
  };

  async function take(event: RecordedEvent, whole: RecordedEvent[]): Promise<void> {
    const { stream, revision } = event;
    const known = newest.get(stream) ?? (await lastReadBefore(stream, revision));
    if (revision <= known) return;
    if (revision > known + 1n) await fill(event, known, whole);
    whole.push(event);
    newest.set(stream, revision);
  }

  /** The last revision before one whose event an earlier reading has had: it lies before the beginning. -1n: none. */
  async function lastReadBefore(stream: string, revision: bigint): Promise<bigint> {
    if (revision === 0n || from === BEGINNING) return -1n;
    return lastRevisionWithin(store, stream, revision - 1n, from);
  }

  async function fill({ stream, revision }: RecordedEvent, known: bigint, whole: RecordedEvent[]): Promise<void> {
    const before = whole.length;
    reading: for await (const page of store.read(stream, known)) {
      for (const event of page) {
        if (event.revision >= revision) break reading;
        whole.push(event);
      }
    }
    const fields = { stream, after: String(known), before: String(revision) };
    // A log that has lost events itself is told of by the views.
    if (whole.length > before)
      log.error(
        fields,
        `following ${store.name} left out events of ${stream}, which it holds; they are read from there`,
      );
  }
}
