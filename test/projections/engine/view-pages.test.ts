// A page of views is a piece of the whole list, wherever the views are at the moment: saved, in memory, or both.
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Event } from '../../../src/kernel/event.ts';
import type { Projection } from '../../../src/kernel/projection.ts';
import { storedViewsOf } from '../../../src/projections/engine/stored-views.ts';
import { viewCacheOf } from '../../../src/projections/engine/view-cache.ts';
import { recorded } from '../../specification.ts';
import { type EmbeddedLog, openEmbeddedLog } from '../../support/stores/embedded-log.ts';

const test = suite<{ log: EmbeddedLog }>('pages of views');

test.before.each(async (state) => {
  state.log = await openEmbeddedLog();
});
test.after.each((state) => state.log.close());

const AT = '2026-11-27T12:00:00Z';

type Noted = Event<'Noted', { key: string; value: number | null }>;

/** One view a key, which goes when it is noted as null. */
const notes: Projection<Noted, Readonly<{ value: number }>> = {
  name: 'notes',
  version: 1,
  handles: ['Noted'],
  keysOf: ({ data }) => [data.key],
  evolve: (_view, { data: { value } }) => (value === null ? undefined : { value }),
};

/** Some of them where the orders of UTF-16 units and of code points differ. */
const key = fc
  .tuple(
    fc.constantFrom('a/', 'b/', 'b'),
    fc.constantFrom('', '1', '10', '2', '\u{E000}', '\u{1F600}', '\u{1F600}1', '\uFFFD'),
  )
  .map((parts) => parts.join(''));
const step = fc.record({
  key,
  value: fc.option(fc.nat(9)),
  next: fc.oneof(
    { weight: 4, arbitrary: fc.constant('nothing' as const) },
    fc.constantFrom('save' as const, 'forget' as const, 'read all' as const),
  ),
});
const query = fc.record({
  prefix: fc.constantFrom('', 'a/', 'b', 'b/', 'c'),
  after: fc.option(fc.oneof(key, fc.constantFrom('', 'a', 'b/0', 'c')), { nil: undefined }),
  limit: fc.integer({ min: 1, max: 5 }),
});

/** As SQLite and MongoDB compare texts. */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

test('what was read once because all of it was asked for is not read again', async ({ log }) => {
  const readModels = log.readModels();
  const collection = await readModels.begin(notes.name, notes.version);
  const changes = ['a', 'b', 'c'].map((one) => ({ key: one, json: '{"position":"0","view":{"value":1}}' }));
  await readModels.save([{ collection, position: 0n, changes }]);
  await readModels.activate(collection);
  let reads = 0;
  const list: typeof readModels.list = (...asked) => {
    reads += 1;
    return readModels.list(...asked);
  };
  const cache = viewCacheOf(notes, { ...readModels, list });
  const keys = async (prefix: string): Promise<string> => (await cache.list(prefix)).map(({ key: one }) => one).join();
  await cache.open(collection);
  assert.is(await keys('a'), 'a');
  assert.is(await keys(''), 'a,b,c', 'what begins with a is not all of it');
  const before = reads;
  const data = { key: 'd', value: 2 };
  cache.apply(recorded({ type: 'Noted', data }, AT, { position: 1n }));
  assert.is(await keys(''), 'a,b,c,d');
  assert.is((await cache.page({ limit: 9 })).length, 4);
  assert.is(reads, before);
  await cache.open(collection);
  assert.is(await keys(''), 'a,b,c', 'from its documents, once more');
  assert.ok(reads > before);
});

test('a page has what a reader of the whole list would pick', async ({ log }) => {
  const readModels = log.readModels();
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 60, size: 'max' }),
      fc.array(query, { minLength: 1 }),
      async (story, asked) => {
        const collection = await readModels.begin(notes.name, notes.version);
        await readModels.activate(collection);
        const store = { ...log.store, end: async () => BigInt(story.length) - 1n };
        const direct = storedViewsOf(notes, { ...log, store, readModels });
        const cache = viewCacheOf(notes, readModels);
        await cache.open(collection);
        const expected = new Map<string, number>();
        const save = async (): Promise<void> => {
          const unsaved = cache.takeUnsaved();
          if (unsaved === undefined) return;
          await readModels.save([unsaved]);
          cache.saved();
        };
        const isAsExpected = async (views: Pick<typeof cache, 'page'>): Promise<void> => {
          for (const { prefix, after, limit } of asked) {
            const wanted = [...expected.keys()]
              .filter((one) => one.startsWith(prefix) && (after === undefined || byBytes(one, after) > 0))
              .sort(byBytes)
              .slice(0, limit)
              .map((one) => ({ key: one, view: { value: expected.get(one) } }));
            assert.equal(await views.page({ prefix, after, limit }), wanted);
          }
        };
        const areAllThere = async (): Promise<void> => {
          const wanted = [...expected].sort(([one], [other]) => byBytes(one, other));
          assert.equal(
            await cache.list(),
            wanted.map(([one, of]) => ({ key: one, view: { value: of } })),
          );
        };
        for (const [at, { key: named, value, next }] of story.entries()) {
          const event = recorded({ type: 'Noted', data: { key: named, value } } as const, AT, {
            position: BigInt(at),
          });
          await cache.prepare([event]);
          cache.apply(event);
          if (value === null) expected.delete(named);
          else expected.set(named, value);
          if (next === 'nothing') continue;
          if (next === 'read all') await areAllThere();
          else await save();
          if (next === 'forget') await cache.open(collection);
        }
        await isAsExpected(cache);
        await areAllThere();
        await isAsExpected(cache);
        await save();
        await isAsExpected(direct);
      },
    ),
    { numRuns: 100 },
  );
});

test.run();
