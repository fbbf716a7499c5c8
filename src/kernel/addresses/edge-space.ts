import { unboxedNumbers, type Edges } from './edges.ts';

/** How the points of one address space are laid out, and how many ranges a chunk holds: half of it to twice as many. */
export class EdgeSpace {
  readonly width: number;
  readonly chunkRanges: number;
  /** The point before the first address. */
  readonly start: Edges;
  /** The point behind the last address. */
  readonly end: Edges;
  /** Where a builder collects what will be a chunk; building is synchronous and never nested, so one is enough. */
  readonly scratch: number[];

  constructor(width: number, chunkRanges: number) {
    this.width = width;
    this.chunkRanges = chunkRanges;
    this.scratch = unboxedNumbers(2 * chunkRanges * 2 * width);
    const start = unboxedNumbers(width).fill(0);
    const end = unboxedNumbers(width).fill(0);
    end[0] = 2 ** 32;
    this.start = start;
    this.end = end;
  }
}

export const IPV4_SPACE = new EdgeSpace(1, 256);
export const IPV6_SPACE = new EdgeSpace(3, 128);
