import type { ServerResponse } from 'node:http';
import { Temporal } from '@js-temporal/polyfill';
import type { Clock } from '../../ports/clock.ts';

const WAIT_SECONDS_MAX = 60;
/** How often a request that waits looks: the views are in memory, and what it waits for takes minutes. */
const LOOK_MILLISECONDS = 250;
/** Requests that wait at the same moment, of one customer and of all; others are answered at once. */
const WAITING_OF_CUSTOMER_MAX = 64;
const WAITING_MAX = 2_048;

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
  customerId: number,
  count: () => Promise<bigint>,
  milliseconds: number,
  response: ServerResponse,
) => Promise<void>;

/** Gives requests places to wait in: whoever has many that wait takes none of those of other customers. */
export function openWaiting(clock: Pick<Clock, 'monotonicMilliseconds' | 'wait'>): WaitForCount {
  let waiting = 0;
  const waitingOf = new Map<number, number>();
  const enter = (customerId: number): boolean => {
    const own = waitingOf.get(customerId) ?? 0;
    if (own >= WAITING_OF_CUSTOMER_MAX || waiting >= WAITING_MAX) return false;
    waitingOf.set(customerId, own + 1);
    waiting += 1;
    return true;
  };
  const leave = (customerId: number): void => {
    const own = (waitingOf.get(customerId) ?? 0) - 1;
    if (own > 0) waitingOf.set(customerId, own);
    else waitingOf.delete(customerId);
    waiting -= 1;
  };
  return async (customerId, count, milliseconds, response) => {
    const end = clock.monotonicMilliseconds() + milliseconds;
    const before = await count();
    if (before === 0n || !enter(customerId)) return;
    const gone = new AbortController();
    const goes = (): void => gone.abort();
    response.once('close', goes);
    try {
      for (let left = milliseconds; left > 0 && !gone.signal.aborted; left = end - clock.monotonicMilliseconds()) {
        await clock.wait(Math.min(left, LOOK_MILLISECONDS), gone.signal).catch(() => undefined);
        if ((await count()) !== before) return;
      }
    } finally {
      leave(customerId);
      response.off('close', goes);
    }
  };
}
