import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isAddressProblem } from '../../../src/addresses/address-problem.ts';
import type { Address } from '../../../src/addresses/address.ts';
import { parseCidr, rangeOfCidr } from '../../../src/addresses/cidr.ts';
import { parseRangeTexts } from '../../../src/addresses/range-text.ts';
import { RangeMap } from '../../../src/addresses/range-map.ts';
import { RangeSet } from '../../../src/addresses/range-set.ts';
import { addressRuns } from '../../../src/domain/ip-control/subnet-status.ts';

function rangeOf(cidr: string) {
  const parsed = parseCidr(cidr);
  if (isAddressProblem(parsed)) throw new Error(parsed.problem);
  return rangeOfCidr(parsed);
}

/** Runs as `offset-offset` with their status: `D` disabled, `P` pending. */
function runs(
  cidr: string,
  disabled: readonly string[],
  pending: readonly string[],
  from?: Address,
): readonly string[] {
  const range = rangeOf(cidr);
  const sets = {
    range,
    disabled: parseRangeTexts(disabled),
    terms: new RangeMap<string>(),
    pending: parseRangeTexts(pending),
  };
  return [...addressRuns(sets, from)].map(({ first, last, isDisabled, isPending }) =>
    `${first - BigInt(range.first)}-${last - BigInt(range.first)} ${isDisabled ? 'D' : ''}${isPending ? 'P' : ''}`.trim(),
  );
}

test('a subnet with nothing special is one run', () => {
  assert.equal(runs('192.0.2.0/24', [], []), ['0-255']);
  assert.equal(runs('2001:db8::/48', [], []), [`0-${2n ** 80n - 1n}`]);
});

test('runs are maximal, complete, and in order', () => {
  assert.equal(runs('192.0.2.0/28', ['192.0.2.0-192.0.2.3', '192.0.2.15'], ['192.0.2.2-192.0.2.5']), [
    '0-1 D',
    '2-3 DP',
    '4-5 P',
    '6-14',
    '15-15 D',
  ]);
});

test('what lies outside the subnet is not seen', () => {
  assert.equal(runs('192.0.2.64/26', ['192.0.2.0-192.0.2.255'], ['192.0.2.0-192.0.2.70', '2001:db8::']), [
    '0-6 DP',
    '7-63 D',
  ]);
});

test('a subnet can begin and end at the edges of the address space', () => {
  assert.equal(runs('0.0.0.0/31', ['0.0.0.0'], []), ['0-0 D', '1-1']);
  assert.equal(runs('255.255.255.254/31', ['255.255.255.255'], []), ['0-0', '1-1 D']);
  assert.equal(
    runs('ffff::/16', ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'], []).at(-1),
    `${2n ** 112n - 1n}-${2n ** 112n - 1n} D`,
  );
});

test('a listing goes on from any address', () => {
  const from = { version: 4, value: 0xc0000205 } as const;
  assert.equal(runs('192.0.2.0/28', ['192.0.2.4-192.0.2.7'], [], from), ['5-7 D', '8-15']);
  assert.equal(runs('192.0.2.0/28', [], [], { version: 4, value: 0xc000020f }), ['15-15']);
});

test('runs say of each address what the sets say', () => {
  const size = 64;
  const base = 0xc0000200;
  const cells = fc.array(fc.boolean(), { minLength: size + 20, maxLength: size + 20, size: 'max' });
  const untils = fc.array(fc.constantFrom('a', 'b', undefined), { minLength: size + 20, maxLength: size + 20 });
  const set = (members: readonly boolean[]): RangeSet =>
    RangeSet.ofAddresses(
      members.flatMap((isMember, at) => (isMember ? [{ version: 4, value: base - 10 + at } as const] : [])),
    );
  fc.assert(
    fc.property(cells, cells, untils, fc.nat(size - 1), (disabled, pending, until, start) => {
      const terms = ['a', 'b'].reduce(
        (all, term) => all.with(set(until.map((one) => one === term)), term),
        new RangeMap<string>(),
      );
      const range = { version: 4, first: base, last: base + size - 1 } as const;
      const from = { version: 4, value: base + start } as const;
      const found = [...addressRuns({ range, disabled: set(disabled), terms, pending: set(pending) }, from)];
      let at = start;
      let previous: string | undefined;
      for (const { first, last, isDisabled, isPending, until: term } of found) {
        assert.is(first, BigInt(base + at), 'without gap or overlap');
        assert.is.not(previous, `${isDisabled}${isPending}${term}`, 'maximal');
        previous = `${isDisabled}${isPending}${term}`;
        for (; BigInt(base + at) <= last; at += 1) {
          assert.is(isDisabled, disabled[at + 10]);
          assert.is(isPending, pending[at + 10]);
          assert.is(term, until[at + 10]);
        }
      }
      assert.is(at, size, 'complete');
    }),
  );
});

test.run();
