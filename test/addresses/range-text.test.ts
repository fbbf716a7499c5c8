import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isAddressProblem } from '../../src/addresses/address-problem.ts';
import type { AddressRange } from '../../src/addresses/range.ts';
import { RangeSet } from '../../src/addresses/range-set.ts';
import { parseRangeText, parseRangeTexts, rangeTexts, RangeTextError } from '../../src/addresses/range-text.ts';

test('single addresses are one address, ranges are two, IPv4 first, in order', () => {
  const set = parseRangeTexts([
    '2001:db8::1-2001:db8::ff',
    '::1',
    '255.255.255.255',
    '10.0.0.0-10.0.0.255',
    '10.0.1.0',
  ]);
  assert.equal(rangeTexts(set), ['10.0.0.0-10.0.1.0', '255.255.255.255', '::1', '2001:db8::1-2001:db8::ff']);
});

test('texts that are not canonical are read, and written canonically', () => {
  assert.equal(rangeTexts(parseRangeTexts(['10.0.0.1-10.0.0.1', '2001:DB8:0::1-2001:db8::2'])), [
    '10.0.0.1',
    '2001:db8::1-2001:db8::2',
  ]);
});

test('no texts are the empty set', () => {
  assert.ok(parseRangeTexts([]).isEmpty);
  assert.equal(rangeTexts(parseRangeTexts([])), []);
});

for (const text of [
  '',
  '-',
  '10.0.0.1-',
  '-10.0.0.1',
  '10.0.0.1 - 10.0.0.2',
  '10.0.0.1-10.0.0.2-10.0.0.3',
  '10.0.0.2-10.0.0.1',
  '10.0.0.1-2001:db8::1',
  '::1-10.0.0.1',
  '::2-::1',
  '10.0.0.0/8',
  '10.0.0.0-10.0.0.01',
  '10.0.0.1\n',
  '10.0.0.1-10.0.0.2\0',
  'fe80::1%a-fe80::2%a',
  `10.0.0.1-${'9'.repeat(200)}`,
]) {
  test(`is no range text: ${JSON.stringify(text.slice(0, 40))}`, () => {
    const outcome = parseRangeText(text);
    assert.ok(isAddressProblem(outcome));
    for (const texts of [
      [text],
      ['10.0.0.9', text],
      ['::9', text, '::a', '::b', '::c', '::d', '::e', '::f', '::1:0'],
    ]) {
      assert.throws(
        () => parseRangeTexts(texts),
        (error: unknown) =>
          error instanceof RangeTextError && error.text === text && error.code === 'range-text-invalid',
      );
    }
  });
}

test('one range at a time reads as many ranges do', () => {
  const ipv4 = fc
    .tuple(fc.nat(0xffff_ffff), fc.nat(0xffff_ffff))
    .map(([a, b]) => ({ version: 4 as const, first: Math.min(a, b), last: Math.max(a, b) }));
  const ipv6 = fc
    .tuple(fc.bigInt(0n, 2n ** 128n - 1n), fc.bigInt(0n, 2n ** 128n - 1n))
    .map(([a, b]) => ({ version: 6 as const, first: a < b ? a : b, last: a < b ? b : a }));
  fc.assert(
    fc.property(fc.oneof(ipv4, ipv6), (range) => {
      const outcome = parseRangeText(rangeTextsOf(range).join(''));
      assert.equal(outcome, range);
    }),
  );
});

function rangeTextsOf(range: AddressRange): string[] {
  return rangeTexts(RangeSet.of(range));
}

test.run();
