import type { Codec } from '../../events/codec.ts';
import type { Sealed } from '../../kernel/event.ts';
import {
  type Appended,
  AppendInDoubt,
  AppendTooLarge,
  StoreUnavailable,
  WrongExpectedRevision,
} from '../../ports/event-store.ts';
import type { Answer } from './append-answer.ts';
import { type AppendSession, openAppendSession } from './append-session.ts';
import type { EventStoreConnection } from './connection.ts';
import { CallFailed } from './failures.ts';
import { openRetries, type RetryPolicy } from './retries.ts';
import { type ProposedEvent, proposedEvent } from './proposed-events.ts';
import type { Place, Reads } from './reads.ts';
import type { StreamNames } from './stream-names.ts';

export type AppendsOptions = Readonly<{
  connection: EventStoreConnection;
  patience: RetryPolicy;
  answerMilliseconds: number;
  onServer: StreamNames['onServer'];
  codec: Codec;
  limitBytes: number;
  whatIsAt: Reads['whatIsAt'];
}>;

export type Appends = Readonly<{
  /**
   * Writes all or none, once, however often it must be sent. Appends of one stream are not put in order here: what builds on
   * an append is decided once that is answered, since the server would take it though its forerunner lost a race.
   * @throws WrongExpectedRevision, StoreUnavailable (nothing was written), AppendInDoubt, AppendTooLarge
   */
  append: (stream: string, expected: bigint, events: readonly Sealed[]) => Promise<Appended>;
  /** Takes no more, and resolves when those under way are settled. */
  close: () => Promise<void>;
}>;

const WAITING_BYTES_MAX = 64 * 1024 * 1024;

/** The appends of one process, all over one call. */
export function openAppends({ codec, limitBytes, whatIsAt, ...session }: AppendsOptions): Appends {
  const currentSession = openSessions(session);
  const working = new Set<Promise<Appended>>();
  let waitingBytes = 0;
  let closed = false;

  return {
    append: async (stream, expected, events) => {
      const proposed = events.map((event) => proposedEvent(event, codec.encode(event)));
      const bytes = proposed.reduce((sum, event) => sum + event.bytes, 0);
      if (bytes > limitBytes) throw new AppendTooLarge(stream, bytes, limitBytes);
      if (closed) throw new StoreUnavailable('the event store is closed');
      if (waitingBytes + bytes > WAITING_BYTES_MAX) {
        throw new StoreUnavailable(`appends of ${waitingBytes} bytes wait for the event store already`);
      }
      waitingBytes += bytes;
      const work = write(stream, expected, proposed);
      working.add(work);
      try {
        return await work;
      } finally {
        working.delete(work);
        waitingBytes -= bytes;
      }
    },
    close: async () => {
      closed = true;
      await Promise.allSettled(working);
      currentSession.close();
    },
  };

  async function write(stream: string, expected: bigint, events: readonly ProposedEvent[]): Promise<Appended> {
    const tries = openRetries(session.patience);
    let isInDoubt = false;
    for (;;) {
      let isAsked = false;
      try {
        const open = await currentSession.get();
        isAsked = true;
        // The same ids at the same revision each time: the server takes them once.
        const answer = await open.append(stream, expected, events);
        return await accepted(stream, expected, events, answer);
      } catch (failure) {
        isInDoubt ||= isAsked && mayBeMade(failure);
        await tries.again(failure).catch((last: unknown) => {
          throw isInDoubt && last instanceof StoreUnavailable ? new AppendInDoubt(last.message, { cause: last }) : last;
        });
      }
    }
  }

  async function accepted(
    stream: string,
    expected: bigint,
    events: readonly ProposedEvent[],
    answer: Answer,
  ): Promise<Appended> {
    if (answer.kind === 'appended') return { revision: answer.revision, position: answer.position };
    const { actual } = answer;
    // An earlier try whose answer was lost may have been what moved the stream.
    const there = actual > expected ? await whatIsAt(stream, expected + 1n, events.length) : [];
    const last = there.at(-1);
    if (last === undefined || !areOurs(there, events)) throw new WrongExpectedRevision(stream, expected, actual);
    return { revision: last.revision, position: last.position };
  }
}

/** A stream that is elsewhere, and that could not be looked at, may be there because of us. */
function mayBeMade(failure: unknown): boolean {
  return failure instanceof CallFailed ? !failure.isUndone : failure instanceof StoreUnavailable;
}

type SessionOptions = Pick<AppendsOptions, 'connection' | 'patience' | 'answerMilliseconds' | 'onServer'>;

/** The session that is open, or the next one. */
function openSessions({ connection, patience, answerMilliseconds, onServer }: SessionOptions): Readonly<{
  get: () => Promise<AppendSession>;
  close: () => void;
}> {
  let session: Promise<AppendSession> | undefined;

  return {
    get,
    close: () => {
      session?.then((open) => open.close()).catch(() => undefined);
    },
  };

  async function get(): Promise<AppendSession> {
    const opening = (session ??= openAppendSession(connection, patience.clock, answerMilliseconds, onServer));
    try {
      const opened = await opening;
      if (opened.isOpen()) return opened;
    } catch (error) {
      if (session === opening) session = undefined;
      throw error;
    }
    if (session === opening) session = undefined;
    return get();
  }
}

function areOurs(there: readonly Place[], events: readonly ProposedEvent[]): boolean {
  return there.length === events.length && there.every(({ id }, index) => id === events[index]?.id);
}
