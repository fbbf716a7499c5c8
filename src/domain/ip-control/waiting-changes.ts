import { type ListKind, listKind } from '../../events/ip-control/vocabulary.ts';
import { epochMilliseconds } from '../instants.ts';

/** The lists of which a change can wait for the routers. */
export const LIST_KINDS: readonly ListKind[] = listKind.options;

/** Since when changes of a list wait; instants as in the events. */
type Waiting = Readonly<{ carriedSince: string | null; waitingSince: string | null }>;

/** The age of the oldest change that is not on all routers, in whole seconds; an instant in the future counts as now. */
export function waitingSeconds({ carriedSince, waitingSince }: Waiting, nowMilliseconds: number): number {
  const since = carriedSince ?? waitingSince;
  return since === null ? 0 : Math.max(0, Math.floor((nowMilliseconds - epochMilliseconds(since)) / 1000));
}
