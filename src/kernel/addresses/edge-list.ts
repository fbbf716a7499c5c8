import { addCounts, Chunk, comparePoints, distance, sizeOfRanges, type Edges, type ExactCount } from './edges.ts';
import type { EdgeSpace } from './edge-space.ts';

/** The addresses of one version in a set: chunks of disjoint ranges in rising order, no two of which touch. Immutable. */
export class EdgeList {
  readonly space: EdgeSpace;
  readonly chunks: readonly Chunk[];
  readonly rangeCount: number;
  #size: ExactCount | undefined;

  constructor(space: EdgeSpace, chunks: readonly Chunk[], rangeCount: number) {
    this.space = space;
    this.chunks = chunks;
    this.rangeCount = rangeCount;
  }

  /** How many addresses it holds. */
  get size(): ExactCount {
    if (this.#size === undefined) {
      let size: ExactCount = 0;
      for (const chunk of this.chunks) size = addCounts(size, chunk.size(this.space.width));
      this.#size = size;
    }
    return this.#size;
  }
}

/** A list of the one range with these edges, which it keeps. */
export function singleRange(space: EdgeSpace, edges: Edges): EdgeList {
  return new EdgeList(space, [new Chunk(edges, space.width)], 1);
}

/** Whether the address behind a point is in the list. */
export function holdsPoint(list: EdgeList, point: Edges): boolean {
  const cursor = new EdgeCursor(list);
  cursor.seek(point, 0, 1);
  return cursor.isInside;
}

/** How many addresses of the list lie between the two points of a span. */
export function sizeWithin(list: EdgeList, span: Edges): ExactCount {
  const { width } = list.space;
  const cursor = new EdgeCursor(list);
  cursor.seek(span, 0, 1);
  let size: ExactCount = 0;
  if (cursor.isInside) {
    const { edges, at } = cursor;
    if (comparePoints(edges, at, span, width, width) >= 0) return distance(span, 0, span, width, width);
    size = distance(span, 0, edges, at, width);
    cursor.step();
  }
  const { chunk: firstChunk, edge: firstEdge } = cursor;
  cursor.seek(span, width, 0);
  if (cursor.isInside) {
    size = addCounts(size, distance(cursor.edges, cursor.at - width, span, width, width));
    cursor.edge--;
  }
  for (let chunk = firstChunk; chunk <= cursor.chunk; chunk++) {
    const whole = list.chunks[chunk];
    if (whole === undefined) break;
    const fromRange = chunk === firstChunk ? firstEdge / 2 : 0;
    const toRange = chunk === cursor.chunk ? cursor.edge / 2 : whole.rangeCount;
    const isWhole = fromRange === 0 && toRange === whole.rangeCount;
    size = addCounts(size, isWhole ? whole.size(width) : sizeOfRanges(whole.edges, fromRange, toRange, width));
  }
  return size;
}

/** Whether two lists hold the same addresses; chunks that they share are not looked into. */
export function equalLists(a: EdgeList, b: EdgeList): boolean {
  if (a === b) return true;
  if (a.rangeCount !== b.rangeCount) return false;
  const { width } = a.space;
  const ofA = new EdgeCursor(a);
  const ofB = new EdgeCursor(b);
  while (!ofA.isAtEnd) {
    if (ofA.skipShared(ofB)) continue;
    if (comparePoints(ofA.edges, ofA.at, ofB.edges, ofB.at, width) !== 0) return false;
    ofA.step();
    ofB.step();
  }
  return true;
}

/** A place in a list, moving forward edge by edge. */
export class EdgeCursor {
  readonly list: EdgeList;
  /** The chunk and, within it, the edge that come next. */
  chunk = 0;
  edge = 0;
  readonly #width: number;

  constructor(list: EdgeList) {
    this.list = list;
    this.#width = list.space.width;
  }

  get isAtEnd(): boolean {
    return this.chunk === this.list.chunks.length;
  }

  /** Whether the next edge ends a range. */
  get isInside(): boolean {
    return (this.edge & 1) === 1;
  }

  /** The edges of the current chunk; `at` is where the next one begins. */
  get edges(): Edges {
    return this.list.chunks[this.chunk]?.edges ?? NO_EDGES;
  }

  get at(): number {
    return this.edge * this.#width;
  }

  /** Past the next edge. */
  step(): void {
    this.edge++;
    if (this.edge * this.#width === this.edges.length) this.toChunk(this.chunk + 1);
  }

  /** Before the first edge of a chunk. */
  toChunk(chunk: number): void {
    this.chunk = chunk;
    this.edge = 0;
  }

  /** Moves both cursors past a chunk when it is the very same one for both. */
  skipShared(other: EdgeCursor): boolean {
    if (this.edge !== 0 || other.edge !== 0) return false;
    const chunk = this.list.chunks[this.chunk];
    if (chunk === undefined || chunk !== other.list.chunks[other.chunk]) return false;
    this.chunk++;
    other.chunk++;
    return true;
  }

  /** Forward to the first edge at a point or behind it (`least` 0), or to the first one behind it (`least` 1). */
  seek(points: Edges, at: number, least: 0 | 1): void {
    const width = this.#width;
    const { chunks } = this.list;
    const here = chunks[this.chunk];
    if (here === undefined) return;
    if (isBelow(here.edges, here.edges.length - width, points, at, width, least)) {
      let low = this.chunk + 1;
      let high = chunks.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        const edges = chunks[middle]?.edges ?? NO_EDGES;
        if (isBelow(edges, edges.length - width, points, at, width, least)) low = middle + 1;
        else high = middle;
      }
      this.toChunk(low);
      if (low === chunks.length) return;
    }
    const { edges } = this;
    let low = this.edge;
    let high = edges.length / width - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBelow(edges, middle * width, points, at, width, least)) low = middle + 1;
      else high = middle;
    }
    this.edge = low;
  }
}

function isBelow(a: Edges, i: number, b: Edges, j: number, width: number, least: 0 | 1): boolean {
  const order = comparePoints(a, i, b, j, width);
  return least === 0 ? order < 0 : order <= 0;
}

const NO_EDGES: Edges = [];
