// A backup made beside a running server, put back where everything was lost.
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { openSqlite } from '../../src/adapters/sqlite/sqlite-library.ts';
import { VERSION } from '../../src/main/version.ts';
import { submitForm } from '../http/customer/source-whitelist-examples.ts';
import { filesBelow } from '../support/files-below.ts';
import { openApiClient } from '../support/http/api-client.ts';
import { pdf } from '../support/http/multipart-form.ts';
import {
  addCustomer,
  addRegion,
  type Edgeward,
  openEdgeward,
  type TestCustomer,
} from '../support/servers/edgeward-server.ts';
import { createEventLog } from '../support/stores/eventstoredb-stand-in/event-log.ts';
import { startEventStoreStandIn } from '../support/stores/eventstoredb-stand-in/stand-in.ts';
import { startMongoServer } from '../support/stores/ferretdb.ts';

type Context = { edgeward: Edgeward; backup: string };

const test = suite<Context>('stores backup, stores restore');
const mongo = await startMongoServer();
const HOOK = ['--webhook-url', 'https://hooks.example/edgeward'];

test.before.each(async (context) => {
  context.edgeward = await openEdgeward();
  context.backup = join(context.edgeward.folder, 'backup');
});
test.after.each(({ edgeward }) => edgeward.remove());

test('what was lost comes back from a backup made beside a running server, and routers keep what came since', async ({
  edgeward,
  backup,
}) => {
  const { customer, url } = await liveThrough(edgeward);
  const first = await edgeward.json('stores', 'backup', backup, '--with-secrets');
  assert.match(JSON.stringify(first), '"evidence":{"copied":1,"there":0,"problems":[]}');
  const secrets = z.object({ secrets: z.object({ copied: z.int() }) }).parse(first).secrets.copied;
  assert.ok(secrets > 0, 'the webhook has one');
  // What is recorded after the backup is lost; the router holds it.
  await disable(url, customer, '203.0.113.9');
  await edgeward.json('commit', 'run', 'acme', 'ams');
  await edgeward.stop();
  rmSync(edgeward.dataDir, { recursive: true });

  const back = await edgeward.json('stores', 'restore', backup, '--reason', 'the disk died');
  assert.match(JSON.stringify(back), `"copied":${(await edgeward.events()).length - 1},"there":0`);
  assert.match(JSON.stringify(back), `"secrets":{"copied":${secrets},"there":0,"kept":[]}`);
  assert.match(JSON.stringify(await edgeward.json('verify')), /"ok":true.*"evidence":1/);
  const last = (await edgeward.events()).at(-1);
  assert.is(last?.type, 'RestoreBegan');
  assert.match(JSON.stringify(last?.data), 'the disk died');

  // Without --restored: the log says so itself.
  await edgeward.serve();
  await edgeward.json('commit', 'run', 'acme', 'ams');
  const list = readFileSync(join(edgeward.folder, 'ams', 'Svc-ACME-BLACKHOLE'), 'utf8');
  assert.match(list, '203.0.113.7');
  assert.match(list, '203.0.113.9');
  assert.match(JSON.stringify(await edgeward.json('restore', 'status')), '203.0.113.9/32');
});

test('a second backup writes only what has come since, and a secret that has changed', async ({ edgeward, backup }) => {
  await liveThrough(edgeward);
  await edgeward.stop();
  const first = (await edgeward.events()).length;
  await edgeward.json('stores', 'backup', backup);
  assert.not.ok(existsSync(join(backup, 'secrets')), 'no secret goes along unless that is said');
  await addRegion(edgeward, 'fra');
  await edgeward.json('stores', 'backup', backup, '--with-secrets');
  await edgeward.json('secret', 'put', 'edge-key', '--from', await fileWith(edgeward, 'one'));
  const put = 1;
  const third = await edgeward.json('stores', 'backup', backup, '--with-secrets');
  assert.match(JSON.stringify(third), `"copied":${put},"there":${(await edgeward.events()).length - put},`);
  assert.match(JSON.stringify(third), '"evidence":{"copied":0,"there":1,"problems":[]}');
  assert.match(JSON.stringify(third), /"secrets":\{"copied":1,"there":[1-9]/);
  assert.ok((await edgeward.events()).length > first);
  for (const file of await filesBelow(backup))
    assert.is(statSync(file).mode & 0o077, 0, `${file} is its owner's alone`);
  assert.is(statSync(backup).mode & 0o077, 0);
});

test('a secret that is there stays, and is named', async ({ edgeward, backup }) => {
  await edgeward.json('secret', 'put', 'edge-key', '--from', await fileWith(edgeward, 'old'));
  await addRegion(edgeward, 'ams');
  await edgeward.json('stores', 'backup', backup, '--with-secrets');
  rmSync(join(edgeward.dataDir, 'events.db'));
  rmSync(join(edgeward.dataDir, 'views.db'), { force: true });
  writeFileSync(join(edgeward.dataDir, 'secrets', 'edge-key'), 'new', { mode: 0o600 });
  const { out } = await edgeward.command('stores', 'restore', backup);
  assert.match(out, 'secrets that differ stay as they are here: edge-key.');
  assert.is(readFileSync(join(edgeward.dataDir, 'secrets', 'edge-key'), 'utf8'), 'new');
});

test('what can not be meant, or is in use, is refused', async ({ edgeward, backup }) => {
  await addRegion(edgeward, 'ams');
  const codes = async (...args: readonly string[]): Promise<number> =>
    (await edgeward.command('stores', ...args)).exitCode;
  assert.is(await codes('restore', backup), 3);
  assert.is(await codes('backup', edgeward.dataDir), 2);
  assert.is(await codes('restore', edgeward.dataDir), 2);
  await edgeward.json('stores', 'backup', backup);
  await edgeward.serve();
  assert.is(await codes('restore', backup), 4);
  await edgeward.stop();
  await addRegion(edgeward, 'fra');
  const { exitCode, err } = await edgeward.command('stores', 'restore', backup);
  assert.is(exitCode, 4);
  assert.match(err, 'the target holds other events');
  assert.is((await edgeward.events()).at(-1)?.type, 'RouterAdded', 'it is left as it is');
});

test('a backup that was altered is not put back', async ({ edgeward, backup }) => {
  await addRegion(edgeward, 'ams');
  await edgeward.json('stores', 'backup', backup);
  change(backup, `UPDATE events SET actor = 'admin:mallory' WHERE position = 2`);
  const other = await openEdgeward({ DATA_DIR: join(edgeward.folder, 'other') });
  const { exitCode, err } = await other.command('stores', 'restore', backup);
  await other.remove();
  assert.is(exitCode, 1);
  assert.match(err, /the source is not whole: .* was altered/);
});

test('what was put back in part is acted upon by nobody until all of it is there', async ({ edgeward, backup }) => {
  await addRegion(edgeward, 'ams');
  await addCustomer(edgeward, 'acme', [['203.0.113.0/24', 'ams']]);
  await edgeward.json('stores', 'backup', backup);
  const other = await openEdgeward({ DATA_DIR: join(edgeward.folder, 'other') });
  // As when the command is killed before it comes to the last event.
  const last = 'WHERE position = (SELECT max(position) FROM events)';
  change(backup, `UPDATE events SET actor = actor || '?' ${last}`);
  assert.is((await other.command('stores', 'restore', backup)).exitCode, 1);
  assert.ok((await other.events()).length > 0, 'a part is there');

  const refused = /other\/restoring says that a restore has not come to its end: .*edgeward stores restore/;
  for (const command of [['region', 'create', 'fra'], ['stores', 'backup', join(edgeward.folder, 'third')], ['init']]) {
    const { exitCode, err } = await other.command(...command);
    assert.is(exitCode, 69, err);
    assert.match(err, refused);
  }
  const serving = await other.serve().then(
    () => 'it serves',
    (error: Error) => error.message,
  );
  assert.match(serving, refused);

  change(backup, `UPDATE events SET actor = rtrim(actor, '?') ${last}`);
  await other.json('stores', 'restore', backup);
  assert.is((await other.events()).at(-1)?.type, 'RestoreBegan');
  await other.serve();
  await other.remove();
});

test('a restore that was broken off when all of it was there comes to its end when it is repeated', async ({
  edgeward,
  backup,
}) => {
  await addRegion(edgeward, 'ams');
  await edgeward.json('stores', 'backup', backup);
  const other = await openEdgeward({ DATA_DIR: join(edgeward.folder, 'other') });
  await other.json('stores', 'restore', backup);
  const before = await other.events();
  // As when the command is killed between its last two steps.
  writeFileSync(join(edgeward.folder, 'other', 'restoring'), '');
  assert.match(JSON.stringify(await other.json('stores', 'restore', backup)), '"copied":0,');
  assert.equal(await other.events(), before, 'it is recorded once');
  await other.json('region', 'create', 'fra');
  assert.is((await other.command('stores', 'restore', backup)).exitCode, 4, 'a log that has gone on is left alone');
  await other.remove();
});

test('events of a newer version are refused, and the version is named', async ({ edgeward, backup }) => {
  await addRegion(edgeward, 'ams');
  await edgeward.json('stores', 'backup', backup);
  const note = readFileSync(join(backup, 'backup.json'), 'utf8');
  writeFileSync(join(backup, 'backup.json'), note.replace(VERSION, '97.0.0'));
  change(backup, `UPDATE events SET type = 'RegionPainted' WHERE position = 2`);
  const other = await openEdgeward({ DATA_DIR: join(edgeward.folder, 'other') });
  const { exitCode, err } = await other.command('stores', 'restore', backup);
  await other.remove();
  assert.is(exitCode, 1);
  const unknown = `which edgeward ${VERSION} does not know; edgeward 97.0.0 made it: use that version, or a newer one`;
  assert.match(err, `RegionPainted (schema 1) at position 2, ${unknown}`);
});

test('a server refuses a log that a newer version has served, whatever its views have applied', async ({
  edgeward,
}) => {
  await addRegion(edgeward, 'ams');
  await edgeward.serve();
  await edgeward.stop();
  const file = join(edgeward.dataDir, 'version');
  assert.is(readFileSync(file, 'utf8').trim(), VERSION);
  // As a newer version leaves it, which could read this event and has saved views beyond it.
  writeFileSync(file, '98.0.0\n');
  change(edgeward.dataDir, `UPDATE events SET schema = 2 WHERE position = 2`);
  const refused = await edgeward.serve().then(
    () => '',
    (error: Error) => error.message,
  );
  assert.match(refused, /events\.db holds \w+ \(schema 2\) at position 2, /);
  assert.match(refused, `edgeward 98.0.0 has served it last: use that version, or a newer one`);
  assert.is(readFileSync(file, 'utf8').trim(), '98.0.0');
});

if (mongo !== undefined) {
  test('stores on servers are backed up and put back alike', async ({ edgeward, backup }) => {
    const first = await startEventStoreStandIn({ log: createEventLog(2n ** 60n) });
    const second = await startEventStoreStandIn();
    const urls = [mongo.freshUrl(), mongo.freshUrl()];
    const lost = await openEdgeward(settingsOf(first.port, urls[0]));
    await liveThrough(lost);
    const made = await lost.json('stores', 'backup', backup, '--with-secrets');
    assert.match(JSON.stringify(made), '"evidence":{"copied":1,"there":0,"problems":[]}');
    const others = await openEdgeward(settingsOf(second.port, urls[1]));
    await others.json('stores', 'restore', backup);
    assert.match(JSON.stringify(await others.json('verify')), /"ok":true.*"evidence":1/);
    assert.match(JSON.stringify(await others.json('restore', 'status')), '"restored":true');
    await lost.remove();
    await others.remove();
    await first.stop();
    await second.stop();
    for (const url of urls) await mongo.drop(url);
    assert.ok(edgeward);
  });
}

/** A customer with a webhook, an address on the router and a whitelist request, on a running server. */
async function liveThrough(edgeward: Edgeward): Promise<Readonly<{ customer: TestCustomer; url: string }>> {
  await addRegion(edgeward, 'ams');
  const options = ['--allow-source-whitelist', ...HOOK];
  const customer = await addCustomer(edgeward, 'acme', [['203.0.113.0/24', 'ams']], options);
  const url = await edgeward.serve();
  await disable(url, customer, '203.0.113.7');
  await edgeward.json('commit', 'run', 'acme', 'ams');
  const form = { ip: '192.31.196.1', evidence: pdf('proof', 300_000) };
  assert.is((await submitForm(openApiClient(url, customer.token), form)).status, 201);
  return { customer, url };
}

async function disable(url: string, { token }: TestCustomer, ip: string): Promise<void> {
  const { status, text } = await openApiClient(url, token).post('/ips/disable', { ip });
  assert.is(status, 200, text);
}

function settingsOf(port: number, url = ''): Record<string, string> {
  return { EVENT_STORE_URL: `esdb://127.0.0.1:${port}?tls=false`, READ_MODEL_URL: url };
}

async function fileWith(edgeward: Edgeward, text: string): Promise<string> {
  const file = join(edgeward.folder, 'secret.txt');
  writeFileSync(file, text);
  return file;
}

function change(directory: string, statement: string): void {
  const db = openSqlite(join(directory, 'events.db'));
  db.prepare(statement).run();
  db.close();
}

test.run();
