import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemIds } from '../../../src/adapters/ids.ts';
import { createCodec, defineEvent, UndecodableEvent } from '../../../src/events/codec.ts';
import { seal } from '../../../src/events/hash-chain.ts';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import type { Projection } from '../../../src/kernel/projection.ts';
import { EVENT_CATALOGUE } from '../../../src/main/contexts.ts';
import { type EventStore, StoreUnavailable } from '../../../src/ports/event-store.ts';
import type { ReadModels } from '../../../src/ports/read-models.ts';
import {
  openProjector,
  type Projector,
  type ProjectorDependencies,
} from '../../../src/projections/engine/projector.ts';
import { rebuildProjections } from '../../../src/projections/engine/rebuild.ts';
import { type ViewCache, viewCacheOf } from '../../../src/projections/engine/view-cache.ts';
import { plain } from '../../specification.ts';
import { type EmbeddedLog, openEmbeddedLog } from '../../support/stores/embedded-log.ts';
import { waitUntil } from '../../support/wait-until.ts';
import {
  assigned,
  commitCompleted,
  commitRequested,
  disabled,
  registered,
} from '../../commands/ip-control/customer-examples.ts';
import {
  openViewCaches,
  type ViewCaches,
  storedDocuments,
  type Story,
  storyteller,
} from '../projections-under-test.ts';

const test = suite<{ log: EmbeddedLog }>('projector');

test.before.each(async (state) => {
  state.log = await openEmbeddedLog();
});
test.after.each((state) => state.log.close());

/** A process that keeps views: its views in memory, its projector, and its connection to the read models. */
function viewsOf(log: EmbeddedLog, changes: Partial<ProjectorDependencies> = {}) {
  const readModels = changes.readModels ?? log.readModels();
  const viewCaches = openViewCaches(readModels);
  const projector = openProjector(Object.values(viewCaches), {
    store: log.store,
    readModels,
    clock: log.clock,
    log: log.log,
    writes: true,
    ...changes,
  });
  return { readModels, viewCaches, projector };
}

/** Runs a projector until it is stopped. */
function running(projector: Projector): Readonly<{ ended: Promise<void>; stop: () => Promise<void> }> {
  const controller = new AbortController();
  const ended = projector.run(controller.signal);
  ended.catch(() => undefined);
  return {
    ended,
    stop: () => {
      controller.abort();
      return ended;
    },
  };
}

async function isShown(projector: Projector, store: EventStore): Promise<void> {
  const end = await store.end();
  await waitUntil(`position ${end}`, () => projector.position() >= end);
}

/** All views as readers see them. */
async function shown(viewCaches: ViewCaches): Promise<unknown> {
  const views: Record<string, unknown> = {};
  for (const viewCache of Object.values(viewCaches)) {
    for (const { key, view } of await viewCache.list()) views[`${viewCache.name}/${key}`] = plain(view);
  }
  return views;
}

/** What a process that was never interrupted, and never saved, shows. */
async function expectedViews(log: EmbeddedLog): Promise<unknown> {
  const { viewCaches, projector } = viewsOf(log, { writes: false, readModels: await emptyReadModels() });
  await projector.open();
  await projector.catchUp();
  return shown(viewCaches);
}

async function emptyReadModels(): Promise<ReadModels> {
  return {
    name: 'nothing',
    mend: async () => undefined,
    active: async () => undefined,
    standing: async () => new Map(),
    begin: () => Promise.reject(new Error('nothing is built here')),
    activate: () => Promise.reject(new Error('nothing is built here')),
    position: async () => undefined,
    load: async () => new Map(),
    list: async () => [],
    keys: async () => [],
    save: () => Promise.reject(new Error('nothing is saved here')),
    close: async () => undefined,
  };
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}

const STORY: Story = [
  [0, 0],
  [0, 1],
  [0, 2],
  ...Array.from({ length: 60 }, (_, at) => [at * 5 + (at >> 2), at * 7] as const),
];
const story: fc.Arbitrary<Story> = fc.array(fc.tuple(fc.nat(7), fc.nat(255)), {
  minLength: 5,
  maxLength: 60,
  size: 'max',
});

// Reading one's own writes

test('what was recorded is shown when its position is reached', async ({ log }) => {
  const { viewCaches, projector } = viewsOf(log);
  await projector.open();
  const run = running(projector);
  const { customers, tell } = storyteller(log);
  await tell(STORY.slice(0, 3));
  for (const host of [1, 2, 3]) {
    const { position } = await customers.state(1);
    assert.ok(await projector.reached(position, 60_000));
    const view = await viewCaches.addresses.get('1');
    assert.is(view?.ledger.get(1)?.disabled.count(), BigInt(host - 1));
    await tell([[0, host * 3]]);
  }
  await run.stop();
});

test('waiting for a position that does not come ends after its time', async ({ log }) => {
  const { projector } = viewsOf(log);
  await projector.open();
  let answer: boolean | undefined;
  const waiting = projector.reached(99n, 1_000).then((isReached) => (answer = isReached));
  await log.clock.advance({ milliseconds: 900 });
  assert.is(answer, undefined);
  await log.clock.advance({ milliseconds: 400 });
  await waiting;
  assert.is(answer, false);
});

test('a page tells which views it changed', async ({ log }) => {
  const { projector } = viewsOf(log);
  const told = new Map<string, Set<string>>();
  projector.onTouched((touched) => {
    for (const { viewCache, keys } of touched) {
      for (const key of keys) told.set(viewCache, (told.get(viewCache) ?? new Set()).add(key));
    }
  });
  await projector.open();
  const run = running(projector);
  await log.append('customer-7', registered(), assigned(1, '192.0.2.0/24'), disabled(['192.0.2.1']));
  await isShown(projector, log.store);
  assert.equal([...(told.get('addresses') ?? [])], ['7']);
  assert.equal([...(told.get('subnets') ?? [])], ['1']);
  assert.equal([...(told.get('process-quiet-period') ?? [])], ['7/1/BLACKHOLE']);
  await run.stop();
});

test('readers wait while the views catch up with where the log ended at the start', async ({ log }) => {
  await storyteller(log).tell(STORY);
  const { viewCaches, projector } = viewsOf(log);
  await projector.open();
  let isRead = false;
  const reading = viewCaches.customers.get('1').then((view) => {
    isRead = true;
    return view;
  });
  await new Promise((resolve) => void setImmediate(resolve));
  assert.is(isRead, false, 'nothing is shown yet, rather than something old');
  const run = running(projector);
  assert.is((await reading)?.name, 'c1');
  await run.stop();
});

test('a reader who would wait too long is told to come again', async ({ log }) => {
  await storyteller(log).tell(STORY);
  const { viewCaches, projector } = viewsOf(log);
  await projector.open();
  const reading = rejection(viewCaches.customers.get('1'));
  await log.clock.advance({ seconds: 11 });
  assert.instance(await reading, StoreUnavailable);
});

// Saving, stopping, dying

test('after a restart the views are as before, without reading the log again', async ({ log }) => {
  await storyteller(log).tell(STORY);
  const before = viewsOf(log);
  await before.projector.open();
  await before.projector.catchUp();
  let reads = 0;
  const store: EventStore = {
    ...log.store,
    readAll: async function* (after) {
      for await (const page of log.store.readAll(after)) {
        reads += page.length;
        yield page;
      }
    },
  };
  const after = viewsOf(log, { store });
  await after.projector.open();
  assert.is(after.projector.position(), await log.store.end(), 'known at once, also when nothing new ever comes');
  assert.ok(await after.projector.reached(await log.store.end(), 0));
  assert.equal(await shown(after.viewCaches), await shown(before.viewCaches));
  const run = running(after.projector);
  await isShown(after.projector, log.store);
  await run.stop();
  assert.is(reads, 0);
});

test('a quiet log is saved too, what came during a save included', async ({ log }) => {
  const real = log.readModels();
  let duringSave: (() => Promise<void>) | undefined;
  const readModels: ReadModels = {
    ...real,
    save: async (saves) => {
      const then = duringSave;
      duringSave = undefined;
      await then?.();
      return real.save(saves);
    },
  };
  const { projector, viewCaches } = viewsOf(log, { readModels });
  await projector.open();
  const run = running(projector);
  await log.append('customer-7', registered());
  await isShown(projector, log.store);
  duringSave = async () => {
    await log.append('customer-7', assigned(1, '192.0.2.0/24'));
    await isShown(projector, log.store);
  };
  await waitUntil('both are saved', async () => {
    await log.clock.advance({ milliseconds: 100 });
    return (await storedDocuments(real, viewCaches))['subnets/1'] !== undefined;
  });
  await run.stop();
});

test('when a save fails it is tried again, and readers notice nothing', async ({ log }) => {
  const real = log.readModels();
  let isBroken = true;
  const readModels: ReadModels = {
    ...real,
    save: (saves) => (isBroken ? Promise.reject(new StoreUnavailable('the disk is full')) : real.save(saves)),
  };
  const { viewCaches, projector } = viewsOf(log, { readModels });
  await projector.open();
  const run = running(projector);
  await log.append('customer-7', registered());
  await isShown(projector, log.store);
  await waitUntil('the trouble is logged', async () => {
    await log.clock.advance({ milliseconds: 500 });
    return log.lines.some(({ level, message }) => level === 'error' && message.includes('could not be saved'));
  });
  assert.is((await viewCaches.customers.get('7'))?.name, 'Acme Corp.');
  isBroken = false;
  await waitUntil('all is saved, also when nothing more happens', async () => {
    await log.clock.advance({ milliseconds: 500 });
    return (await storedDocuments(real, viewCaches))['customers/7'] !== undefined;
  });
  await run.stop();
});

test('views that could not be saved at the end are made again at the next start', async ({ log }) => {
  await storyteller(log).tell(STORY);
  const real = log.readModels();
  const readModels: ReadModels = { ...real, save: () => Promise.reject(new StoreUnavailable('the disk is full')) };
  const { projector } = viewsOf(log, { readModels });
  await projector.open();
  const run = running(projector);
  const ended = run.stop();
  await waitUntil('it ends', async () => {
    await log.clock.advance({ seconds: 1 });
    return Promise.race([
      ended.then(
        () => true,
        () => true,
      ),
      new Promise<false>((resolve) => void setImmediate(resolve, false)),
    ]);
  });
  const next = viewsOf(log);
  await next.projector.open();
  await next.projector.catchUp();
  assert.equal(await shown(next.viewCaches), await expectedViews(log));
});

test('whenever a process dies, its successor shows what the log tells', async ({ log }) => {
  const { tell } = storyteller(log);
  await tell(STORY.slice(0, 3));
  await fc.assert(
    fc.asyncProperty(story, fc.nat(6), fc.boolean(), async (events, lost, isTorn) => {
      const real = log.readModels();
      let left = lost;
      const dying: ReadModels = {
        ...real,
        save: async (saves) => {
          left -= 1;
          if (left >= 0) return real.save(saves);
          if (left < -1 || !isTorn) return;
          // Torn in the middle of a save: the documents are written, their positions are not.
          for (const { collection, changes } of saves) {
            const position = (await real.position(collection)) ?? -1n;
            await real.save([{ collection, position, changes }]);
          }
        },
      };
      const doomed = viewsOf(log, { readModels: dying });
      await doomed.projector.open();
      for (let at = 0; at < events.length; at += 9) {
        await tell(events.slice(at, at + 9));
        await doomed.projector.catchUp();
      }
      const successor = viewsOf(log, { readModels: real });
      await successor.projector.open();
      await successor.projector.catchUp();
      assert.equal(await shown(successor.viewCaches), await expectedViews(log));
    }),
    { numRuns: 25 },
  );
});

test('replaying any suffix of the log changes nothing', async ({ log }) => {
  await storyteller(log).tell(STORY);
  const before = viewsOf(log);
  await before.projector.open();
  await before.projector.catchUp();
  const documents = await storedDocuments(before.readModels, before.viewCaches);
  for (let position = -1n; position < (await log.store.end()); position += 7n) {
    for (const viewCache of Object.values(before.viewCaches)) {
      const collection = await before.readModels.active(viewCache.name);
      if (collection !== undefined) await before.readModels.save([{ collection, position, changes: [] }]);
    }
    const again = viewsOf(log, { readModels: before.readModels });
    await again.projector.open();
    await again.projector.catchUp();
    assert.equal(await storedDocuments(before.readModels, again.viewCaches), documents);
  }
});

// A log that is caught up with

/** The first event makes so many views, and each later one changes all of them: more than a cache keeps in memory otherwise. */
const MANY = 21_000;

function numbering(name: string, count: number): Projection<CustomerEvent, { last: number }> {
  return {
    name,
    version: 1,
    handles: ['CustomerRegistered', 'SubnetAssigned', 'AddressesDisabled'],
    keysOf: () => Array.from({ length: count }, (_, at) => `k${at}`),
    evolve: (_before, event) => ({ last: Number(event.position) }),
  };
}

function manyViews(log: EmbeddedLog, changes: Partial<ProjectorDependencies> = {}) {
  const readModels = changes.readModels ?? log.readModels();
  const viewCaches = [
    viewCacheOf(numbering('many', MANY), readModels),
    viewCacheOf(numbering('few', 9), readModels),
  ] as const;
  const { store, clock } = log;
  const dependencies = { store, readModels, clock, log: log.log, writes: true, ...changes };
  return { readModels, viewCaches, projector: openProjector(viewCaches, dependencies) };
}

/** The views of both, as they are saved, and how far each is. */
async function manySaved({ readModels, viewCaches }: Pick<ReturnType<typeof manyViews>, 'readModels' | 'viewCaches'>) {
  const saved = [];
  for (const { name } of viewCaches) {
    const active = await readModels.active(name);
    if (active === undefined) continue;
    saved.push(name, await readModels.position(active), await readModels.list(active, { prefix: '', limit: MANY }));
  }
  return saved;
}

/** One event a page, so that saves can come between. */
function inSmallPages(store: EventStore, beforePage: () => Promise<void> = async () => undefined): EventStore {
  return {
    ...store,
    readAll: async function* (after) {
      for await (const page of store.readAll(after)) {
        for (const event of page) {
          await beforePage();
          yield [event];
        }
      }
    },
  };
}

test('while there is room, views wait in memory until the log is caught up with; then it is left to others', async ({
  log,
}) => {
  await log.append('customer-7', registered(), assigned(1, '192.0.2.0/24'), disabled(['192.0.2.1']));
  const catchUp = async (hasRoom: boolean) => {
    const folder = await openEmbeddedLog();
    const real = folder.readModels();
    let [saves, loads] = [0, 0];
    const readModels: ReadModels = {
      ...real,
      save: async (all) => {
        saves += all.filter(({ changes }) => changes.length > 0).length;
        return real.save(all);
      },
      load: async (collection, keys) => {
        loads += keys.length;
        return real.load(collection, keys);
      },
    };
    const views = manyViews(log, { store: inSmallPages(log.store), readModels, hasRoom: () => hasRoom });
    await views.projector.open();
    await views.projector.catchUp();
    const counted = { saves, loads };
    // The oldest are not kept for readers.
    assert.equal(await views.viewCaches[0].get('k0'), { last: 3 });
    const found = { ...counted, isLoaded: loads > counted.loads, saved: await manySaved(views) };
    await folder.close();
    return found;
  };
  const [roomy, narrow] = [await catchUp(true), await catchUp(false)];
  assert.equal([roomy.saves, roomy.loads], [2, 0], 'each projection once, and nothing is read back');
  assert.ok(narrow.saves > 2 && narrow.loads > 0, 'that is how it goes without room');
  assert.ok(roomy.isLoaded, 'the memory is given back');
  assert.equal(roomy.saved, narrow.saved, 'byte for byte');
});

test('a process that dies between the saves of one catch-up leaves a successor nothing wrong', async ({ log }) => {
  await log.append('customer-7', registered(), assigned(1, '192.0.2.0/24'), disabled(['192.0.2.1']));
  const whole = manyViews(log, { hasRoom: () => true });
  await whole.projector.open();
  await whole.projector.catchUp();
  const expected = await manySaved(whole);
  for (const lost of [0, 1]) {
    const folder = await openEmbeddedLog();
    const real = folder.readModels();
    let left = lost;
    const readModels: ReadModels = {
      ...real,
      save: async (saves) => {
        left -= 1;
        if (left >= 0) return real.save(saves);
      },
    };
    const doomed = manyViews(log, { readModels, hasRoom: () => true });
    await doomed.projector.open();
    await doomed.projector.catchUp();
    assert.ok(left < 0, 'one cache after the other is saved');
    await log.append('customer-7', disabled([`192.0.2.${2 + lost}`]));
    const [successor, untouched] = [manyViews(log, { readModels: real, hasRoom: () => true }), manyViews(log)];
    for (const { projector } of [successor, untouched]) {
      await projector.open();
      await projector.catchUp();
    }
    assert.equal(await manySaved(successor), await manySaved(untouched));
    assert.not.equal(await manySaved(successor), expected);
    await folder.close();
  }
});

test('catching up that takes long is told with how far it is, and its end; what takes a moment is not', async ({
  log,
}) => {
  const told = () => log.lines.filter(({ message }) => /catching up|caught up/.test(message));
  await storyteller(log).tell(STORY.slice(0, 9));
  const end = await log.store.end();
  const store = inSmallPages(log.store, () => log.clock.advance({ seconds: 4 }));
  const slow = viewsOf(log, { store, writes: false });
  await slow.projector.open();
  const run = running(slow.projector);
  await isShown(slow.projector, log.store);
  await run.stop();
  const lines = told();
  assert.ok(lines.length > 1);
  assert.ok(lines.every(({ level }) => level === 'info'));
  const seconds = 4 * Number(end);
  assert.equal(lines.at(0)?.fields, { events: 3, position: '3', end: String(end), seconds: 12 });
  assert.equal(lines.at(-1)?.fields, { events: Number(end), seconds });
  const quick = viewsOf(log, { writes: false });
  await quick.projector.open();
  const again = running(quick.projector);
  await isShown(quick.projector, log.store);
  await again.stop();
  assert.is(told().length, lines.length);
});

// Memory alone

test('a process that must not save shows everything and saves nothing', async ({ log }) => {
  await storyteller(log).tell(STORY);
  const beside = viewsOf(log, { writes: false });
  await beside.projector.open();
  await beside.projector.catchUp();
  assert.equal(await shown(beside.viewCaches), await expectedViews(log));
  assert.equal(await storedDocuments(beside.readModels, beside.viewCaches), {});
});

test('it starts from what another process has saved, even when that goes on saving meanwhile', async ({ log }) => {
  await log.append('customer-7', registered(), assigned(1, '192.0.2.0/24'), disabled(['192.0.2.1']));
  const writer = viewsOf(log);
  await writer.projector.open();
  await writer.projector.catchUp();
  const beside = viewsOf(log, { writes: false });
  await beside.projector.open();
  // Applied to a document that holds it already, this request would capture nothing.
  await log.append('customer-7', commitRequested());
  await writer.projector.catchUp();
  await beside.projector.catchUp();
  assert.equal((await beside.viewCaches.addresses.get('7'))?.ledger.get(1)?.inDeployment?.captured.toJSON(), [
    '192.0.2.1',
  ]);
  assert.equal(await shown(beside.viewCaches), await expectedViews(log));
});

// Rebuilding

test('a rebuild gives the same documents, byte for byte', async ({ log }) => {
  const { tell } = storyteller(log);
  const { readModels, viewCaches, projector } = viewsOf(log);
  await projector.open();
  for (let at = 0; at < STORY.length; at += 5) {
    await tell(STORY.slice(at, at + 5));
    await projector.catchUp();
  }
  const before = await storedDocuments(readModels, viewCaches);
  assert.ok(Object.keys(before).length > 10);
  const rebuilt = openViewCaches(readModels);
  await rebuildProjections(Object.values(rebuilt), { ...log, readModels }, () => undefined);
  assert.equal(await storedDocuments(readModels, rebuilt), before);
});

test('until the swap, readers see the old documents; afterwards nothing is missing that came meanwhile', async ({
  log,
}) => {
  const { tell } = storyteller(log);
  await tell(STORY);
  const { readModels, viewCaches, projector } = viewsOf(log);
  await projector.open();
  await projector.catchUp();
  const before = await storedDocuments(readModels, viewCaches);
  let growths = 0;
  await rebuildProjections(
    Object.values(openViewCaches(readModels)),
    {
      ...log,
      readModels,
      store: {
        ...log.store,
        readAll: async function* (after) {
          assert.equal(await storedDocuments(readModels, viewCaches), before);
          yield* log.store.readAll(after);
          growths += 1;
          if (growths < 4) await tell([[0, 100 + growths]]);
        },
      },
    },
    () => undefined,
  );
  const active = await readModels.active('addresses');
  assert.is(active && (await readModels.position(active)), await log.store.end());
});

test('a rebuild tells how far it is', async ({ log }) => {
  await storyteller(log).tell(STORY);
  const seen: string[] = [];
  const readModels = log.readModels();
  await rebuildProjections(Object.values(openViewCaches(readModels)), { ...log, readModels }, (done, end) =>
    seen.push(`${done}/${end}`),
  );
  const end = await log.store.end();
  assert.is(seen.at(-1), `${end}/${end}`);
});

for (const isQuiet of [true, false]) {
  test(`a rebuild by another process is survived, ${isQuiet ? 'on a quiet log' : 'and what comes after it is shown'}`, async ({
    log,
  }) => {
    const { tell } = storyteller(log);
    await tell(STORY);
    const first = viewsOf(log);
    await first.projector.open();
    await first.projector.catchUp();
    // A process that has just started has hardly a view in memory: it reads them from the generation that is dropped.
    const { viewCaches, projector, readModels } = viewsOf(log);
    await projector.open();
    const run = running(projector);
    await isShown(projector, log.store);
    const other = log.readModels();
    await rebuildProjections(Object.values(openViewCaches(other)), { ...log, readModels: other }, () => undefined);
    if (!isQuiet) {
      await tell([
        [0, 77],
        [6, 78],
      ]);
      await isShown(projector, log.store);
    }
    assert.is((await viewCaches.customers.get('1'))?.name, 'c1');
    assert.is(await viewCaches.customers.get('none'), undefined);
    assert.equal(await shown(viewCaches), await expectedViews(log));
    await tell([
      [1, 9],
      [3, 9],
    ]);
    await isShown(projector, log.store);
    await waitUntil('it is saved in the new generation', async () => {
      await log.clock.advance({ milliseconds: 500 });
      const active = await readModels.active('addresses');
      return active !== undefined && (await readModels.position(active)) === (await log.store.end());
    });
    assert.equal(await shown(viewCaches), await expectedViews(log));
    await run.stop();
  });
}

test('what came while another process swapped in rebuilt views is saved in them, also when nothing more comes', async ({
  log,
}) => {
  await storyteller(log).tell(STORY);
  const { viewCaches, projector } = viewsOf(log);
  await projector.open();
  const run = running(projector);
  await isShown(projector, log.store);
  const other = log.readModels();
  const standsAtTheEnd = async (): Promise<boolean> => {
    const [end, names] = [await log.store.end(), Object.values(viewCaches).map(({ name }) => name)];
    return [...(await other.standing(names)).values()].every(({ position }) => position === end);
  };
  const readModels: ReadModels = {
    ...other,
    activate: async (collection) => {
      if (collection.projection === 'addresses') {
        await log.append('customer-7', registered());
        await waitUntil('it is saved in what is in use', async () => {
          await log.clock.advance({ seconds: 1 });
          const active = await other.active('addresses');
          return active !== undefined && (await other.position(active)) === (await log.store.end());
        });
      }
      await other.activate(collection);
    },
  };
  await rebuildProjections(Object.values(openViewCaches(readModels)), { ...log, readModels }, () => undefined);
  assert.not(await standsAtTheEnd());
  await waitUntil('the views that took their place have it as well', async () => {
    await log.clock.advance({ seconds: 1 });
    return standsAtTheEnd();
  });
  await run.stop();
});

test('many readers at once survive a rebuild by another process', async ({ log }) => {
  await storyteller(log).tell(STORY);
  const first = viewsOf(log);
  await first.projector.open();
  await first.projector.catchUp();
  for (const isRunning of [true, false]) {
    const { viewCaches, projector } = viewsOf(log);
    await projector.open();
    const run = isRunning ? running(projector) : undefined;
    const other = log.readModels();
    await rebuildProjections(Object.values(openViewCaches(other)), { ...log, readModels: other }, () => undefined);
    const names = await Promise.all(
      [1, 2, 3, 1, 2, 3].map(async (id) => (await viewCaches.customers.get(String(id)))?.name),
    );
    assert.equal(names, ['c1', 'c2', 'c3', 'c1', 'c2', 'c3']);
    assert.is((await viewCaches.subnets.list()).length, 3);
    await run?.stop();
  }
});

test('who reads when the views are kept no more, and have been rebuilt by another process, does not wait for ever', async ({
  log,
}) => {
  await storyteller(log).tell(STORY);
  const first = viewsOf(log);
  await first.projector.open();
  await first.projector.catchUp();
  const real = log.readModels();
  let saving: (() => void) | undefined;
  const savesAtLast = new Promise<void>((resolve) => (saving = resolve));
  let isHeldUp = false;
  const { viewCaches, projector } = viewsOf(log, {
    readModels: { ...real, save: (saves) => (isHeldUp ? savesAtLast : real.save(saves)) },
  });
  await projector.open();
  const run = running(projector);
  await isShown(projector, log.store);
  isHeldUp = true;
  await log.append('customer-7', registered());
  await isShown(projector, log.store);
  const ended = run.stop();
  const other = log.readModels();
  await rebuildProjections(Object.values(openViewCaches(other)), { ...log, readModels: other }, () => undefined);
  let answer: unknown;
  const reading = viewCaches.customers.get('1').then(
    (view) => (answer = view?.name),
    (error: unknown) => (answer = error),
  );
  await new Promise((resolve) => void setImmediate(resolve));
  saving?.();
  await ended;
  await waitUntil('the reader has an answer', () => answer !== undefined);
  await reading;
  assert.instance(answer, StoreUnavailable);
});

test('of two rebuilds at once the slower one gives up, and says why', async ({ log }) => {
  await storyteller(log).tell(STORY);
  const [one, two] = [log.readModels(), log.readModels()];
  const slow = rebuildProjections(
    Object.values(openViewCaches(one)),
    {
      ...log,
      readModels: one,
      store: {
        ...log.store,
        readAll: async function* (after) {
          await rebuildProjections(Object.values(openViewCaches(two)), { ...log, readModels: two }, () => undefined);
          yield* log.store.readAll(after);
        },
      },
    },
    () => undefined,
  );
  assert.match(String(await rejection(slow)), 'rebuilt');
  const { viewCaches, projector } = viewsOf(log);
  await projector.open();
  await projector.catchUp();
  assert.equal(await shown(viewCaches), await expectedViews(log));
});

// Versions

type Names = Readonly<{ name: string }>;

function namesProjection(version: number, nameOf: (name: string) => string): Projection<CustomerEvent, Names> {
  return {
    name: 'names',
    version,
    handles: ['CustomerRegistered'],
    keysOf: () => ['7'],
    evolve: (view, event) => (event.type === 'CustomerRegistered' ? { name: nameOf(event.data.name) } : view),
  };
}

function namesOf(
  log: EmbeddedLog,
  projection: Projection<CustomerEvent, Names>,
  changes: Partial<ProjectorDependencies> = {},
) {
  const readModels = log.readModels();
  const viewCache: ViewCache<Names> = viewCacheOf(projection, readModels);
  const projector = openProjector([viewCache], { ...log, readModels, writes: true, ...changes });
  return { readModels, viewCache, projector };
}

test('a projection whose version was bumped is built anew', async ({ log }) => {
  await log.append('customer-7', registered());
  const old = namesOf(
    log,
    namesProjection(1, (name) => name),
  );
  await old.projector.open();
  await old.projector.catchUp();
  const bumped = namesOf(
    log,
    namesProjection(2, (name) => name.toUpperCase()),
  );
  await bumped.projector.open();
  await bumped.projector.catchUp();
  assert.equal(await bumped.viewCache.get('7'), { name: 'ACME CORP.' });
  assert.is((await bumped.readModels.active('names'))?.version, 2);
});

test('so it is when an older program is put back', async ({ log }) => {
  await log.append('customer-7', registered());
  for (const version of [2, 1]) {
    const { projector, viewCache } = namesOf(
      log,
      namesProjection(version, (name) => `${version} ${name}`),
    );
    await projector.open();
    await projector.catchUp();
    assert.equal(await viewCache.get('7'), { name: `${version} Acme Corp.` });
  }
});

test('a running program stops loudly when a newer one takes its place, rather than fight over it', async ({ log }) => {
  await log.append('customer-7', registered());
  const old = namesOf(
    log,
    namesProjection(1, (name) => name),
  );
  await old.projector.open();
  const run = running(old.projector);
  await isShown(old.projector, log.store);
  const newer = namesOf(
    log,
    namesProjection(2, (name) => name),
  );
  await newer.projector.open();
  await log.append('customer-7', assigned(1, '192.0.2.0/24'));
  await isShown(old.projector, log.store);
  await log.clock.advance({ seconds: 5 });
  assert.match(String(await rejection(run.ended)), 'names was rebuilt by a newer program as version 2');
});

test('a process that must not save does not disturb another version', async ({ log }) => {
  await log.append('customer-7', registered());
  const newer = namesOf(
    log,
    namesProjection(2, (name) => name),
  );
  await newer.projector.open();
  await newer.projector.catchUp();
  const old = namesOf(
    log,
    namesProjection(1, (name) => `1 ${name}`),
    { writes: false },
  );
  await old.projector.open();
  await old.projector.catchUp();
  assert.equal(await old.viewCache.get('7'), { name: '1 Acme Corp.' });
  assert.is((await old.readModels.active('names'))?.version, 2);
});

// Events that can't be applied

test('an event that can not be decoded stops the runner loudly, and is applied when it can be', async ({ log }) => {
  const strange = defineEvent('SomethingStrange', 1, EVENT_CATALOGUE[0]!.check);
  const knowing = createCodec([...EVENT_CATALOGUE, strange]);
  const { viewCaches, projector } = viewsOf(log);
  await projector.open();
  const run = running(projector);
  await log.append('customer-7', registered());
  await isShown(projector, log.store);
  const other = log.another(knowing);
  const { data } = registered();
  const by = { stream: 'customer-99', previousHash: '', actor: 'system:test', correlationId: 'x', causationId: 'x' };
  const sealing = { ...by, at: log.clock.nowText(), ids: systemIds, schemaOf: knowing.schemaOf };
  await other.append('customer-99', -1n, seal([{ type: 'SomethingStrange', data }], sealing));
  const error = await rejection(run.ended);
  assert.instance(error, UndecodableEvent);
  assert.match(String(error), 'SomethingStrange');
  await log.append('customer-7', assigned(1, '192.0.2.0/24'));
  const stillStopped = viewsOf(log);
  await stillStopped.projector.open();
  assert.instance(await rejection(running(stillStopped.projector).ended), UndecodableEvent);
  const upgraded = viewsOf(log, { store: other });
  await upgraded.projector.open();
  await upgraded.projector.catchUp();
  assert.is((await upgraded.viewCaches.subnets.get('1'))?.cidr, '192.0.2.0/24');
  assert.is((await viewCaches.customers.get('7'))?.name, 'Acme Corp.');
});

test('an event that a projection can not digest stops the runner, and is not passed over by the next one', async ({
  log,
}) => {
  const failing = namesProjection(1, (name) => {
    if (name === 'Acme Corp.') throw new Error('can not digest Acme Corp.');
    return name;
  });
  await log.append('customer-1', { ...registered(), data: { ...dataOf(registered()), name: 'Globex' } });
  const { projector } = namesOf(log, failing);
  await projector.open();
  const run = running(projector);
  await isShown(projector, log.store);
  await log.append('customer-7', registered());
  assert.match(String(await rejection(run.ended)), 'can not digest');
  // Whatever would still be saved then: time passes.
  await log.clock.advance({ seconds: 5 });
  const mended = namesOf(
    log,
    namesProjection(1, (name) => name),
  );
  await mended.projector.open();
  await mended.projector.catchUp();
  assert.equal(await mended.viewCache.get('7'), { name: 'Acme Corp.' });
});

function dataOf(event: CustomerEvent) {
  if (event.type !== 'CustomerRegistered') throw new Error('not a registration');
  return event.data;
}

// Readers beside the feed

test('a slow read does not bring back what was deleted meanwhile', async ({ log }) => {
  const sha256 = 'ab'.repeat(32);
  await log.append('customer-7', registered(), { type: 'ApiTokenIssued', data: { tokenId: 't1', label: '', sha256 } });
  const real = log.readModels();
  const filled = viewsOf(log, { readModels: real });
  await filled.projector.open();
  await filled.projector.catchUp();
  let isSlow = false;
  let goOn: (() => void) | undefined;
  const readModels: ReadModels = {
    ...real,
    load: async (collection, keys) => {
      const found = await real.load(collection, keys);
      if (isSlow) {
        isSlow = false;
        await new Promise<void>((resolve) => (goOn = resolve));
      }
      return found;
    },
  };
  const { viewCaches, projector } = viewsOf(log, { readModels });
  await projector.open();
  isSlow = true;
  const before = viewCaches.tokens.get(sha256);
  await new Promise((resolve) => void setImmediate(resolve));
  await log.append('customer-7', { type: 'ApiTokenRevoked', data: { tokenId: 't1', sha256 } });
  await projector.catchUp();
  goOn?.();
  await before;
  assert.is(await viewCaches.tokens.get(sha256), undefined, 'the token is worth nothing any more');
  assert.equal(await viewCaches.tokens.list(), []);
  await log.append('customer-7', commitRequested(), commitCompleted());
  await projector.catchUp();
  assert.is(await viewCaches.tokens.get(sha256), undefined);
});

test('a list holds what is saved and what is not, in key order, by prefix', async ({ log }) => {
  const { viewCaches, projector } = viewsOf(log);
  await projector.open();
  await log.append(
    'customer-7',
    registered(),
    assigned(1, '192.0.2.0/24'),
    disabled(['192.0.2.1']),
    assigned(2, '198.51.100.0/24', 2),
    disabled(['198.51.100.1'], 2),
  );
  await projector.catchUp();
  const run = running(projector);
  await log.append(
    'customer-71',
    { ...registered(), data: { ...dataOf(registered()), customerId: 71 } },
    assigned(3, '203.0.113.0/24'),
    disabled(['203.0.113.1']),
  );
  await isShown(projector, log.store);
  const keys = async (prefix?: string) => (await viewCaches.quiet.list(prefix)).map(({ key }) => key);
  assert.equal(await keys(), ['7/1/BLACKHOLE', '7/2/BLACKHOLE', '71/1/BLACKHOLE']);
  assert.equal(await keys('7/'), ['7/1/BLACKHOLE', '7/2/BLACKHOLE']);
  assert.equal(await keys('8'), []);
  await run.stop();
});

test.run();
