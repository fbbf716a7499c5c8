import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isAddressProblem } from '../../src/addresses/address-problem.ts';
import {
  firstAddress,
  lastAddress,
  overlaps,
  parseRange,
  rangeContains,
  rangeOfAddress,
  rangeSize,
} from '../../src/addresses/range.ts';

const problemOf = (start: string, end: string): string => {
  const range = parseRange(start, end);
  return isAddressProblem(range) ? range.problem : 'no problem';
};

test('a range has both its ends', () => {
  assert.equal(parseRange('10.0.0.1', '10.0.0.1'), { version: 4, first: 167772161, last: 167772161 });
  assert.equal(parseRange('0.0.0.0', '255.255.255.255'), { version: 4, first: 0, last: 2 ** 32 - 1 });
  assert.equal(parseRange('::', '::ffff:0:0'), { version: 6, first: 0n, last: 0xffff_0000_0000n });
});

test('swapped ends, two versions and bad addresses are problems that say so', () => {
  assert.is(
    problemOf('10.0.0.2', '10.0.0.1'),
    'the start of a range must not be above its end: 10.0.0.2 and 10.0.0.1 are probably swapped',
  );
  assert.match(problemOf('2001:db8::2', '2001:db8::1'), 'probably swapped');
  assert.match(problemOf('10.0.0.1', '::ffff:10.0.0.2'), 'one IP version');
  assert.match(problemOf('::1', '255.255.255.255'), 'one IP version');
  assert.match(problemOf('10.0.0.1', '10.0.0'), '"10.0.0" is not an IP address');
  assert.match(problemOf('x', 'y'), '"x" is not an IP address');
});

test('size, ends, membership and overlap agree', () => {
  fc.assert(
    fc.property(
      fc.nat(40),
      fc.nat(40),
      fc.nat(40),
      fc.nat(40),
      fc.nat(40),
      fc.constantFrom(4 as const, 6 as const),
      (a, b, c, d, x, version) => {
        const range = (i: number, j: number) =>
          version === 4
            ? { version, first: 2 ** 31 + Math.min(i, j), last: 2 ** 31 + Math.max(i, j) }
            : { version, first: 2n ** 127n + BigInt(Math.min(i, j)), last: 2n ** 127n + BigInt(Math.max(i, j)) };
        const address = version === 4 ? { version, value: 2 ** 31 + x } : { version, value: 2n ** 127n + BigInt(x) };
        const [p, q] = [range(a, b), range(c, d)];
        assert.is(rangeSize(p), BigInt(Math.abs(a - b) + 1));
        assert.ok(rangeContains(p, firstAddress(p)) && rangeContains(p, lastAddress(p)));
        assert.is(rangeContains(p, address), overlaps(p, rangeOfAddress(address)));
        assert.is(overlaps(p, q), Math.max(Math.min(a, b), Math.min(c, d)) <= Math.min(Math.max(a, b), Math.max(c, d)));
      },
    ),
  );
});

test('equal numbers of different versions have nothing in common', () => {
  assert.not.ok(overlaps({ version: 4, first: 1, last: 1 }, { version: 6, first: 1n, last: 1n }));
  assert.not.ok(rangeContains({ version: 6, first: 0n, last: 9n }, { version: 4, value: 5 }));
});

test.run();
