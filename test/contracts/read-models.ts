import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Collection, CollectionGone, type ListQuery, type ReadModels } from '../../src/ports/read-models.ts';

/** Empty read models of their own. */
export type ReadModelsUnderTest = Readonly<{
  /** Opens them, each time as another process would. */
  open: () => Promise<ReadModels>;
  /** Readers may see one document of a save before the next: each is whole, but a save is many writes. */
  showsSavesInPart?: true;
  stop: () => Promise<void>;
}>;

type Context = { place: ReadModelsUnderTest; views: ReadModels };

/** What every store of read models does, whatever is behind it. */
export function readModelsContract(name: string, start: () => Promise<ReadModelsUnderTest>): void {
  const test = suite<Context>(name);
  test.before.each(async (context) => {
    context.place = await start();
    context.views = await context.place.open();
  });
  test.after.each(async ({ place, views }) => {
    await views.close();
    await place.stop();
  });

  specifyGenerations(test);
  specifyDocuments(test);
  specifySaves(test);
  test.run();
}

type Suite = ReturnType<typeof suite<Context>>;

function specifyGenerations(test: Suite): void {
  test('a projection that was never built has no generation', async ({ views }) => {
    assert.is(await views.active('subnets'), undefined);
  });

  test('a new generation is empty, has no position, and is not what readers see', async ({ views }) => {
    const begun = await views.begin('subnets', 3);
    assert.equal([begun.projection, begun.version], ['subnets', 3]);
    assert.is(await views.position(begun), undefined);
    assert.is((await views.load(begun, ['a'])).size, 0);
    assert.equal(await views.list(begun, { prefix: '', limit: 10 }), []);
    assert.is(await views.active('subnets'), undefined);
  });

  test('an activated generation is what readers see, in every process', async ({ views, place }) => {
    const begun = await views.begin('subnets', 3);
    await views.begin('customers', 1);
    await views.activate(begun);
    await views.activate(begun);
    const other = await place.open();
    assert.equal(await views.active('subnets'), begun);
    assert.equal(await other.active('subnets'), begun);
    assert.is(await other.active('customers'), undefined);
    await other.close();
  });

  test('a rebuild fills a generation beside the active one, and takes its place in one step', async ({ views }) => {
    const old = await activated(views, 'subnets', 1);
    const beside = await activated(views, 'customers', 1);
    await put(views, old, 5n, { a: 'old', b: 'old' });
    await put(views, beside, 5n, { a: 'beside' });
    const next = await views.begin('subnets', 2);
    const abandoned = await views.begin('subnets', 2);
    await put(views, next, 9n, { a: 'new' });
    assert.equal(await views.active('subnets'), old);
    assert.equal(await documents(views, old), { a: 'old', b: 'old' });
    await views.activate(next);
    assert.equal(await views.active('subnets'), next);
    assert.equal(await documents(views, next), { a: 'new' });
    assert.is(await views.position(next), 9n);
    assert.equal(await documents(views, beside), { a: 'beside' });
    for (const dropped of [old, abandoned]) {
      assert.instance(await failureOf(put(views, dropped, 10n, { a: 'late' })), CollectionGone);
    }
  });

  test('what was dropped is told as such to readers, and is not shown as empty', async ({ views }) => {
    const old = await activated(views, 'subnets', 1);
    await put(views, old, 5n, { a: 'old' });
    await views.activate(await views.begin('subnets', 1));
    assert.instance(await failureOf(views.load(old, ['a'])), CollectionGone);
    assert.instance(await failureOf(views.list(old, { prefix: '', limit: 10 })), CollectionGone);
    assert.instance(await failureOf(views.keys(old, { prefix: '', limit: 10 })), CollectionGone);
  });

  test('how active generations stand is told for several projections at once', async ({ views }) => {
    const subnets = await activated(views, 'subnets', 1);
    const customers = await activated(views, 'customers', 4);
    await put(views, subnets, 2n ** 60n + 1n, { a: 'one' });
    await put(views, await views.begin('subnets', 2), 99n, { a: 'beside' });
    const standing = await views.standing(['customers', 'subnets', 'never built']);
    assert.equal(standing.get('subnets'), { collection: subnets, position: 2n ** 60n + 1n, anchor: undefined });
    assert.equal(standing.get('customers'), { collection: customers, position: undefined, anchor: undefined });
    assert.is(standing.size, 2);
  });

  test('the event at the position is kept with it, in every process; a save that does not know its own leaves that one or none', async ({
    views,
    place,
  }) => {
    const subnets = await activated(views, 'subnets', 1);
    const customers = await activated(views, 'customers', 1);
    const anchor = { position: 2n ** 60n + 1n, stream: 'customer-7 ü', revision: 12n, hash: 'ab12' };
    const { position } = anchor;
    await views.save([
      { collection: subnets, position, anchor, changes: [] },
      { collection: customers, position, changes: [] },
    ]);
    const other = await place.open();
    for (const reader of [views, other]) {
      const standing = await reader.standing(['customers', 'subnets']);
      assert.equal(standing.get('subnets'), { collection: subnets, position, anchor });
      assert.equal(standing.get('customers'), { collection: customers, position, anchor: undefined });
    }
    const later = { ...anchor, position: position + 9n, revision: 13n, hash: 'cd34' };
    await other.save([{ collection: subnets, position: later.position, anchor: later, changes: [] }]);
    assert.equal((await views.standing(['subnets'])).get('subnets')?.anchor, later);
    await other.save([{ collection: subnets, position: later.position + 1n, changes: [] }]);
    // It was applied all the same: what a log has to hold still.
    const left = (await views.standing(['subnets'])).get('subnets');
    assert.is(left?.position, later.position + 1n);
    if (left?.anchor !== undefined) assert.equal(left.anchor, later);
    await other.close();
  });

  test('a dropped generation takes no more saves, also from a process that had it open; nothing of the save is kept', async ({
    views,
    place,
  }) => {
    const other = await place.open();
    const old = await activated(other, 'subnets', 1);
    const beside = await activated(other, 'customers', 1);
    await put(other, old, 1n, { a: 'old' });
    const next = await views.begin('subnets', 1);
    await put(views, next, 4n, { a: 'new' });
    await views.activate(next);
    const error = await failureOf(
      other.save([
        { collection: beside, position: 2n, changes: [{ key: 'a', json: '"lost"' }] },
        { collection: old, position: 2n, changes: [{ key: 'a', json: '"lost"' }] },
      ]),
    );
    assert.instance(error, CollectionGone);
    assert.equal(await documents(views, next), { a: 'new' });
    await put(other, next, 6n, { b: 'newer' });
    assert.equal(await documents(views, next), { a: 'new', b: 'newer' });
    await other.close();
  });
}

function specifyDocuments(test: Suite): void {
  test('documents are what was saved last; those that are missing are left out', async ({ views, place }) => {
    const collection = await activated(views, 'subnets', 1);
    await put(views, collection, 1n, { a: 'one', b: 'two' });
    await put(views, collection, 2n, { b: 'three', c: 'ü🗝\u0000"' });
    const other = await place.open();
    for (const reader of [views, other]) {
      const found = await reader.load(collection, ['c', 'a', 'nothing', 'b', 'a']);
      assert.is(found.size, 3);
      assert.is(found.get('a'), '"one"');
      assert.is(found.get('b'), '"three"');
      assert.is(found.get('c'), JSON.stringify('ü🗝\u0000"'));
    }
    await other.close();
  });

  test('an undefined document is deleted; deleting what is not there is harmless', async ({ views }) => {
    const collection = await activated(views, 'subnets', 1);
    await put(views, collection, 1n, { a: 'one', b: 'two' });
    const changes = ['a', 'nothing'].map((key) => ({ key, json: undefined }));
    await views.save([{ collection, position: 2n, changes }]);
    assert.equal(await documents(views, collection), { b: 'two' });
  });

  test('large documents, and many', async ({ views }) => {
    const collection = await activated(views, 'subnets', 1);
    const large = JSON.stringify('x'.repeat(3_000_000));
    const changes = Array.from({ length: 5_000 }, (_, index) => ({ key: `k${index}`, json: '{}' }));
    await views.save([{ collection, position: 1n, changes: [{ key: 'large', json: large }, ...changes] }]);
    assert.is((await views.load(collection, ['large'])).get('large'), large);
    const keys = changes.map(({ key }) => key);
    assert.is((await views.load(collection, keys)).size, 5_000);
  });

  test('listing gives keys in code point order, by prefix, in pages', async ({ views }) => {
    const collection = await activated(views, 'subnets', 1);
    const keys = ['', 'a', 'a/1', 'a/10', 'a/2', 'a0', 'b', 'ä', '\uffee', '🗝', '🗝/1'];
    await put(views, collection, 1n, Object.fromEntries(keys.toReversed().map((key) => [key, key])));
    const list = async (query: ListQuery): Promise<readonly string[]> => {
      const found = (await views.list(collection, query)).map(({ key }) => key);
      assert.equal(await views.keys(collection, query), found);
      return found;
    };
    assert.equal(await list({ prefix: '', limit: 100 }), keys);
    assert.equal(await list({ prefix: 'a', limit: 100 }), ['a', 'a/1', 'a/10', 'a/2', 'a0']);
    assert.equal(await list({ prefix: 'a/', limit: 2 }), ['a/1', 'a/10']);
    assert.equal(await list({ prefix: 'a/', after: 'a/10', limit: 2 }), ['a/2']);
    assert.equal(await list({ prefix: 'a/', after: 'a/2', limit: 2 }), []);
    assert.equal(await list({ prefix: 'a/', after: '', limit: 1 }), ['a/1']);
    assert.equal(await list({ prefix: '', after: 'b', limit: 2 }), ['ä', '\uffee']);
    assert.equal(await list({ prefix: '🗝', limit: 100 }), ['🗝', '🗝/1']);
    assert.equal(await list({ prefix: 'z', limit: 100 }), []);
    assert.equal((await views.list(collection, { prefix: 'a/1', limit: 1 }))[0], { key: 'a/1', json: '"a/1"' });
  });

  test('paging through any keys finds each once, in order', async ({ views }) => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.string({ unit: 'binary', maxLength: 4 })),
        fc.integer({ min: 1, max: 5 }),
        async (keys, limit) => {
          const collection = await views.begin('subnets', 1);
          await put(views, collection, 1n, Object.fromEntries(keys.map((key) => [`k${key}`, key])));
          const found: string[] = [];
          for (let after: string | undefined; ; after = found.at(-1)) {
            const page = await views.keys(collection, {
              prefix: 'k',
              limit,
              ...(after === undefined ? {} : { after }),
            });
            found.push(...page);
            if (page.length < limit) break;
          }
          assert.equal(found, keys.map((key) => `k${key}`).toSorted(byCodePoint));
        },
      ),
      { numRuns: 30 },
    );
  });
}

function specifySaves(test: Suite): void {
  test('a save sets documents and position of several generations; a position may be far beyond 2^53', async ({
    views,
  }) => {
    const subnets = await activated(views, 'subnets', 1);
    const customers = await activated(views, 'customers', 1);
    await views.save([
      { collection: subnets, position: 7n, changes: [{ key: 'a', json: '1' }] },
      { collection: customers, position: 9_007_199_254_740_993n, changes: [{ key: 'a', json: '2' }] },
    ]);
    assert.is(await views.position(subnets), 7n);
    assert.is(await views.position(customers), 9_007_199_254_740_993n);
    assert.is((await views.load(customers, ['a'])).get('a'), '2');
  });

  test('the parts of documents are added and deleted with them', async ({ views, place }) => {
    const collection = await activated(views, 'subnets', 1);
    const [a, b] = ['~k/a', '~k/b'].map((key) => ({ key, json: JSON.stringify(key) }));
    assert.ok(a && b);
    await views.save([{ collection, position: 1n, changes: [{ key: 'k', json: '"a"' }], parts: [a] }]);
    assert.equal(await documents(views, collection), { k: 'a', '~k/a': '~k/a' });
    const gone = { key: a.key, json: undefined };
    await views.save([{ collection, position: 2n, changes: [{ key: 'k', json: '"b"' }], parts: [b, gone] }]);
    const other = await place.open();
    assert.equal(await documents(other, collection), { k: 'b', '~k/b': '~k/b' });
    await other.close();
  });

  test('a save without changes moves the position on', async ({ views, place }) => {
    const collection = await activated(views, 'subnets', 1);
    await views.save([{ collection, position: 7n, changes: [] }]);
    const other = await place.open();
    assert.is(await other.position(collection), 7n);
    await other.close();
  });

  test('saves are kept when everything is closed and opened again', async ({ views, place }) => {
    const collection = await activated(views, 'subnets', 1);
    const other = await place.open();
    await put(other, collection, 8n, { a: 'kept' });
    await other.close();
    const again = await place.open();
    assert.equal(await again.active('subnets'), collection);
    assert.equal(await documents(again, collection), { a: 'kept' });
    assert.is(await again.position(collection), 8n);
    await again.close();
  });

  test('others may read while one writes', async ({ views, place }) => {
    const collection = await activated(views, 'subnets', 1);
    const other = await place.open();
    const reading = (async () => {
      for (let turn = 0; turn < 50; turn += 1) {
        const found = await other.load(collection, ['a', 'b']);
        // Both documents are of one save: a reader never sees one without the other.
        if (place.showsSavesInPart === undefined) assert.is(found.get('a'), found.get('b'));
        for (const json of found.values()) assert.match(json, /^"\d+"$/);
      }
    })();
    for (let turn = 0; turn < 50; turn += 1) await put(views, collection, BigInt(turn), { a: `${turn}`, b: `${turn}` });
    await reading;
    await other.close();
  });
}

async function activated(views: ReadModels, projection: string, version: number): Promise<Collection> {
  const collection = await views.begin(projection, version);
  await views.activate(collection);
  return collection;
}

function put(
  views: ReadModels,
  collection: Collection,
  position: bigint,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  const changes = Object.entries(values).map(([key, value]) => ({ key, json: JSON.stringify(value) }));
  return views.save([{ collection, position, changes }]);
}

async function documents(views: ReadModels, collection: Collection): Promise<Readonly<Record<string, unknown>>> {
  const found = await views.list(collection, { prefix: '', limit: 1_000 });
  return Object.fromEntries(found.map(({ key, json }): [string, unknown] => [key, JSON.parse(json)]));
}

function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

function byCodePoint(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
