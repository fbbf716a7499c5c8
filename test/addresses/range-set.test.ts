import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Address, formatAddress, parseAddress } from '../../src/addresses/address.ts';
import { isAddressProblem } from '../../src/addresses/address-problem.ts';
import { rangeContains, rangeSize } from '../../src/addresses/range.ts';
import { RangeSet } from '../../src/addresses/range-set.ts';
import { parseRangeTexts, rangeTexts } from '../../src/addresses/range-text.ts';
import { combined, modelsOver, cellRanges, runsIn, runsOf, toRange, type Model, type Window } from './naive-model.ts';

const setOf = (windows: readonly Window[], model: Model): RangeSet =>
  RangeSet.from(runsOf(windows, model).map(toRange));

function address(text: string): Address {
  const parsed = parseAddress(text);
  if (isAddressProblem(parsed)) throw new Error(parsed.problem);
  return parsed;
}

test('union, difference and intersection agree with a walk over every cell', () => {
  fc.assert(
    fc.property(modelsOver(2), ({ windows, models }) => {
      const [a = [], b = []] = models;
      const [setA, setB] = [setOf(windows, a), setOf(windows, b)];
      assert.equal(
        runsIn(setA.union(setB)),
        runsOf(
          windows,
          combined(a, b, (x, y) => x || y),
        ),
      );
      assert.equal(
        runsIn(setA.difference(setB)),
        runsOf(
          windows,
          combined(a, b, (x, y) => x && !y),
        ),
      );
      assert.equal(
        runsIn(setA.intersection(setB)),
        runsOf(
          windows,
          combined(a, b, (x, y) => x && y),
        ),
      );
    }),
    { numRuns: 150 },
  );
});

test('a set does not depend on the order, the overlap or the repetition of the ranges it is made from', () => {
  fc.assert(
    fc.property(
      modelsOver(1).chain(({ windows, models: [model = []] }) => {
        const cells = cellRanges(windows, model);
        const runs = runsOf(windows, model).map(toRange);
        return fc
          .shuffledSubarray([...cells, ...runs, ...cells.slice(0, 5)], {
            minLength: cells.length + runs.length + Math.min(5, cells.length),
          })
          .map((ranges) => ({ windows, model, ranges }));
      }),
      ({ windows, model, ranges }) => {
        const set = RangeSet.from(ranges);
        assert.equal(runsIn(set), runsOf(windows, model));
        assert.ok(set.equals(setOf(windows, model)));
      },
    ),
    { numRuns: 100 },
  );
});

test('counts are exact, of the whole set and within any range', () => {
  fc.assert(
    fc.property(modelsOver(2), fc.nat(), fc.nat(), ({ windows, models: [a = [], b = []] }, i, j) => {
      const set = setOf(windows, a);
      assert.is(
        set.count(),
        runsOf(windows, a).reduce((sum, { first, last }) => sum + last - first + 1n, 0n),
      );
      const bounds = [...runsOf(windows, b), ...runsIn(set)];
      const [x, y] = [bounds[i % Math.max(1, bounds.length)], bounds[j % Math.max(1, bounds.length)]];
      if (x === undefined || y === undefined || x.version !== y.version) return;
      const [low, high] = x.first <= y.first ? [x, y] : [y, x];
      const spans = [x, y, { ...low, last: high.last }, { ...low, last: high.first }, { ...high, first: low.last }];
      for (const span of spans.filter(({ first, last }) => first <= last)) {
        const within = toRange(span);
        const inside = set.intersection(RangeSet.of(within));
        assert.is(set.countWithin(within), inside.count());
        assert.equal([...set.rangesWithin(within)], [...inside.ranges()]);
      }
    }),
    { numRuns: 200 },
  );
});

test('membership is that of the ranges, at and beside their ends', () => {
  fc.assert(
    fc.property(modelsOver(2), ({ windows, models: [a = [], b = []] }) => {
      const set = setOf(windows, a);
      const ranges = [...set.ranges()];
      for (const range of [...ranges, ...runsOf(windows, b).map(toRange)]) {
        const probes: Address[] =
          range.version === 4
            ? [range.first, range.last, Math.max(0, range.first - 1), Math.min(2 ** 32 - 1, range.last + 1)].map(
                (value) => ({
                  version: 4,
                  value,
                }),
              )
            : [range.first, range.last].map((value) => ({ version: 6, value }));
        for (const probe of probes) {
          assert.is(
            set.contains(probe),
            ranges.some((each) => rangeContains(each, probe)),
            formatAddress(probe),
          );
        }
      }
    }),
    { numRuns: 60 },
  );
});

test('reading on from an address cuts the range it lies in, and goes on with IPv6 behind IPv4', () => {
  const set = parseRangeTexts(['10.0.0.0-10.0.0.9', '10.0.0.20', '2001:db8::-2001:db8::ff']);
  const from = (text: string): string[] => rangeTexts(RangeSet.from(set.rangesFrom(address(text))));
  assert.equal(from('0.0.0.0'), ['10.0.0.0-10.0.0.9', '10.0.0.20', '2001:db8::-2001:db8::ff']);
  assert.equal(from('10.0.0.5'), ['10.0.0.5-10.0.0.9', '10.0.0.20', '2001:db8::-2001:db8::ff']);
  assert.equal(from('10.0.0.10'), ['10.0.0.20', '2001:db8::-2001:db8::ff']);
  assert.equal(from('255.255.255.255'), ['2001:db8::-2001:db8::ff']);
  assert.equal(from('2001:db8::ff'), ['2001:db8::ff']);
  assert.equal(from('2001:db8::100'), []);
});

test('the laws of sets hold', () => {
  fc.assert(
    fc.property(modelsOver(3), ({ windows, models }) => {
      const [a = RangeSet.empty, b = RangeSet.empty, c = RangeSet.empty] = models.map((model) => setOf(windows, model));
      assert.ok(a.union(b).equals(b.union(a)));
      assert.ok(
        a
          .union(b)
          .union(c)
          .equals(a.union(b.union(c))),
      );
      assert.ok(a.union(a).equals(a));
      assert.ok(a.difference(a).isEmpty);
      assert.ok(a.intersection(b).equals(a.difference(a.difference(b))));
      assert.ok(a.difference(b).union(a.intersection(b)).equals(a));
      assert.ok(a.difference(b.union(c)).equals(a.difference(b).difference(c)));
      assert.is(a.union(b).count(), a.count() + b.count() - a.intersection(b).count());
      assert.is(a.equals(b), a.difference(b).isEmpty && b.difference(a).isEmpty);
    }),
    { numRuns: 80 },
  );
});

test('both spaces whole are one range each, exactly counted', () => {
  const all = parseRangeTexts(['0.0.0.0-255.255.255.255', '::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff']);
  assert.is(all.count(), 2n ** 32n + 2n ** 128n);
  assert.is(all.rangeCount, 2);
  assert.ok(all.contains(address('255.255.255.255')));
  assert.ok(all.contains(address('ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff')));
  const holed = all.difference(parseRangeTexts(['128.0.0.0', '8000::']));
  assert.equal(rangeTexts(holed), [
    '0.0.0.0-127.255.255.255',
    '128.0.0.1-255.255.255.255',
    '::-7fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    '8000::1-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  ]);
  assert.is(holed.count(), 2n ** 32n + 2n ** 128n - 2n);
});

test('a count is exact where a floating-point sum is not', () => {
  const almostLimb = 2n ** 48n - 1n;
  const ranges = Array.from({ length: 63 }, (_, i) => {
    const first = BigInt(i) << 48n;
    return { version: 6 as const, first, last: first + almostLimb - 1n };
  });
  assert.is(RangeSet.from(ranges).count(), 63n * almostLimb);
  assert.is(RangeSet.from(ranges).countWithin({ version: 6, first: 1n, last: 2n ** 128n - 1n }), 63n * almostLimb - 1n);
});

test('the last address of IPv4 and the first of IPv6 are no neighbours', () => {
  assert.equal(rangeTexts(parseRangeTexts(['255.255.255.255', '::'])), ['255.255.255.255', '::']);
});

test('an upside-down range is a bug of the caller', () => {
  assert.throws(() => RangeSet.of({ version: 4, first: 2, last: 1 }), /broken invariant/);
});

test('an operation that changes nothing gives the same object', () => {
  const set = parseRangeTexts(['10.0.0.0-10.0.0.9', '10.0.1.0', '2001:db8::1']);
  assert.is(set.union(RangeSet.empty), set);
  assert.is(set.difference(RangeSet.empty), set);
  assert.is(set.union(set), set);
  assert.is(set.intersection(set), set);
  assert.is(set.union(parseRangeTexts(['10.0.0.3-10.0.0.5'])), set);
  assert.is(set.union(parseRangeTexts(['10.0.1.0'])), set);
  assert.is(set.difference(parseRangeTexts(['10.0.0.10-10.0.0.255', '::'])), set);
  assert.is(set.difference(parseRangeTexts(['11.0.0.0'])), set);
});

test('a set of many ranges is cut and joined again by operations of every size', () => {
  const space = 40_000;
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          kind: fc.constantFrom('union', 'difference', 'intersection' as const),
          seed: fc.nat(),
          size: fc.constantFrom(1, 2, 30, 1_000, 8_000),
          reach: fc.constantFrom(1, 3, 60),
        }),
        { minLength: 5, maxLength: 25, size: 'max' },
      ),
      (steps) => {
        let model = Array.from({ length: space }, (_, i) => i % 3 === 0);
        const window: Window = { version: 4, base: 0x7fffc000n, cells: space, cellBits: 0 };
        let set = setOf([window], model);
        for (const { kind, seed, size, reach } of steps) {
          const other = Array.from({ length: space }, () => false);
          for (let i = 0, at = seed % space; i < size; i++, at = (at * 69_069 + 12_345 + seed) % space) {
            other.fill(true, at, at + reach);
          }
          const operand = setOf([window], other);
          set = set[kind === 'intersection' && size < 1_000 ? 'difference' : kind](operand);
          const rule = {
            union: (x: boolean, y: boolean) => x || y,
            difference: (x: boolean, y: boolean) => x && !y,
            intersection: (x: boolean, y: boolean) => x && y,
          };
          const apply = rule[kind === 'intersection' && size < 1_000 ? 'difference' : kind];
          model = model.map((isIn, i) => apply(isIn, other[i] === true));
          assert.equal(runsIn(set), runsOf([window], model));
          assert.is(set.rangeCount, runsOf([window], model).length);
        }
      },
    ),
    { numRuns: 12 },
  );
});

test('changing one address of a large set keeps all but the chunk around it', () => {
  const ranges = Array.from({ length: 100_000 }, (_, i) => ({
    version: 4 as const,
    first: 2 ** 31 + 4 * i,
    last: 2 ** 31 + 4 * i,
  }));
  const before = RangeSet.from(ranges);
  const one = RangeSet.ofAddress({ version: 4, value: 2 ** 31 + 200_002 });
  for (const after of [
    before.union(one),
    before.difference(RangeSet.of(ranges[70_000] ?? { version: 4, first: 0, last: 0 })),
  ]) {
    const kept = new Set(before.ipv4.chunks);
    const fresh = after.ipv4.chunks.filter((chunk) => !kept.has(chunk));
    assert.ok(fresh.length <= 2, `${fresh.length} new chunks`);
    assert.ok(before.ipv4.chunks.length - after.ipv4.chunks.length <= 1);
  }
});

test('a set is JSON as its range texts, and comes back equal', () => {
  fc.assert(
    fc.property(modelsOver(1), ({ windows, models: [model = []] }) => {
      const set = setOf(windows, model);
      const texts: string[] = JSON.parse(JSON.stringify(set));
      assert.ok(parseRangeTexts(texts).equals(set));
      assert.equal(texts, rangeTexts(set));
      for (const range of set.ranges()) assert.ok(rangeSize(range) > 0n);
    }),
    { numRuns: 60 },
  );
});

test.run();
