// Random damage of the embedded log of a stopped server: verify calls it sound only when it is what it was, or a beginning of that; the server starts
// right or refuses, naming the file, and never shows or decides on what was altered. SEED=… brings a run again.
import { randomInt } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { explainFailure } from '../../src/main/explain-failure.ts';
import type { RecordedEvent } from '../../src/kernel/event.ts';
import { openApiClient } from '../support/http/api-client.ts';
import { addCustomer, addRegion, type Edgeward, openEdgeward } from '../support/servers/edgeward-server.ts';
import { randomFrom } from '../support/random.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SEED = Number(process.env['SEED'] ?? randomInt(1_000_000));
const ROUNDS = Number(process.env['ROUNDS'] ?? 30);
const PAGE_BYTES = 4096;

type Scene = Readonly<{
  random: (below: number) => number;
  /** Data directories of a server that was stopped, and of one that was killed. */
  bases: readonly string[];
  events: readonly RecordedEvent[];
  token: string;
}>;

/** A customer that disables one address after another. */
async function history(folder: string): Promise<Omit<Scene, 'random'>> {
  const edgeward = await openEdgeward();
  await addRegion(edgeward, 'eu-west');
  const { token } = await addCustomer(edgeward, 'Acme', [['203.0.113.0/24', 'eu-west']]);
  const api = openApiClient(await edgeward.serve(), token);
  const disable = async (from: number, to: number): Promise<void> => {
    for (let host = from; host < to; host += 1)
      assert.is((await api.post('/ips/disable', { ip: `203.0.113.${host}` })).status, 200);
  };
  await disable(0, 60);
  await edgeward.stop();
  await api.close();
  const again = openApiClient(await edgeward.serve(), token);
  for (let host = 60; host < 90; host += 1)
    assert.is((await again.post('/ips/disable', { ip: `203.0.113.${host}` })).status, 200);
  await again.get('/subnets');
  const [killed, stopped] = [join(folder, 'killed'), join(folder, 'stopped')];
  // As a crash leaves it: what is in the log's companion is not in the file yet.
  cpSync(edgeward.dataDir, killed, { recursive: true });
  await again.close();
  await edgeward.stop();
  const events = await edgeward.events();
  cpSync(edgeward.dataDir, stopped, { recursive: true });
  await edgeward.remove();
  return { bases: [killed, stopped], events, token };
}

const KINDS = ['cut', 'flip', 'zero', 'delete'] as const;

/** Does something to one of the log's files; gives what. */
function damage(directory: string, random: Scene['random']): string {
  const files = ['events.db', 'events.db-wal', 'events.db-shm'].filter((name) => existsSync(join(directory, name)));
  const name = files[random(files.length)] ?? 'events.db';
  const kind = KINDS[random(KINDS.length)] ?? 'cut';
  const file = join(directory, name);
  if (kind === 'delete') rmSync(file);
  else {
    const bytes = readFileSync(file);
    const at = random(Math.max(bytes.length, 1));
    if (kind === 'cut') truncateSync(file, at);
    else if (kind === 'flip' && bytes.length > 0) bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
    else bytes.subarray(at - (at % PAGE_BYTES), at - (at % PAGE_BYTES) + PAGE_BYTES).fill(0);
    if (kind !== 'cut') writeFileSync(file, bytes);
    return `${kind} ${name} at ${at}`;
  }
  return `${kind} ${name}`;
}

const found = z.object({ ok: z.boolean(), problems: z.array(z.string()) });

/** How many events are left of a log that verify calls sound; `undefined` when it finds something. */
async function soundEvents(copy: Edgeward, scene: Scene): Promise<number | undefined> {
  const { exitCode, out, err } = await copy.command('verify', '--json');
  if (exitCode === 69) {
    assert.match(err, 'events.db', 'a refusal names the file');
    return undefined;
  }
  const { ok, problems } = found.parse(JSON.parse(out));
  assert.is(exitCode, ok ? 0 : 1, err);
  if (!ok) assert.ok(problems.length > 0);
  if (!ok) return undefined;
  const left = await copy.events();
  assert.equal(left, scene.events.slice(0, left.length), 'a beginning of what it was');
  return left.length;
}

function disabledIn(events: readonly RecordedEvent[]): number {
  return events.filter(({ type }) => type === 'AddressesDisabled').length;
}

const subnets = z.object({ data: z.array(z.object({ ip_counts: z.object({ disabled: z.number() }) })) });

/** The server starts and shows what some beginning of the log says, and records; or it refuses, naming the file. */
async function startsRightOrRefuses(copy: Edgeward, sound: number | undefined, scene: Scene): Promise<string> {
  let url: string;
  try {
    url = await copy.serve();
  } catch (error) {
    const { message, exitCode } = explainFailure(error);
    assert.match(message, /events\.db|can't read event/, message);
    assert.ok([69, 1].includes(exitCode), message);
    assert.is(sound, undefined, `what is sound is not refused: ${message}`);
    return 'refused';
  }
  const api = openApiClient(url, scene.token);
  const shown = await api.get('/subnets');
  if (sound !== undefined) {
    const expected = disabledIn(scene.events.slice(0, sound));
    const hasCustomer = scene.events.slice(0, sound).some(({ type }) => type === 'ApiTokenIssued');
    assert.is(shown.status, hasCustomer ? 200 : 401);
    const assigned = scene.events.slice(0, sound).some(({ type }) => type === 'SubnetAssigned');
    if (hasCustomer && assigned) {
      assert.is(subnets.parse(shown.json).data[0]?.ip_counts.disabled, expected, 'what the log says');
      assert.is((await api.post('/ips/disable', { ip: '203.0.113.200' })).status, 200);
    }
  } else {
    // The views have applied what was altered before it was; nothing is decided on it.
    if (shown.status < 500) {
      assert.is(subnets.parse(shown.json).data[0]?.ip_counts.disabled, disabledIn(scene.events), 'what was recorded');
    }
    const { status } = await api.post('/ips/disable', { ip: '203.0.113.200' });
    assert.ok(status === 200 || status >= 500, `${status}`);
  }
  await api.close();
  await copy.stop();
  return sound === undefined ? 'shows what was recorded' : 'served';
}

test(`random damage of a log's files (seed ${SEED})`, async () => {
  const { path, remove } = await temporaryFolder();
  const random = randomFrom(SEED);
  const scene: Scene = { ...(await history(path)), random: (below) => Math.floor(random() * below) };
  for (let round = 0; round < ROUNDS; round += 1) {
    const base = scene.bases[round % scene.bases.length] ?? '';
    const damaged = join(path, `round-${round}`);
    cpSync(base, damaged, { recursive: true });
    const what = damage(damaged, scene.random);
    try {
      const [audited, served] = await Promise.all([copyOf(damaged), copyOf(damaged)]);
      const sound = await soundEvents(audited, scene);
      const outcome = await startsRightOrRefuses(served, sound, scene);
      if (process.env['VERBOSE'] !== undefined) console.log(`${what}: ${sound ?? 'not sound'}, ${outcome}`);
      await audited.remove();
      await served.remove();
    } catch (error) {
      throw new Error(`round ${round}, ${what}, of ${base}`, { cause: error });
    }
    rmSync(damaged, { recursive: true });
  }
  await remove();
});

test('a region that can not be read refuses the start: nothing of the term that began goes on', async () => {
  const edgeward = await openEdgeward();
  await addRegion(edgeward, 'eu-west');
  const file = join(edgeward.dataDir, 'events.db');
  const bytes = readFileSync(file);
  const at = bytes.indexOf('RegionCreated') + 'RegionCreated{"regionId":1,"name":"'.length;
  assert.is(bytes.subarray(at, at + 7).toString(), 'eu-west');
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
  for (const name of readdirSync(edgeward.dataDir))
    if (name.startsWith('views.db')) rmSync(join(edgeward.dataDir, name));
  const rejected: unknown[] = [];
  const note = (error: unknown): void => void rejected.push(error);
  process.on('unhandledRejection', note);
  try {
    await edgeward.serve();
    assert.unreachable('it is served');
  } catch (error) {
    assert.match(explainFailure(error).message, /events\.db is damaged: event RegionCreated/);
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
  process.off('unhandledRejection', note);
  assert.equal(rejected, []);
  await edgeward.remove();
});

async function copyOf(directory: string): Promise<Edgeward> {
  const copy = await openEdgeward();
  rmSync(copy.dataDir, { recursive: true });
  cpSync(directory, copy.dataDir, { recursive: true });
  return copy;
}

test.run();
