// Large range sets are saved in parts: whatever of a save was done before it was broken off, the next start shows what the log says.
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withWholeTexts } from '../../../src/application/operations/whole-texts.ts';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import type { LedgerEvent } from '../../../src/domain/ip-control/address-ledger.ts';
import { isHandled, type RecordedEvent } from '../../../src/kernel/event.ts';
import { StoreUnavailable } from '../../../src/ports/event-store.ts';
import type { Collection, ReadModels, ViewSave } from '../../../src/ports/read-models.ts';
import { openProjector } from '../../../src/projections/engine/projector.ts';
import { storedViewsOf } from '../../../src/projections/engine/stored-views.ts';
import { type ViewCache, viewCacheOf } from '../../../src/projections/engine/view-cache.ts';
import { partsIn } from '../../../src/projections/engine/view-codec.ts';
import { isPartKey } from '../../../src/projections/engine/view-parts.ts';
import { type AddressView, addressProjection } from '../../../src/projections/ip-control/address-view.ts';
import { recorded } from '../../specification.ts';
import { type EmbeddedLog, openEmbeddedLog } from '../../support/stores/embedded-log.ts';
import { waitUntil } from '../../support/wait-until.ts';
import {
  assigned,
  commitCompleted,
  commitFailed,
  commitRequested,
  disabled,
  enabled,
  registered,
} from '../../commands/ip-control/customer-examples.ts';

const test = suite<{ log: EmbeddedLog }>('views that are saved in parts');

test.before.each(async (state) => {
  state.log = await openEmbeddedLog();
});
test.after.each((state) => state.log.close());

const isLedgerEvent = (one: RecordedEvent): one is RecordedEvent<LedgerEvent> =>
  isHandled<LedgerEvent>(new Set(addressProjection.handles), one);

const AT = '2026-11-27T12:00:00Z';
const KEY = '7';
/** Longer than what is named no more is kept. */
const LONG_MILLISECONDS = 60_000;

function scattered(from: number, count: number, step = 2): string[] {
  return Array.from({ length: count }, (_, at) => {
    const offset = (from + at) * step;
    return `10.${(offset >> 16) & 255}.${(offset >> 8) & 255}.${offset & 255}`;
  });
}

const BEGUN: readonly CustomerEvent[] = [assigned(1, '10.0.0.0/8'), disabled(scattered(0, 9_000))];

const event: fc.Arbitrary<CustomerEvent> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.boolean(), fc.integer({ min: 0, max: 19_000 }))
      .map(([isDisabled, at]) => (isDisabled ? disabled : enabled)(scattered(at, 1, 1))),
  },
  fc
    .tuple(fc.boolean(), fc.integer({ min: 0, max: 9_000 }), fc.integer({ min: 2, max: 5_000 }))
    .map(([isDisabled, from, count]) => (isDisabled ? disabled : enabled)(scattered(from, count))),
  fc.constantFrom(commitRequested(), commitCompleted(), commitFailed()),
);

/** What happens after an event: nothing, a save, one that ends after so many documents, or one that no one heard of the end of; then perhaps a start. */
type After = Readonly<{ save: 'none' | 'whole' | 'unheard' | number; restarts: boolean; longWait: boolean }>;

const after: fc.Arbitrary<After> = fc.record({
  save: fc.oneof(
    fc.constantFrom<'none' | 'whole' | 'unheard'>('none', 'whole', 'unheard'),
    fc.integer({ min: 0, max: 12 }),
  ),
  restarts: fc.boolean(),
  longWait: fc.boolean(),
});

/** The single documents of a save, in the order in which a store without transactions writes them. */
function documentsOf({ changes, parts = [] }: ViewSave): ViewSave['changes'] {
  return [...parts.filter(({ json }) => json !== undefined), ...changes];
}

/** As much of a save as was done when it ended: its position comes after its documents. */
async function breakOff(readModels: ReadModels, save: ViewSave, count: number): Promise<void> {
  const position = (await readModels.position(save.collection)) ?? -1n;
  await readModels.save([{ collection: save.collection, position, changes: documentsOf(save).slice(0, count) }]);
}

async function opened(readModels: ReadModels, collection: Collection): Promise<ViewCache<AddressView>> {
  const cache = viewCacheOf(addressProjection, readModels);
  await cache.open(collection);
  return cache;
}

async function applyAll(cache: ViewCache<AddressView>, events: readonly RecordedEvent[]): Promise<void> {
  await cache.prepare(events);
  for (const one of events) cache.apply(one);
}

/** A view as one text. */
function seen(view: AddressView | undefined): string {
  return JSON.stringify(view && addressProjection.stored?.encode(view)) ?? 'none';
}

/** These texts are so long that a difference is not worth printing. */
function assertSame(actual: string | undefined, expected: string): void {
  assert.ok(actual === expected, `${actual?.length} characters are not the ${expected.length} that are expected`);
}

function viewAfter(events: readonly RecordedEvent[]): AddressView | undefined {
  return events
    .filter(isLedgerEvent)
    .reduce<AddressView | undefined>((view, one) => addressProjection.evolve(view, one, KEY), undefined);
}

async function partKeys(readModels: ReadModels, collection: Collection): Promise<readonly string[]> {
  const all = await readModels.list(collection, { prefix: '', limit: 10_000 });
  return all.map(({ key }) => key).filter(isPartKey);
}

test('however saves are broken off and starts come in between, the view is what the events say', async ({ log }) => {
  const readModels = log.readModels();
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(event, after), { minLength: 1, maxLength: 14 }), async (story) => {
      const collection = await readModels.begin('addresses', addressProjection.version);
      const told = [...BEGUN, ...story.map(([happened]) => happened)].map((happened, at) =>
        recorded(happened, AT, { stream: `customer-${KEY}`, position: BigInt(at), revision: BigInt(at) }),
      );
      let cache = await opened(readModels, collection);
      let now = 0;
      await applyAll(cache, told.slice(0, BEGUN.length));
      for (const [at, [, { save, restarts, longWait }]] of story.entries()) {
        const done = BEGUN.length + at + 1;
        await applyAll(cache, told.slice(done - 1, done));
        if (longWait) now += LONG_MILLISECONDS;
        assert.equal(await cache.lookAtParts(now), [], 'all that is named is there');
        const unsaved = save === 'none' ? undefined : cache.takeUnsaved(now);
        if (unsaved !== undefined) {
          if (typeof save === 'number') await breakOff(readModels, unsaved, save);
          else await readModels.save([unsaved]);
          if (save === 'whole') cache.saved();
          else cache.unsaved();
        }
        if (restarts) {
          cache = await opened(readModels, collection);
          await applyAll(cache, told.slice(0, done));
        }
      }
      const expected = viewAfter(told);
      assertSame(seen(await cache.get(KEY)), seen(expected));
      // What is saved now is read back the same, and nothing stays that nobody names.
      for (let turn = 0; turn < 3; turn += 1) {
        now += LONG_MILLISECONDS;
        const more = told.length;
        const one = turn === 0 ? assigned(2, '11.0.0.0/8') : disabled([`11.0.0.${2 * turn}`]);
        told.push(recorded(one, AT, { stream: `customer-${KEY}`, position: BigInt(more), revision: BigInt(more) }));
        await applyAll(cache, told.slice(more));
        assert.equal(await cache.lookAtParts(now), [], 'all that is named is there');
        const unsaved = cache.takeUnsaved(now);
        assert.ok(unsaved);
        await readModels.save([unsaved]);
        cache.saved();
      }
      const again = await opened(readModels, collection);
      assertSame(seen(await again.get(KEY)), seen(viewAfter(told)));
      const text = (await readModels.load(collection, [KEY])).get(KEY) ?? '';
      const named = partsIn(text).map((name) => `~${KEY}/${name}`);
      const keys = await partKeys(readModels, collection);
      assert.equal(
        named.filter((key) => !keys.includes(key)),
        [],
      );
      // The last change of all has left some that go with a later save.
      assert.ok(keys.length - named.length <= 8, `${keys.length} parts, ${named.length} of them named`);
    }),
    { numRuns: 30 },
  );
});

/** A customer with many addresses in the log, its view saved by a projector. */
async function savedBy(log: EmbeddedLog): Promise<ReadModels> {
  await log.append(`customer-${KEY}`, registered(), ...BEGUN, disabled(['10.200.0.1']));
  const readModels = log.readModels();
  const projector = openProjector([viewCacheOf(addressProjection, readModels)], { ...log, readModels, writes: true });
  await projector.open();
  await projector.catchUp();
  return readModels;
}

async function expectedOf(log: EmbeddedLog): Promise<string> {
  return seen(viewAfter(await log.events()));
}

test('a change of one address saves few parts again', async ({ log }) => {
  const readModels = await savedBy(log);
  const collection = await readModels.active('addresses');
  assert.ok(collection);
  const cache = await opened(readModels, collection);
  const one = recorded(disabled(['10.200.0.3']), AT, { stream: `customer-${KEY}`, position: 99n });
  await applyAll(cache, [one]);
  const { changes = [], parts = [] } = cache.takeUnsaved() ?? {};
  assert.equal(
    changes.map(({ key }) => key),
    [KEY],
  );
  assert.ok(parts.length <= 2, `${parts.length} of ${partsIn(changes[0]?.json ?? '').length} parts`);
});

test('parts are seen by no reader, one by one, listed or paged, in memory or from the read models', async ({ log }) => {
  const readModels = await savedBy(log);
  const collection = await readModels.active('addresses');
  assert.ok(collection);
  assert.ok((await partKeys(readModels, collection)).length > 4);
  const expected = await expectedOf(log);
  const stored = storedViewsOf(addressProjection, { ...log, readModels });
  for (const views of [stored, await opened(readModels, collection)]) {
    assertSame(seen(await views.get(KEY)), expected);
    for (const found of [await views.list(), await views.page({ limit: 1 }), await views.page({ limit: 100 })]) {
      assert.equal(
        found.map(({ key }) => key),
        [KEY],
      );
      assertSame(seen(found[0]?.view), expected);
    }
    assert.equal(await views.page({ after: KEY, limit: 100 }), []);
  }
});

test('what is compared of a saved view is the whole text, however it was saved', async ({ log }) => {
  const readModels = await savedBy(log);
  const collection = await readModels.active('addresses');
  assert.ok(collection);
  const whole = withWholeTexts(readModels);
  const expected = `{"position":"${await readModels.position(collection)}","view":${await expectedOf(log)}}`;
  const listed = await whole.list(collection, { prefix: '', limit: 100 });
  assert.equal(
    listed.map(({ key }) => key),
    [KEY],
  );
  assertSame(listed[0]?.json, expected);
  assertSame((await whole.load(collection, [KEY])).get(KEY), expected);
});

for (const [how, json] of [
  ['is gone', undefined],
  ['is another', 'AQEAAAA='],
] as const) {
  test(`where a part ${how}, the view is made again from the log, and an error says so`, async ({ log }) => {
    const readModels = await savedBy(log);
    const damaged = await readModels.active('addresses');
    assert.ok(damaged);
    const [key = ''] = await partKeys(readModels, damaged);
    const position = await readModels.position(damaged);
    assert.ok(position);
    await readModels.save([{ collection: damaged, position, changes: [{ key, json }] }]);
    const cache = viewCacheOf(addressProjection, readModels);
    const projector = openProjector([cache], { ...log, readModels, writes: true });
    await projector.open();
    await projector.catchUp();
    assertSame(seen(await cache.get(KEY)), await expectedOf(log));
    assert.ok(log.lines.some(({ level, message }) => level === 'error' && message.includes('made again from the log')));
    const active = await readModels.active('addresses');
    assert.ok(active !== undefined && active.generation !== damaged.generation);
  });
}

/** One who keeps the views, and has those that it made in memory. */
async function keeperOf(log: EmbeddedLog, readModels = log.readModels()) {
  const cache = viewCacheOf(addressProjection, readModels);
  const projector = openProjector([cache], { ...log, readModels, writes: true });
  await projector.open();
  await projector.catchUp();
  const collection = await readModels.active('addresses');
  assert.ok(collection);
  return { cache, projector, readModels, collection };
}

/** Deletes documents, as no server does. */
async function lose(readModels: ReadModels, collection: Collection, keys: readonly string[]): Promise<void> {
  const position = await readModels.position(collection);
  assert.ok(position !== undefined && keys.length > 0);
  await readModels.save([{ collection, position, changes: keys.map((key) => ({ key, json: undefined })) }]);
}

/** The names that the saved text of the view names, and those of all of its parts that are there. */
async function namedAndThere(readModels: ReadModels, collection: Collection) {
  const named = partsIn((await readModels.load(collection, [KEY])).get(KEY) ?? '');
  const there = (await partKeys(readModels, collection)).map((key) => key.slice(key.lastIndexOf('/') + 1));
  return { named, there };
}

function errorsIn(log: EmbeddedLog): readonly string[] {
  return log.lines.filter(({ level }) => level === 'error').map(({ message }) => message);
}

test('where a part is gone, one who reads the read models alone hears what is missing, and an error says so once a minute', async ({
  log,
}) => {
  const readModels = await savedBy(log);
  const damaged = await readModels.active('addresses');
  assert.ok(damaged);
  await lose(readModels, damaged, (await partKeys(readModels, damaged)).slice(0, 1));
  const stored = storedViewsOf(addressProjection, { ...log, readModels });
  const missing = `parts of addresses ${KEY} are not there, or are not what was saved`;
  for (const lines of [1, 1, 2]) {
    const error: unknown = await stored.get(KEY).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof StoreUnavailable);
    assert.is(error.message, missing);
    assert.equal(
      errorsIn(log),
      Array.from({ length: lines }, () => `${missing}; the server that keeps the views saves them again`),
    );
    if (lines === 1) await log.clock.advance({ seconds: 40 });
  }
});

test('parts that are gone are saved again with whatever is saved next, out of the memory of who keeps the views', async ({
  log,
}) => {
  await log.append(`customer-${KEY}`, registered(), ...BEGUN);
  const { projector, readModels, collection } = await keeperOf(log);
  await lose(readModels, collection, (await partKeys(readModels, collection)).slice(1, 4));
  await log.clock.advance({ seconds: 60 });
  await log.append('customer-8', registered());
  await projector.catchUp();
  const stored = storedViewsOf(addressProjection, { ...log, readModels: log.readModels() });
  assertSame(seen(await stored.get(KEY)), await expectedOf(log));
  assert.equal(await readModels.active('addresses'), collection);
  assert.equal(errorsIn(log), [`parts of addresses ${KEY} were not there; they are saved again`]);
});

test('they are also while the log is quiet', async ({ log }) => {
  await log.append(`customer-${KEY}`, registered(), ...BEGUN);
  const { projector, readModels, collection } = await keeperOf(log);
  const stop = new AbortController();
  const running = projector.run(stop.signal);
  await waitUntil('it follows', () => projector.isFollowing() && log.clock.waiting() > 0);
  await lose(readModels, collection, (await partKeys(readModels, collection)).slice(1, 4));
  const isWhole = async (): Promise<boolean> => {
    const { named, there } = await namedAndThere(readModels, collection);
    return named.every((name) => there.includes(name));
  };
  assert.not(await isWhole());
  await waitUntil('all of them are there', async () => {
    await log.clock.advance({ seconds: 30 });
    return isWhole();
  });
  stop.abort();
  await running;
  const stored = storedViewsOf(addressProjection, { ...log, readModels });
  assertSame(seen(await stored.get(KEY)), await expectedOf(log));
});

test('where the view is not in memory, all of them are made again from the log', async ({ log }) => {
  const readModels = await savedBy(log);
  const damaged = await readModels.active('addresses');
  assert.ok(damaged);
  await lose(readModels, damaged, (await partKeys(readModels, damaged)).slice(0, 1));
  await log.append('customer-8', registered());
  const { collection } = await keeperOf(log);
  assert.not.equal(collection, damaged);
  const stored = storedViewsOf(addressProjection, { ...log, readModels });
  assertSame(seen(await stored.get(KEY)), await expectedOf(log));
  assert.ok(errorsIn(log).some((message) => message.includes('made again from the log')));
});

test('nothing stays of a view that became small before the last end, as soon as it has been there long enough', async ({
  log,
}) => {
  await log.append(`customer-${KEY}`, registered(), ...BEGUN);
  const before = await keeperOf(log);
  assert.ok((await partKeys(before.readModels, before.collection)).length > 4);
  const toNone = [enabled(scattered(0, 9_000)), commitRequested(), commitCompleted()];
  await log.append(`customer-${KEY}`, ...toNone);
  await before.projector.catchUp();
  const { readModels, collection, projector } = await keeperOf(log);
  const { named, there } = await namedAndThere(readModels, collection);
  assert.equal(named, []);
  assert.ok(there.length > 4, 'who has just read the text of before finds them still');
  for (const id of [8, 9]) {
    await log.append(`customer-${id}`, registered());
    await projector.catchUp();
    await log.clock.advance({ seconds: 60 });
  }
  assert.equal(await partKeys(readModels, collection), []);
});

test('a part that the saved text did not name when it was read is saved again, for who kept the views before may still delete it', async ({
  log,
}) => {
  await log.append(`customer-${KEY}`, registered(), ...BEGUN, commitRequested(), commitCompleted());
  const { projector, readModels, collection } = await keeperOf(log);
  const { named: before } = await namedAndThere(readModels, collection);
  await log.append(`customer-${KEY}`, disabled(['10.0.0.1']), commitRequested(), commitCompleted());
  await projector.catchUp();
  const { named: since, there } = await namedAndThere(readModels, collection);
  const left = before.filter((name) => !since.includes(name));
  assert.ok(left.length > 0 && left.every((name) => there.includes(name)));
  await log.append(`customer-${KEY}`, enabled(['10.0.0.1']), commitRequested(), commitCompleted());
  const saved: string[] = [];
  await keeperOf(log, {
    ...readModels,
    save: (saves) => {
      for (const { parts = [] } of saves)
        saved.push(...parts.filter(({ json }) => json !== undefined).map(({ key }) => key));
      return readModels.save(saves);
    },
  });
  const { named: again } = await namedAndThere(readModels, collection);
  assert.equal(again.toSorted(), before.toSorted(), 'what was before is named again');
  assert.equal(
    left.filter((name) => !saved.includes(`~${KEY}/${name}`)),
    [],
  );
});

test.run();
