import { unboxedNumbers, type Edges } from './edges.ts';

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
