import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AddressMarks } from '../../src/addresses/address-marks.ts';
import { ipv4Text } from '../../src/addresses/address-text.ts';
import { RangeSet } from '../../src/addresses/range-set.ts';

/** Marks close to each other, at both ends of the space and where a signed number would change its sign. */
const marks = fc.array(
  fc.record({
    address: fc.oneof(
      fc.nat(40),
      fc.integer({ min: 2 ** 31 - 3, max: 2 ** 31 + 3 }),
      fc.integer({ min: 2 ** 32 - 9, max: 2 ** 32 - 1 }),
    ),
    isSet: fc.boolean(),
  }),
  { maxLength: 300, size: 'max' },
);

test('the last mark of each address counts, as if they had been made one by one', () => {
  fc.assert(
    fc.property(marks, (all) => {
      const made = new AddressMarks();
      let [set, cleared] = [RangeSet.empty, RangeSet.empty];
      for (const { address, isSet } of all) {
        assert.ok(made.mark(ipv4Text(address), isSet));
        const one = RangeSet.ofAddress({ version: 4, value: address });
        set = isSet ? set.union(one) : set.difference(one);
        cleared = isSet ? cleared.difference(one) : cleared.union(one);
      }
      const marked = made.marked();
      assert.equal(marked.set.toJSON(), set.toJSON());
      assert.equal(marked.cleared.toJSON(), cleared.toJSON());
      assert.equal(marked.either.toJSON(), set.union(cleared).toJSON());
    }),
  );
});

test('more marks may follow what was asked for', () => {
  const made = new AddressMarks();
  made.mark('192.0.2.1', true);
  assert.equal(made.marked().set.toJSON(), ['192.0.2.1']);
  made.mark('192.0.2.1', false);
  assert.equal(made.marked().set.toJSON(), []);
  assert.equal(made.marked().cleared.toJSON(), ['192.0.2.1']);
});

for (const text of [
  '192.0.2.1-192.0.2.2',
  '2001:db8::1',
  '192.0.2.0/24',
  '192.0.2.256',
  '192.0.2',
  '',
  'x'.repeat(500),
]) {
  test(`"${text.slice(0, 20)}" is no single IPv4 address and is not marked`, () => {
    const made = new AddressMarks();
    assert.not(made.mark(text, true));
    assert.ok(made.marked().either.isEmpty);
  });
}

test.run();
