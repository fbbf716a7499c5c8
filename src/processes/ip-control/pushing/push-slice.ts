import type { Layers } from '../../../domain/ip-control/layers.ts';
import type { Clock } from '../../../ports/clock.ts';
import { nextSlice } from './next-slice.ts';
import { type Push, type Tried, pushPrefixList } from './push-prefix-list.ts';

/** The list has not come to an end on this router: `done` of its blocks are there, and the next slice may follow. */
export type Sliced = Readonly<{ router: string; done: number }>;

/** What is known of how fast a router really is, beside what its driver believes. */
export type Pace = {
  /** A slice is this part of what the driver thinks possible. */
  share: number;
  /** Slices in a row that the router did not manage in time. */
  late: number;
};

export type SlicePush = Push &
  Readonly<{
    /** What was changed, newest first. */
    layers: Layers;
    /** The router has not been asked yet whether it takes all at once. */
    isFirst: boolean;
  }>;

/** A slice is made to take this part of the time that a push has: what else waits for the router gets its turn within that time too. */
const SLICES_IN_A_TIMEOUT = 3;
const LATE_MAX = 3;

/**
 * Makes one router hold a list, or brings it one slice nearer to that where all of it would take too long. The first time it is only
 * asked, unless the newest changes can go alone: slices have to wait behind what others have to change. Never rejects.
 */
export async function pushSlice(
  push: SlicePush,
  pace: Pace,
  clock: Clock,
  signal: AbortSignal,
): Promise<Tried | Sliced> {
  const { router, layers, isFirst, timeoutMilliseconds } = push;
  const patienceMilliseconds = timeoutMilliseconds / SLICES_IN_A_TIMEOUT;
  const whole = await pushPrefixList(isFirst ? push : { ...push, patienceMilliseconds }, clock, signal);
  const { tooLarge } = whole;
  if (tooLarge === undefined) return whole;
  const { held, wanted } = tooLarge;
  if (isFirst && layers.length <= 1) return { router, done: commonOf(held, wanted) };
  const possible = (isFirst ? tooLarge.possible / SLICES_IN_A_TIMEOUT : tooLarge.possible) * pace.share;
  const slice = nextSlice(held, wanted, layers, Math.max(1, Math.floor(possible)));
  const tried = await pushPrefixList({ ...push, prefixes: slice, keeping: undefined }, clock, signal);
  const isThere = tried.outcome.result === 'confirmed';
  const isLate = tried.tooLarge !== undefined || tried.code === 'timed-out' || tried.code === 'outcome-unknown';
  if (!isLate) {
    if (!isThere) return tried;
    pace.late = 0;
    pace.share = Math.min(1, pace.share * 1.5);
    return { router, done: commonOf(slice, wanted) };
  }
  pace.late += 1;
  pace.share /= 2;
  if (isThere || pace.late < LATE_MAX) return { router, done: commonOf(isThere ? slice : held, wanted) };
  pace.late = 0;
  return tried;
}

/** Whether more has to follow. */
export function isSliced(pushed: Tried | Sliced): pushed is Sliced {
  return 'done' in pushed;
}

function commonOf(held: readonly string[], prefixes: readonly string[]): number {
  const has = new Set(held);
  return prefixes.reduce((count, prefix) => count + (has.has(prefix) ? 1 : 0), 0);
}
