import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openMongoDatabase } from '../../../src/adapters/mongodb/database.ts';
import { systemClock } from '../../../src/adapters/clock.ts';
import { afterPrefix, makeIndexes, openGuardedTexts } from '../../../src/adapters/mongodb/guarded-texts.ts';
import { textParts } from '../../../src/adapters/mongodb/large-texts.ts';
import type { RecordedEvent } from '../../../src/kernel/event.ts';
import { StoreUnavailable } from '../../../src/ports/event-store.ts';
import type { Collection, ReadModels, ViewSave } from '../../../src/ports/read-models.ts';
import { type ViewCache, viewCacheOf } from '../../../src/projections/engine/view-cache.ts';
import { type AddressView, addressProjection } from '../../../src/projections/ip-control/address-view.ts';
import {
  assigned,
  commitCompleted,
  commitRequested,
  disabled,
  enabled,
} from '../../commands/ip-control/customer-examples.ts';
import { recorded } from '../../specification.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { startMongoServer } from '../../support/stores/ferretdb.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { failureOf, type Place, placeOn } from './opening.ts';

type Context = { place: Place; views: ReadModels };

const server = await startMongoServer();
const test = suite<Context>('views in MongoDB, when writes come late, twice or not at all');

if (server === undefined) test.skip('there is no server');
else {
  test.before.each(async (context) => {
    context.place = await placeOn(server);
    context.views = (await context.place.open()).readModels;
  });
  test.after.each(({ place }) => place.stop());

  test('a late save of older content changes nothing, and brings nothing back', async ({ views }) => {
    const collection = await activated(views);
    await put(views, collection, 5n, { a: 'new', b: 'new' });
    await put(views, collection, 6n, { b: undefined });
    await put(views, collection, 3n, { a: 'late', b: 'late', c: 'only here' });
    assert.equal(await contents(views, collection), { a: 'new', c: 'only here' });
    assert.is(await views.position(collection), 6n);
  });

  test('a deletion that comes late, from who kept the views before, takes no part that a text names again', async ({
    views,
    place,
  }) => {
    const { name, version } = addressProjection;
    const collection = await views.begin(name, version);
    await views.activate(collection);
    const everySecond = Array.from({ length: 9_000 }, (_, at) => `10.0.${at >> 7}.${2 * (at & 127)}`);
    const story = [
      [assigned(1, '10.0.0.0/8'), disabled(everySecond), commitRequested(), commitCompleted()],
      [disabled(['10.0.0.1']), commitRequested(), commitCompleted()],
      [assigned(2, '11.0.0.0/8')],
      [assigned(3, '12.0.0.0/8')],
      [enabled(['10.0.0.1']), commitRequested(), commitCompleted()],
    ];
    let position = -1n;
    const told = story.map((events) =>
      events.map((event) => {
        position += 1n;
        return recorded(event, '2026-11-27T12:00:00Z', { stream: 'customer-7', position, revision: position });
      }),
    );
    const opened = async (readModels: ReadModels): Promise<ViewCache<AddressView>> => {
      const cache = viewCacheOf(addressProjection, readModels);
      await cache.open(collection);
      return cache;
    };
    const before = await opened(views);
    for (const events of told.slice(0, 3)) {
      await views.save([await saveOf(before, events, 0)]);
      before.saved();
    }
    const { parts = [], ...last } = await saveOf(before, told[3] ?? [], 60_000);
    const deletions = parts.filter(({ json }) => json === undefined);
    assert.ok(deletions.length > 0);
    await views.save([{ ...last, parts: parts.filter(({ json }) => json !== undefined) }]);
    const { readModels } = await place.open();
    await readModels.save([await saveOf(await opened(readModels), told[4] ?? [], 0)]);
    // The last step of the save before.
    await views.save([{ ...last, changes: [], parts: deletions }]);
    const view = await (await opened(readModels)).get('7');
    assert.is(view?.ledger.get(1)?.disabled.count(), 9_000n);
  });

  test('what guards against late saves goes an hour after it was left, whatever the wall clock says', async ({
    place,
  }) => {
    const clock = createManualClock();
    const { readModels: views } = await place.open({ clock });
    const collection = await activated(views);
    const marks = async (): Promise<number> => {
      let count = 0;
      for (const { name } of await place.look.db().listCollections().toArray())
        count += await place.look
          .db()
          .collection(name)
          .countDocuments({ goneAt: { $exists: true } });
      return count;
    };
    await put(views, collection, 5n, { a: 'new' });
    await put(views, collection, 6n, { a: undefined });
    assert.is(await marks(), 1);
    clock.setWallClock(clock.now().add({ hours: 3 }));
    await clock.advance({ minutes: 30 });
    await put(views, collection, 7n, { b: 'new' });
    await put(views, collection, 3n, { a: 'late' });
    assert.equal([await marks(), await contents(views, collection)], [1, { b: 'new' }]);
    clock.setWallClock(clock.now().subtract({ hours: 9 }));
    for (const position of [8n, 9n, 10n]) {
      await clock.advance({ minutes: 40 });
      await put(views, collection, position, { b: 'newer' });
    }
    assert.is(await marks(), 0);
  });

  test('saves in any order, repeated or not, end in the newest content of each key', async ({ views }) => {
    const save = fc.record({
      position: fc.bigInt({ min: 1n, max: 30n }),
      keys: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 }),
      deletes: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(save, { selector: ({ position }) => position, maxLength: 8 }), async (saves) => {
        const collection = await views.begin('subnets', 1);
        const late = [...saves, ...saves.toReversed()];
        for (const { position, keys, deletes } of late) {
          const values = Object.fromEntries(keys.map((key) => [key, deletes ? undefined : `${position}`]));
          await put(views, collection, position, values);
        }
        const expected: Record<string, string> = {};
        for (const { position, keys, deletes } of saves.toSorted((x, y) => (x.position < y.position ? -1 : 1))) {
          for (const key of keys) {
            if (deletes) delete expected[key];
            else expected[key] = `${position}`;
          }
        }
        assert.equal(await contents(views, collection), expected);
      }),
      { numRuns: 15 },
    );
  });

  test('a view of any size is kept, replaced and deleted, with nothing left behind', async ({ views, place }) => {
    const collection = await activated(views);
    const parts = place.look.db().collection(`view.subnets.${collection.generation}.parts`);
    const large = '🗝'.repeat(2_500_000);
    await put(views, collection, 1n, { large, small: 'x' });
    assert.is((await views.load(collection, ['large'])).get('large'), JSON.stringify(large));
    assert.equal(Object.keys(await contents(views, collection)), ['large', 'small']);
    const larger = 'y'.repeat(4_100_000);
    await put(views, collection, 2n, { large: larger });
    assert.is((await views.load(collection, ['large'])).get('large'), JSON.stringify(larger));
    assert.is(await parts.countDocuments(), 3);
    await put(views, collection, 3n, { large: 'small again' });
    assert.equal(await contents(views, collection), { large: 'small again', small: 'x' });
    assert.is(await parts.countDocuments(), 0);
  });

  test('a page is full also where a large view of it is deleted while it is read: more may come behind it', async ({
    place,
  }) => {
    const clock = createManualClock();
    const db = await openMongoDatabase({ url: place.url, clock: systemClock, patienceMilliseconds: 5_000 });
    await makeIndexes(db, 'view.subnets.1');
    const keeper = openGuardedTexts(db, 'view.subnets.1', clock);
    const large = 'x'.repeat(2_100_000);
    await keeper.write(1n, [{ key: 'b', text: large }, ...['a', 'c', 'd'].map((key) => ({ key, text: key }))]);
    let commands = 0;
    const use: typeof db.use = async (command, patienceMilliseconds) => {
      const answer = await db.use(command, patienceMilliseconds);
      commands += 1;
      // The entries have come, and the parts of the large one have not been asked for.
      if (commands === 1) await keeper.write(2n, [{ key: 'b', text: undefined }]);
      return answer;
    };
    const reader = openGuardedTexts({ ...db, use }, 'view.subnets.1', clock);
    const page = await reader.list({ prefix: '', limit: 3 });
    assert.equal(
      page.map(({ key }) => key),
      ['a', 'c', 'd'],
    );
    await db.close();
  });

  test('when a generation takes over, nothing of the others is left, not even of a save that came in between', async ({
    views,
    place,
  }) => {
    const old = await activated(views);
    const next = await views.begin('subnets', 2);
    await views.activate(next);
    // A save that was under way when its generation went makes the collection anew.
    await place.look.db().collection<{ _id: string }>(`view.subnets.${old.generation}`).insertOne({ _id: 'late' });
    const last = await views.begin('subnets', 3);
    await views.activate(last);
    const names = (await place.look.db().listCollections().toArray()).map(({ name }) => name);
    assert.equal(names.filter((name) => name.startsWith('view.')).toSorted(), [
      `view.subnets.${last.generation}`,
      `view.subnets.${last.generation}.parts`,
    ]);
  });

  test('closed means unavailable', async ({ place }) => {
    const mongo = await place.open();
    const collection = await mongo.readModels.begin('subnets', 1);
    await mongo.close();
    for (const use of [
      () => mongo.readModels.active('subnets'),
      () => mongo.readModels.load(collection, ['a']),
      () => mongo.readModels.save([{ collection, position: 1n, changes: [] }]),
      () => mongo.snapshots.load('customer-1'),
      () => mongo.rateLimits.increment('x'),
    ]) {
      assert.instance(await failureOf(use()), StoreUnavailable);
    }
    await mongo.close();
  });

  test('writers that race for the same new documents all succeed; the newest content stays', async ({
    views,
    place,
  }) => {
    const collection = await activated(views);
    const writers = [views, (await place.open()).readModels, (await place.open()).readModels];
    const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
    for (let round = 0n; round < 5n; round += 1n) {
      await Promise.all(
        writers.map((writer, index) =>
          put(
            writer,
            collection,
            round * 3n + BigInt(index),
            Object.fromEntries(keys.map((key) => [`${round}${key}`, `${index}`])),
          ),
        ),
      );
    }
    const found = await contents(views, collection);
    assert.is(Object.keys(found).length, 100);
    if (server.updatesInOneStep) assert.equal([...new Set(Object.values(found))], ['2']);
  });

  if (server.updatesInOneStep) {
    test('processes that begin a generation at the same time get one each', async ({ views, place }) => {
      const others = [views, (await place.open()).readModels, (await place.open()).readModels];
      const begun = await Promise.all(
        others.flatMap((process) => [process.begin('subnets', 1), process.begin('subnets', 2)]),
      );
      assert.is(new Set(begun.map(({ generation }) => generation)).size, 6);
    });
  }

  if (server.own) {
    test('a server that dies makes everything unavailable within the patience; when it is back, all is there', async ({
      place,
    }) => {
      const { readModels: views } = await place.open({ patienceMilliseconds: 1_000 });
      const collection = await activated(views);
      await put(views, collection, 1n, { a: 'kept' });
      await server.kill();
      for (const use of [() => contents(views, collection), () => put(views, collection, 2n, { a: 'lost' })]) {
        assert.instance(await failureOf(use()), StoreUnavailable);
      }
      await server.start();
      await put(views, collection, 3n, { b: 'after' });
      assert.equal(await contents(views, collection), { a: 'kept', b: 'after' });
    });

    test('a driver that has found no server for long begins anew; who uses it goes on', async ({ place }) => {
      const options = { patienceMilliseconds: 500, freshStartMilliseconds: 600 };
      const { readModels: views, close } = await place.open(options);
      const collection = await activated(views);
      await put(views, collection, 1n, { a: 'kept' });
      await server.kill();
      for (let tries = 0; tries < 6; tries += 1) {
        assert.instance(await failureOf(contents(views, collection)), StoreUnavailable);
      }
      await server.start();
      await waitUntil('it is found', async () => (await failureOf(contents(views, collection))) === undefined);
      await put(views, collection, 2n, { b: 'after' });
      assert.equal(await contents(views, collection), { a: 'kept', b: 'after' });
      await server.kill();
      for (let tries = 0; tries < 3; tries += 1) await failureOf(contents(views, collection));
      await close();
      assert.match(String(await failureOf(contents(views, collection))), /MongoDB is closed/);
      await server.start();
    });
  }
}

test('the end of a prefix comes right after all that start with it, in code point order', () => {
  const text = fc.string({ unit: 'binary', maxLength: 3 });
  fc.assert(
    fc.property(text, text, (prefix, other) => {
      const end = afterPrefix(prefix);
      const isWithin = compare(other, prefix) >= 0 && (end === undefined || compare(other, end) < 0);
      assert.is(isWithin, other.startsWith(prefix));
    }),
  );
  for (const prefix of ['\ud7ff', 'a\u{10ffff}', '\u{10ffff}\u{10ffff}', '']) {
    const end = afterPrefix(prefix);
    assert.ok(end === undefined || compare(`${prefix}\u{10ffff}`, end) < 0);
  }
});

test('parts of a text put together are the text; none is longer than allowed, none ends within a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.integer({ min: 2, max: 9 }), (text, most) => {
      const parts = textParts(text, most);
      assert.is(parts.join(''), text);
      for (const part of parts) assert.ok(part.length <= most && Buffer.from(part).toString() === part);
    }),
  );
});

async function activated(views: ReadModels): Promise<Collection> {
  const collection = await views.begin('subnets', 1);
  await views.activate(collection);
  return collection;
}

function put(
  views: ReadModels,
  collection: Collection,
  position: bigint,
  values: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const changes = Object.entries(values).map(([key, value]) => ({
    key,
    json: value === undefined ? undefined : JSON.stringify(value),
  }));
  return views.save([{ collection, position, changes }]);
}

/** What a cache would save after these events. */
async function saveOf(cache: ViewCache<AddressView>, events: readonly RecordedEvent[], now: number): Promise<ViewSave> {
  await cache.prepare(events);
  for (const event of events) cache.apply(event);
  const save = cache.takeUnsaved(now);
  assert.ok(save);
  return save;
}

async function contents(views: ReadModels, collection: Collection): Promise<Readonly<Record<string, unknown>>> {
  const found = await views.list(collection, { prefix: '', limit: 1_000 });
  return Object.fromEntries(found.map(({ key, json }): [string, unknown] => [key, JSON.parse(json)]));
}

function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

test.run();
