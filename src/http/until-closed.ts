import type { ServerResponse } from 'node:http';

/** Aborts when the connection of a response is lost, or the response is over: nothing is read on for those who have gone. */
export function untilClosed(response: ServerResponse): AbortSignal {
  const over = new AbortController();
  response.once('close', () => over.abort());
  return over.signal;
}
