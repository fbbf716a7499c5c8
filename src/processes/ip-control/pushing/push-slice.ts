import type { Layers } from '../../../domain/ip-control/layers.ts';
import type { RouterOutcome } from '../../../events/ip-control/vocabulary.ts';
import type { Clock } from '../../../ports/clock.ts';
import { nextSlice } from './next-slice.ts';
import { type Push, type Tried, pushPrefixList } from './push-prefix-list.ts';
import { type PushTogether, pushTogether } from './push-together.ts';
import { commonOf } from './router-calls.ts';
import { WantedList } from './wanted-list.ts';

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
  const tried = await pushPrefixList(
    { ...push, wanted: WantedList.ofPrefixes(slice), keeping: undefined },
    clock,
    signal,
  );
  const isThere = tried.outcome.result === 'confirmed';
  const isLate = tried.tooLarge !== undefined || tried.code === 'timed-out' || tried.code === 'outcome-unknown';
  return goesOn(pace, isThere, isLate) ? { router, done: commonOf(isThere ? slice : held, wanted) } : tried;
}

/**
 * As `pushSlice`, for routers of which all take it or none: each slice is taken by all of them or by none, and is made for the slowest.
 * Never rejects.
 */
export async function pushSliceTogether(
  push: PushTogether & Pick<SlicePush, 'layers' | 'isFirst'>,
  pace: Pace,
  clock: Clock,
  signal: AbortSignal,
): Promise<readonly RouterOutcome[] | readonly Sliced[]> {
  const { routers, layers, isFirst, timeoutMilliseconds } = push;
  const patienceMilliseconds = isFirst ? timeoutMilliseconds : timeoutMilliseconds / SLICES_IN_A_TIMEOUT;
  const whole = await pushTogether({ ...push, patienceMilliseconds }, clock, signal);
  if (whole.possible === undefined) return whole.outcomes;
  const sliced = (done: number): readonly Sliced[] => routers.map(({ router }) => ({ router, done }));
  if (isFirst && layers.length <= 1) return sliced(whole.done);
  const possible = (isFirst ? whole.possible / SLICES_IN_A_TIMEOUT : whole.possible) * pace.share;
  const most = Math.max(1, Math.floor(possible));
  const slice = (held: readonly string[], wanted: readonly string[]): readonly string[] =>
    nextSlice(held, wanted, layers, most);
  const { outcomes, isLate, done } = await pushTogether({ ...push, slice }, clock, signal);
  const isThere = outcomes.every(({ result }) => result === 'confirmed');
  return goesOn(pace, isThere, isLate) ? sliced(done) : outcomes;
}

/** Whether more slices may follow this one, and how large they are to be. */
function goesOn(pace: Pace, isThere: boolean, isLate: boolean): boolean {
  if (isLate) {
    pace.late += 1;
    pace.share /= 2;
    if (isThere || pace.late < LATE_MAX) return true;
    pace.late = 0;
    return false;
  }
  if (!isThere) return false;
  pace.late = 0;
  pace.share = Math.min(1, pace.share * 1.5);
  return true;
}

/** Whether more has to follow. */
export function isSliced(pushed: Tried | Sliced | RouterOutcome): pushed is Sliced {
  return 'done' in pushed;
}
