import type { ServerResponse } from 'node:http';
import { Temporal } from '@js-temporal/polyfill';
import type { Clock } from '../../ports/clock.ts';

const WAIT_SECONDS_MAX = 60;
/** How often a request that waits looks: the views are in memory, and what it waits for takes minutes. */
const LOOK_MILLISECONDS = 250;
/** Requests that wait at the same moment, of all customers; others are answered at once. */
const WAITING_MAX = 1_000;

/** What `wait` says, in milliseconds; `undefined` for what is no duration of up to a minute. */
export function waitOf(text: string): number | undefined {
  try {
    const milliseconds = Temporal.Duration.from(text).total('milliseconds');
    return milliseconds >= 0 && milliseconds <= WAIT_SECONDS_MAX * 1000 ? milliseconds : undefined;
  } catch {
    return undefined;
  }
}

/** Waits until a count is 0, or another than it was at the beginning, or the time is over, or the client has gone. */
export type WaitForCount = (
  count: () => Promise<bigint>,
  milliseconds: number,
  response: ServerResponse,
) => Promise<void>;

/** Gives requests places to wait in. */
export function openWaiting(clock: Clock): WaitForCount {
  let waiting = 0;
  return async (count, milliseconds, response) => {
    const end = clock.monotonicMilliseconds() + milliseconds;
    const before = await count();
    if (before === 0n || waiting >= WAITING_MAX) return;
    const gone = new AbortController();
    const leave = (): void => gone.abort();
    response.once('close', leave);
    waiting += 1;
    try {
      for (let left = milliseconds; left > 0 && !gone.signal.aborted; left = end - clock.monotonicMilliseconds()) {
        await clock.wait(Math.min(left, LOOK_MILLISECONDS), gone.signal).catch(() => undefined);
        if ((await count()) !== before) return;
      }
    } finally {
      waiting -= 1;
      response.off('close', leave);
    }
  };
}
