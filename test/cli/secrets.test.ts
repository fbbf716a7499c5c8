import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { createLog } from '../../src/adapters/log.ts';
import { readConfig } from '../../src/config.ts';
import { commandApplication } from '../../src/main/application.ts';
import { addCustomer, addRegion, openEdgeward } from '../support/servers/edgeward-server.ts';

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west', 0);
test.after(() => edgeward.remove());

const HOST_KEY = 'SHA256:uNiVztksCsDhcc0u9e8BrKXWy5qKmKxpqEeKNKkPMSg';
const VALUE = 'let-me-in-please';
const file = join(edgeward.folder, 'key');

function isStored(id: string): boolean {
  return existsSync(join(edgeward.dataDir, 'secrets', id));
}

/** What the log tells of secrets. */
async function told(): Promise<readonly string[]> {
  const events = (await edgeward.events()).filter(({ type }) => type.startsWith('Secret'));
  for (const { stream, metadata } of events) {
    assert.is(stream, 'directory-main');
    assert.match(metadata.actor, /^admin:[^@]+@cli$/);
  }
  return events.map(({ type, data }) => `${type} ${Object(data).secretId}`);
}

async function put(id: string, value = VALUE): Promise<void> {
  writeFileSync(file, value);
  assert.equal(await edgeward.json('secret', 'put', id, '--from', file), { id, stored: true });
}

async function removal(id: string) {
  const { exitCode, err } = await edgeward.command('secret', 'remove', id);
  return { exitCode, err };
}

const listed = z.array(z.strictObject({ id: z.string(), since: z.string().nullable(), used_by: z.array(z.string()) }));
const usedBy = async (id: string): Promise<readonly string[] | undefined> =>
  listed.parse(await edgeward.json('secret', 'list')).find((row) => row.id === id)?.used_by;

test('who stores and removes a secret is recorded, what it is never', async () => {
  await put('edge1-key');
  await put('edge1-key', 'another one');
  assert.equal(await removal('edge1-key'), { exitCode: 0, err: '' });
  assert.not(isStored('edge1-key'));
  assert.equal(await told(), ['SecretStored edge1-key', 'SecretStored edge1-key', 'SecretRemoved edge1-key']);
  const text = JSON.stringify((await edgeward.events()).map(({ data, metadata }) => ({ data, metadata })));
  for (const value of [VALUE, 'another one']) assert.not.ok(text.includes(value));
});

test('a removal that was recorded and broken off is ended by repeating it', async () => {
  await put('edge1-key');
  const withApplication = commandApplication(() => readConfig(edgeward.settings), createLog({ level: 'silent' }));
  await withApplication(({ directory }) =>
    directory.handle(
      'main',
      { type: 'RecordSecretRemoved', data: { secretId: 'edge1-key' } },
      { actor: 'admin:grace@cli', requestId: 'test' },
    ),
  );
  const before = await told();
  assert.equal(await removal('edge1-key'), { exitCode: 0, err: '' });
  assert.not(isStored('edge1-key'));
  assert.equal(await told(), before);
});

test('a secret that is not there is not removed', async () => {
  const before = await told();
  assert.equal(await removal('edge1-key'), { exitCode: 3, err: 'edgeward: secret edge1-key not found.\n' });
  assert.equal(await told(), before);
});

test('a secret that routers use is not removed; they are named, and so they are in the list', async () => {
  await put('login');
  for (const name of ['core1', 'core2']) {
    const options = [
      'transport=ssh',
      'host=192.0.2.1',
      'user=edgeward',
      'password=secret:login',
      `host_key=${HOST_KEY}`,
    ];
    const given = options.flatMap((option) => ['--option', option]);
    await edgeward.json('router', 'add', 'eu-west', name, '--driver', 'frr', ...given);
  }
  const uses = ['router core1 in eu-west (password)', 'router core2 in eu-west (password)'];
  const before = await told();
  assert.equal(await removal('login'), {
    exitCode: 4,
    err: `edgeward: secret login is used by ${uses.join(', ')}.\n`,
  });
  assert.ok(isStored('login'));
  assert.equal(await told(), before);
  assert.equal(await usedBy('login'), uses);
  for (const name of ['core1', 'core2']) await edgeward.json('router', 'remove', name);
  assert.equal(await usedBy('login'), []);
  assert.is((await removal('login')).exitCode, 0);
});

test('a used secret that is not there is listed, without a time', async () => {
  const options = ['transport=ssh', 'host=192.0.2.1', 'user=edgeward', 'password=secret:lost', `host_key=${HOST_KEY}`];
  const given = options.flatMap((option) => ['--option', option]);
  await edgeward.json('router', 'add', 'eu-west', 'core3', '--driver', 'frr', ...given);
  const row = listed.parse(await edgeward.json('secret', 'list')).find(({ id }) => id === 'lost');
  assert.equal(row, { id: 'lost', since: null, used_by: ['router core3 in eu-west (password)'] });
});

test('what webhooks, administrators and accounts at providers use is not removed either', async () => {
  await addCustomer(edgeward, 'Acme', [], ['--webhook-url', 'https://hooks.example.com/']);
  await edgeward.json('customer', 'update', 'Acme', '--rotate-webhook-secret');
  await edgeward.json('admin', 'create', 'ada');
  const asset = join(edgeward.folder, 'asset.json');
  const account = { name: 'clouds', provider_type: 'hetzner', configuration: {}, credentials: { api_token: VALUE } };
  writeFileSync(asset, JSON.stringify(account));
  await edgeward.json('asset', 'create', 'cloud-provider-account', '--data', asset);
  const rows = listed.parse(await edgeward.json('secret', 'list'));
  const users = rows.filter(({ id }) => id !== 'lost').map(({ used_by: uses }) => uses.join());
  assert.equal(users.toSorted(), [
    'administrator ada',
    'asset clouds',
    'webhooks of customer Acme',
    'webhooks of customer Acme',
  ]);
  for (const { id } of rows) assert.is((await removal(id)).exitCode, id === 'lost' ? 3 : 4);
});

test('for people it is a table', async () => {
  const { out } = await edgeward.command('secret', 'list');
  assert.match(out, /^ID +SINCE +USED_BY$/m);
  assert.match(out, /^administrator-ada-\S+ +\d{4}-\S+\+00:00 +administrator ada$/m);
  assert.match(out, /^lost +- +router core3 in eu-west \(password\)$/m);
  assert.not.ok(out.includes(VALUE));
});

test.run();
