import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { coverTexts } from '../../src/addresses/cidr-cover.ts';
import { CoverText } from '../../src/addresses/cover-text.ts';
import { RangeSet } from '../../src/addresses/range-set.ts';
import type { AddressRange } from '../../src/addresses/range.ts';

const test = suite('the cover of a set as one text');

/** What it must be, made as a whole. */
function wholeText(set: RangeSet): string {
  return coverTexts(set)
    .map((text) => `${text}\n`)
    .join('');
}

function textOf(text: CoverText): string {
  return Buffer.concat(text.pieces).toString('utf8');
}

function assertIsCover(text: CoverText, set: RangeSet): void {
  const whole = wholeText(set);
  assert.ok(textOf(text) === whole, 'the text is that of the whole cover');
  assert.is(text.byteLength, Buffer.byteLength(whole));
  assert.is(text.count, coverTexts(set).length);
}

/** Every fourth address from 10.0.0.0 and from 2001:db8:: on. */
function scattered(count: number): RangeSet {
  const ranges: AddressRange[] = [];
  for (let at = 0; at < count; at += 1) {
    const [ipv4, ipv6] = [0x0a000000 + 4 * at, (0x20010db8n << 96n) + 4n * BigInt(at)];
    ranges.push({ version: 4, first: ipv4, last: ipv4 }, { version: 6, first: ipv6, last: ipv6 + 2n });
  }
  return RangeSet.from(ranges);
}

const MANY = 6_000;
const LARGE = scattered(MANY);

/** A run of addresses that come or go, anywhere in the large set, at its ends, or beside it. */
const changes = fc.array(
  fc.record({
    version: fc.constantFrom(4 as const, 6 as const),
    from: fc.oneof(fc.integer({ min: -40, max: 4 * MANY + 40 }), fc.constantFrom(-1, 0, 4 * MANY - 4, 4 * MANY)),
    length: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 4 * MANY })),
    comes: fc.boolean(),
  }),
  { minLength: 1, maxLength: 8 },
);

function changed(
  set: RangeSet,
  { version, from, length, comes }: Readonly<{ version: 4 | 6; from: number; length: number; comes: boolean }>,
): RangeSet {
  const run = RangeSet.of(
    version === 4
      ? { version, first: 0x0a000000 + from, last: 0x0a000000 + from + length - 1 }
      : {
          version,
          first: (0x20010db8n << 96n) + BigInt(from),
          last: (0x20010db8n << 96n) + BigInt(from + length - 1),
        },
  );
  return comes ? set.union(run) : set.difference(run);
}

test('nothing is the empty text', () => {
  const text = CoverText.of(RangeSet.empty);
  assert.is(text.count, 0);
  assert.equal(text.pieces, []);
  assert.ok(text.hasLinesOf(new Uint8Array()));
});

test('it is the whole cover, block by block, of both versions', () => {
  const text = CoverText.of(LARGE);
  assertIsCover(text, LARGE);
  assert.ok(text.pieces.length > 6, 'it is in pieces');
  assert.equal(text.texts(), coverTexts(LARGE));
});

test('made from the text before a change, or before several, or from that of another set, it is what it is without', () => {
  fc.assert(
    fc.property(changes, (steps) => {
      let set = LARGE;
      let text = CoverText.of(set);
      const first = text;
      for (const step of steps) {
        set = changed(set, step);
        text = CoverText.of(set, text);
        assertIsCover(text, set);
        assertIsCover(CoverText.of(set, first), set);
        assertIsCover(CoverText.of(set), set);
      }
      // Back to what it was: whatever was taken from later texts is as good.
      assertIsCover(CoverText.of(LARGE, text), LARGE);
    }),
    { numRuns: 15 },
  );
});

test('one address more makes one new piece of the text before it, or a few', () => {
  const before = CoverText.of(LARGE);
  const set = changed(LARGE, { version: 4, from: 2 * MANY + 2, length: 1, comes: true });
  const known = new Set(before.pieces);
  const news = CoverText.of(set, before).pieces.filter((piece) => !known.has(piece));
  assert.ok(news.length >= 1 && news.length <= 3, String(news.length));
});

const SOME = scattered(2_500);
const SOME_LINES = coverTexts(SOME);

/** What can have become of a file: its lines, some of them gone, doubled, moved, changed or cut off. */
const damages = fc.array(
  fc.record({
    what: fc.constantFrom('gone', 'doubled', 'swapped', 'other', 'not our own', 'moved to the end'),
    at: fc.nat(SOME_LINES.length - 1),
    to: fc.nat(SOME_LINES.length - 1),
  }),
  { maxLength: 4 },
);

function damaged(given: readonly string[], what: string, at: number, to: number): string[] {
  const lines = [...given];
  const [line = '', other = ''] = [lines[at], lines[to]];
  if (what === 'gone') lines.splice(at, 1);
  else if (what === 'doubled') lines.splice(to, 0, line);
  else if (what === 'swapped') [lines[at], lines[to]] = [other, line];
  else if (what === 'other') lines[at] = line.replace('0/', '1/');
  else if (what === 'not our own') lines[at] = `${line.slice(0, -1)}\u00e4`;
  else lines.push(...lines.splice(at, 1));
  return lines;
}

test('another text has its lines where it has the same ones as often, in whatever order, each with an end', () => {
  const text = CoverText.of(SOME);
  fc.assert(
    fc.property(damages, fc.constantFrom('', '\n', '\n\n', '\r\n', '\n '), (steps, end) => {
      const lines = steps.reduce<string[]>((all, { what, at, to }) => damaged(all, what, at, to), [...SOME_LINES]);
      const other = Buffer.from(lines.join('\n') + end);
      const isSame =
        end === '\n' && lines.length === SOME_LINES.length && lines.toSorted().join() === SOME_LINES.toSorted().join();
      assert.is(text.hasLinesOf(other), isSame, JSON.stringify({ steps, end }));
    }),
    { numRuns: 150 },
  );
});

test('a line end that has moved makes other lines, though all else is the same', () => {
  const text = CoverText.of(SOME);
  const bytes = Buffer.concat(text.pieces);
  for (const piece of [0, 1]) {
    const end = text.pieces.slice(0, piece + 1).reduce((sum, { length }) => sum + length, 0);
    const other = Buffer.from(bytes);
    // The newline at the end of a piece trades places with the character before it, or behind it.
    [other[end - 2], other[end - 1]] = [10, bytes[end - 2] ?? 0];
    assert.not.ok(text.hasLinesOf(other));
    const behind = Buffer.from(bytes);
    if (end < bytes.length) [behind[end - 1], behind[end]] = [bytes[end] ?? 0, 10];
    else behind[end - 1] = 32;
    assert.not.ok(text.hasLinesOf(behind));
  }
});

test.run();
