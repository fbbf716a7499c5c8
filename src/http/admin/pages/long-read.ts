import type { ServerResponse } from 'node:http';
import type { PageProblem } from './page.ts';

/** Nothing is read on for those whose connection is lost. */
export function untilClosed(response: ServerResponse): AbortSignal {
  const over = new AbortController();
  response.once('close', () => over.abort());
  return over.signal;
}

/** In place of what would take long, as long as too many ask for such. */
export const TOO_MANY_READS: PageProblem = {
  status: 503,
  title: 'Not now',
  because: 'Too much of this kind is being read. Try again in a few seconds.',
  retryAfterSeconds: 5,
};
