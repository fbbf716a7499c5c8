import { setTimeout as pause } from 'node:timers/promises';
import type { EdgewardClient } from './client.ts';

const REST_SECONDS = 5;
/** A timer that is set for more than 24.8 days ends at once. */
const REST_SECONDS_MAX = 3_600;

/** An answer that was no success. */
export class EdgewardError extends Error {
  override readonly name = 'EdgewardError';
  readonly status: number;
  /** Names the request in the log of the server. */
  readonly requestId: string | null;

  constructor(response: Response, message: string) {
    super(message);
    this.status = response.status;
    this.requestId = response.headers.get('x-request-id');
  }
}

/**
 * Resolves when every change of a subnet is on all routers of its region: that takes minutes. Each question waits at the server, so that two
 * requests a minute are spent. Goes on after 429 and 503 when the server says so.
 * @param options `signal` ends the waiting: `AbortSignal.timeout(600_000)` gives it ten minutes.
 * @throws EdgewardError after any other answer; what the signal says once it is aborted
 */
export async function waitUntilDeployed(
  client: EdgewardClient,
  subnetId: number,
  options: Readonly<{ signal?: AbortSignal }> = {},
): Promise<void> {
  const signal = options.signal ?? null;
  for (;;) {
    const { data, error, response } = await client.GET('/api/v1/subnets/{subnet_id}/pending', {
      params: { path: { subnet_id: subnetId }, query: { view: 'ranges', wait: 'PT30S' } },
      signal,
    });
    if (data?.meta.pending_changes === 0) return;
    if (error === undefined) continue;
    if (response.status !== 429 && response.status !== 503) throw new EdgewardError(response, error.message);
    const rest = pause(
      1000 * restSeconds(response.headers.get('retry-after')),
      undefined,
      signal === null ? {} : { signal },
    );
    // Its own error says only that it was broken off.
    await rest.catch(() => signal?.throwIfAborted());
  }
}

/** What stands between may say when instead of how long, and is asked again in a while. */
function restSeconds(retryAfter: string | null): number {
  const seconds = Number(retryAfter ?? Number.NaN);
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, REST_SECONDS_MAX) : REST_SECONDS;
}
