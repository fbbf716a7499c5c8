import type { ClientReadableStream } from '@grpc/grpc-js';
import type { Clock } from '../../ports/clock.ts';
import type { EventStoreConnection } from './connection.ts';
import { failureOf, SilentCall } from './failures.ts';
import { openIdleTimeout, type IdleTimeout } from '../../concurrency/idle-timeout.ts';
import { yieldToEventLoop } from '../../concurrency/yield-to-event-loop.ts';
import { type streams, streamServices } from './protocol.ts';
import { readResponse, type ReadResponse } from './read-responses.ts';

export type Reading = Readonly<{
  connection: EventStoreConnection;
  clock: Clock;
  signal: AbortSignal;
  /** When nothing has come for this long, `isAlive` is asked; without it the call has failed. */
  silenceMilliseconds: number;
  isAlive?: () => Promise<boolean>;
}>;

const { path, requestSerialize } = streamServices.StreamsService.read;
/** As much as one page holds; reading stops at it until the consumer has taken the page. */
const PAGE_MAX = 512;

/**
 * One `Read` call as pages: what has arrived when the consumer asks, never empty. Ends with the call, or when the signal aborts;
 * the call is cancelled when the consumer stops early. @throws what failureOf gives
 */
export async function* responsePages(
  request: streams.ReadReq,
  reading: Reading,
): AsyncGenerator<readonly ReadResponse[], void, undefined> {
  const { signal } = reading;
  const buffer = openResponseBuffer(request, reading.connection);
  const silence = openIdleTimeout(reading.clock, reading.silenceMilliseconds);
  const stop = () => buffer.cancel();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    for (;;) {
      const page = buffer.take();
      if (page.length > 0) {
        yield page;
        // The consumer's time is not the server's silence.
        silence.heard();
        continue;
      }
      if (buffer.isOver()) return;
      await nextArrival(buffer, silence, reading);
    }
  } finally {
    signal.removeEventListener('abort', stop);
    silence.stop();
    buffer.cancel();
  }
}

type ResponseBuffer = Readonly<{
  /** What has come since the last time. @throws what failureOf gives, once all that came before the failure is taken. */
  take: () => readonly ReadResponse[];
  isOver: () => boolean;
  /** Resolves at the next change. */
  changed: () => Promise<'changed'>;
  cancel: () => void;
}>;

function openResponseBuffer(request: streams.ReadReq, connection: EventStoreConnection): ResponseBuffer {
  let buffer: ReadResponse[] = [];
  let call: ClientReadableStream<ReadResponse> | undefined;
  let cancelled = false;
  let over = false;
  let failure: Error | undefined;
  let wake: (() => void) | undefined;

  connection
    .call(
      (stub, metadata, options) =>
        new Promise<void>((resolve, reject) => {
          if (cancelled) return resolve();
          call = stub.makeServerStreamRequest(path, requestSerialize, readResponse, request, metadata, options);
          call.on('data', (response: ReadResponse) => {
            if (cancelled) return;
            connection.gotThrough();
            buffer.push(response);
            if (buffer.length >= PAGE_MAX) call?.pause();
            wake?.();
          });
          call.on('end', resolve);
          // A call that we gave up ourselves has not failed, and the connection is still good.
          call.on('error', (error) => (cancelled ? resolve() : reject(error)));
        }),
    )
    .catch((error: unknown) => void (failure = failureOf(error)))
    .finally(() => {
      over = true;
      wake?.();
    });

  return {
    take: () => {
      if (buffer.length === 0 && failure !== undefined) throw failure;
      const page = buffer;
      buffer = [];
      call?.resume();
      return page;
    },
    isOver: () => cancelled || (over && buffer.length === 0 && failure === undefined),
    changed: () =>
      over ? Promise.resolve('changed') : new Promise((resolve) => void (wake = () => resolve('changed'))),
    cancel: () => {
      cancelled = true;
      buffer = [];
      call?.cancel();
      wake?.();
    },
  };
}

async function nextArrival(buffer: ResponseBuffer, silence: IdleTimeout, reading: Reading): Promise<void> {
  const { silenceMilliseconds, isAlive } = reading;
  const outcome = await Promise.race([buffer.changed(), silence.due()]);
  if (outcome === 'changed') {
    silence.heard();
    // What comes in one burst becomes one page.
    await yieldToEventLoop();
    return;
  }
  if (!silence.isOverdue()) return;
  if (!((await isAlive?.()) ?? false)) throw new SilentCall(silenceMilliseconds);
  silence.heard();
}
