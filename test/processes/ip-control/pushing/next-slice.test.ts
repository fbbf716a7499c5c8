import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Cidr, compareCidrs, formatCidr, parseCidr, rangeOfCidr } from '../../../../src/addresses/cidr.ts';
import { isAddressProblem } from '../../../../src/addresses/address-problem.ts';
import { coverTexts } from '../../../../src/addresses/cidr-cover.ts';
import { parseRangeTexts } from '../../../../src/addresses/range-text.ts';
import { RangeSet } from '../../../../src/addresses/range-set.ts';
import { nextSlice } from '../../../../src/processes/ip-control/pushing/next-slice.ts';

/** All addresses of the small world: 192.0.2.0/27 and 2001:db8::/124, one number each. */
const WORLD = [
  ...Array.from({ length: 32 }, (_, at) => `192.0.2.${at}`),
  ...Array.from({ length: 16 }, (_, at) => `2001:db8::${at.toString(16)}`),
];

function blockAt(at: number, bits: number): string {
  const size = 2 ** bits;
  if (at < 32) return `192.0.2.${at - (at % size)}/${32 - bits}`;
  const offset = at - 32 - ((at - 32) % size);
  return `2001:db8::${offset === 0 ? '' : offset.toString(16)}/${128 - bits}`;
}

/** Lists as others may leave them: blocks in blocks, halves that are no whole. */
const anyList = fc
  .array(fc.record({ at: fc.nat(WORLD.length - 1), bits: fc.nat(3) }), { maxLength: 24 })
  .map((blocks) => inOrder([...new Set(blocks.map(({ at, bits }) => blockAt(at, bits)))]));
const anySet = fc
  .array(fc.boolean(), { minLength: WORLD.length, maxLength: WORLD.length })
  .map((flags) => setOf(WORLD.filter((_, at) => flags[at] === true)));
const fewAddresses = fc
  .array(fc.nat(WORLD.length - 1), { maxLength: 3 })
  .map((at) => setOf(at.map((one) => WORLD[one] ?? '')));

function setOf(texts: readonly string[]): RangeSet {
  return parseRangeTexts(texts);
}

function cidrOf(text: string): Cidr {
  const cidr = parseCidr(text);
  if (isAddressProblem(cidr)) throw new Error(cidr.problem);
  return cidr;
}

function inOrder(texts: readonly string[]): readonly string[] {
  return texts.map(cidrOf).sort(compareCidrs).map(formatCidr);
}

/** Which addresses of the world a list blocks, found one by one. */
function blocked(list: readonly string[]): ReadonlySet<string> {
  const all = RangeSet.from(list.map((text) => rangeOfCidr(cidrOf(text))));
  return new Set(WORLD.filter((address) => !all.intersection(setOf([address])).isEmpty));
}

function newIn(after: readonly string[], before: readonly string[]): number {
  const known = new Set(before);
  return after.filter((text) => !known.has(text)).length;
}

const cases = fc.record({
  held: fc.oneof(anyList, anySet.map(coverTexts)),
  set: anySet,
  newest: fewAddresses,
  most: fc.integer({ min: 1, max: 20 }),
});

test('slice after slice the list arrives at what is wanted, and no slice blocks or lets through what it must not', () => {
  fc.assert(
    fc.property(cases, ({ held, set, newest, most }) => {
      const wanted = coverTexts(set);
      const [was, shall] = [blocked(held), blocked(wanted)];
      let list = held;
      for (let slices = 0; list.join() !== wanted.join(); slices += 1) {
        assert.ok(slices <= WORLD.length * 2, `arrives: ${held.join()} -> ${wanted.join()} by ${most}`);
        const next = nextSlice(list, wanted, [newest, set], most);
        assert.equal(next, inOrder(next), 'in order, each once');
        assert.is(new Set(next).size, next.length);
        const has = blocked(next);
        for (const address of WORLD) {
          if (has.has(address)) assert.ok(was.has(address) || shall.has(address), `${address} is blocked by neither`);
          else assert.not.ok(was.has(address) && shall.has(address), `${address} is blocked by both`);
        }
        assert.ok(newIn(next, list) <= Math.max(most, Math.floor(most / 2) + 5, 6), 'no more than it may');
        list = next;
      }
    }),
    { numRuns: 400 },
  );
});

test('what was changed last is right after one slice that has room for it, and comes alone', () => {
  fc.assert(
    fc.property(cases, ({ held, set, newest }) => {
      const wanted = coverTexts(set);
      const next = blocked(nextSlice(held, wanted, [newest, set], 100));
      const shall = blocked(wanted);
      for (const address of blocked(coverTexts(newest))) assert.is(next.has(address), shall.has(address), address);
    }),
    { numRuns: 200 },
  );
});

const scattered = (from: number, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `198.18.${Math.floor((from + at * 2) / 256)}.${(from + at * 2) % 256}/32`);

test('one address among thousands comes first', () => {
  const wanted = inOrder([...scattered(0, 5000), '203.0.113.66/32']);
  const next = nextSlice(
    scattered(0, 400),
    wanted,
    [setOf(['203.0.113.66']), RangeSet.from(scattered(0, 5000).map((text) => rangeOfCidr(cidrOf(text))))],
    50,
  );
  assert.equal(next, inOrder([...scattered(0, 400), '203.0.113.66/32']));
});

test('what was enabled leaves before more comes', () => {
  const held = scattered(0, 10);
  const next = nextSlice(held, scattered(10, 1000), [], 5);
  assert.is(
    next.filter((text) => held.includes(text)).length,
    5,
    'the five that stay are all that is left of the old ones',
  );
});

test('a block that splits is never gone and never twice as wide', () => {
  assert.equal(nextSlice(['192.0.2.0/25'], ['192.0.2.0/26', '192.0.2.64/32'], [], 1), [
    '192.0.2.0/26',
    '192.0.2.64/32',
  ]);
  assert.equal(nextSlice(['192.0.2.0/26', '192.0.2.64/26'], ['192.0.2.0/25'], [], 1), ['192.0.2.0/25']);
});

test('what is no plain block goes with the first slice', () => {
  const next = nextSlice(['192.0.2.0/24 le 32', 'deny 198.51.100.0/24'], ['192.0.2.0/24', ...scattered(0, 100)], [], 3);
  assert.ok(next.includes('192.0.2.0/24'));
  assert.ok(next.length <= 3);
});

test('what says no block at all leaves no way but the whole list', () => {
  assert.equal(nextSlice(['# text'], scattered(0, 100), [], 3), scattered(0, 100));
});

test.run();
