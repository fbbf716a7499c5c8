import { BEGINNING } from '../../ports/event-store.ts';
import type { AllPosition } from './read-responses.ts';

/** A stretch of `$all` that was looked through: `newest` is the newest event of ours in it, or where it begins, and nothing of ours comes until `reached`. */
export type Stretch = Readonly<{ newest: bigint; reached: AllPosition }>;

/** The farthest that anyone of this process has looked, so that the same stretch is not looked through again. */
export type Progress = Readonly<{
  farthest: () => Stretch | undefined;
  tell: (stretch: Stretch) => void;
  /** Where a reader begins that wants what comes after a position. */
  placeAfter: (position: bigint) => AllPosition | undefined;
}>;

export function openProgress(): Progress {
  let farthest: Stretch | undefined;
  return {
    farthest: () => farthest,
    tell: (stretch) => {
      if (farthest === undefined || stretch.reached.commit > farthest.reached.commit) farthest = stretch;
    },
    placeAfter: (position) => {
      if (farthest !== undefined && position >= farthest.newest && farthest.reached.commit > position)
        return farthest.reached;
      return position <= BEGINNING ? undefined : { commit: position, prepare: position };
    },
  };
}
