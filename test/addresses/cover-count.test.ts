import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { coverCount, coverMayExceed } from '../../src/addresses/cover-count.ts';
import { coverTexts } from '../../src/addresses/cidr-cover.ts';
import { RangeSet } from '../../src/addresses/range-set.ts';

const addresses = fc
  .array(fc.nat(300), { maxLength: 60 })
  .map((values) => RangeSet.ofAddresses(values.map((value) => ({ version: 4 as const, value }))));

test('the count is that of the cover, whether all of it is counted or the difference alone', () => {
  fc.assert(
    fc.property(addresses, addresses, addresses, (first, come, go) => {
      const then = first.union(come);
      const last = then.difference(go);
      assert.is(coverCount(then, first), coverTexts(then).length);
      assert.is(coverCount(last, then), coverTexts(last).length);
      assert.is(coverCount(last), coverTexts(last).length);
    }),
    { numRuns: 300 },
  );
});

test('the quick look never says no where the cover is longer', () => {
  fc.assert(
    fc.property(addresses, addresses, fc.nat(80), (before, changed, most) => {
      for (const after of [before.union(changed), before.difference(changed)]) {
        if (coverTexts(after).length > most) assert.ok(coverMayExceed(before, changed, most));
      }
    }),
    { numRuns: 300 },
  );
});

test.run();
