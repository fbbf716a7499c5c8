import type { Client, Dispatcher } from 'undici';

/** What goes over the wire. `headers` alternate names and values. */
export type Post = Readonly<{ path: string; headers: string[]; body: Buffer }>;

/** `complete`: the answer was read to its end, so the connection can serve again. */
export type Answer = Readonly<{ status: number; complete: boolean }>;

/**
 * Posts and waits for the whole answer, of which only the status is kept; more than `answerBytes` of its body are not read.
 * Once the status is there it is the answer, whatever becomes of the rest. Rejects when there is none, or with the signal's reason.
 * The caller destroys a connection whose answer is not complete.
 */
export function post(client: Client, message: Post, answerBytes: number, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let status: number | undefined;
    let bytes = 0;
    const settle = (complete: boolean, reason: unknown): void => {
      signal.removeEventListener('abort', stop);
      if (status === undefined) reject(reason instanceof Error ? reason : new Error(String(reason), { cause: reason }));
      else resolve({ status, complete });
    };
    const stop = (): void => settle(false, signal.reason);
    if (signal.aborted) {
      stop();
      return;
    }
    signal.addEventListener('abort', stop, { once: true });
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: () => undefined,
      onResponseStart: (_, statusCode) => {
        if (statusCode >= 200) status = statusCode;
      },
      onResponseData: (_, chunk) => {
        bytes += chunk.length;
        if (bytes > answerBytes) settle(false, undefined);
      },
      onResponseEnd: () => settle(true, undefined),
      onResponseError: (_, error) => settle(false, error),
    };
    client.dispatch({ method: 'POST', path: message.path, headers: message.headers, body: message.body }, handler);
  });
}
