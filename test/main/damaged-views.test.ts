// Views are expendable: whatever becomes of their file, the server answers from the log, or says which file it can't use.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '../../src/adapters/sqlite/sqlite-library.ts';
import { request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { disableHost, pendingHosts } from '../support/http/disabled-hosts.ts';
import {
  addCustomer,
  addRegion,
  type Edgeward,
  openEdgeward,
  type TestCustomer,
} from '../support/servers/edgeward-server.ts';
import { randomFrom } from '../support/random.ts';
import { waitUntil } from '../support/wait-until.ts';

type Given = { edgeward: Edgeward; customer: TestCustomer; file: string };
const test = suite<Given>('a views.db that is damaged');
const HOSTS = [7, 9, 200];
const ROUNDS = 10;

test.before.each(async (state) => {
  const edgeward = await openEdgeward();
  await addRegion(edgeward, 'ams');
  const customer = await addCustomer(edgeward, 'Acme Corp.', [['203.0.113.0/24', 'ams']]);
  Object.assign(state, { edgeward, customer, file: join(edgeward.dataDir, 'views.db') });
  const url = await edgeward.serve();
  for (const host of HOSTS) await disableHost(url, customer, host);
  await edgeward.stop();
});
test.after.each(({ edgeward }) => edgeward.remove());

const DAMAGES: Readonly<Record<string, (file: string) => void>> = {
  'cut to half': (file) => truncateSync(file, Math.floor(statSync(file).size / 2)),
  'no database': (file) => writeFileSync(file, 'views '.repeat(5_000)),
  'a directory': (file) => {
    rmSync(file);
    mkdirSync(file);
  },
};

for (const [what, damage] of Object.entries(DAMAGES)) {
  test(`${what}: the server puts it aside, says so, and answers from the log`, async (given) => {
    damage(given.file);
    const url = await given.edgeward.serve();
    assert.equal(await pendingHosts(url, given.customer), HOSTS);
    await waitUntil('the server is ready', async () => (await readyz(url)) === 200);
    isPutAside(given);
  });

  test(`${what}: projections list and rebuild put it aside as well`, async (given) => {
    damage(given.file);
    const { exitCode, out, err } = await given.edgeward.command('projections', 'list');
    assert.is(exitCode, 0, err);
    assert.match(out, 'customers');
    assert.match(err, `${given.file} is damaged: `);
    assert.is(aside(given).length, 1);
    rmSync(given.file);
    damage(touched(given.file));
    const rebuilt = await given.edgeward.command('projections', 'rebuild', '--all');
    assert.is(rebuilt.exitCode, 0, rebuilt.err);
    assert.is(aside(given).length, 2);
    assert.equal(await pendingHosts(await given.edgeward.serve(), given.customer), HOSTS);
  });

  test(`${what}: verify, events and state answer as ever, and move nothing`, async (given) => {
    damage(given.file);
    for (const args of [
      ['verify'],
      ['events', 'Acme Corp.'],
      ['state', 'Acme Corp.', '--at', '2100-01-01T00:00:00Z'],
    ]) {
      const { exitCode, err } = await given.edgeward.command(...args);
      assert.is(exitCode, 0, `${args.join(' ')}: ${err}`);
    }
    assert.equal(aside(given), []);
  });
}

for (const [what, damage] of [
  ['is cut', (file: string) => truncateSync(file, Math.floor(statSync(file).size / 3))],
  ['has no sense any more', (file: string) => overwrite(file, 0, randomFrom(1))],
] as const) {
  test(`a file that ${what} under a running server is put aside there, and its views are made again`, async (given) => {
    const { edgeward, customer, file } = given;
    const url = await edgeward.serve();
    openSqlite(file).pragma('wal_checkpoint(TRUNCATE)');
    damage(file);
    // A command that writes tells SQLite that the pages which the server remembers are old.
    await edgeward.command('region', 'create', 'fra');
    await disableHost(url, customer, 201);
    assert.equal(await pendingHosts(url, customer), [...HOSTS, 201]);
    await waitUntil('it is put aside', () => aside(given).length > 0);
    await waitUntil('the server is ready', async () => (await readyz(url)) === 200);
    await disableHost(url, customer, 202);
    assert.equal(await pendingHosts(url, customer), [...HOSTS, 201, 202]);
    isPutAside(given);
    await edgeward.stop();
    assert.equal(await pendingHosts(await edgeward.serve(), customer), [...HOSTS, 201, 202]);
    assert.is(aside(given).length, 1, 'the new one is sound');
  });
}

test('anything anywhere in it: the server answers from the log, or refuses to start and names it', async (given) => {
  const { edgeward, customer, file } = given;
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`seed ${seed}`);
  const random = randomFrom(seed);
  cpSync(edgeward.dataDir, join(edgeward.folder, 'kept'), { recursive: true });
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of readdirSync(edgeward.dataDir)) {
      if (name.startsWith('views.db')) rmSync(join(edgeward.dataDir, name), { recursive: true });
    }
    cpSync(join(edgeward.folder, 'kept', 'views.db'), file);
    const at = Math.floor(random() * statSync(file).size);
    if (random() < 0.3) truncateSync(file, at);
    else overwrite(file, at, random);
    const what = `seed ${seed}, round ${round}, at ${at}`;
    const url = await edgeward.serve().catch((error: unknown) => {
      assert.match(String(error), file, what);
    });
    if (url !== undefined) assert.equal(await pendingHosts(url, customer), HOSTS, what);
    await edgeward.stop();
  }
});

/** Up to a page of noise. */
function overwrite(file: string, at: number, random: () => number): void {
  const content = readFileSync(file);
  const noise = Buffer.from(Array.from({ length: 1 + Math.floor(random() * 4_096) }, () => Math.floor(random() * 256)));
  noise.copy(content, at);
  writeFileSync(file, content);
}

function touched(file: string): string {
  writeFileSync(file, Buffer.alloc(65_536, 'x'));
  return file;
}

function aside({ edgeward }: Given): readonly string[] {
  return readdirSync(edgeward.dataDir).filter((name) => /^views\.db\.damaged-[^-]+$/.test(name));
}

function isPutAside(given: Given): void {
  const [name = 'none'] = aside(given);
  const lines = given.edgeward
    .logged()
    .filter(({ level, msg }) => level === 'error' && String(msg).includes('is damaged'));
  assert.is(lines.length, 1, JSON.stringify(lines));
  assert.match(String(lines[0]?.msg), `${given.file} is damaged: `);
  assert.match(String(lines[0]?.msg), join(given.edgeward.dataDir, name));
}

async function readyz(url: string): Promise<number> {
  const { statusCode, body } = await request(`${url}/readyz`);
  await body.dump();
  return statusCode;
}

test.run();
