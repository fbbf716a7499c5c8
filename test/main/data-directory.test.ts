// Who makes a data directory, who only works on one, and what is said of one that is not as it must be.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { openSqlite } from '../../src/adapters/sqlite/sqlite-library.ts';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { addCustomer, addRegion, type Edgeward, openEdgeward } from '../support/servers/edgeward-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const test = suite('the data directory');

/** An installation that has served, with a history. */
async function served(): Promise<Edgeward> {
  const edgeward = await openEdgeward();
  await addRegion(edgeward, 'eu-west');
  await addCustomer(edgeward, 'Acme', [['203.0.113.0/24', 'eu-west']]);
  await edgeward.serve();
  await edgeward.stop();
  return edgeward;
}

async function nowhere(): Promise<Readonly<{ edgeward: Edgeward; directory: string; remove: () => Promise<void> }>> {
  const { path, remove } = await temporaryFolder();
  const directory = join(path, 'typo', 'data');
  const edgeward = await openEdgeward({ DATA_DIR: directory });
  return { edgeward, directory, remove: async () => (await edgeward.remove(), await remove()) };
}

/** Starts the server and runs commands; each must end with 69 and one line that `said` matches. */
async function refused(edgeward: Edgeward, said: RegExp): Promise<void> {
  const server = await edgeward.spawn(['serve']);
  const outcomes = [{ exitCode: await server.ended, err: server.err() }];
  for (const args of [['region', 'list'], ['verify']]) outcomes.push(await edgeward.command(...args));
  for (const { exitCode, err } of outcomes) {
    assert.is(exitCode, 69, err);
    assert.match(err, said);
    assert.match(err, /^edgeward: [^\n]+\n$/, 'one line');
  }
}

const COMMANDS: readonly (readonly string[])[] = [
  ['region', 'create', 'x'],
  ['customer', 'list'],
  ['admin', 'create', 'ada'],
  ['secret', 'remove', 'x'],
  ['whitelist', 'list'],
  ['commit', 'list'],
  ['events', 'Acme'],
  ['state', 'Acme'],
  ['verify'],
  ['projections', 'list'],
  ['projections', 'rebuild', '--all'],
  ['worker_pool', 'list'],
  ['stores', 'copy', '--from', 'sqlite:', '--to', 'sqlite:/nowhere'],
];

test('commands make no data directory: they name the one that is not there, and what makes one', async () => {
  const { edgeward, directory, remove } = await nowhere();
  for (const args of COMMANDS) {
    const { exitCode, err } = await edgeward.command(...args);
    assert.is(exitCode, 78, `${args.join(' ')}: ${err}`);
    assert.match(err, `there is no data directory at ${directory};`);
    assert.match(err, 'edgeward init');
    assert.not(existsSync(join(directory, '..')), args.join(' '));
  }
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'notes.txt'), 'a directory of somebody else');
  for (const args of COMMANDS) assert.is((await edgeward.command(...args)).exitCode, 78, args.join(' '));
  assert.equal(readdirSync(directory), ['notes.txt']);
  await remove();
});

test('the path that is named is absolute, wherever the command was typed', async () => {
  const { edgeward, directory, remove } = await nowhere();
  const typed = await edgeward.spawn(['customer', 'list'], { DATA_DIR: relative(process.cwd(), directory) });
  assert.is(await typed.ended, 78);
  assert.match(typed.err(), `there is no data directory at ${directory};`);
  await remove();
});

test('with the log on a server a data directory is wanted all the same', async () => {
  const { edgeward, directory, remove } = await nowhere();
  const settings = { ...edgeward.settings, EVENT_STORE_URL: 'esdb://127.0.0.1:1?tls=false' };
  const there = await openEdgeward(settings);
  assert.is((await there.command('region', 'list')).exitCode, 78);
  assert.is((await there.command('init')).exitCode, 0);
  assert.ok(existsSync(join(directory, 'secrets')));
  assert.is((await there.command('region', 'list')).exitCode, 69, 'only the server is missing');
  await there.remove();
  await remove();
});

test('init makes one, and a second time changes nothing; then commands work', async () => {
  const { edgeward, directory, remove } = await nowhere();
  assert.equal(await edgeward.json('init'), { directory, made: true });
  await addRegion(edgeward, 'eu-west');
  const before = await edgeward.json('region', 'list');
  assert.equal(await edgeward.json('init'), { directory, made: false });
  const { out } = await edgeward.command('init');
  assert.is(out, `data directory ${directory} is there: nothing was changed\n`);
  assert.equal(await edgeward.json('region', 'list'), before);
  await remove();
});

test('the server makes one, as does a copy of the log', async () => {
  const { edgeward, directory, remove } = await nowhere();
  await edgeward.serve();
  await edgeward.stop();
  assert.ok(existsSync(join(directory, 'events.db')));
  await addRegion(edgeward, 'eu-west');
  const copy = join(directory, '..', 'copy');
  await edgeward.json('stores', 'copy', '--from', 'sqlite:', '--to', `sqlite:${copy}`);
  const copied = await openEdgeward({ DATA_DIR: copy });
  assert.match(JSON.stringify(await copied.json('region', 'list')), 'eu-west');
  await copied.remove();
  await remove();
});

test('without its log nothing begins a new history beside what was made from the old one', async () => {
  const edgeward = await served();
  const log = join(edgeward.dataDir, 'events.db');
  renameSync(log, `${log}.away`);
  await refused(
    edgeward,
    new RegExp(`${log} is missing, and views.db, locks/ beside it .*put it back from its backup`),
  );
  assert.not(existsSync(log));
  for (const name of ['views.db', 'locks']) rmSync(join(edgeward.dataDir, name), { recursive: true, force: true });
  mkdirSync(join(edgeward.dataDir, 'evidence', '1'));
  await refused(edgeward, /events\.db is missing, and evidence\/ beside it/);
  rmSync(join(edgeward.dataDir, 'evidence'), { recursive: true });
  writeFileSync(`${log}-wal`, 'the newest events');
  await refused(edgeward, /events\.db is missing, and events\.db-wal beside it/);
  rmSync(`${log}-wal`);
  renameSync(`${log}.away`, log);
  await edgeward.serve();
  assert.match(JSON.stringify(await edgeward.json('customer', 'list')), 'Acme', 'the log is back');
  await edgeward.remove();
});

test('an empty file in the place of the log is none', async () => {
  const edgeward = await served();
  const log = join(edgeward.dataDir, 'events.db');
  writeFileSync(log, '');
  await refused(edgeward, new RegExp(`${log} is empty: put the event log back from its backup`));
  const header = openSqlite(log);
  header.pragma('journal_mode = WAL');
  header.close();
  await refused(edgeward, new RegExp(`${log} is empty`));
  await edgeward.remove();
});

test('a first start that was cut off is gone on with', async () => {
  const { edgeward, directory, remove } = await nowhere();
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'events.db'), '');
  await edgeward.serve();
  await addRegion(edgeward, 'eu-west');
  await remove();
});

const SPOILT: Readonly<Record<string, readonly [spoil: (log: string) => void, said: RegExp]>> = {
  'a directory': [(log) => mkdirSync(log), /it is a directory, and a file must be there; move it away/],
  'a file that is no database': [
    (log) => writeFileSync(log, 'nonsense '.repeat(1000)),
    /it is no SQLite database, or is damaged; keep it aside, and put it back from its backup/,
  ],
  "another program's database": [
    (log) => openSqlite(log).exec('CREATE TABLE theirs (x)').close(),
    /holds something else than the event log: move it away/,
  ],
  'the log of a newer program': [
    (log) => {
      const db = openSqlite(log);
      db.exec('CREATE TABLE events (x)');
      db.pragma('application_id = 0x45774576');
      db.pragma('user_version = 99');
      db.close();
    },
    /holds the event log of version 99; this program reads version 1: use the program that wrote it/,
  ],
};

for (const [what, [spoil, said]] of Object.entries(SPOILT)) {
  test(`${what} in the place of the log: one line names the file, what is wrong and the way out`, async () => {
    const edgeward = await served();
    const log = join(edgeward.dataDir, 'events.db');
    rmSync(log);
    spoil(log);
    await refused(edgeward, new RegExp(`${log}.*${said.source}`));
    await edgeward.remove();
  });
}

test('a log that may not be written to: one line names the file and the user', async () => {
  const edgeward = await served();
  const log = join(edgeward.dataDir, 'events.db');
  // A link to what even root can't write to.
  rmSync(log);
  execFileSync('ln', ['-s', '/proc/version', log]);
  await refused(edgeward, new RegExp(`${log} can't be used: `));
  await edgeward.remove();
});

test('a secret that others may read, as after a copy without its modes, ends the start, and what leads by then', async () => {
  const edgeward = await served();
  chmodSync(join(edgeward.dataDir, 'secrets/admin-cookies'), 0o644);
  const server = await edgeward.spawn(['serve']);
  assert.is(await server.ended, 1, server.out());
  assert.match(server.err(), /^edgeward: secret admin-cookies can be read by others \(mode 644\)[^\n]*\n$/, 'one line');
  await edgeward.remove();
});

const canMount = process.getuid?.() === 0 && isMountable();

function isMountable(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

if (!canMount) test.skip('a start on a full disk: nothing may be mounted here');
else
  test('a start on a full disk says that it is full, and where', async () => {
    for (const kibibytes of [0, 4, 16, 36, 60]) {
      const { path, remove } = await temporaryFolder();
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'edgeward-test', path]);
      try {
        const directory = join(path, 'data');
        const edgeward = await openEdgeward({ DATA_DIR: directory });
        const { bavail, bsize } = { bavail: 256, bsize: 4096 };
        writeFileSync(join(path, 'ballast'), Buffer.alloc(bavail * bsize - 8192 - kibibytes * 1024));
        const server = await edgeward.spawn(['serve']);
        assert.is(await server.ended, 69, server.out() + server.err());
        assert.match(server.err(), new RegExp(`^edgeward: ${path}/data\\S* .*disk is full.*; free some space on it`));
        assert.match(server.err(), /^edgeward: [^\n]+\n$/, 'one line');
        await edgeward.remove();
      } finally {
        execFileSync('umount', [path]);
        await remove();
      }
    }
  });

test.run();
