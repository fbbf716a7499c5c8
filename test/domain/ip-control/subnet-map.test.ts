import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isAddressProblem } from '../../../src/addresses/address-problem.ts';
import { type Cidr, formatCidr, parseCidr } from '../../../src/addresses/cidr.ts';
import { parseRangeTexts } from '../../../src/addresses/range-text.ts';
import { RangeSet } from '../../../src/addresses/range-set.ts';
import { type MapLayers, subnetMap } from '../../../src/domain/ip-control/subnet-map.ts';

function block(cidr: string): Cidr {
  const parsed = parseCidr(cidr);
  if (isAddressProblem(parsed)) throw new Error(parsed.problem);
  return parsed;
}

function layers(given: Readonly<Partial<Record<keyof MapLayers, readonly string[]>>>): MapLayers {
  const { disabled = [], toDisable = [], toEnable = [] } = given;
  return {
    disabled: parseRangeTexts(disabled),
    toDisable: parseRangeTexts(toDisable),
    toEnable: parseRangeTexts(toEnable),
  };
}

const NOTHING = layers({});

test('a /24 is sixteen rows of sixteen addresses', () => {
  const map = subnetMap(
    block('203.0.113.0/24'),
    layers({
      disabled: ['203.0.113.32-203.0.113.63', '203.0.113.255'],
      toDisable: ['203.0.113.255'],
      toEnable: ['203.0.113.1'],
    }),
  );
  assert.equal([map.columns, map.rows, map.cellLength, map.parts.length], [16, 16, 32, 0]);
  const drawn = Array.from({ length: 16 }, (_, row) =>
    map.cells
      .filter(({ y }) => y === row)
      .map(
        ({ state }) =>
          ({ enabled: '.', few: 'f', many: 'm', disabled: '#', 'to-disable': '>', 'to-enable': '<' })[state],
      )
      .join(''),
  );
  assert.is(drawn[0], '.<..............');
  assert.equal(drawn.slice(2, 4), ['################', '################']);
  assert.is(drawn[15], '...............>');
});

test('a smaller block has fewer rows, a single address one cell', () => {
  assert.equal(
    [subnetMap(block('192.0.2.64/29'), NOTHING)].map(({ columns, rows }) => [columns, rows]),
    [[8, 1]],
  );
  assert.equal(
    [subnetMap(block('192.0.2.64/32'), NOTHING)].map(({ columns, rows }) => [columns, rows]),
    [[1, 1]],
  );
  assert.is(subnetMap(block('2001:db8::/121'), NOTHING).cells.length, 128);
});

test('of a larger block a cell is one of 4,096 at most, and says how much of it is disabled', () => {
  const map = subnetMap(
    block('10.0.0.0/16'),
    layers({ disabled: ['10.0.0.0-10.0.0.15', '10.0.0.16-10.0.0.17', '10.0.0.32-10.0.0.40'] }),
  );
  assert.equal([map.columns, map.rows, map.cellLength], [64, 64, 28]);
  assert.equal(
    map.cells.slice(0, 4).map(({ state }) => state),
    ['disabled', 'few', 'many', 'enabled'],
  );
  assert.is(subnetMap(block('2001:db8:7::/48'), NOTHING).cellLength, 60);
});

test('the curve goes from each cell to a neighbour, through all of them once', () => {
  for (const cidr of ['10.0.0.0/23', '10.0.0.0/22', '10.0.0.0/21', '10.0.0.0/16', '2001:db8::/48']) {
    const { cells, columns, rows } = subnetMap(block(cidr), NOTHING);
    assert.is(new Set(cells.map(({ x, y }) => y * columns + x)).size, columns * rows, cidr);
    for (const [index, { x, y }] of cells.entries()) {
      assert.ok(x >= 0 && y >= 0 && x < columns && y < rows, `${cidr} ${index}`);
      const before = cells[index - 1];
      if (before !== undefined) assert.is(Math.abs(before.x - x) + Math.abs(before.y - y), 1, `${cidr} ${index}`);
    }
  }
});

test('each sixteenth is the rectangle that its cells fill', () => {
  for (const cidr of ['10.0.0.0/23', '10.0.0.0/22', '10.0.0.0/16', '2001:db8::/48']) {
    const { cells, parts } = subnetMap(block(cidr), NOTHING);
    assert.is(parts.length, 16);
    for (const [index, part] of parts.entries()) {
      const own = cells.slice((index * cells.length) / 16, ((index + 1) * cells.length) / 16);
      assert.is(part.columns * part.rows, own.length, `${cidr} ${formatCidr(part.block)}`);
      for (const { x, y } of own)
        assert.ok(x >= part.x && x < part.x + part.columns && y >= part.y && y < part.y + part.rows);
    }
  }
  assert.equal(
    subnetMap(block('10.0.0.0/16'), NOTHING)
      .parts.slice(0, 2)
      .map((part) => formatCidr(part.block)),
    ['10.0.0.0/20', '10.0.16.0/20'],
  );
});

test('cells say what counting address by address says', () => {
  const offsets = fc.array(fc.tuple(fc.nat(1023), fc.nat(60)), { maxLength: 8 });
  fc.assert(
    fc.property(offsets, offsets, fc.constantFrom(22, 24, 27), (disabled, toDisable, length) => {
      const start = 0xcb007100 - (0xcb007100 % 1024);
      const set = (spans: readonly (readonly [number, number])[]): RangeSet =>
        RangeSet.from(spans.map(([at, size]) => ({ version: 4, first: start + at, last: start + at + size })));
      const drawn = { disabled: set(disabled), toDisable: set(toDisable), toEnable: RangeSet.empty };
      const { cells } = subnetMap({ version: 4, network: start, length }, drawn);
      for (const [index, { state }] of cells.entries()) {
        const address = { version: 4, value: start + index } as const;
        const isDisabled = drawn.disabled.contains(address);
        const wanted = drawn.toDisable.contains(address) ? 'to-disable' : isDisabled ? 'disabled' : 'enabled';
        assert.is(state, wanted);
      }
    }),
    { numRuns: 30 },
  );
});

test.run();
