import { EdgeBuilder } from './edge-builder.ts';
import { EdgeList } from './edge-list.ts';
import { comparePoints, type Edges, unboxedNumbers } from './edges.ts';

/** Which addresses an operation keeps: bit 1 for those in the first list alone, 2 in the second alone, 3 in both. */
export type Kept = number;

export const IN_EITHER: Kept = 0b1110;
export const IN_BOTH: Kept = 0b1000;
export const IN_FIRST_ALONE: Kept = 0b0010;

/** Up to this many times the chunks of the other, walking over both lists is quicker than searching one for each range of the other. */
const COMPARABLE = 4;

/** Whether to walk over both lists: neither is one chunk alone, and neither much longer than the other. */
export function areComparable(a: EdgeList, b: EdgeList): boolean {
  const [ofA, ofB] = [a.chunks.length, b.chunks.length];
  return ofA > 1 && ofB > 1 && ofA <= COMPARABLE * ofB && ofB <= COMPARABLE * ofA;
}

/** What an operation keeps of two lists, in one walk over both; one of the two themselves when all of it is kept and no more. */
export function sweep(a: EdgeList, b: EdgeList, kept: Kept): EdgeList {
  return unchanged(a, b, kept) ?? built(a, b, kept);
}

/** The list that the operation leaves as it is, or the empty one. Stops where the outcome becomes another one. */
function unchanged(a: EdgeList, b: EdgeList, kept: Kept): EdgeList | undefined {
  const walk = new Walk(a, b);
  let isA = true;
  let isB = true;
  let isEmpty = true;
  for (;;) {
    const membership = walk.skipEqualChunks() ? IN_BOTH_LISTS : walk.next() ? walk.membership : undefined;
    if (membership === undefined) break;
    const isKept = (kept >>> membership) & 1;
    isA &&= isKept === (membership & 1);
    isB &&= isKept === membership >>> 1;
    isEmpty &&= isKept === 0;
    if (!isA && !isB && !isEmpty) return undefined;
  }
  if (isA) return a;
  return isB ? b : new EdgeList(a.space, []);
}

function built(a: EdgeList, b: EdgeList, kept: Kept): EdgeList {
  const builder = new EdgeBuilder(a.space);
  const walk = new Walk(a, b);
  let wasKept = 0;
  let from: Edges = NO_EDGES;
  let fromAt = 0;
  while (walk.next()) {
    const isKept = (kept >>> walk.membership) & 1;
    if (isKept === wasKept) continue;
    wasKept = isKept;
    if (isKept === 0) {
      builder.append(from, fromAt, walk.edges, walk.at);
    } else {
      from = walk.edges;
      fromAt = walk.at;
    }
  }
  return builder.finish();
}

/** A walk over the edges of two lists in rising order; those at one point are one step. */
class Walk {
  /** The point of this step. */
  edges: Edges = NO_EDGES;
  at = 0;
  /** Of the addresses behind the point: 1 when they are in the first list, 2 in the second, 3 in both. */
  membership = 0;
  readonly #width: number;
  readonly #ofA: Track;
  readonly #ofB: Track;

  constructor(a: EdgeList, b: EdgeList) {
    this.#width = a.space.width;
    this.#ofA = new Track(a);
    this.#ofB = new Track(b);
  }

  /** Past the chunks that come next, where both lists have the same ranges there; false where they have not. */
  skipEqualChunks(): boolean {
    const a = this.#ofA;
    const b = this.#ofB;
    if (a.at !== 0 || b.at !== 0 || a.edges.length === 0 || !areEqual(a.edges, b.edges)) return false;
    a.toNextChunk();
    b.toNextChunk();
    return true;
  }

  /** To the next point; false when there is none. */
  next(): boolean {
    const a = this.#ofA;
    const b = this.#ofB;
    const width = this.#width;
    if (a.edges.length === 0 && b.edges.length === 0) return false;
    const order =
      a.edges.length === 0 ? 1 : b.edges.length === 0 ? -1 : comparePoints(a.edges, a.at, b.edges, b.at, width);
    this.edges = order <= 0 ? a.edges : b.edges;
    this.at = order <= 0 ? a.at : b.at;
    if (order <= 0) {
      a.step(width);
      this.membership ^= 1;
    }
    if (order >= 0) {
      b.step(width);
      this.membership ^= 2;
    }
    return true;
  }
}

/** The next edge of a list; behind the last one the edges are none. */
class Track {
  edges: Edges;
  at = 0;
  #chunk = 0;
  readonly #list: EdgeList;

  constructor(list: EdgeList) {
    this.#list = list;
    this.edges = list.chunks[0]?.edges ?? NO_EDGES;
  }

  step(width: number): void {
    this.at += width;
    if (this.at === this.edges.length) this.toNextChunk();
  }

  toNextChunk(): void {
    this.#chunk++;
    this.at = 0;
    this.edges = this.#list.chunks[this.#chunk]?.edges ?? NO_EDGES;
  }
}

function areEqual(a: Edges, b: Edges): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}

const IN_BOTH_LISTS = 3;
const NO_EDGES = unboxedNumbers(0);
