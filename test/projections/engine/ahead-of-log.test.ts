import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '../../../src/adapters/sqlite/sqlite-library.ts';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openSqliteEventStore } from '../../../src/adapters/sqlite/event-store.ts';
import { openSqliteReadModels } from '../../../src/adapters/sqlite/read-models.ts';
import { type EventStore, StoreUnavailable } from '../../../src/ports/event-store.ts';
import type { ReadModels } from '../../../src/ports/read-models.ts';
import { type AheadOfLog, findAheadOfLog } from '../../../src/projections/engine/ahead-of-log.ts';
import { storedViewsOf } from '../../../src/projections/engine/stored-views.ts';
import { customerProjection } from '../../../src/projections/ip-control/customer-view.ts';
import { openProjector, type ProjectorDependencies } from '../../../src/projections/engine/projector.ts';
import { rebuildProjections } from '../../../src/projections/engine/rebuild.ts';
import { openSavedPositions } from '../../../src/projections/engine/saved-positions.ts';
import { plain } from '../../specification.ts';
import { type EmbeddedLog, openEmbeddedLog } from '../../support/stores/embedded-log.ts';
import { waitUntil } from '../../support/wait-until.ts';
import {
  openViewCaches,
  type ViewCaches,
  storedDocuments,
  type Story,
  storyteller,
} from '../projections-under-test.ts';

const test = suite<{ log: EmbeddedLog }>('views that are ahead of the log');

test.before.each(async (state) => {
  state.log = await openEmbeddedLog();
});
test.after.each((state) => state.log.close());

const BEFORE: Story = [
  [0, 0],
  [0, 1],
  [1, 2],
  [6, 3],
];
const LOST: Story = [
  [0, 4],
  [3, 0],
  [2, 1],
  [7, 3],
];
const INSTEAD: Story = [
  [0, 14],
  [1, 15],
  [0, 16],
  [0, 17],
  [6, 1],
  [0, 18],
];

/** The log as it was after `BEFORE`, with `instead` recorded since; the views have seen what was lost. */
async function putBack(
  log: EmbeddedLog,
  instead: Story,
): Promise<Readonly<{ store: EventStore; close: () => Promise<void> }>> {
  await storyteller(log).tell(BEFORE);
  const copy = join(log.folder, 'copy.db');
  openSqlite(join(log.folder, 'events.db')).exec(`VACUUM INTO '${copy}'`).close();
  await storyteller(log).tell(LOST);
  await shownBy(log.store, log.readModels(), log);
  const store = openSqliteEventStore({ file: copy, codec: log.codec, log: log.log });
  await storyteller({ ...log, store, dependencies: (changes) => log.dependencies({ store, ...changes }) }).tell(
    instead,
  );
  return { store, close: store.close };
}

function projectorOf(
  viewCaches: ViewCaches,
  changes: Partial<ProjectorDependencies> & Pick<ProjectorDependencies, 'readModels'>,
  log: EmbeddedLog,
) {
  return openProjector(Object.values(viewCaches), {
    store: log.store,
    clock: log.clock,
    log: log.log,
    writes: true,
    ...changes,
  });
}

/** What a projector on these stores shows and saves. */
async function shownBy(
  store: EventStore,
  readModels: ReadModels,
  log: EmbeddedLog,
  changes: Partial<ProjectorDependencies> = {},
): Promise<Readonly<{ views: unknown; saved: unknown; ahead: AheadOfLog | undefined }>> {
  const viewCaches = openViewCaches(readModels);
  const projector = projectorOf(viewCaches, { store, readModels, ...changes }, log);
  const ahead = await projector.open();
  await projector.catchUp();
  const views: Record<string, unknown> = {};
  for (const viewCache of Object.values(viewCaches)) {
    for (const { key, view } of await viewCache.list()) views[`${viewCache.name}/${key}`] = plain(view);
  }
  return { views, saved: await storedDocuments(readModels, viewCaches), ahead };
}

const projectionsOf = (ahead: AheadOfLog | undefined): readonly string[] | undefined =>
  ahead?.views.map(({ collection }) => collection.projection).sort();

const projectionsIn = (log: EmbeddedLog): readonly string[] =>
  Object.values(openViewCaches(log.readModels()))
    .map(({ name }) => name)
    .sort();

/** What a fold of the whole log gives. */
async function foldOf(
  store: EventStore,
  log: EmbeddedLog,
): Promise<Pick<Awaited<ReturnType<typeof shownBy>>, 'views' | 'saved'>> {
  const file = join(log.folder, `fold-${readdirSync(log.folder).length}.db`);
  const { readModels } = openSqliteReadModels({ file, log: log.log, clock: log.clock });
  try {
    const { views, saved } = await shownBy(store, readModels, log);
    return { views, saved };
  } finally {
    await readModels.close();
  }
}

for (const [what, instead] of [
  ['ends before what they have applied', []],
  ['ends at another event of the same position', INSTEAD.slice(0, 4)],
  ['has gone on, past what they have applied', [...INSTEAD, ...INSTEAD]],
] as const satisfies readonly (readonly [string, Story])[]) {
  test(`a log that ${what} has all views made again, process states too, loudly`, async ({ log }) => {
    const { store, close } = await putBack(log, instead);
    const told: AheadOfLog[] = [];
    const readModels = log.readModels();
    const before = await readModels.standing(Object.values(openViewCaches(readModels)).map(({ name }) => name));
    const whenAhead = async (ahead: AheadOfLog): Promise<void> => {
      told.push(ahead);
      assert.equal(await readModels.standing([...before.keys()]), before, 'told before anything is made again');
    };
    const { views, saved, ahead } = await shownBy(store, readModels, log, { whenAhead });
    assert.equal({ views, saved }, await foldOf(store, log));
    assert.equal(projectionsOf(ahead), projectionsIn(log));
    assert.equal(told, [ahead]);
    const errors = log.lines.filter(({ level }) => level === 'error');
    assert.is(errors.length, 1);
    assert.match(errors[0]?.message ?? '', join(log.folder, 'copy.db'));
    assert.match(errors[0]?.message ?? '', join(log.folder, 'views.db'));
    const [position] = [...before.values()].map((standing) => standing.position);
    assert.match(errors[0]?.message ?? '', `ends at ${ahead?.end}, does not hold the event at ${position} `);
    // Once: what was made again is of this log.
    assert.is((await shownBy(store, log.readModels(), log)).ahead, undefined);
    await close();
  });
}

test('a log that holds what the views have applied leaves them as they are', async ({ log }) => {
  await storyteller(log).tell(BEFORE);
  await shownBy(log.store, log.readModels(), log);
  const readModels = log.readModels();
  const active = await readModels.active('customers');
  await storyteller(log).tell(LOST);
  assert.is((await shownBy(log.store, readModels, log)).ahead, undefined);
  assert.equal(await readModels.active('customers'), active);
});

test('a process that may not save shows what the log holds, from its memory, and changes nothing that is saved', async ({
  log,
}) => {
  const { store, close } = await putBack(log, INSTEAD);
  const readModels = log.readModels();
  const active = await readModels.active('customers');
  let told = 0;
  const whenAhead = async (): Promise<void> => void (told += 1);
  const { views } = await shownBy(store, readModels, log, { writes: false, whenAhead });
  assert.is(told, 0, 'who does not save has nothing to forget');
  assert.equal(views, (await foldOf(store, log)).views);
  assert.equal(await readModels.active('customers'), active);
  await close();
});

test('views that were saved without the event at their position go on, and keep it from the next save on', async ({
  log,
}) => {
  await storyteller(log).tell(BEFORE);
  await shownBy(log.store, log.readModels(), log);
  asAnEarlierEdgewardLeftThem(log);
  const readModels = log.readModels();
  const before = await readModels.standing(['customers']);
  assert.is(before.get('customers')?.position, await log.store.end());
  assert.is(before.get('customers')?.anchor, undefined);
  await storyteller(log).tell(LOST);
  assert.is((await shownBy(log.store, readModels, log)).ahead, undefined);
  const after = (await readModels.standing(['customers'])).get('customers');
  assert.equal(after?.collection, before.get('customers')?.collection);
  const last = (await log.events()).at(-1);
  const { stream, revision, position } = last ?? {};
  assert.equal(after?.anchor, { stream, revision, position, hash: last?.metadata.hash });
});

test('without that event, a log that ends before their position is enough to have them made again', async ({ log }) => {
  const { store, close } = await putBack(log, []);
  asAnEarlierEdgewardLeftThem(log);
  const { views, ahead } = await shownBy(store, log.readModels(), log);
  assert.equal(views, (await foldOf(store, log)).views);
  assert.equal(projectionsOf(ahead), projectionsIn(log));
  await close();
});

test('a rebuild of some tells it before it drops what shows it', async ({ log }) => {
  const { store, close } = await putBack(log, INSTEAD);
  const readModels = log.readModels();
  const viewCaches = Object.values(openViewCaches(readModels)).filter(({ name }) => name === 'customers');
  const told: string[] = [];
  const whenAhead = async ({ views }: AheadOfLog): Promise<void> =>
    void told.push(...views.map(({ collection }) => collection.projection));
  await rebuildProjections(viewCaches, { ...log, store, readModels, whenAhead }, () => undefined);
  assert.equal(told, ['customers']);
  assert.is(await findAheadOfLog(['customers'], { ...log, store, readModels }), undefined);
  await close();
});

test('a server that does not keep the views reads none that are ahead, and waits for others until they are made again', async ({
  log,
}) => {
  const { store, close } = await putBack(log, INSTEAD.slice(0, 2));
  const readModels = log.readModels();
  const positions = openSavedPositions([customerProjection], { readModels, store, clock: log.clock });
  assert.is(await positions.lowest(), -1n);
  const direct = storedViewsOf(customerProjection, { ...log, store, readModels });
  const early = direct.list().catch((error: unknown) => error);
  await waitUntil('the reader waits', () => log.clock.waiting() > 0);
  await log.clock.advance('PT20S');
  assert.instance(await early, StoreUnavailable);
  await shownBy(store, log.readModels(), log);
  assert.is(await positions.lowest(), await store.end());
  assert.equal(
    (await direct.list()).map(({ key }) => key),
    (await openViewCachesAfter(store, log)).map(({ key }) => key),
  );
  await close();
});

async function openViewCachesAfter(store: EventStore, log: EmbeddedLog) {
  const readModels = log.readModels();
  const { customers } = openViewCaches(readModels);
  const projector = openProjector([customers], { ...log, store, readModels, writes: false });
  await projector.open();
  return customers.list();
}

/** Positions without anchors, documents without checksums. */
function asAnEarlierEdgewardLeftThem(log: EmbeddedLog): void {
  const db = openSqlite(join(log.folder, 'views.db'));
  const tables = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE name LIKE 'documents_%'").pluck().all();
  for (const table of [...tables, 'snapshots']) db.exec(`ALTER TABLE ${table} DROP COLUMN checksum`);
  for (const column of ['anchor', 'digest', 'seal']) db.exec(`ALTER TABLE generations DROP COLUMN ${column}`);
  db.close();
}

test.run();
