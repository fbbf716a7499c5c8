import { statSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openSqlite } from '../../../src/adapters/sqlite/sqlite-library.ts';
import { systemClock } from '../../../src/adapters/clock.ts';
import { createLog } from '../../../src/adapters/log.ts';
import { openDatabase } from '../../../src/adapters/sqlite/database.ts';
import { openSqliteReadModels, VIEWS_FILE } from '../../../src/adapters/sqlite/read-models.ts';
import { StoreUnavailable } from '../../../src/ports/event-store.ts';
import { CollectionGone } from '../../../src/ports/read-models.ts';
import { readModelsContract } from '../../contracts/read-models.ts';
import { snapshotsContract } from '../../contracts/snapshots.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

function openViews(file: string, busyMilliseconds = 5_000) {
  return openSqliteReadModels({ file, log: createLog({ level: 'silent' }), clock: systemClock, busyMilliseconds });
}

readModelsContract('read models in a SQLite file', async () => {
  const { path, remove } = await temporaryFolder();
  return { open: async () => openViews(join(path, 'views.db')).readModels, stop: remove };
});

snapshotsContract('snapshots in a SQLite file', async () => {
  const { path, remove } = await temporaryFolder();
  const opened = [openViews(join(path, 'views.db'))];
  return {
    snapshots: opened[0]!.snapshots,
    reopen: async () => {
      const again = openViews(join(path, 'views.db'));
      opened.push(again);
      return again.snapshots;
    },
    stop: async () => {
      for (const { readModels } of opened) await readModels.close();
      await remove();
    },
  };
});

type Context = { file: string; remove: () => Promise<void> };
const test = suite<Context>('a SQLite file of views');

test.before.each(async (context) => {
  const { path, remove } = await temporaryFolder();
  Object.assign(context, { file: join(path, 'views.db'), remove } satisfies Context);
});
test.after.each(({ remove }) => remove());

test('a dropped generation does not look like an empty one', async ({ file }) => {
  const { readModels } = openViews(file);
  const old = await readModels.begin('subnets', 1);
  await readModels.activate(await readModels.begin('subnets', 1));
  for (const use of [
    () => readModels.position(old),
    () => readModels.load(old, ['a']),
    () => readModels.list(old, { prefix: '', limit: 1 }),
    () => readModels.activate(old),
  ]) {
    const error = await use().catch((thrown: unknown) => thrown);
    assert.instance(error, CollectionGone);
    assert.match(String(error), `generation ${old.generation} of subnets was dropped`);
  }
  await readModels.close();
});

test('nothing of dropped generations stays in the file', async ({ file }) => {
  const { readModels } = openViews(file);
  for (let build = 0; build < 5; build += 1) await readModels.activate(await readModels.begin('subnets', build));
  await readModels.close();
  const db = openSqlite(file);
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'documents%'").pluck().all();
  assert.equal(tables, ['documents_5']);
  db.close();
});

test('the file is for the owner alone', async ({ file }) => {
  const { readModels } = openViews(file);
  await readModels.standing([]);
  assert.is(statSync(file).mode & 0o777, 0o600);
  await readModels.close();
});

test('a save waits for another process that holds the file, and fails when that takes too long', async ({ file }) => {
  const { readModels } = openViews(file, 20);
  const collection = await readModels.begin('subnets', 1);
  const other = openDatabase(file, VIEWS_FILE);
  other.exec('BEGIN IMMEDIATE');
  const save = () => readModels.save([{ collection, position: 1n, changes: [] }]);
  assert.instance(await save().catch((thrown: unknown) => thrown), StoreUnavailable);
  assert.is(await readModels.position(collection), undefined);
  const saving = save();
  other.exec('ROLLBACK');
  await saving;
  assert.is(await readModels.position(collection), 1n);
  other.close();
  await readModels.close();
});

test('closed read models are unavailable', async ({ file }) => {
  const { readModels, snapshots } = openViews(file);
  await readModels.close();
  await readModels.close();
  for (const use of [() => readModels.active('subnets'), () => snapshots.load('customer-1')]) {
    assert.instance(await use().catch((thrown: unknown) => thrown), StoreUnavailable);
  }
});

test.run();
