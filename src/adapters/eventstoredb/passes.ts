import type { EventStoreConnection } from './connection.ts';
import { openRetries, type RetryPolicy } from './retries.ts';
import { responsePages } from './response-pages.ts';
import type { streams } from './protocol.ts';

/** An event as the protocol carries it. */
export type WireEvent = streams.ReadResp.ReadEvent.RecordedEvent;

/** Reads that are made again when a call breaks, as long as the patience lasts. */
export type RetryingReads = Readonly<{
  /** All events of a read that is small enough to be made anew. */
  some: (request: streams.ReadReq, silenceMilliseconds?: number) => Promise<readonly WireEvent[]>;
  /** `request` says what is still to be read. */
  pages: (request: () => streams.ReadReq) => AsyncGenerator<readonly WireEvent[], void, undefined>;
}>;

export function openRetryingReads(
  connection: EventStoreConnection,
  patience: RetryPolicy,
  answerMilliseconds: number,
): RetryingReads {
  const { clock, signal } = patience;

  return {
    some: async (request, silenceMilliseconds = answerMilliseconds) => {
      const tries = openRetries(patience);
      for (;;) {
        try {
          const events: WireEvent[] = [];
          for await (const page of onePass(request, silenceMilliseconds)) events.push(...page);
          return events;
        } catch (failure) {
          await tries.again(failure);
        }
      }
    },
    pages,
  };

  async function* pages(request: () => streams.ReadReq): AsyncGenerator<readonly WireEvent[], void, undefined> {
    const tries = openRetries(patience);
    for (;;) {
      try {
        for await (const page of onePass(request(), answerMilliseconds)) {
          yield page;
          tries.progress();
        }
        return;
      } catch (failure) {
        await tries.again(failure);
      }
    }
  }

  async function* onePass(
    request: streams.ReadReq,
    silenceMilliseconds: number,
  ): AsyncGenerator<readonly WireEvent[], void, undefined> {
    for await (const responses of responsePages(request, { connection, clock, signal, silenceMilliseconds })) {
      const events = eventsIn(responses);
      if (events.length > 0) yield events;
    }
    // A read that was stopped by the closing of the store has not come to its end.
    signal.throwIfAborted();
  }
}

/** The events among the answers to a `Read`. */
export function eventsIn(responses: readonly streams.ReadResp[]): readonly WireEvent[] {
  return responses.map((response) => response.getEvent()?.getEvent()).filter((event) => event !== undefined);
}
