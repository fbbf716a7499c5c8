import type { AllPosition } from './recorded-events.ts';

/** How far somebody has looked through `$all`: the newest event of ours on the way, and the place that was reached. */
export type Stretch = Readonly<{ newest: bigint; reached: AllPosition }>;

/** The farthest that anyone of this process has looked, so that nobody need look through the same stretch again. */
export type Progress = Readonly<{ farthest: () => Stretch | undefined; tell: (stretch: Stretch) => void }>;

export function openProgress(): Progress {
  let farthest: Stretch | undefined;
  return {
    farthest: () => farthest,
    tell: (stretch) => {
      if (farthest === undefined || stretch.reached.commit > farthest.reached.commit) farthest = stretch;
    },
  };
}
