import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { formatAddress } from '../../src/addresses/address.ts';
import { RangeMap } from '../../src/addresses/range-map.ts';
import { RangeSet } from '../../src/addresses/range-set.ts';
import { type AddressRange, firstAddress, lastAddress } from '../../src/addresses/range.ts';
import { NARROW_WINDOWS, runsOf, type Window } from './naive-model.ts';

const WINDOWS: readonly Window[] = [...NARROW_WINDOWS.slice(2, 4), ...NARROW_WINDOWS.slice(6, 8)];
const CELLS = WINDOWS.reduce((sum, { cells }) => sum + cells, 0);

const cellRuns = fc.array(fc.tuple(fc.nat(CELLS - 1), fc.nat(40)), { maxLength: 6 });
const changes = fc.array(fc.tuple(cellRuns, fc.constantFrom('a', 'b', 'c', undefined)), { maxLength: 12 });

function modelOf(runs: readonly (readonly [number, number])[]): boolean[] {
  const model = Array.from({ length: CELLS }, () => false);
  for (const [from, length] of runs) model.fill(true, from, Math.min(CELLS, from + length + 1));
  return model;
}

function setOf(model: readonly boolean[]): RangeSet {
  return RangeSet.from(
    runsOf(WINDOWS, model).map(({ version, first, last }): AddressRange =>
      version === 4 ? { version, first: Number(first), last: Number(last) } : { version, first, last },
    ),
  );
}

function shown(range: AddressRange): string {
  return `${formatAddress(firstAddress(range))}-${formatAddress(lastAddress(range))}`;
}

test('after any changes each address has the value that it was given last, in maximal ranges', () => {
  fc.assert(
    fc.property(changes, cellRuns, (all, askedRuns) => {
      let map = new RangeMap<string>();
      const model: (string | undefined)[] = Array.from({ length: CELLS }, () => undefined);
      for (const [runs, value] of all) {
        const cells = modelOf(runs);
        map = map.with(setOf(cells), value);
        for (const [cell, isIn] of cells.entries()) if (isIn) model[cell] = value;
      }
      const asked = modelOf(askedRuns);
      for (const value of ['a', 'b', 'c']) {
        const expected = model.map((one) => one === value);
        assert.equal(map.addressesOf((one) => one === value).toJSON(), setOf(expected).toJSON());
        assert.equal((map.byValue().get(value) ?? RangeSet.empty).toJSON(), setOf(expected).toJSON());
        assert.equal(
          map.addressesWithin(setOf(asked), (one) => one === value).toJSON(),
          setOf(expected.map((isIn, cell) => isIn && asked[cell] === true)).toJSON(),
        );
      }
      const maximal = ['a', 'b', 'c'].reduce(
        (count, value) =>
          count +
          runsOf(
            WINDOWS,
            model.map((one) => one === value),
          ).length,
        0,
      );
      assert.is(map.rangeCount, maximal);
      assert.is(map.isEmpty, maximal === 0);
      const ranges = [...map.entries()].map(({ range }) => range);
      assert.is(RangeSet.from(ranges).rangeCount <= ranges.length, true);
      for (const window of setOf(asked).ranges()) {
        const touching = ranges.filter(
          (range) => range.version === window.version && range.first <= window.last && range.last >= window.first,
        );
        assert.equal(
          [...map.entriesWithin(window)].map(({ range }) => shown(range)),
          touching.map(shown),
        );
      }
    }),
    { numRuns: 400 },
  );
});

test('a change leaves the map before it as it was', () => {
  const all = RangeSet.of({ version: 4, first: 0, last: 255 });
  const before = new RangeMap<string>().with(all, 'a');
  before.with(RangeSet.of({ version: 4, first: 7, last: 7 }), 'b');
  assert.equal(before.addressesOf(() => true).toJSON(), ['0.0.0.0-0.0.0.255']);
  assert.is(before.rangeCount, 1);
});

test('a /48 is one range', () => {
  const first = 0x20010db8n << 96n;
  const block: AddressRange = { version: 6, first, last: first + (1n << 80n) - 1n };
  const map = new RangeMap<string>().with(RangeSet.of(block), 'a');
  assert.equal([...map.entries()], [{ range: block, value: 'a' }]);
  assert.is(map.with(RangeSet.of({ ...block, last: first + 4n }), 'b').rangeCount, 2);
});

test.run();
