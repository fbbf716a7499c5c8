import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { formatAddress } from '../../src/addresses/address.ts';
import { orderOfWords, sortedByKey } from '../../src/addresses/range-set-builder.ts';
import { RangeSet } from '../../src/addresses/range-set.ts';
import { parseRangeTexts } from '../../src/addresses/range-text.ts';
import { firstAddress, lastAddress } from '../../src/addresses/range.ts';

test('lists long enough to be sorted by digits are the set that they spell', () => {
  const lists = fc.record({
    seed: fc.nat(),
    count: fc.constantFrom(60, 600, 9_000),
    spread: fc.constantFrom(1, 251, 65_521, 0x7fff_ffed),
    form: fc.constantFrom('address', 'range', 'both' as const),
    isIpv6: fc.boolean(),
  });
  fc.assert(
    fc.property(lists, ({ seed, count, spread, form, isIpv6 }) => {
      const ranges = Array.from({ length: count }, (_, i) => {
        const at = (Math.imul(seed + i, 2_654_435_761) >>> 0) % spread;
        const more = form === 'address' || (form === 'both' && i % 2 === 0) ? 0 : i % 70;
        if (!isIpv6) return { version: 4 as const, first: at * 2, last: at * 2 + more };
        const first = (BigInt(at) << BigInt((seed + (i % 2)) % 97)) + BigInt(i % 7);
        return { version: 6 as const, first, last: first + BigInt(more) };
      });
      const texts = ranges.map((range) => {
        const [first, last] = [formatAddress(firstAddress(range)), formatAddress(lastAddress(range))];
        return first === last ? first : `${first}-${last}`;
      });
      const oneByOne = ranges.reduce((set, range) => set.union(RangeSet.of(range)), RangeSet.empty);
      assert.ok(parseRangeTexts(texts).equals(oneByOne));
      assert.ok(RangeSet.from(ranges).equals(oneByOne));
    }),
    { numRuns: 25 },
  );
});

test('sorting by digits is sorting', () => {
  const keys = fc.tuple(
    fc.nat(),
    fc.constantFrom(0, 1, 2, 48, 49, 3_000, 9_000),
    fc.constantFrom(1, 0xfff, 0x1000, 0xff_ff00, 0xffff_ffff),
  );
  fc.assert(
    fc.property(keys, ([seed, count, mask]) => {
      const random = Uint32Array.from({ length: count }, (_, i) => (Math.imul(seed + i, 2_654_435_761) & mask) >>> 0);
      const expected = [...random].toSorted((a, b) => a - b);
      assert.equal([...sortedByKey(random.slice(), undefined, count).keys], expected);
      const { keys: sorted, payload } = sortedByKey(
        random.slice(),
        random.map((key) => ~key),
        count,
      );
      assert.equal([...sorted], expected);
      assert.equal(
        [...(payload ?? [])],
        expected.map((key) => ~key >>> 0),
      );
      const words = Uint32Array.from({ length: 4 * (count >>> 2) }, (_, i) => random[i] ?? 0);
      const inOrder = Array.from({ length: count >>> 2 }, (_, i) => [...words.subarray(4 * i, 4 * i + 4)]).toSorted(
        (a, b) => a.map((word, k) => word - (b[k] ?? 0)).find((difference) => difference !== 0) ?? 0,
      );
      const order = orderOfWords(words, count >>> 2) ?? Uint32Array.from({ length: count >>> 2 }, (_, i) => i);
      assert.equal(
        Array.from(order, (i) => [...words.subarray(4 * i, 4 * i + 4)]),
        inOrder,
      );
    }),
    { numRuns: 100 },
  );
});

test.run();
