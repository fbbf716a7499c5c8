import * as fc from 'fast-check';
import type { AddressRange } from '../../src/addresses/range.ts';
import type { RangeSet } from '../../src/addresses/range-set.ts';

/**
 * A stretch of an address space, cut into equal cells that are wholly in a set or wholly out of it. Sets made of cells can be
 * checked against a plain list of cell numbers, wherever the stretch lies and however large its cells are.
 */
export type Window = Readonly<{ version: 4 | 6; base: bigint; cells: number; cellBits: number }>;

const v4 = (base: number, cells: number, cellBits = 0): Window => ({ version: 4, base: BigInt(base), cells, cellBits });
const v6 = (base: bigint, cells: number, cellBits = 0): Window => ({ version: 6, base, cells, cellBits });

/** Both ends of both spaces, the middle of IPv4, the places where IPv6 limbs meet, and both spaces whole. No two overlap. */
export const NARROW_WINDOWS: readonly Window[] = [
  v4(0, 128),
  v4(0x7fffff80, 128),
  v4(0x80000000, 128),
  v4(0xffffff80, 128),
  v6(0n, 64),
  v6((1n << 48n) - 64n, 64),
  v6(1n << 48n, 64),
  v6((1n << 96n) - 64n, 64),
  v6(1n << 96n, 64),
  v6(0x20010db8n << 96n, 64),
  v6((1n << 128n) - 64n, 64),
];

export const WIDE_WINDOWS: readonly Window[] = [v4(0, 64, 26), v6(0n, 64, 122)];

export const LIMB_WINDOWS: readonly Window[] = [
  v4(0x0a000000, 64, 8),
  v6((1n << 64n) - (1n << 47n) * 32n, 64, 47),
  v6((1n << 110n) - (1n << 95n) * 32n, 64, 95),
];

/** Membership, cell by cell, of all windows one after the other. */
export type Model = readonly boolean[];

export type Run = Readonly<{ version: 4 | 6; first: bigint; last: bigint }>;

/** The maximal runs of a model, found by walking over every cell. */
export function runsOf(windows: readonly Window[], model: Model): Run[] {
  const runs: Run[] = [];
  let cell = 0;
  for (const { version, base, cells, cellBits } of windows) {
    for (let i = 0; i < cells; i++, cell++) {
      if (model[cell] !== true) continue;
      const first = base + (BigInt(i) << BigInt(cellBits));
      const last = first + (1n << BigInt(cellBits)) - 1n;
      const previous = runs.at(-1);
      if (previous?.version === version && previous.last + 1n === first) {
        runs[runs.length - 1] = { version, first: previous.first, last };
      } else {
        runs.push({ version, first, last });
      }
    }
  }
  return runs;
}

export function toRange({ version, first, last }: Run): AddressRange {
  return version === 4 ? { version, first: Number(first), last: Number(last) } : { version, first, last };
}

export function toRun(range: AddressRange): Run {
  return { version: range.version, first: BigInt(range.first), last: BigInt(range.last) };
}

export function runsIn(set: RangeSet): Run[] {
  return Array.from(set.ranges(), toRun);
}

/** Every cell of a model as a range of its own. */
export function cellRanges(windows: readonly Window[], model: Model): AddressRange[] {
  let offset = 0;
  return windows.flatMap((window) => {
    const alone = Array.from({ length: window.cells }, (_, i) =>
      runsOf(
        [{ ...window, base: window.base + (BigInt(i) << BigInt(window.cellBits)), cells: 1 }],
        [model[offset + i] === true],
      ),
    );
    offset += window.cells;
    return alone.flat().map(toRange);
  });
}

export function cellCount(windows: readonly Window[]): number {
  return windows.reduce((sum, { cells }) => sum + cells, 0);
}

/** Models from nearly empty to nearly full, also with long runs. */
export function modelOf(windows: readonly Window[]): fc.Arbitrary<Model> {
  const length = cellCount(windows);
  const scattered = fc
    .tuple(
      fc.constantFrom(2, 20, 50, 90, 98),
      fc.array(fc.nat(99), { minLength: length, maxLength: length, size: 'max' }),
    )
    .map(([percent, dice]) => dice.map((die) => die < percent));
  const toggled = fc.array(fc.nat(length), { maxLength: 12 }).map((flips) => {
    const at = new Set(flips);
    let isIn = false;
    return Array.from({ length }, (_, i) => {
      if (at.has(i)) isIn = !isIn;
      return isIn;
    });
  });
  return fc.oneof(scattered, toggled, fc.constant(Array.from({ length }, () => true)));
}

/** Windows of one kind, and models over them. */
export function modelsOver(count: number): fc.Arbitrary<Readonly<{ windows: readonly Window[]; models: Model[] }>> {
  return fc
    .constantFrom(NARROW_WINDOWS, WIDE_WINDOWS, LIMB_WINDOWS)
    .chain((windows) =>
      fc
        .array(modelOf(windows), { minLength: count, maxLength: count, size: 'max' })
        .map((models) => ({ windows, models })),
    );
}

export function combined(a: Model, b: Model, rule: (inA: boolean, inB: boolean) => boolean): Model {
  return a.map((inA, i) => rule(inA, b[i] === true));
}

export type Block = Readonly<{ version: 4 | 6; network: bigint; length: number }>;

/**
 * The minimal cover by its definition: walk the binary trie from the root; a block whose addresses are all in the set is
 * taken, one with none is left, any other is halved.
 */
export function trieCover(runs: readonly Run[]): Block[] {
  return ([4, 6] as const).flatMap((version) => {
    const bits = version === 4 ? 32 : 128;
    const visit = (network: bigint, length: number, candidates: readonly Run[]): Block[] => {
      const last = network + (1n << BigInt(bits - length)) - 1n;
      const touching = candidates.filter((run) => run.first <= last && network <= run.last);
      if (touching.length === 0) return [];
      if (touching.some((run) => run.first <= network && last <= run.last)) return [{ version, network, length }];
      const upper = network + (1n << BigInt(bits - length - 1));
      return [...visit(network, length + 1, touching), ...visit(upper, length + 1, touching)];
    };
    return visit(
      0n,
      0,
      runs.filter((run) => run.version === version),
    );
  });
}
