import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, renameSync, statSync, symlinkSync } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openSqlite } from '../../../src/adapters/sqlite/sqlite-library.ts';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createLog } from '../../../src/adapters/log.ts';
import { openDatabase } from '../../../src/adapters/sqlite/database.ts';
import { EVENT_LOG } from '../../../src/adapters/sqlite/event-row.ts';
import { openSqliteEventStore } from '../../../src/adapters/sqlite/event-store.ts';
import { asStored, type Codec, UndecodableEvent } from '../../../src/events/codec.ts';
import { checkLink } from '../../../src/events/hash-chain.ts';
import type { RecordedEvent } from '../../../src/kernel/event.ts';
import {
  AppendInDoubt,
  BEGINNING,
  type EventStore,
  NO_STREAM,
  StoreUnavailable,
} from '../../../src/ports/event-store.ts';
import { StoreRefused } from '../../../src/ports/store-refused.ts';
import { eventStoreContract } from '../../contracts/event-store.ts';
import { notes, numberedNotes, sampleCodec, thing } from '../../contracts/sample-events.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { repositoryFile } from '../../support/repository.ts';

const log = createLog({ level: 'silent' });

eventStoreContract('the event log in a SQLite file', async () => {
  const { path, remove } = await temporaryFolder();
  const file = join(path, 'events.db');
  return { open: async (codec) => openSqliteEventStore({ file, codec, log }), stop: remove };
});

type Context = {
  folder: string;
  file: string;
  open: (options?: { codec?: Codec; busyMilliseconds?: number; isAudit?: boolean }) => EventStore;
  remove: () => Promise<void>;
};

const test = suite<Context>('a SQLite file as event log');

test.before.each(async (context) => {
  const { path, remove } = await temporaryFolder();
  const file = join(path, 'events.db');
  Object.assign(context, {
    folder: path,
    file,
    remove,
    open: (options = {}) => openSqliteEventStore({ file, codec: sampleCodec, log, ...options }),
  } satisfies Context);
});
test.after.each(({ remove }) => remove());

test('each commit is on disk when it returns, also in a file that was opened before', async ({ file, open }) => {
  const store = open();
  await store.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
  await store.close();
  for (let opening = 0; opening < 2; opening += 1) {
    const db = openDatabase(file, EVENT_LOG);
    db.exec(`BEGIN IMMEDIATE; UPDATE events SET type = type; COMMIT`);
    assert.is(db.pragma('synchronous', { simple: true }), 2);
    assert.is(db.pragma('journal_mode', { simple: true }), 'wal');
    db.close();
  }
});

test('the file and its companions are for the owner alone', async ({ folder, open }) => {
  const store = open();
  await store.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
  const files = readdirSync(folder);
  assert.equal(files.toSorted(), ['events.db', 'events.db-shm', 'events.db-wal']);
  for (const name of files) assert.is(statSync(join(folder, name)).mode & 0o777, 0o600, name);
  await store.close();
});

test("another program's file is not touched", async ({ file, open }) => {
  const db = openSqlite(file);
  db.exec('CREATE TABLE theirs (x)');
  db.close();
  assert.throws(open, /events\.db holds something else than the event log/);
  const again = openSqlite(file);
  assert.equal(again.prepare('SELECT name FROM sqlite_schema').pluck().all(), ['theirs']);
  again.close();
});

test('a file of a newer version is not touched', async ({ file, open }) => {
  await open().close();
  const db = openSqlite(file);
  db.pragma('user_version = 99');
  db.close();
  assert.throws(open, /holds the event log of version 99; this program reads version 1/);
});

test('a follower at the end of the log is handed the very events that were appended, without reading them', async ({
  open,
}) => {
  let decoded = 0;
  const counting: Codec = {
    ...sampleCodec,
    decode: (stored) => {
      decoded += 1;
      return sampleCodec.decode(stored);
    },
  };
  const store = open({ codec: counting });
  await store.append('customer-1', NO_STREAM, notes('customer-1', 'before'));
  const stop = new AbortController();
  const pages = store.follow(BEGINNING, stop.signal)[Symbol.asyncIterator]();
  await pages.next();
  decoded = 0;
  const events = notes('customer-1', 'a', 'b');
  const next = pages.next();
  const { revision, position } = await store.append('customer-1', 0n, events);
  const { value } = await next;
  assert.is(value?.[1]?.data, events[1]?.data);
  assert.is(value?.[1]?.metadata, events[1]?.metadata);
  assert.is(value?.[1]?.revision, revision);
  assert.is(value?.[1]?.position, position);
  assert.is(decoded, 0);
  stop.abort();
  await store.close();
});

test('an append waits for another process that holds the file, in order', async ({ file, open }) => {
  const store = open();
  const other = openDatabase(file, EVENT_LOG);
  other.exec('BEGIN IMMEDIATE');
  let answered = 0;
  const appends = [0, 1].map((revision) =>
    store
      .append('customer-1', BigInt(revision) - 1n, notes('customer-1', String(revision)))
      .then(() => (answered += 1)),
  );
  for (let turn = 0; turn < 20; turn += 1) await store.end();
  assert.is(answered, 0);
  other.exec('ROLLBACK');
  await Promise.all(appends);
  other.close();
  await store.close();
});

test('an append fails when another process holds the file for too long; later ones work again', async ({
  file,
  open,
}) => {
  const store = open({ busyMilliseconds: 20 });
  const other = openDatabase(file, EVENT_LOG);
  other.exec('BEGIN IMMEDIATE');
  const error = await failureOf(store.append('customer-1', NO_STREAM, notes('customer-1', 'a')));
  assert.ok(error instanceof StoreUnavailable && /SQLITE_BUSY/.test(error.message), String(error));
  other.exec('ROLLBACK');
  assert.equal(await all(store.readAll(BEGINNING)), []);
  await store.append('customer-1', NO_STREAM, notes('customer-1', 'b'));
  other.close();
  await store.close();
});

test('what was written into a file that is away for a while is in doubt: it is there when the file is back', async ({
  file,
  open,
}) => {
  const store = open();
  await store.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
  renameSync(`${file}-wal`, `${file}-wal.away`);
  const appended = notes('customer-1', 'b');
  assert.instance(await failureOf(store.append('customer-1', 0n, appended)), AppendInDoubt);
  const refused = await failureOf(store.append('customer-2', NO_STREAM, notes('customer-2', 'c')));
  assert.ok(refused instanceof StoreUnavailable && !(refused instanceof AppendInDoubt), 'nothing more is written');
  renameSync(`${file}-wal.away`, `${file}-wal`);
  assert.is((await all(store.readAll(BEGINNING))).length, 2);
  assert.is((await store.append('customer-1', 0n, appended)).revision, 1n);
  await store.close();
});

test('a path that can not be looked at is a store that is away, until it can be again', async ({ file, open }) => {
  const store = open();
  await store.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
  renameSync(file, `${file}.away`);
  // Whoever follows this link meets a loop, as an error of a file system that fails.
  symlinkSync(file, file);
  const append = store.append('customer-2', NO_STREAM, notes('customer-2', 'b'));
  for (const call of [store.end(), append]) {
    const error = await failureOf(call);
    assert.ok(error instanceof StoreUnavailable && /can't be looked at .*ELOOP/.test(error.message), String(error));
  }
  renameSync(`${file}.away`, file);
  assert.is(await store.end(), 1n);
  await store.close();
});

test('data that are not JSON any more stop the reader, and name the place', async ({ file, open }) => {
  const store = open();
  await store.append('customer-1', NO_STREAM, numberedNotes('customer-1', 3));
  const other = openDatabase(file, EVENT_LOG);
  other.exec(`UPDATE events SET data = '{"text' WHERE revision = 1`);
  other.close();
  const error = await failureOf(all(store.readAll(BEGINNING)));
  assert.instance(error, StoreRefused);
  assert.match(
    String(error),
    `${file} is damaged: event NoteTaken at position 2 (revision 1 of customer-1) has data that`,
  );
  const audit = open({ isAudit: true });
  assert.instance(await failureOf(all(audit.readAll(BEGINNING))), UndecodableEvent);
  await audit.close();
  await store.close();
});

for (const [what, sql] of Object.entries({
  data: `data = replace(data, '1', '2')`,
  'its type': `type = 'NoteTakem'`,
  'its stream': `stream = 'customer-3'`,
  'its actor': `actor = 'admin:somebody'`,
  'its instant': `at = '2027-01-01T00:00:00.000+00:00'`,
  'its schema': 'schema = 3',
  'its id': `id = replace(id, '-', '_')`,
  'what caused it': `causation_id = 'x'`,
  'who asked': `correlation_id = 'x'`,
  'its hash': `hash = replace(hash, substr(hash, 1, 1), 'x')`,
  'the hash before it': `previous_hash = ''`,
  'its revision': 'revision = 7',
  'its position': 'position = position + 1000000',
})) {
  test(`an event of which ${what} was altered is never given, but to an audit`, async ({ file, open }) => {
    const store = open();
    await store.append('customer-1', NO_STREAM, numberedNotes('customer-1', 3));
    const other = openDatabase(file, EVENT_LOG);
    other.exec(`UPDATE events SET ${sql} WHERE position = 2`);
    other.close();
    // A changed place in a stream is found by those who read the stream, one in the log by those who read the log.
    const errors = [
      await failureOf(all(store.readAll(BEGINNING))),
      await failureOf(all(store.read(what === 'its stream' ? 'customer-3' : 'customer-1'))),
    ].filter((each) => each !== undefined);
    assert.is(errors.length, what === 'its revision' || what === 'its position' ? 1 : 2);
    for (const error of errors) {
      if (!(error instanceof StoreRefused)) throw error;
      assert.match(
        error.message,
        new RegExp(`${file} is damaged: event \\w+ at position \\d+ \\(revision \\d of customer-\\d\\) .+ put .+ back`),
      );
    }
    await store.close();
    const audit = open({ isAudit: true, codec: asStored(sampleCodec) });
    assert.is((await all(audit.readAll(BEGINNING))).length, 3);
    await audit.close();
  });
}

test('data whose keys are not in the order of the hash are the ones that were sealed', async ({ open }) => {
  const store = open();
  await store.append('customer-1', NO_STREAM, thing('customer-1', { b: 'x', a: 1 }));
  assert.equal(
    (await all(store.readAll(BEGINNING))).map(({ data }) => data),
    [{ thing: { b: 'x', a: 1 } }],
  );
  await store.close();
});

test('a damaged file is no passing trouble: it stops the reader', async ({ file, open }) => {
  const store = open();
  await store.append('customer-1', NO_STREAM, numberedNotes('customer-1', 5_000));
  await store.close();
  const handle = await openFile(file, 'r+');
  await handle.write(Buffer.alloc(40 * 4096, 0xa5), 0, 40 * 4096, 20 * 4096);
  await handle.close();
  const damaged = open();
  const error = await failureOf(all(damaged.readAll(BEGINNING)));
  assert.ok(error instanceof Error && 'code' in error, String(error));
  assert.match(String('code' in error ? error.code : ''), 'SQLITE_CORRUPT');
  await damaged.close();
});

test('of processes that append to one stream at the same time, none overwrites another', async ({ file, open }) => {
  const store = open();
  const writers = ['ann', 'bob'];
  const followed = followUntil(store, 2 * 150);
  await Promise.all(
    writers.map(async (writer) => {
      const { code, lines } = await ended(startAppending(file, 'race', writer, 150));
      assert.equal([code, lines], [0, ['done']]);
    }),
  );
  const events = await all(store.read('race'));
  assert.is(events.length, 2 * 150);
  assertChain(events);
  for (const writer of writers) {
    const own = events.map(textOf).filter((text) => text.startsWith(writer));
    assert.equal(
      own,
      Array.from({ length: 150 }, (_, index) => `${writer}-${index}`),
    );
  }
  assert.equal(await followed, events);
  await store.close();
});

test('a process that is killed while it appends loses nothing that it was answered', async ({ file, open }) => {
  let acknowledged = -1;
  for (let life = 0; life < 6; life += 1) {
    const child = startAppending(file, 'chain', 'chain', 1 + life * 3);
    let answers = 0;
    for await (const line of createInterface(child.stdout)) {
      acknowledged = Math.max(acknowledged, Number(line));
      answers += 1;
      // What it said before it died is still in the pipe, and counts.
      if (answers === 40 + life * 17) child.kill('SIGKILL');
    }
    assert.ok(answers >= 40, `${answers} answers`);
    const store = open();
    const events = await all(store.read('chain'));
    assert.ok(events.length > acknowledged, `${events.length} events, ${acknowledged} was answered`);
    assertChain(events);
    await store.close();
  }
});

const missing = spawnSync('prlimit', ['--version']).status === 0 ? undefined : 'prlimit (package util-linux)';
const fullDisk = 'a full disk refuses appends, keeps what is there, and takes more once there is room';
if (missing === undefined) test(fullDisk, refuseWhenFull);
else test.skip(`${fullDisk}; needs ${missing}`, refuseWhenFull);

test.run();

async function refuseWhenFull({ file, open }: Context): Promise<void> {
  const child = startAppending(file, 'fill', 'full', 0);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  assert.is((await lines.next()).value, 'ready');
  limitFileSize(child, '600000:');
  child.stdin.write('go\n');
  const refused = /^refused after (\d+): .*events\.db: .*\(SQLITE_\w+\)$/.exec(String((await lines.next()).value));
  assert.ok(refused);
  limitFileSize(child, 'unlimited:');
  child.stdin.write('go\n');
  const next = Number(refused?.[1]) + 1;
  assert.is((await lines.next()).value, `went on with ${next}`);
  assert.ok((await lines.next()).done);
  const store = open();
  assert.is((await all(store.read('full'))).length, next + 1);
  await store.close();
}

function startAppending(file: string, mode: string, name: string, count: number): ChildProcessWithoutNullStreams {
  const program = repositoryFile('test/adapters/sqlite/appending-process.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', program, file, mode, name, String(count)]);
  child.stderr.pipe(process.stderr);
  return child;
}

async function ended(child: ChildProcessWithoutNullStreams): Promise<{ code: number; lines: readonly string[] }> {
  const exit = once(child, 'exit');
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) lines.push(line);
  const [code] = await exit;
  return { code: Number(code), lines };
}

function limitFileSize({ pid }: ChildProcessWithoutNullStreams, limit: string): void {
  assert.is(spawnSync('prlimit', ['--pid', String(pid), `--fsize=${limit}`]).status, 0);
}

async function all(pages: AsyncIterable<readonly RecordedEvent[]>): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const page of pages) events.push(...page);
  return events;
}

async function followUntil(store: EventStore, count: number): Promise<readonly RecordedEvent[]> {
  const stop = new AbortController();
  const events: RecordedEvent[] = [];
  for await (const page of store.follow(BEGINNING, stop.signal)) {
    events.push(...page);
    if (events.length >= count) stop.abort();
  }
  return events;
}

function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

function assertChain(events: readonly RecordedEvent[]): void {
  let previousHash = '';
  for (const [index, event] of events.entries()) {
    assert.is(event.revision, BigInt(index));
    assert.ok(checkLink(previousHash, event), `link ${index}`);
    previousHash = event.metadata.hash;
  }
}

function textOf({ data }: RecordedEvent): string {
  return 'text' in data ? String(data.text) : '';
}
