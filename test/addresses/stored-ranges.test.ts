import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { EdgeBuilder } from '../../src/addresses/boundaries/builder.ts';
import { IPV4_SPACE } from '../../src/addresses/boundaries/chunk.ts';
import { type Page, pageOf, pagesOf } from '../../src/addresses/boundaries/page.ts';
import { RangeSet } from '../../src/addresses/range-set.ts';
import { rangeTexts } from '../../src/addresses/range-text.ts';
import { type AddressRange } from '../../src/addresses/range.ts';
import {
  isPaged,
  PAGED_FROM,
  rangesOfStored,
  type StoredRanges,
  storedRanges,
} from '../../src/addresses/stored-ranges.ts';

const test = suite('ranges as they are stored');

/** Pages by name, as a store keeps them: what is the same page is kept once. */
class Kept {
  readonly bytes = new Map<string, Uint8Array>();
  readonly #names = new Map<Page, string>();

  readonly put = (page: Page): string => {
    const known = this.#names.get(page);
    if (known !== undefined) return known;
    const name = `p${this.#names.size}`;
    this.#names.set(page, name);
    this.bytes.set(name, page.bytes());
    return name;
  };

  readonly get = (name: string, read: (bytes: Uint8Array) => Page): Page => {
    const bytes = this.bytes.get(name);
    assert.ok(bytes, `${name} was kept`);
    return read(bytes);
  };
}

/** Every fourth address of a /8, and of a /104. */
function scattered(count: number): RangeSet {
  const ranges: AddressRange[] = [];
  for (let at = 0; at < count; at += 1) {
    const [ipv4, ipv6] = [0x0a000000 + 4 * at, (0x20010db8n << 96n) + 4n * BigInt(at)];
    ranges.push({ version: 4, first: ipv4, last: ipv4 }, { version: 6, first: ipv6, last: ipv6 + 1n });
  }
  return RangeSet.from(ranges);
}

const LARGE = scattered(PAGED_FROM);

test('few ranges are texts, whether there is a place for pages or not', () => {
  const set = scattered(3);
  const kept = new Kept();
  assert.equal(storedRanges(set, kept.put), rangeTexts(set));
  assert.is(kept.bytes.size, 0);
  assert.equal(rangeTexts(rangesOfStored(rangeTexts(set), kept.get)), rangeTexts(set));
});

test('many ranges are pages, where there is a place for them, and texts otherwise', () => {
  const kept = new Kept();
  const stored = storedRanges(LARGE, kept.put);
  assert.ok(isPaged(stored) && stored.ipv4.length > 1 && stored.ipv6.length > 1);
  assert.ok(rangesOfStored(stored, kept.get).equals(LARGE));
  assert.equal(storedRanges(LARGE), rangeTexts(LARGE));
});

test('the ends of both address spaces are stored as they are', () => {
  const whole = RangeSet.of(
    { version: 4, first: 0, last: 0 },
    { version: 4, first: 0xffffffff, last: 0xffffffff },
    { version: 6, first: 0n, last: 0n },
    { version: 6, first: 1n << 127n, last: (1n << 128n) - 1n },
  );
  const [ipv4, ipv6] = [pagesOf(whole.ipv4), pagesOf(whole.ipv6)];
  const again = ipv4.concat(ipv6).map((page) => pageOf(page.bytes()));
  const kept = new Map(again.map((page, at) => [String(at), page] as const));
  const stored = { ipv4: ['0'], ipv6: ['1'] };
  const set = rangesOfStored(stored, (name) => {
    const page = kept.get(name);
    assert.ok(page);
    return page;
  });
  assert.equal(rangeTexts(set), rangeTexts(whole));
});

/** Few addresses or many, near each other or far apart. */
type Change = Readonly<{ adds: boolean; from: number; count: number; step: number; version: 4 | 6 }>;

const change: fc.Arbitrary<Change> = fc.record({
  adds: fc.boolean(),
  from: fc.integer({ min: 0, max: 4 * PAGED_FROM + 100 }),
  count: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 1_500 })),
  step: fc.constantFrom(1, 2, 4, 8),
  version: fc.constantFrom<4 | 6>(4, 6),
});

function changed(set: RangeSet, { adds, from, count, step, version }: Change): RangeSet {
  const ranges = Array.from({ length: count }, (_, at): AddressRange => {
    const offset = from + at * step;
    if (version === 4) return { version, first: 0x0a000000 + offset, last: 0x0a000000 + offset };
    const first = (0x20010db8n << 96n) + BigInt(offset);
    return { version, first, last: first };
  });
  return adds ? set.union(RangeSet.from(ranges)) : set.difference(RangeSet.from(ranges));
}

test('whatever was changed, read again and changed further, what is stored is the set', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(change, fc.boolean()), { minLength: 1, maxLength: 12 }), (changes) => {
      const kept = new Kept();
      let [set, expected] = [LARGE, LARGE];
      for (const [one, isReadAgain] of changes) {
        expected = changed(expected, one);
        set = changed(set, one);
        const stored = throughJson(storedRanges(set, kept.put));
        const read = rangesOfStored(stored, kept.get);
        assert.is(read.rangeCount, expected.rangeCount);
        assert.is(read.count(), expected.count());
        assert.equal(rangeTexts(read), rangeTexts(expected));
        if (isReadAgain) set = read;
      }
    }),
    { numRuns: 40 },
  );
});

test('after a change of one address all pages but a few are the ones that were kept before', () => {
  let set = scattered(8 * PAGED_FROM);
  const kept = new Kept();
  storedRanges(set, kept.put);
  for (let at = 0; at < 200; at += 1) {
    const before = kept.bytes.size;
    const first = 0x0a000001 + 4 * ((at * 7_919) % (8 * PAGED_FROM));
    set = set.union(RangeSet.of({ version: 4, first, last: first }));
    storedRanges(set, kept.put);
    assert.ok(kept.bytes.size - before <= 2, `${kept.bytes.size - before} pages for one address`);
  }
});

test('what was read again shares its pages with what is changed on it', () => {
  const kept = new Kept();
  const pages = new Map<string, Page>();
  const stored = storedRanges(scattered(8 * PAGED_FROM), kept.put);
  const read = rangesOfStored(stored, (name, of) => {
    const page = kept.get(name, of);
    pages.set(name, page);
    return page;
  });
  const fresh: Page[] = [];
  const known = new Set(pages.values());
  storedRanges(read.union(RangeSet.of({ version: 4, first: 0x0a000001, last: 0x0a000001 })), (page) => {
    if (!known.has(page)) fresh.push(page);
    return '';
  });
  assert.is(fresh.length, 1);
});

test('pages stay neither too many nor too small, however a list grows', () => {
  let list = new EdgeBuilder(IPV4_SPACE).finish();
  for (let round = 0; round < 150; round += 1) {
    const more = RangeSet.from(
      Array.from({ length: 200 }, (_, at): AddressRange => {
        const first = 2 * (round * 200 + at);
        return { version: 4, first, last: first };
      }),
    );
    list = new RangeSet(list, RangeSet.empty.ipv6).union(more).ipv4;
    pagesOf(list);
  }
  const pages = pagesOf(list);
  assert.ok(pages.length <= list.chunks.length / 8 + 1, `${pages.length} pages of ${list.chunks.length} chunks`);
  assert.equal(
    pages.flatMap(({ chunks }) => chunks),
    list.chunks,
  );
});

test('bytes that are no page, or that were cut off, are told from one', () => {
  const [page] = pagesOf(LARGE.ipv4);
  assert.ok(page);
  const bytes = page.bytes();
  for (const length of [0, 1, 2, 10, bytes.length - 1]) {
    assert.throws(() => readAll(bytes.slice(0, length)), isDamage);
  }
  for (const other of [Uint8Array.of(9, 1, 0), Uint8Array.of(1, 2, 0), Uint8Array.of(1, 1, 255, 255, 3)])
    assert.throws(() => readAll(other), isDamage);
  assert.throws(() => readAll(Uint8Array.from([...bytes, 0])), isDamage);
});

test('a page of one version is none of the other', () => {
  const kept = new Kept();
  const stored = storedRanges(LARGE, kept.put);
  assert.ok(isPaged(stored));
  assert.throws(() => rangesOfStored({ ipv4: stored.ipv6, ipv6: [] }, kept.get), isDamage);
});

function readAll(bytes: Uint8Array): void {
  for (const chunk of pageOf(bytes).chunks) assert.ok(chunk.edges.length > 0);
}

function isDamage(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'packed-ranges-damaged';
}

function throughJson(stored: StoredRanges): StoredRanges {
  const json: unknown = JSON.parse(JSON.stringify(stored));
  if (isPaged(json)) return json;
  assert.ok(Array.isArray(json));
  return json.map(String);
}

test.run();
