import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { coverTexts } from '../../../../src/addresses/cidr-cover.ts';
import { RangeSet } from '../../../../src/addresses/range-set.ts';
import { contentOf } from '../../../../src/domain/ip-control/commit-content.ts';
import { KnownTexts } from '../../../../src/processes/ip-control/pushing/wanted-list.ts';

function scattered(count: number, from = 0x0a000000): RangeSet {
  return RangeSet.from(
    Array.from({ length: count }, (_, at) => ({ version: 4, first: from + 4 * at, last: from + 4 * at })),
  );
}

const [FEW, MANY] = [4_095, 5_000];
const ONE = RangeSet.ofAddress({ version: 4, value: 0x0a000002 });

/** Whether the next text of a list is made of the one before. */
function isShared(texts: KnownTexts, name: string, set: RangeSet): boolean {
  const before = texts.wanted(name, set).text;
  return (
    before !== undefined &&
    texts.wanted(name, set.union(ONE)).text?.pieces.some((piece) => before.pieces.includes(piece)) === true
  );
}

test('few ranges are blocks, many are one text; both say the same of themselves', () => {
  for (const count of [0, 1, FEW, MANY]) {
    const set = scattered(count);
    const wanted = new KnownTexts().wanted('a', set);
    assert.is(wanted.text === undefined, count <= FEW);
    assert.is(wanted.count, count);
    assert.equal(wanted.prefixes, coverTexts(set));
    assert.equal(wanted.content(), contentOf(coverTexts(set)));
  }
});

test('a list that has changed a little shares what it was before, whatever other lists have become', () => {
  const texts = new KnownTexts();
  const first = texts.wanted('a', scattered(MANY)).text;
  texts.wanted('b', scattered(MANY, 0x0b000000));
  const next = texts.wanted('a', scattered(MANY).union(ONE));
  assert.equal(next.prefixes, coverTexts(scattered(MANY).union(ONE)));
  const set = scattered(MANY);
  const again = new KnownTexts();
  const before = again.wanted('a', set).text;
  const after = again.wanted('a', set.union(ONE)).text;
  const shared = after?.pieces.filter((piece) => before?.pieces.includes(piece)) ?? [];
  assert.ok(shared.length >= 1, 'pieces of the same set are the very same');
  assert.ok(first !== undefined && first.byteLength < (next.text?.byteLength ?? 0));
});

test('what is over the bound is forgotten, the least recently wanted first, and made anew', () => {
  const [a, b] = [scattered(MANY), scattered(MANY, 0x0b000000)];
  const bytes = Buffer.byteLength(`${coverTexts(a).join('\n')}\n`);
  assert.ok(isShared(new KnownTexts(2 * bytes), 'a', a));
  assert.not.ok(isShared(new KnownTexts(bytes - 1), 'a', a), 'one that is longer than all that is kept');
  const texts = new KnownTexts(3 * bytes - 1);
  const first = texts.wanted('a', a).text;
  texts.wanted('b', b);
  texts.wanted('a', a);
  texts.wanted('c', scattered(MANY, 0x0c000000));
  assert.ok(
    texts.wanted('a', a).text?.pieces.every((piece) => first?.pieces.includes(piece)),
    'a was wanted again',
  );
});

test('a list that has become short is kept no more', () => {
  const set = scattered(MANY);
  const texts = new KnownTexts();
  const before = texts.wanted('a', set).text;
  texts.wanted('a', scattered(FEW));
  const after = texts.wanted('a', set).text;
  assert.not.ok(after?.pieces.some((piece) => before?.pieces.includes(piece)));
});

test.run();
