import type { Cidr } from '../../addresses/cidr.ts';
import { networkAddress, rangeOfCidr } from '../../addresses/cidr.ts';
import { RangeSet } from '../../addresses/range-set.ts';
import type { AddressRange } from '../../addresses/range.ts';

/** How the addresses of one cell stand. */
export type CellState = 'enabled' | 'few' | 'many' | 'disabled' | 'to-disable' | 'to-enable';

/** A part of a block that is drawn as one square. */
export type MapCell = Readonly<{ x: number; y: number; state: CellState }>;

/** A sixteenth of a block, as the rectangle that its cells make; in cells. */
export type MapPart = Readonly<{ block: Cidr; x: number; y: number; columns: number; rows: number }>;

/** A block as squares. */
export type SubnetMap = Readonly<{
  block: Cidr;
  columns: number;
  rows: number;
  /** The cells lie along a Hilbert curve, so that each block of the block is a rectangle; otherwise row by row, one an address. */
  isCurve: boolean;
  /** The prefix length of a cell. */
  cellLength: number;
  cells: readonly MapCell[];
  /** Sixteenths to go into; none where each cell is an address of a small block. */
  parts: readonly MapPart[];
}>;

/** What is drawn: the disabled addresses, and those that are on their way there or back, which count for their cell before all others. */
export type MapLayers = Readonly<{ disabled: RangeSet; toDisable: RangeSet; toEnable: RangeSet }>;

/** More bits make cells that are too small to be seen. */
const CELL_BITS_MAX = 12;
/** So many are shown in rows. */
const ROW_BITS_MAX = 8;
const ROW_CELLS = 16;
const PART_BITS = 4;

/** The next up to 12 bits of a block. It costs the ranges in the block and its cells, at most 4,096. */
export function subnetMap(block: Cidr, layers: MapLayers): SubnetMap {
  const hostBits = bitsOf(block) - block.length;
  const cellBits = Math.min(CELL_BITS_MAX, hostBits);
  const cellLength = block.length + cellBits;
  const isCurve = hostBits > ROW_BITS_MAX;
  const count = 2 ** cellBits;
  const side = 2 ** Math.ceil(cellBits / 2);
  const places = Array.from({ length: count }, (_, index) =>
    isCurve ? placeOnCurve(side, index) : placeInRows(index),
  );
  const states = statesOf(block, cellBits, layers);
  return {
    block,
    columns: isCurve ? side : Math.min(count, ROW_CELLS),
    rows: isCurve ? count / side : Math.max(1, count / ROW_CELLS),
    isCurve,
    cellLength,
    cells: places.map((place, index) => ({ ...place, state: states[index] ?? 'enabled' })),
    parts: isCurve ? partsOf(block, places) : [],
  };
}

type Place = Readonly<{ x: number; y: number }>;

function placeInRows(index: number): Place {
  return { x: index % ROW_CELLS, y: Math.floor(index / ROW_CELLS) };
}

/** Where the curve is after so many cells of a square with this side; its first half is the upper half. */
function placeOnCurve(side: number, index: number): Place {
  let [x, y, rest] = [0, 0, index];
  for (let size = 1; size < side; size *= 2) {
    const right = 1 & (rest >> 1);
    const up = 1 & (rest ^ right);
    if (up === 0) {
      if (right === 1) [x, y] = [size - 1 - x, size - 1 - y];
      [x, y] = [y, x];
    }
    x += size * right;
    y += size * up;
    rest >>= 2;
  }
  return { x: y, y: x };
}

function partsOf(block: Cidr, places: readonly Place[]): readonly MapPart[] {
  const cells = places.length / 2 ** PART_BITS;
  return Array.from({ length: 2 ** PART_BITS }, (_, index) => {
    const own = places.slice(index * cells, (index + 1) * cells);
    const [xs, ys] = [own.map(({ x }) => x), own.map(({ y }) => y)];
    const [x, y] = [Math.min(...xs), Math.min(...ys)];
    return {
      block: blockWithin(block, PART_BITS, index),
      x,
      y,
      columns: Math.max(...xs) - x + 1,
      rows: Math.max(...ys) - y + 1,
    };
  });
}

/** The block with this number among those that are so many bits longer. */
function blockWithin(block: Cidr, bits: number, index: number): Cidr {
  const length = block.length + bits;
  if (block.version === 4) return { version: 4, network: block.network + index * 2 ** (32 - length), length };
  return { version: 6, network: block.network + (BigInt(index) << BigInt(128 - length)), length };
}

function bitsOf({ version }: Cidr): number {
  return version === 4 ? 32 : 128;
}

function statesOf(block: Cidr, cellBits: number, layers: MapLayers): readonly CellState[] {
  const disabled = countsOf(layers.disabled, block, cellBits);
  const toDisable = countsOf(layers.toDisable, block, cellBits);
  const toEnable = countsOf(layers.toEnable, block, cellBits);
  const size = 1n << BigInt(bitsOf(block) - block.length - cellBits);
  return disabled.map((count, index) => {
    if ((toDisable[index] ?? 0n) > 0n) return 'to-disable';
    if ((toEnable[index] ?? 0n) > 0n) return 'to-enable';
    if (count === 0n) return 'enabled';
    if (count === size) return 'disabled';
    return count * 2n < size ? 'few' : 'many';
  });
}

/** How many addresses of a set each cell has. */
function countsOf(set: RangeSet, block: Cidr, cellBits: number): bigint[] {
  const start = BigInt(networkAddress(block).value);
  const shift = BigInt(bitsOf(block) - block.length - cellBits);
  const counts = Array.from({ length: 2 ** cellBits }, () => 0n);
  for (const range of set.rangesWithin(rangeOfCidr(block))) {
    const [first, last] = [BigInt(range.first) - start, BigInt(range.last) - start];
    for (let cell = first >> shift; cell <= last >> shift; cell++) {
      const [from, to] = [cell << shift, ((cell + 1n) << shift) - 1n];
      const index = Number(cell);
      counts[index] = (counts[index] ?? 0n) + (to < last ? to : last) - (from > first ? from : first) + 1n;
    }
  }
  return counts;
}

/** The part of a set that lies in a range. */
export function setWithin(set: RangeSet, range: AddressRange): RangeSet {
  return RangeSet.from(set.rangesWithin(range));
}
