import { EdgeBuilder } from './edge-builder.ts';
import type { EdgeList } from './edge-list.ts';
import type { EdgeSpace } from './edge-space.ts';
import { comparePoints, type Edges } from './edges.ts';

/** The list of the given ranges, each as the edges of its start and its end, in any order. */
export function listOfRanges(space: EdgeSpace, ranges: readonly Edges[]): EdgeList {
  const { width } = space;
  const sorted = [...ranges].sort((a, b) => comparePoints(a, 0, b, 0, width));
  const builder = new EdgeBuilder(space);
  let start: Edges | undefined;
  let end: Edges = space.start;
  for (const range of sorted) {
    if (start !== undefined && comparePoints(range, 0, end, width, width) <= 0) {
      if (comparePoints(range, width, end, width, width) > 0) end = range;
      continue;
    }
    if (start !== undefined) builder.append(start, 0, end, width);
    start = range;
    end = range;
  }
  if (start !== undefined) builder.append(start, 0, end, width);
  return builder.finish();
}
