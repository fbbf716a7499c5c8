import { type Appended, WrongExpectedRevision } from '../../ports/event-store.ts';
import type { Answer } from './append-answer.ts';
import { type AppendSession, openAppendSession } from './append-session.ts';
import type { EventStoreConnection } from './connection.ts';
import { openRetries, type RetryPolicy } from './patience.ts';
import type { ProposedEvent } from './proposed-events.ts';
import type { Place, Reads } from './reads.ts';

export type BatchWriterOptions = Readonly<{
  connection: EventStoreConnection;
  patience: RetryPolicy;
  answerMilliseconds: number;
  whatIsAt: Reads['whatIsAt'];
}>;

export type BatchWriter = Readonly<{
  /**
   * Writes all or none, once, however often it must be sent.
   * @throws WrongExpectedRevision, StoreUnavailable (it may be there or not), AppendTooLarge
   */
  write: (stream: string, expected: bigint, events: readonly ProposedEvent[]) => Promise<Appended>;
  close: () => void;
}>;

export function openBatchWriter({
  connection,
  patience,
  answerMilliseconds,
  whatIsAt,
}: BatchWriterOptions): BatchWriter {
  let session: Promise<AppendSession> | undefined;

  return {
    write: async (stream, expected, events) => {
      const tries = openRetries(patience);
      for (;;) {
        try {
          // The same ids at the same revision each time: the server takes them once.
          const answer = await (await currentSession()).append(stream, expected, events);
          return await accepted(stream, expected, events, answer);
        } catch (failure) {
          await tries.again(failure);
        }
      }
    },
    close: () => {
      session?.then((open) => open.close()).catch(() => undefined);
    },
  };

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

  async function currentSession(): Promise<AppendSession> {
    const opening = (session ??= openAppendSession(connection, patience.clock, answerMilliseconds));
    try {
      const opened = await opening;
      if (opened.isOpen()) return opened;
    } catch (error) {
      if (session === opening) session = undefined;
      throw error;
    }
    if (session === opening) session = undefined;
    return currentSession();
  }
}

function areOurs(there: readonly Place[], events: readonly ProposedEvent[]): boolean {
  return there.length === events.length && there.every(({ id }, index) => id === events[index]?.id);
}
