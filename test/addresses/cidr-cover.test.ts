import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isAddressProblem } from '../../src/addresses/address-problem.ts';
import { cover, coverTexts } from '../../src/addresses/cidr-cover.ts';
import {
  type Cidr,
  cidrAround,
  compareCidrs,
  formatCidr,
  networkAddress,
  parseCidr,
  rangeOfCidr,
} from '../../src/addresses/cidr.ts';
import { coverDifference } from '../../src/addresses/cover-count.ts';
import { RangeSet } from '../../src/addresses/range-set.ts';
import { parseRangeTexts } from '../../src/addresses/range-text.ts';
import { type Block, cellRanges, modelsOver, runsIn, runsOf, toRange, trieCover } from './naive-model.ts';

const toBlock = ({ version, network, length }: Cidr): Block => ({ version, network: BigInt(network), length });
const coverOf = (...texts: string[]): string[] => coverTexts(parseRangeTexts(texts));

function blockOf(text: string): Cidr {
  const cidr = parseCidr(text);
  if (isAddressProblem(cidr)) throw new Error(cidr.problem);
  return cidr;
}

test('the cover is the one that the binary trie gives', () => {
  fc.assert(
    fc.property(modelsOver(1), ({ windows, models: [model = []] }) => {
      const runs = runsOf(windows, model);
      const blocks = cover(RangeSet.from(runs.map(toRange)));
      assert.equal(blocks.map(toBlock), trieCover(runs));
    }),
    { numRuns: 150 },
  );
});

test('the cover has the same addresses, is aligned, in order, without overlap, and no two blocks could be one', () => {
  fc.assert(
    fc.property(modelsOver(1), ({ windows, models: [model = []] }) => {
      const set = RangeSet.from(runsOf(windows, model).map(toRange));
      const blocks = cover(set);
      assert.ok(RangeSet.from(blocks.map(rangeOfCidr)).equals(set));
      let previous: Cidr | undefined;
      for (const block of blocks) {
        assert.equal(cidrAround(networkAddress(block), block.length), block, 'aligned');
        if (previous !== undefined) {
          assert.ok(compareCidrs(previous, block) < 0);
          const parent = cidrAround(networkAddress(block), Math.max(0, block.length - 1));
          const isSibling =
            previous.version === block.version &&
            previous.length === block.length &&
            previous.network === parent.network;
          assert.not.ok(isSibling, `${formatCidr(previous)} and ${formatCidr(block)}`);
        }
        previous = block;
      }
    }),
    { numRuns: 100 },
  );
});

test('neither order nor repetition matters, and the cover of a cover is itself', () => {
  fc.assert(
    fc.property(
      modelsOver(1).chain(({ windows, models: [model = []] }) => {
        const ranges = cellRanges(windows, model);
        return fc.tuple(
          fc.constant(coverTexts(RangeSet.from(runsOf(windows, model).map(toRange)))),
          fc.shuffledSubarray([...ranges, ...ranges.slice(0, 9)], {
            minLength: ranges.length + Math.min(9, ranges.length),
          }),
        );
      }),
      ([expected, shuffled]) => {
        const texts = coverTexts(RangeSet.from(shuffled));
        assert.equal(texts, expected);
        assert.equal(coverTexts(RangeSet.from(texts.map((text) => rangeOfCidr(blockOf(text))))), texts);
      },
    ),
    { numRuns: 80 },
  );
});

test('the difference of two covers is what one has and the other has not', () => {
  fc.assert(
    fc.property(modelsOver(2), fc.boolean(), ({ windows, models: [a = [], b = []] }, isSmallChange) => {
      const before = RangeSet.from(runsOf(windows, a).map(toRange));
      const other = RangeSet.from(runsOf(windows, b).map(toRange));
      const few = RangeSet.from([...other.ranges()].slice(0, 2));
      const after = isSmallChange ? before.difference(few).union(RangeSet.from([...few.ranges()].slice(1))) : other;
      const [old, young] = [coverTexts(before), coverTexts(after)];
      const { added, removed } = coverDifference(before, after);
      assert.equal(
        added.map(formatCidr),
        young.filter((text) => !old.includes(text)),
      );
      assert.equal(
        removed.map(formatCidr),
        old.filter((text) => !young.includes(text)),
      );
    }),
    { numRuns: 250 },
  );
});

test('the difference of covers agrees for large sets that share most of their chunks', () => {
  const start = RangeSet.from(
    Array.from({ length: 5_000 }, (_, i) => ({
      version: 4 as const,
      first: 2 ** 31 + 8 * i,
      last: 2 ** 31 + 8 * i + (i % 5),
    })),
  );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.boolean(), fc.nat(40_000), fc.constantFrom(0, 0, 3, 700)), { minLength: 1, maxLength: 6 }),
      (changes) => {
        let after = start;
        for (const [isAdding, offset, more] of changes) {
          const change = RangeSet.of({ version: 4, first: 2 ** 31 + offset, last: 2 ** 31 + offset + more });
          after = isAdding ? after.union(change) : after.difference(change);
        }
        const [old, young] = [new Set(coverTexts(start)), new Set(coverTexts(after))];
        const { added, removed } = coverDifference(start, after);
        assert.equal(
          added.map(formatCidr),
          [...young].filter((text) => !old.has(text)),
        );
        assert.equal(
          removed.map(formatCidr),
          [...old].filter((text) => !young.has(text)),
        );
        assert.equal(coverDifference(after, start), { added: removed, removed: added });
      },
    ),
    { numRuns: 60 },
  );
});

test('equal sets have no difference, whatever their chunks', () => {
  const ranges = Array.from({ length: 2_000 }, (_, i) => ({ version: 4 as const, first: 4 * i, last: 4 * i + 1 }));
  const atOnce = RangeSet.from(ranges);
  const oneByOne = ranges.reduce((set, range) => set.union(RangeSet.of(range)), RangeSet.empty);
  assert.equal(coverDifference(atOnce, oneByOne), { added: [], removed: [] });
  assert.equal(runsIn(atOnce), runsIn(oneByOne));
});

test('known covers', () => {
  assert.equal(coverOf(), []);
  assert.equal(coverOf('0.0.0.0-255.255.255.255'), ['0.0.0.0/0']);
  assert.equal(coverOf('0.0.0.0-127.255.255.255', '128.0.0.0-255.255.255.255'), ['0.0.0.0/0']);
  assert.equal(coverOf('255.255.255.255', '0.0.0.0'), ['0.0.0.0/32', '255.255.255.255/32']);
  assert.equal(coverOf('255.255.255.254', '255.255.255.255'), ['255.255.255.254/31']);
  assert.equal(coverOf('10.0.0.1', '10.0.0.2'), ['10.0.0.1/32', '10.0.0.2/32']);
  assert.equal(coverOf('10.0.0.1-10.0.0.6'), ['10.0.0.1/32', '10.0.0.2/31', '10.0.0.4/31', '10.0.0.6/32']);
  assert.equal(coverOf('127.255.255.255-128.0.0.0'), ['127.255.255.255/32', '128.0.0.0/32']);
  assert.equal(
    coverOf('0.0.0.1-255.255.255.255'),
    Array.from(
      { length: 32 },
      (_, i) =>
        `${2 ** i >= 2 ** 24 ? 2 ** (i - 24) : 0}.${i >= 16 && i < 24 ? 2 ** (i - 16) : 0}.${i >= 8 && i < 16 ? 2 ** (i - 8) : 0}.${i < 8 ? 2 ** i : 0}/${32 - i}`,
    ),
  );
  assert.equal(coverOf('::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'), ['::/0']);
  assert.equal(coverOf('::-7fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'), ['::/1']);
  assert.equal(coverOf('ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'), [
    'ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe/127',
  ]);
  assert.is(coverOf('::1-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff').length, 128);
  assert.is(coverOf('::1-ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe').length, 254);
  assert.equal(coverOf('2001:db8::ffff:ffff-2001:db8::1:0:1'), ['2001:db8::ffff:ffff/128', '2001:db8::1:0:0/127']);
  assert.equal(coverOf('2001:db8::1', '10.0.0.1', '2001:db8::', '10.0.0.0'), ['10.0.0.0/31', '2001:db8::/127']);
  assert.equal(coverOf('::ffff:10.0.0.0-::ffff:10.0.0.1'), ['::ffff:10.0.0.0/127']);
});

test.run();
