import { EdgeBuilder } from './builder.ts';
import { Chunk, comparePoints, type Edges, unboxedNumbers } from './chunk.ts';
import { EdgeCursor, EdgeList } from './list.ts';

/**
 * The addresses in either list. Costs the ranges of the smaller list, a search for each, and the chunks that change; where the lists are of
 * like length, one walk over both.
 */
export function unionOf(a: EdgeList, b: EdgeList): EdgeList {
  if (b.isEmpty || a === b) return a;
  if (a.isEmpty) return b;
  if (areComparable(a, b)) return sweep(a, b, IN_EITHER);
  const [small, big] = isSmaller(a, b) ? [a, b] : [b, a];
  const changed = withOnlyRange(big, small, true);
  if (changed !== undefined) return changed;
  const { width, start, end } = big.space;
  const builder = new EdgeBuilder(big.space);
  const cursor = new EdgeCursor(big);
  let from = start;
  let fromAt = 0;
  for (const { edges } of small.chunks) {
    for (let at = 0; at < edges.length; at += 2 * width) {
      if (comparePoints(from, fromAt, edges, at, width) < 0) builder.appendBetween(cursor, from, fromAt, edges, at);
      builder.append(edges, at, edges, at + width);
      from = edges;
      fromAt = at + width;
    }
  }
  builder.appendBetween(cursor, from, fromAt, end, 0);
  return builder.finish();
}

/** The addresses in both lists. Costs as `unionOf`. */
export function intersectionOf(a: EdgeList, b: EdgeList): EdgeList {
  if (a.isEmpty || a === b) return a;
  if (b.isEmpty) return b;
  if (isInOneRange(a, b)) return a;
  if (isInOneRange(b, a)) return b;
  if (areComparable(a, b)) return sweep(a, b, IN_BOTH);
  const [small, big] = isSmaller(a, b) ? [a, b] : [b, a];
  const { width } = big.space;
  const builder = new EdgeBuilder(big.space);
  const cursor = new EdgeCursor(big);
  for (const { edges } of small.chunks) {
    for (let at = 0; at < edges.length; at += 2 * width) {
      builder.appendBetween(cursor, edges, at, edges, at + width);
    }
  }
  return builder.finish();
}

/** The addresses of the first list that are not in the second. Costs as `unionOf`. */
export function differenceOf(a: EdgeList, b: EdgeList): EdgeList {
  if (a.isEmpty || b.isEmpty) return a;
  if (areComparable(a, b)) return sweep(a, b, IN_FIRST_ALONE);
  return withOnlyRange(a, b, false) ?? (isSmaller(a, b) ? smallWithoutBig(a, b) : bigWithoutSmall(a, b));
}

/** The big list with the one range of the other filled or cleared, where that is quick; undefined otherwise. */
function withOnlyRange(big: EdgeList, other: EdgeList, isFilled: boolean): EdgeList | undefined {
  const only = other.chunks[0]?.edges;
  if (only === undefined || only.length !== 2 * big.space.width) return undefined;
  return withSpan(big, only, isFilled);
}

/** Whether one range of the second list holds all of the first: what a customer changes mostly lies in one subnet. */
function isInOneRange(inner: EdgeList, outer: EdgeList): boolean {
  const { width } = inner.space;
  const first = inner.chunks[0]?.edges;
  const last = inner.chunks.at(-1)?.edges;
  if (first === undefined || last === undefined) return false;
  const cursor = new EdgeCursor(outer);
  cursor.seek(first, 0, 1);
  return cursor.isInside && comparePoints(last, last.length - width, cursor.edges, cursor.at, width) <= 0;
}

/** Whether the first list has fewer ranges, about: counting them all would cost more than the right guess saves. */
function isSmaller(a: EdgeList, b: EdgeList): boolean {
  if (a.chunks.length !== b.chunks.length) return a.chunks.length < b.chunks.length;
  return (a.chunks[0]?.rangeCount ?? 0) < (b.chunks[0]?.rangeCount ?? 0);
}

function bigWithoutSmall(big: EdgeList, small: EdgeList): EdgeList {
  const { width, start, end } = big.space;
  const builder = new EdgeBuilder(big.space);
  const cursor = new EdgeCursor(big);
  let from = start;
  let fromAt = 0;
  for (const { edges } of small.chunks) {
    for (let at = 0; at < edges.length; at += 2 * width) {
      if (comparePoints(from, fromAt, edges, at, width) < 0) builder.appendBetween(cursor, from, fromAt, edges, at);
      from = edges;
      fromAt = at + width;
    }
  }
  if (comparePoints(from, fromAt, end, 0, width) < 0) builder.appendBetween(cursor, from, fromAt, end, 0);
  return builder.finish();
}

function smallWithoutBig(small: EdgeList, big: EdgeList): EdgeList {
  const { width } = small.space;
  const builder = new EdgeBuilder(small.space);
  const cursor = new EdgeCursor(big);
  for (const { edges } of small.chunks) {
    for (let at = 0; at < edges.length; at += 2 * width) appendWithout(builder, cursor, edges, at, width);
  }
  return builder.finish();
}

/** Adds the range at `edges[at…]`, less what the cursor's list holds of it. */
function appendWithout(
  builder: EdgeBuilder,
  cursor: EdgeCursor,
  edges: readonly number[],
  at: number,
  width: number,
): void {
  const end = at + width;
  let from = edges;
  let fromAt = at;
  cursor.seek(edges, at, 1);
  if (cursor.isInside) {
    if (comparePoints(cursor.edges, cursor.at, edges, end, width) >= 0) return;
    from = cursor.edges;
    fromAt = cursor.at;
    cursor.step();
  }
  while (!cursor.isAtEnd && comparePoints(cursor.edges, cursor.at, edges, end, width) < 0) {
    builder.append(from, fromAt, cursor.edges, cursor.at);
    cursor.step();
    if (comparePoints(cursor.edges, cursor.at, edges, end, width) >= 0) return;
    from = cursor.edges;
    fromAt = cursor.at;
    cursor.step();
  }
  builder.append(from, fromAt, edges, end);
}

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

/**
 * The list with the span between two points filled or cleared, when that changes one chunk alone and leaves it in shape;
 * undefined otherwise. This is what nearly every event does, and takes a fifth of the time of the general way.
 */
export function withSpan(list: EdgeList, span: Edges, isFilled: boolean): EdgeList | undefined {
  const { width } = list.space;
  const cursor = new EdgeCursor(list);
  cursor.seek(span, 0, 0);
  // Behind all ranges the last chunk is the one to change, at its end.
  const isBehind = cursor.isAtEnd;
  const chunk = isBehind ? cursor.chunk - 1 : cursor.chunk;
  const edges = list.chunks[chunk]?.edges;
  if (edges === undefined) return undefined;
  const from = isBehind ? edges.length / width : cursor.edge;
  cursor.seek(span, width, 1);
  const isRest = cursor.chunk === chunk + 1 && cursor.edge === 0;
  if (cursor.chunk !== chunk && !isRest) return undefined;
  const to = isRest ? edges.length / width : cursor.edge;
  const startsHere = isFilled === ((from & 1) === 0);
  const endsHere = isFilled === ((to & 1) === 0);
  if (changesNothing(edges, from, to, span, width, startsHere, endsHere)) return list;
  const inserted = span.slice(startsHere ? 0 : width, endsHere ? 2 * width : width);
  return withEdges(list, chunk, edges.toSpliced(from * width, (to - from) * width, ...inserted));
}

function changesNothing(
  edges: Edges,
  from: number,
  to: number,
  span: Edges,
  width: number,
  startsHere: boolean,
  endsHere: boolean,
): boolean {
  if (from === to) return !startsHere && !endsHere;
  return startsHere && endsHere && to === from + 2 && comparePoints(edges, from * width, span, 0, 2 * width) === 0;
}

/** The list with other edges in one chunk; undefined when they are too few or too many for a chunk. */
function withEdges(list: EdgeList, chunk: number, edges: Edges): EdgeList | undefined {
  const { space, chunks } = list;
  const ranges = edges.length / (2 * space.width);
  if (ranges > 2 * space.chunkRanges) return undefined;
  if (chunks.length === 1) return new EdgeList(space, ranges === 0 ? [] : [new Chunk(edges, space.width)]);
  if (ranges < space.chunkRanges >>> 1) return undefined;
  return list.withChunk(chunk, new Chunk(edges, space.width));
}
