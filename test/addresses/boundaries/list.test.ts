import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { EdgeBuilder } from '../../../src/addresses/boundaries/builder.ts';
import { EdgeSpace } from '../../../src/addresses/boundaries/chunk.ts';
import { bigintOf, writeLimbs } from '../../../src/addresses/boundaries/limbs.ts';
import { EdgeList, equalLists, haveCommon, singleRange, sizeWithin } from '../../../src/addresses/boundaries/list.ts';
import { areComparable, differenceOf, intersectionOf, unionOf } from '../../../src/addresses/boundaries/merge.ts';

// Chunks of two to eight ranges make every cut, share, merge and split happen in lists that a naive model can follow.
const SPACES = [
  { space: new EdgeSpace(1, 4), base: BigInt(2 ** 31 - 300) },
  { space: new EdgeSpace(3, 4), base: 2n ** 48n - 300n },
  { space: new EdgeSpace(3, 4), base: 2n ** 96n - 300n },
];
const CELLS = 600;

type Place = (typeof SPACES)[number];

const point = ({ space, base }: Place, cell: number): number[] => {
  const edges = space.start.slice();
  if (space.width === 1) edges[0] = Number(base) + cell;
  else writeLimbs(base + BigInt(cell), edges, 0);
  return edges;
};

function listOf(place: Place, cells: readonly boolean[]): EdgeList {
  const builder = new EdgeBuilder(place.space);
  cells.forEach((isIn, cell) => {
    if (isIn) builder.append(point(place, cell), 0, point(place, cell + 1), 0);
  });
  return builder.finish();
}

function edgesOf({ space, base }: Place, list: EdgeList): number[] {
  const { width } = space;
  return list.chunks.flatMap(({ edges }) =>
    Array.from({ length: edges.length / width }, (_, i) => {
      const [high = 0, middle = 0, low = 0] = edges.slice(i * width, (i + 1) * width);
      return Number((width === 1 ? BigInt(high) : bigintOf(high, middle, low)) - base);
    }),
  );
}

function expectedEdges(cells: readonly boolean[]): number[] {
  return Array.from({ length: CELLS + 1 }, (_, cell) => cell).filter(
    (cell) => (cells[cell - 1] === true) !== (cells[cell] === true),
  );
}

function checkShape(place: Place, list: EdgeList): void {
  const { width, chunkRanges } = place.space;
  let ranges = 0;
  for (const { edges, rangeCount } of list.chunks) {
    assert.is(edges.length, rangeCount * 2 * width);
    assert.ok(rangeCount <= 2 * chunkRanges, `a chunk of ${rangeCount}`);
    assert.ok(rangeCount >= chunkRanges / 2 || list.chunks.length === 1, `a chunk of ${rangeCount}`);
    ranges += rangeCount;
  }
  assert.is(list.rangeCount, ranges);
}

const cells = fc
  .array(fc.tuple(fc.nat(CELLS - 1), fc.constantFrom(1, 1, 2, 7, 100)), { maxLength: 150, size: 'max' })
  .chain((stretches) =>
    fc.boolean().map((isInverse) => {
      const model = Array.from({ length: CELLS }, () => isInverse);
      for (const [at, length] of stretches) model.fill(!isInverse, at, at + length);
      return model;
    }),
  );

/** What most events are: one stretch, often a single cell. */
const stretch = fc.tuple(fc.nat(CELLS - 1), fc.constantFrom(1, 1, 2, 9, 60, CELLS)).map(([at, length]) => {
  const model = Array.from({ length: CELLS }, () => false);
  return model.fill(true, at, at + length);
});

const step = fc.record({
  kind: fc.constantFrom('union', 'difference', 'intersection' as const),
  operand: fc.oneof(cells, stretch),
  isSwapped: fc.boolean(),
});

const RULES = {
  union: { combine: unionOf, holds: (a: boolean, b: boolean) => a || b },
  difference: { combine: differenceOf, holds: (a: boolean, b: boolean) => a && !b },
  intersection: { combine: intersectionOf, holds: (a: boolean, b: boolean) => a && b },
};

test('any sequence of operations on lists of many small chunks agrees with cells, and keeps the chunks in shape', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...SPACES),
      cells,
      fc.array(step, { maxLength: 12, size: 'max' }),
      (place, first, steps) => {
        let model = first;
        let list = listOf(place, first);
        for (const { kind, operand, isSwapped } of steps) {
          const { combine, holds } = RULES[kind];
          const other = listOf(place, operand);
          const before = edgesOf(place, list);
          const result = isSwapped ? combine(other, list) : combine(list, other);
          assert.equal(edgesOf(place, list), before, 'an operand never changes');
          const old = model;
          model = old.map((isIn, i) =>
            isSwapped ? holds(operand[i] === true, isIn) : holds(isIn, operand[i] === true),
          );
          list = result;
          checkShape(place, list);
          assert.equal(edgesOf(place, list), expectedEdges(model));
          assert.ok(equalLists(list, listOf(place, model)));
          assert.is(
            equalLists(list, other),
            model.every((isIn, i) => isIn === operand[i]),
          );
          for (const [one, another] of [
            [list, other],
            [other, list],
          ] as const) {
            assert.is(
              haveCommon(one, another),
              model.some((isIn, i) => isIn && operand[i] === true),
            );
          }
          assert.is(BigInt(list.size), BigInt(model.filter(Boolean).length));
        }
      },
    ),
    { numRuns: 400 },
  );
});

test('a list made by changing one chunk knows its size from that of the list before', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...SPACES),
      cells,
      fc.array(fc.tuple(stretch, fc.boolean(), fc.boolean()), { maxLength: 20 }),
      (place, first, changes) => {
        let model = first;
        let list = listOf(place, first);
        for (const [operand, isUnion, isCounted] of changes) {
          const { combine, holds } = isUnion ? RULES.union : RULES.difference;
          list = combine(list, listOf(place, operand));
          model = model.map((isIn, i) => holds(isIn, operand[i] === true));
          if (isCounted) assert.is(BigInt(list.size), BigInt(model.filter(Boolean).length));
        }
        assert.is(BigInt(list.size), BigInt(model.filter(Boolean).length));
      },
    ),
    { numRuns: 300 },
  );
});

test('sizes that no number holds exactly are carried along exactly', () => {
  const [space, half] = [new EdgeSpace(3, 4), 2n ** 127n];
  const spans = [
    [0n, half],
    ...Array.from({ length: 30 }, (_, i) => [half + 4n * BigInt(i) + 1n, half + 4n * BigInt(i) + 2n]),
  ];
  const builder = new EdgeBuilder(space);
  const edgesFrom = (from: bigint, to: bigint): number[] => {
    const edges = space.whole.slice();
    writeLimbs(from, edges, 0);
    writeLimbs(to, edges, 3);
    return edges;
  };
  for (const [from = 0n, to = 0n] of spans) builder.append(edgesFrom(from, to), 0, edgesFrom(from, to), 3);
  const list = builder.finish();
  assert.is(list.size, half + 30n);
  const without = differenceOf(list, singleRange(space, edgesFrom(1n, half)));
  assert.is(without.size, 31);
  assert.is(unionOf(without, singleRange(space, edgesFrom(2n, half - 1n))).size, half + 28n);
});

test('where two lists of several chunks give one of them, it is that very list', () => {
  fc.assert(
    fc.property(fc.constantFrom(...SPACES), cells, cells, (place, some, others) => {
      const less = some.map((isIn, at) => isIn && at % 5 !== 0);
      const [list, same, part, other] = [some, some, less, others].map((model) => listOf(place, model));
      fc.pre(list !== undefined && same !== undefined && part !== undefined && other !== undefined);
      fc.pre(list.chunks.length > 1 && part.chunks.length > 1 && areComparable(list, part));
      assert.is(unionOf(list, same), list);
      assert.is(intersectionOf(list, same), list);
      assert.ok(differenceOf(list, same).isEmpty);
      assert.is(unionOf(list, part), list);
      assert.is(unionOf(part, list), list);
      assert.is(intersectionOf(list, part), part);
      assert.is(intersectionOf(part, list), part);
      assert.ok(differenceOf(part, list).isEmpty);
      const whole = listOf(
        place,
        Array.from({ length: CELLS }, () => true),
      );
      assert.is(intersectionOf(list, whole), list);
      assert.is(intersectionOf(whole, list), list);
      if (intersectionOf(list, other).isEmpty && areComparable(list, other)) assert.is(differenceOf(list, other), list);
    }),
    { numRuns: 300 },
  );
});

test('the size between any two points is that of the cells between them', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...SPACES),
      cells,
      fc.array(fc.tuple(fc.nat(CELLS), fc.nat(CELLS)), { maxLength: 20 }),
      (place, model, spans) => {
        const list = listOf(place, model);
        for (const [i, j] of spans) {
          const [from, to] = [Math.min(i, j), Math.max(i, j)];
          assert.is(
            BigInt(sizeWithin(list, [...point(place, from), ...point(place, to)])),
            BigInt(model.slice(from, to).filter(Boolean).length),
          );
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('a list with nothing in it behaves as the empty set', () => {
  for (const place of SPACES) {
    const empty = new EdgeList(place.space, []);
    const some = listOf(place, [true, false, true]);
    assert.is(unionOf(empty, some), some);
    assert.is(differenceOf(some, empty), some);
    assert.is(differenceOf(empty, some).rangeCount, 0);
    assert.is(intersectionOf(some, empty).rangeCount, 0);
    assert.is(differenceOf(some, some).rangeCount, 0);
    assert.ok(equalLists(empty, differenceOf(some, some)));
  }
});

test.run();
