/**
 * A set of addresses of one version is kept as its edges: the strictly rising points of the address space where membership
 * begins and ends, in turn. A point lies before the address of its number, so the end of a range is its last address + 1,
 * and the point behind the last address of all exists too. A point takes `width` numbers of a flat array: one for IPv4,
 * three limbs for IPv6. Neighbouring ranges share a point and so melt into one without any special case.
 */
export type Edges = readonly number[];

/** Compares the point at `a[i…]` with the one at `b[j…]`: negative, zero or positive. */
export function comparePoints(a: Edges, i: number, b: Edges, j: number, width: number): number {
  if (width === 1) return (a[i] ?? 0) - (b[j] ?? 0);
  for (let limb = 0; limb < width; limb++) {
    const difference = (a[i + limb] ?? 0) - (b[j + limb] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * An array that the engine keeps as unboxed numbers from the start. All edges are copies of such arrays: they are many times
 * cheaper to make than typed arrays, whose memory lies outside the young heap, and one kind of array keeps the code fast.
 */
export function unboxedNumbers(length: number): number[] {
  return Array.from({ length }, () => 0.5);
}

/** The edges of a chunk that were read from where they are stored, but for themselves: that is done when they are asked for first. */
export type PackedEdges = {
  /** The bytes of this chunk alone. */
  bytes(): Uint8Array;
  unpack(): Edges;
};

/** A run of whole ranges of a set. Never changed: sets that differ elsewhere share it. */
export class Chunk {
  readonly rangeCount: number;
  #edges: Edges | undefined;
  #packed: PackedEdges | undefined;
  #size: ExactCount | undefined;

  constructor(edges: Edges | undefined, width: number, rangeCount = (edges?.length ?? 0) / (2 * width)) {
    this.#edges = edges;
    this.rangeCount = rangeCount;
  }

  /** A chunk that is stored, with what must be known of it without a look into it. */
  static packed(packed: PackedEdges, width: number, rangeCount: number, size: ExactCount | undefined): Chunk {
    const chunk = new Chunk(undefined, width, rangeCount);
    chunk.#packed = packed;
    chunk.#size = size;
    return chunk;
  }

  get edges(): Edges {
    return this.#edges ?? this.#unpack();
  }

  /** The bytes that the edges are still in, if they are. */
  get packedBytes(): Uint8Array | undefined {
    return this.#packed?.bytes();
  }

  /** How many addresses it holds. */
  size(width: number): ExactCount {
    this.#size ??= sizeOfRanges(this.edges, 0, this.rangeCount, width);
    return this.#size;
  }

  #unpack(): Edges {
    const packed = this.#packed;
    if (packed === undefined) throw new Error('broken invariant: a chunk has its edges, or the bytes of them');
    const edges = packed.unpack();
    this.#edges = edges;
    this.#packed = undefined;
    return edges;
  }
}

/** A count: a number while that is exact, a bigint from 2^53 on. */
export type ExactCount = number | bigint;

/** The exact sum of two counts. */
export function addCounts(a: ExactCount, b: ExactCount): ExactCount {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (sum <= Number.MAX_SAFE_INTEGER) return sum;
  }
  return BigInt(a) + BigInt(b);
}

/** What is left of a count without a part of it, exactly. */
export function subtractCounts(count: ExactCount, part: ExactCount): ExactCount {
  if (typeof count === 'number' && typeof part === 'number') return count - part;
  const left = BigInt(count) - BigInt(part);
  return left <= Number.MAX_SAFE_INTEGER ? Number(left) : left;
}

/** How many addresses the ranges from number `from` to before number `to` hold. */
export function sizeOfRanges(edges: Edges, from: number, to: number, width: number): ExactCount {
  if (width === 1) return sizeOfIpv4Ranges(edges, from, to);
  let size: ExactCount = 0;
  for (let range = from; range < to; range++) {
    const at = range * 2 * width;
    size = addCounts(size, distance(edges, at, edges, at + width, width));
  }
  return size;
}

/** All of IPv4 is 2^32 addresses, so that no sum needs care. */
function sizeOfIpv4Ranges(edges: Edges, from: number, to: number): number {
  let size = 0;
  for (let at = 2 * from; at < 2 * to; at += 2) size += (edges[at + 1] ?? 0) - (edges[at] ?? 0);
  return size;
}

/** How many addresses lie between two points, the lower one first. */
export function distance(a: Edges, i: number, b: Edges, j: number, width: number): ExactCount {
  if (width === 1) return (b[j] ?? 0) - (a[i] ?? 0);
  const high = (b[j] ?? 0) - (a[i] ?? 0);
  const middle = (b[j + 1] ?? 0) - (a[i + 1] ?? 0);
  const low = (b[j + 2] ?? 0) - (a[i + 2] ?? 0);
  if (high === 0 && middle === 0) return low;
  return addCounts(0, (BigInt(high) << 96n) + (BigInt(middle) << 48n) + BigInt(low));
}

/** How the points of one address space are laid out, and how many ranges a chunk holds: half of it to twice as many. */
export class EdgeSpace {
  readonly width: number;
  readonly chunkRanges: number;
  /** The point before the first address. */
  readonly start: Edges;
  /** The point behind the last address. */
  readonly end: Edges;
  /** Both, the edges of the set of all addresses: a copy of it is a fresh pair of points. */
  readonly whole: Edges;
  /** Where a builder collects what will be a chunk; building is synchronous and never nested, so one is enough. */
  readonly scratch: number[];

  constructor(width: number, chunkRanges: number) {
    this.width = width;
    this.chunkRanges = chunkRanges;
    this.scratch = unboxedNumbers(2 * chunkRanges * 2 * width);
    const whole = unboxedNumbers(2 * width).fill(0);
    whole[width] = 2 ** 32;
    this.whole = whole;
    this.start = whole.slice(0, width);
    this.end = whole.slice(width);
  }
}

export const IPV4_SPACE = new EdgeSpace(1, 64);
export const IPV6_SPACE = new EdgeSpace(3, 64);
