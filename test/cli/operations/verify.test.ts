// What verify finds beside the hash chains: damage of the file, streams that are gone, positions, texts; and the looking back on copies that can't be written to.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqlite } from '../../../src/adapters/sqlite/sqlite-library.ts';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { submissionOf, submitForm } from '../../http/customer/source-whitelist-examples.ts';
import { openApiClient } from '../../support/http/api-client.ts';
import { addCustomer, addRegion, type Edgeward, openEdgeward } from '../../support/servers/edgeward-server.ts';
import { filesBelow } from '../../support/files-below.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const test = suite('verify');

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west');
await addRegion(edgeward, 'us-east');
const acme = await addCustomer(edgeward, 'Acme', [['203.0.113.0/24', 'eu-west']], ['--allow-source-whitelist']);
const api = openApiClient(await edgeward.serve(), acme.token);
submissionOf(await submitForm(api, { cidr: '192.31.196.0/28' }));
// Several hundred events, so that the log and its index have pages of all kinds.
for (let turn = 0; turn < 200; turn += 1)
  assert.is((await api.post(`/ips/${turn % 2 === 0 ? 'disable' : 'enable'}`, { ip: '203.0.113.1' })).status, 200);
await api.close();
await edgeward.json('commit', 'run', 'Acme', 'eu-west');
await edgeward.stop();
// Whoever was the last to have it open has brought all of it into the file.
const source = openSqlite(join(edgeward.dataDir, 'events.db'));
source.pragma('wal_checkpoint(TRUNCATE)');
source.close();

test.after(() => edgeward.remove());

const findings = z.object({ ok: z.boolean(), problems: z.array(z.string()) });

/** A copy of the data directory, in which something is done to the log. */
async function copyWith(change: (file: string) => unknown): Promise<Edgeward> {
  const copy = await openEdgeward();
  rmSync(copy.dataDir, { recursive: true });
  cpSync(edgeward.dataDir, copy.dataDir, { recursive: true });
  await change(join(copy.dataDir, 'events.db'));
  return copy;
}

async function found(copy: Edgeward): Promise<readonly string[]> {
  const { exitCode, out, err } = await copy.command('verify', '--json');
  assert.is(exitCode, 1, out + err);
  const { ok, problems } = findings.parse(JSON.parse(out));
  assert.is(ok, false);
  return problems;
}

function run(sql: string): (file: string) => void {
  return (file) => {
    const db = openSqlite(file);
    db.exec(sql);
    db.close();
  };
}

/** Writes zeros over the last page that belongs to a table or an index. */
function zeroPageOf(name: string): (file: string) => Promise<void> {
  return async (file) => {
    const db = openSqlite(file);
    const page = db.prepare('SELECT max(pageno) FROM dbstat WHERE name = ?').pluck().get(name);
    db.close();
    const handle = await open(file, 'r+');
    await handle.write(Buffer.alloc(4096), 0, 4096, (Number(page) - 1) * 4096);
    await handle.close();
  };
}

const renumber = (by: number): string =>
  `UPDATE events SET position = position + ${by} WHERE position = (SELECT max(position) FROM events)`;

const DAMAGES: Readonly<Record<string, readonly [change: (file: string) => unknown, finding: RegExp]>> = {
  'a page of the index is zeroed': [
    zeroPageOf('sqlite_autoindex_events_1'),
    /events\.db: .*(page|index|Tree|malformed)/,
  ],
  'a page of the table is zeroed': [zeroPageOf('events'), /events\.db: .*(page|Tree|malformed)/],
  'all of a region is removed': [
    run("DELETE FROM events WHERE stream = 'region-1'"),
    /^region-1: the stream is missing, and directory-main revision \d+ speaks of it/,
  ],
  'all of a customer is removed': [
    run("DELETE FROM events WHERE stream = 'customer-1'"),
    /^customer-1: the stream is missing, and directory-main revision \d+ speaks of it/,
  ],
  'all of the directory is removed': [
    run("DELETE FROM events WHERE stream = 'directory-main'"),
    /^region-1: the stream is there, and no name is reserved for it/,
  ],
  'the end of a customer is removed, its subnet with it': [
    run("DELETE FROM events WHERE stream = 'customer-1' AND revision > 0"),
    /^customer-1: subnet 203\.0\.113\.0\/24 \(1\) is missing, and directory-main revision \d+ speaks of it/,
  ],
  'a region is removed and the rest moved together': [
    run(
      "DELETE FROM events WHERE stream = 'region-2'; CREATE TEMP TABLE o AS SELECT position, row_number() OVER (ORDER BY position) AS n FROM events; UPDATE events SET position = -(SELECT n FROM o WHERE o.position = events.position); UPDATE events SET position = -position",
    ),
    /^region-2: the stream is missing/,
  ],
  'an event is moved by a million': [run(renumber(1_000_000)), /positions \d+ to \d+ are missing before it/],
  'the last event but one is removed': [
    run('DELETE FROM events WHERE position = (SELECT max(position) - 1 FROM events)'),
    /position \d+ is missing before it/,
  ],
  'the beginning is moved': [run('UPDATE events SET position = 0 WHERE position = 1'), /position 1 is missing/],
  'a key is there twice in an event': [
    run(
      `UPDATE events SET data = replace(data, '{"regionId":1,', '{"regionId":2,"regionId":1,') WHERE type = 'AddressesDisabled'`,
    ),
    /customer-1 revision \d+ \(position \d+\): its data are not written as edgeward writes them/,
  ],
  'an event is written in another form': [
    run(`UPDATE events SET data = replace(data, ':', ' : ') WHERE type = 'RegionCreated'`),
    /region-1 revision 0 .*not written as edgeward writes them/,
  ],
  'an event is there twice': [
    run(
      'INSERT INTO events SELECT NULL, stream, revision + 1, id, type, schema, data, actor, at, correlation_id, causation_id, previous_hash, hash FROM events ORDER BY position DESC LIMIT 1',
    ),
    /event id \S+ is there twice: positions \d+ and \d+/,
  ],
  'something waits in it that changes what is written': [
    run(
      "CREATE TRIGGER theirs AFTER INSERT ON events BEGIN UPDATE events SET actor = 'x' WHERE position = new.position; END",
    ),
    /events\.db: trigger theirs is not as edgeward makes it/,
  ],
};

for (const [what, [change, finding]] of Object.entries(DAMAGES)) {
  test(`${what}: it is found and named`, async () => {
    const copy = await copyWith(change);
    const problems = await found(copy);
    assert.ok(
      problems.some((problem) => finding.test(problem)),
      problems.slice(0, 10).join('\n'),
    );
    const { exitCode, out, err } = await copy.command('verify');
    assert.is(exitCode, 1);
    assert.match(out, `${problems.length} problems`);
    assert.match(err, /^edgeward: \d+ problems found\.$/m);
    await copy.remove();
  });
}

test('an untouched log has none of it', async () => {
  assert.match(JSON.stringify(await edgeward.json('verify')), '"problems":[]');
});

// Looking back where nothing can be written

const LOOKS: readonly (readonly string[])[] = [
  ['verify'],
  ['events', 'Acme'],
  ['state', 'Acme', '--at', '2100-01-01T00:00:00Z'],
];

const MAIN = join(process.cwd(), 'dist/main.js');
await (
  await edgeward.spawn(['--version'])
).ended;

/** Runs a command of the built program as this user or, through what `as` says, as another one. */
function look(dataDir: string, args: readonly string[], as: readonly string[] = []) {
  const env = { PATH: process.env['PATH'], DATA_DIR: dataDir };
  return spawnSync('env', [...as, process.execPath, MAIN, ...args], { encoding: 'utf8', env });
}

/** What the three commands print. */
function looksOn(dataDir: string, as: readonly string[] = []): readonly string[] {
  return LOOKS.map((args) => {
    const { status, stdout, stderr } = look(dataDir, [...args, '--json'], as);
    assert.is(status, 0, `${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  });
}

/** A copy of the data directory in which nothing may be changed; in a folder that others may look into. */
async function readOnlyCopy(from: string) {
  const { path, remove } = await temporaryFolder();
  chmodSync(path, 0o755);
  const directory = join(path, 'copy');
  cpSync(from, directory, { recursive: true });
  for (const file of await filesBelow(directory)) chmodSync(file, 0o444);
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true }))
    if (entry.isDirectory()) chmodSync(join(entry.parentPath, entry.name), 0o555);
  chmodSync(directory, 0o555);
  return {
    directory,
    remove: async () => {
      chmodSync(directory, 0o755);
      for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true }))
        if (entry.isDirectory()) chmodSync(join(entry.parentPath, entry.name), 0o755);
      await remove();
    },
  };
}

/** Root may write whatever the modes say: then somebody else looks. */
const isRoot = process.getuid?.() === 0;
const ANYBODY = isRoot ? ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'] : [];
const canBeAnybody = look(edgeward.dataDir, ['--version'], ANYBODY).status === 0;

async function looksAreTheSame(from: string): Promise<void> {
  const copy = await readOnlyCopy(from);
  const before = await filesBelow(copy.directory);
  assert.equal(looksOn(copy.directory, ANYBODY), looksOn(from));
  assert.equal(await filesBelow(copy.directory), before, 'nothing was made beside it');
  await copy.remove();
}

if (!canBeAnybody) test.skip('nobody else can look here');
else {
  test('a copy that may only be read is looked back at as the original is', () => looksAreTheSame(edgeward.dataDir));

  test('its views are compared with its log too, with their newest changes in a companion or in the file', async () => {
    const live = await copyWith(() => undefined);
    await live.serve();
    await live.json('customer', 'create', 'Newest');
    await live.shown();
    for (const end of ['with a companion', 'in the file'] as const) {
      if (end === 'in the file') await live.stop();
      const copy = await readOnlyCopy(live.dataDir);
      const before = await filesBelow(copy.directory);
      const { status, stdout, stderr } = look(copy.directory, ['verify', '--views', '--json'], ANYBODY);
      assert.is(status, 0, `${end}: ${stdout}${stderr}`);
      const { ok, views } = Object(JSON.parse(stdout));
      assert.ok(ok === true && views.compared > 10, `${end}: ${stdout}`);
      assert.equal(await filesBelow(copy.directory), before, 'nothing was made beside it');
      await copy.remove();
    }
    await live.remove();
  });

  test('so is one with its newest events in a companion, with or without the index of it', async () => {
    const live = await copyWith(() => undefined);
    await live.serve();
    await live.json('customer', 'create', 'Newest');
    const crashed = await copyWith((file) =>
      ['', '-wal', '-shm'].forEach((end) => cpSync(join(live.dataDir, `events.db${end}`), file + end)),
    );
    await live.stop();
    for (const withIndex of [true, false]) {
      const file = join(crashed.dataDir, 'events.db');
      if (!withIndex) rmSync(`${file}-shm`);
      const copy = await readOnlyCopy(crashed.dataDir);
      const [, events = ''] = looksOn(copy.directory, ANYBODY);
      assert.match(events, 'CommitCompleted');
      const { stdout, stderr } = look(copy.directory, ['events', 'Newest', '--json'], ANYBODY);
      assert.match(stdout, 'CustomerRegistered', `the newest events too; with its index: ${withIndex}. ${stderr}`);
      await copy.remove();
    }
    await live.remove();
    await crashed.remove();
  });

  test('what may not be read is named', async () => {
    const copy = await readOnlyCopy(edgeward.dataDir);
    chmodSync(join(copy.directory, 'events.db'), 0o400);
    const { status, stderr } = look(copy.directory, ['verify'], ANYBODY);
    if (isRoot) {
      assert.is(status, 69, stderr);
      assert.match(stderr, new RegExp(`^edgeward: ${copy.directory}/events\\.db can't be used: permission is denied`));
    }
    await copy.remove();
  });
}

test('views and locks are neither opened nor made', async () => {
  const copy = await copyWith(() => undefined);
  for (const name of readdirSync(copy.dataDir))
    if (name !== 'events.db' && name !== 'evidence') rmSync(join(copy.dataDir, name), { recursive: true });
  rmSync(join(copy.dataDir, 'evidence', 'incoming'), { recursive: true });
  looksOn(copy.dataDir);
  assert.equal(readdirSync(copy.dataDir).toSorted(), ['events.db', 'evidence']);
  writeFileSync(join(copy.dataDir, 'views.db'), 'nonsense');
  mkdirSync(join(copy.dataDir, 'locks'));
  looksOn(copy.dataDir);
  assert.equal(readdirSync(join(copy.dataDir, 'locks')), []);
  await copy.remove();
});

if (!isRoot || spawnSync('unshare', ['--mount', 'true']).status !== 0) test.skip('nothing may be mounted here');
else
  test('a read-only mount is looked back at, by root too', async () => {
    const { path, remove } = await temporaryFolder();
    execFileSync('mount', ['--bind', edgeward.dataDir, path]);
    try {
      execFileSync('mount', ['-o', 'remount,ro,bind', path]);
      assert.equal(looksOn(path), looksOn(edgeward.dataDir));
      assert.not(existsSync(join(path, 'events.db-shm')));
    } finally {
      execFileSync('umount', [path]);
      await remove();
    }
  });

test.run();
