import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isAddressProblem } from '../../src/addresses/address-problem.ts';
import { formatAddress } from '../../src/addresses/address.ts';
import { cover, coverTexts } from '../../src/addresses/cidr-cover.ts';
import { formatCidr } from '../../src/addresses/cidr.ts';
import { coverOfLines, coverOfTexts } from '../../src/addresses/cover-of-texts.ts';
import { orderOfWords, sortedByKey } from '../../src/addresses/range-set-builder.ts';
import { RangeSet } from '../../src/addresses/range-set.ts';
import { firstAddress, lastAddress } from '../../src/addresses/range.ts';
import { cellRanges, modelsOver, runsOf, toRange } from '../kernel/addresses/naive-model.ts';

function linesOf(text: string): string {
  const pieces: string[] = [];
  const problem = coverOfLines(new TextEncoder().encode(text), (piece) => pieces.push(new TextDecoder().decode(piece)));
  if (problem !== undefined) {
    assert.equal(pieces, [], 'nothing is written beside a problem');
    return problem.problem;
  }
  return pieces.join('');
}

/** Every cell as an address, a range or blocks, whichever the dice say, more than once, in any order. */
const mixedTexts = modelsOver(1).chain(({ windows, models: [model = []] }) => {
  const ranges = [...cellRanges(windows, model), ...runsOf(windows, model).map(toRange)];
  const texts = ranges.flatMap((range, i) => {
    const [first, last] = [formatAddress(firstAddress(range)), formatAddress(lastAddress(range))];
    if (i % 3 === 0) return cover(RangeSet.of(range)).map(formatCidr);
    return first === last && i % 3 === 1 ? [first] : [`${first}-${last}`];
  });
  return fc
    .shuffledSubarray([...texts, ...texts.slice(0, 7)], { minLength: texts.length + Math.min(7, texts.length) })
    .map((shuffled) => ({ texts: shuffled, expected: coverTexts(RangeSet.from(runsOf(windows, model).map(toRange))) }));
});

test('texts in any form and order give the cover of the set that they spell', () => {
  fc.assert(
    fc.property(mixedTexts, ({ texts, expected }) => {
      assert.equal(coverOfTexts(texts), expected);
      assert.is(linesOf(texts.join('\n')), expected.map((block) => `${block}\n`).join(''));
    }),
    { numRuns: 80 },
  );
});

test('lists long enough to be sorted by digits give the same cover', () => {
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
      assert.equal(coverOfTexts(texts), coverTexts(oneByOne));
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

test('blank lines, spaces, carriage returns and comments are no entries', () => {
  assert.is(linesOf(''), '');
  assert.is(linesOf('\n\n  \r\n# nothing\n'), '');
  assert.is(
    linesOf('# list\r\n10.0.0.1\r\n\t10.0.0.0  # first\n\n2001:db8::/33#half\n2001:db8:8000::/33'),
    '10.0.0.0/31\n2001:db8::/32\n',
  );
  assert.is(linesOf('10.0.0.1#'), '10.0.0.1/32\n');
});

for (const [entry, because] of [
  ['10.0.0.1/24', 'probably 10.0.0.0/24'],
  ['10.0.0.0/33', 'from 0 to 32'],
  ['2001:db8::1/64', 'probably 2001:db8::/64'],
  ['::/129', 'from 0 to 128'],
  ['10.0.0.2-10.0.0.1', 'probably swapped'],
  ['::2-::1', 'probably swapped'],
  ['10.0.0.1-::1', 'one IP version'],
  ['10.0.0.1-', '"" is not an IP address'],
  ['10.0.0.01', 'without leading zeros'],
  ['10.0.0', 'four decimal numbers'],
  ['10.0.0.0-10.0.0.255/24', 'is not a CIDR'],
  ['10.0.0.1,10.0.0.2', 'is not an IP address'],
  ['host.example', 'is not an IP address'],
  ['10.0.0.١', 'is not an IP address'],
  ['fe80::1%eth0', 'leave the zone id away'],
] as const) {
  test(`an entry that is wrong is named with its place: ${entry}`, () => {
    const texts = ['10.0.0.9', '::9', entry, 'never read'];
    const outcome = coverOfTexts(texts);
    assert.ok(isAddressProblem(outcome));
    assert.match(outcome.problem, /^entry 3: /);
    assert.match(outcome.problem, because);
    const said = linesOf(texts.join('\n\n'));
    assert.match(said, /^line 5: /);
    assert.match(said, because);
  });
}

test('an entry of a list of texts is one entry, with nothing around it', () => {
  for (const text of [
    '10.0.0.1\n10.0.0.2',
    ' 10.0.0.1',
    '10.0.0.1 ',
    '10.0.0.1#',
    '#',
    '',
    '10.0.0.1\r',
    '10.0.0.1\0',
  ]) {
    const outcome = coverOfTexts([text]);
    assert.ok(isAddressProblem(outcome), JSON.stringify(text));
    assert.match(outcome.problem, /^entry 1: /);
  }
  assert.match(linesOf('10.0.0.1 10.0.0.2'), /^line 1: "10.0.0.1 10.0.0.2" is not/);
  assert.match(linesOf('10.0.0.1\u00a0'), /^line 1: /);
  assert.match(linesOf('10.0.0.1\0'), /^line 1: /);
  assert.match(linesOf(`\n10.0.0.1${' '.repeat(5_000)}x`), /^line 2: nothing but a comment may follow "10\.0\.0\.1"$/);
});

test('any line at all is read the same way as a single text', () => {
  const entry = fc.oneof(
    fc.string({ unit: fc.constantFrom(...'01258abf.:/-%'.split('')), minLength: 1, maxLength: 24 }),
    fc.tuple(fc.ipV4(), fc.nat(40)).map(([address, length]) => `${address}/${length}`),
    fc.tuple(fc.ipV6(), fc.nat(140)).map(([address, length]) => `${address}/${length}`),
    fc.tuple(fc.oneof(fc.ipV4(), fc.ipV6()), fc.oneof(fc.ipV4(), fc.ipV6())).map((ends) => ends.join('-')),
    fc.ipV6(),
  );
  fc.assert(
    fc.property(entry, (text) => {
      const outcome = coverOfTexts([text]);
      const said = linesOf(text);
      if (isAddressProblem(outcome)) assert.is(said.replace('line 1', 'entry 1'), outcome.problem);
      else assert.is(said, outcome.map((block) => `${block}\n`).join(''));
    }),
    { numRuns: 2_000 },
  );
});

test('output larger than the buffers comes in pieces that fit together', () => {
  const texts = Array.from({ length: 80_000 }, (_, i) => formatAddress({ version: 4, value: 0xc000_0000 + 2 * i }));
  const expected = texts.map((text) => `${text}/32`);
  assert.equal(coverOfTexts(texts.toReversed()), expected);
  assert.is(linesOf(texts.toReversed().join('\n')), `${expected.join('\n')}\n`);
});

test.run();
