import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '../../../src/adapters/sqlite/sqlite-library.ts';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openSqliteReadModels } from '../../../src/adapters/sqlite/read-models.ts';
import { createLog } from '../../../src/adapters/log.ts';
import type { Log } from '../../../src/ports/log.ts';
import { type Collection, CollectionGone, type ReadModels, ReadModelsDamaged } from '../../../src/ports/read-models.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

type Context = { file: string; errors: string[]; remove: () => Promise<void> };
const test = suite<Context>('a damaged SQLite file of views');

test.before.each(async (context) => {
  const { path, remove } = await temporaryFolder();
  Object.assign(context, { file: join(path, 'views.db'), errors: [], remove } satisfies Context);
});
test.after.each(({ remove }) => remove());

function open({ file, errors }: Context): ReturnType<typeof openSqliteReadModels> {
  const error = (_fields: object, message: string): void => void errors.push(message);
  const log: Log = { ...createLog({ level: 'silent' }), error, child: () => log };
  return openSqliteReadModels({ file, log, clock: createManualClock('2026-11-27T20:50:00.123Z') });
}

/** Two generations of many pages, closed. */
async function fill(context: Context): Promise<readonly Collection[]> {
  const { readModels, snapshots } = open(context);
  const collections: Collection[] = [];
  for (const projection of ['customers', 'subnets']) {
    const collection = await readModels.begin(projection, 1);
    await readModels.activate(collection);
    const changes = Array.from({ length: 300 }, (_, key) => ({
      key: `${projection}-${key}`,
      json: `"${'x'.repeat(200)}"`,
    }));
    await readModels.save([{ collection, position: 7n, changes }]);
    collections.push(collection);
  }
  await snapshots.save('customer-1', { version: 1, revision: 5n, hash: 'ab', at: 'now', json: '{"a":1}' });
  await readModels.close();
  return collections;
}

const ASIDE = 'views.db.damaged-20261127T205000.123Z';

/** What was put aside, and what readers find instead. */
async function mended(context: Context): Promise<void> {
  const { readModels, snapshots } = open(context);
  await readModels.mend();
  assert.is((await readModels.standing(['customers', 'subnets'])).size, 0);
  assert.is(await snapshots.load('customer-1'), undefined);
  assert.is(context.errors.length, 1);
  assert.match(context.errors[0] ?? '', `${context.file} is damaged: `);
  assert.match(context.errors[0] ?? '', join(context.file, '..', ASIDE));
  assert.ok(readdirSync(join(context.file, '..')).includes(ASIDE));
  await usable(readModels);
  await readModels.close();
}

async function usable(readModels: ReadModels): Promise<void> {
  const collection = await readModels.begin('customers', 1);
  await readModels.activate(collection);
  await readModels.save([{ collection, position: 1n, changes: [{ key: 'a', json: '1' }] }]);
  assert.is((await readModels.load(collection, ['a'])).get('a'), '1');
}

const DAMAGES: Readonly<Record<string, (file: string) => void>> = {
  'cut to half': (file) => truncateSync(file, Math.floor(statSync(file).size / 2)),
  'a text': (file) => writeFileSync(file, 'views, views, views\n'.repeat(1_000)),
  'a directory': (file) => {
    rmSync(file);
    mkdirSync(file);
    writeFileSync(join(file, 'inside'), 'kept');
  },
  'with a page of zeros': (file) => overwrite(file, statSync(file).size - 8_192, Buffer.alloc(4_096)),
  'with a byte of a document changed': (file) => spoil(file, Buffer.from(`"${'x'.repeat(200)}"`), 50),
  'without a document': (file) => change(file, "DELETE FROM documents_2 WHERE key = 'subnets-17'"),
  'with a document of before': (file) =>
    change(file, `UPDATE documents_2 SET json = '""', checksum = 0 WHERE key = 'subnets-17'`),
  'with another position': (file) => change(file, 'UPDATE generations SET position = 6 WHERE generation = 1'),
  'without a checksum over its documents': (file) => change(file, 'UPDATE generations SET digest = NULL, seal = NULL'),
  'without the table of a generation': (file) => change(file, 'DROP TABLE documents_1'),
};

for (const [what, damage] of Object.entries(DAMAGES)) {
  test(`${what}: it is put aside, loudly, and a new one is begun`, async (context) => {
    await fill(context);
    damage(context.file);
    await mended(context);
  });
}

test('a sound file is left as it is', async (context) => {
  const [customers] = await fill(context);
  const { readModels } = open(context);
  await readModels.mend();
  assert.equal(await readModels.active('customers'), customers);
  await readModels.close();
  assert.equal(context.errors, []);
});

test('what is kept beside it is put aside with it', async (context) => {
  await fill(context);
  truncateSync(context.file, 4_096);
  writeFileSync(`${context.file}-wal`, 'a journal');
  await mended(context);
  assert.not(readFileSync(context.file).includes('a journal'));
});

test('twice in one moment: both are kept', async (context) => {
  for (let round = 0; round < 2; round += 1) {
    writeFileSync(context.file, 'no database '.repeat(100));
    const { readModels } = open(context);
    await readModels.mend();
    await readModels.close();
  }
  const aside = readdirSync(join(context.file, '..')).filter((name) => name.includes('damaged'));
  assert.equal(aside.toSorted(), [ASIDE, `${ASIDE}-2`]);
});

test('who does not keep the views is told that it is damaged, and moves nothing', async (context) => {
  await fill(context);
  truncateSync(context.file, Math.floor(statSync(context.file).size / 2));
  const { readModels, snapshots } = open(context);
  for (const use of [() => readModels.active('customers'), () => readModels.standing([]), () => snapshots.load('a')]) {
    const error = await use().catch((thrown: unknown) => thrown);
    assert.instance(error, ReadModelsDamaged);
    assert.instance(error, CollectionGone);
    assert.match(String(error), context.file);
  }
  await readModels.close();
  assert.not(readdirSync(join(context.file, '..')).some((name) => name.includes('damaged')));
});

test('damage that comes after it was opened is never answered with: nothing is read or written until it is mended', async (context) => {
  const [customers, subnets] = await fill(context);
  if (customers === undefined || subnets === undefined) throw new Error('two were filled');
  const { readModels } = open(context);
  await readModels.mend();
  await readModels.load(customers, ['customers-1']);
  change(context.file, `UPDATE documents_2 SET json = '"wrong"' WHERE key = 'subnets-17'`);
  assert.is((await readModels.load(subnets, ['subnets-1'])).size, 1, 'what is as it was saved is read');
  const save = () => readModels.save([{ collection: customers, position: 8n, changes: [] }]);
  await save();
  for (const use of [
    () => readModels.load(subnets, ['subnets-17']),
    () => readModels.list(subnets, { prefix: '', limit: 1_000 }),
    () => readModels.load(customers, ['customers-1']),
    save,
  ]) {
    assert.instance(await use().catch((thrown: unknown) => thrown), ReadModelsDamaged);
  }
  await readModels.mend();
  assert.is(await readModels.active('customers'), undefined);
  assert.is(context.errors.length, 1);
  await usable(readModels);
  await readModels.close();
});

test('a snapshot that is not what was saved is no snapshot, and shows that the file is damaged', async (context) => {
  await fill(context);
  spoil(context.file, Buffer.from('{"a":1}'), 5);
  const { readModels, snapshots } = open(context);
  assert.instance(await snapshots.load('customer-1').catch((thrown: unknown) => thrown), ReadModelsDamaged);
  await readModels.mend();
  assert.is(await snapshots.load('customer-1'), undefined);
  assert.is(context.errors.length, 1);
  await readModels.close();
});

test('a snapshot without a checksum is not used: the stream is read instead', async (context) => {
  await fill(context);
  change(context.file, 'UPDATE snapshots SET checksum = NULL');
  const { readModels, snapshots } = open(context);
  assert.is(await snapshots.load('customer-1'), undefined);
  await readModels.close();
});

test('a file of something else, or of a newer edgeward, is neither moved nor written to', async (context) => {
  await fill(context);
  for (const pragma of ['user_version = 2', 'application_id = 7']) {
    change(context.file, `PRAGMA ${pragma}`);
    const { readModels } = open(context);
    const error = await readModels.mend().catch((thrown: unknown) => thrown);
    assert.match(String(error), `${context.file} holds `);
    await readModels.close();
    assert.ok(existsSync(context.file));
  }
  assert.equal(context.errors, []);
});

function change(file: string, sql: string): void {
  openSqlite(file).exec(sql).close();
}

/** Everywhere: pages that are in use no more hold it too. */
function spoil(file: string, text: Buffer, at: number): void {
  const content = readFileSync(file);
  for (let start = content.indexOf(text); start >= 0; start = content.indexOf(text, start + 1))
    content[start + at] = 121;
  writeFileSync(file, content);
}

function overwrite(file: string, at: number, bytes: Buffer): void {
  const content = readFileSync(file);
  bytes.copy(content, at);
  writeFileSync(file, content);
}

test.run();
