import type { EventStoreConnection } from './connection.ts';
import { CallFailed, SilentCall } from './failures.ts';
import { openRetries, type RetryPolicy } from './retries.ts';
import { responsePages } from './response-pages.ts';
import type { streams } from './protocol.ts';
import type { ReadResponse, WireEvent } from './read-responses.ts';

/** Reads that are made again when a call breaks, as long as the patience lasts. */
export type RetryingReads = Readonly<{
  /** All events of a read that is small enough to be made again. */
  some: (request: streams.ReadReq, silenceMilliseconds?: number) => Promise<readonly WireEvent[]>;
  /** The events of a read, if all of them come before it has been silent for so long; it is not made again. */
  within: (request: streams.ReadReq, milliseconds: number) => Promise<readonly WireEvent[] | undefined>;
  /** `request` says what is still to be read. With `silence` it throws SilentCall, and is not made again, when nothing comes any more. */
  pages: (
    request: () => streams.ReadReq,
    silence?: 'ends when silent',
  ) => AsyncGenerator<readonly WireEvent[], void, undefined>;
  /** What a subscription says, until it has been silent for so long. */
  subscription: (
    request: () => streams.ReadReq,
    silenceMilliseconds: number,
  ) => AsyncGenerator<readonly ReadResponse[], void, undefined>;
}>;

export function openRetryingReads(
  connection: EventStoreConnection,
  patience: RetryPolicy,
  answerMilliseconds: number,
): RetryingReads {
  const { clock, signal } = patience;
  const responsesTo = (request: streams.ReadReq, silenceMilliseconds: number) =>
    responsePages(request, { connection, clock, signal, silenceMilliseconds });
  const onePass = (request: streams.ReadReq, silenceMilliseconds: number) =>
    eventPages(responsesTo(request, silenceMilliseconds), signal);

  return {
    some: async (request, silenceMilliseconds = answerMilliseconds) => {
      const tries = openRetries(patience);
      for (;;) {
        try {
          return await allOf(onePass(request, silenceMilliseconds));
        } catch (failure) {
          await tries.again(failure);
        }
      }
    },
    within: async (request, milliseconds) => {
      try {
        return await allOf(onePass(request, milliseconds));
      } catch (failure) {
        if (failure instanceof CallFailed && !failure.denied) return undefined;
        throw failure;
      }
    },
    pages: (request, silence) =>
      againAndAgain(() => onePass(request(), answerMilliseconds), patience, {
        isLast: (failure) => silence !== undefined && failure instanceof SilentCall,
        ends: true,
      }),
    subscription: (request, silenceMilliseconds) =>
      againAndAgain(() => responsesTo(request(), silenceMilliseconds), patience, { isLast: () => false, ends: false }),
  };
}

type Again = Readonly<{
  /** Whether a failure is to be thrown, rather than met by another call. */
  isLast: (failure: unknown) => boolean;
  /** Whether a call comes to an end of its own: a read does, and a subscription only by being silent. */
  ends: boolean;
}>;

async function* againAndAgain<T>(
  call: () => AsyncIterable<T>,
  patience: RetryPolicy,
  { isLast, ends }: Again,
): AsyncGenerator<T, void, undefined> {
  const tries = openRetries(patience);
  for (;;) {
    try {
      for await (const page of call()) {
        yield page;
        tries.progress();
      }
      if (ends) return;
      patience.signal.throwIfAborted();
    } catch (failure) {
      if (isLast(failure)) throw failure;
      if (!ends && failure instanceof SilentCall) return;
      await tries.again(failure);
    }
  }
}

async function* eventPages(
  responses: AsyncIterable<readonly ReadResponse[]>,
  signal: AbortSignal,
): AsyncGenerator<readonly WireEvent[], void, undefined> {
  for await (const page of responses) {
    const events = eventsIn(page);
    if (events.length > 0) yield events;
  }
  // A read that was stopped by the closing of the store has not come to its end.
  signal.throwIfAborted();
}

async function allOf(pages: AsyncIterable<readonly WireEvent[]>): Promise<readonly WireEvent[]> {
  const events: WireEvent[] = [];
  for await (const page of pages) events.push(...page);
  return events;
}

/** The events among the answers to a `Read`. */
export function eventsIn(responses: readonly ReadResponse[]): readonly WireEvent[] {
  return responses.map(({ event }) => event).filter((event) => event !== undefined);
}
