import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { SCOPES_OF_ROLE } from '../../../../src/domain/ip-control/admin-roles.ts';
import { type AdminClient, adminToken, openAdminClient } from '../../../support/http/admin-client.ts';
import type { Answer } from '../../../support/http/api-client.ts';
import { freePort } from '../../../support/free-port.ts';
import { openEdgeward } from '../../../support/servers/edgeward-server.ts';
import { POOL_DOCUMENT as pool } from '../../../support/worker-pools/records.ts';

const edgeward = await openEdgeward();
const { token } = await adminToken(edgeward, 'ada', SCOPES_OF_ROLE.administrator);
const url = await edgeward.serve();
const api = openAdminClient(url, token);

test.after(async () => {
  await api.close();
  await edgeward.remove();
});

const answered = z.object({ data: z.looseObject({}), meta: z.looseObject({}).optional() });

function is(answer: Answer, status: number): Record<string, unknown> {
  assert.is(answer.status, status, answer.text);
  return answered.parse(answer.json).data;
}

/** What is asked for changes nothing any more. */
async function isSettled(ask: (client: AdminClient) => Promise<Answer>): Promise<void> {
  const before = await recordedByPeople();
  const answer = await ask(api);
  assert.is(answer.status, 200, answer.text);
  assert.is(answered.parse(answer.json).meta?.['changed'], false, answer.text);
  assert.is(await recordedByPeople(), before);
}

/** A server decides about its pools meanwhile. */
async function recordedByPeople(): Promise<number> {
  return (await edgeward.events()).filter(({ metadata }) => metadata.actor.startsWith('admin:')).length;
}

const account = {
  category: 'cloud-provider-account',
  provider_type: 'hetzner',
  configuration: {},
  credentials: { api_token: 'very-secret' },
};

test('an account at a provider is made and shown without its secrets', async () => {
  is(await api.put('/assets/cloud', account), 201);
  await isSettled((client) => client.put('/assets/cloud', account));
  const shown = await api.get('/assets/cloud');
  assert.equal(is(shown, 200)['credentials'], ['api_token']);
  assert.not.match(shown.text, /very-secret/);
  const rehearsed = await api.put('/assets/cloud?dry_run=true', { ...account, credentials: { api_token: 'another' } });
  assert.is(rehearsed.status, 200);
  assert.not.match(rehearsed.text, /another/);
  assert.is((await api.put('/assets/cloud', { ...account, provider_type: 'abacus' })).status, 422);
});

test('a pool is made as it is given; what is left out has its default', async () => {
  const wrong = await api.put('/worker-pools/spot', { ...pool, colour: 'red', architectures: [] });
  const { errors } = z.object({ errors: z.record(z.string(), z.unknown()) }).parse(wrong.json);
  assert.is(wrong.status, 422);
  assert.ok('colour' in errors && 'architectures' in errors, wrong.text);
  is(await api.put('/worker-pools/spot', pool), 201);
  await isSettled((client) => client.put('/worker-pools/spot', pool));
  is(await api.patch('/worker-pools/spot', { enabled: false }), 200);
  assert.is(is(await api.get('/worker-pools/spot'), 200)['enabled'], false);
  assert.is(is(await api.put('/worker-pools/spot', pool), 200)['enabled'], true);
  const before = await recordedByPeople();
  is(await api.patch('/worker-pools/spot?dry_run=true', { enabled: false }), 200);
  assert.is(await recordedByPeople(), before);
  is(await api.get('/worker-pools/spot/usage'), 200);
  assert.is((await api.get('/worker-pools/spot/usage?month=soon')).status, 422);
  assert.is((await api.patch('/worker-pools/none', {})).status, 404);
});

test('a scope uses a pool, and gives it back', async () => {
  is(await api.put('/scopes/debian', {}), 201);
  await isSettled((client) => client.put('/scopes/debian', {}));
  is(await api.put('/scopes/debian/worker-pools/spot', { priority: 3 }), 201);
  await isSettled((client) => client.put('/scopes/debian/worker-pools/spot', { priority: 3 }));
  is(await api.put('/scopes/debian/worker-pools/spot', { limits: { target_latency_seconds: 60 } }), 200);
  assert.is((await api.put('/scopes/debian/worker-pools/none', {})).status, 404);
  is(await api.remove('/scopes/debian/worker-pools/spot'), 200);
  const before = await recordedByPeople();
  assert.is((await api.remove('/scopes/debian/worker-pools/spot')).status, 404);
  assert.is(await recordedByPeople(), before);
  assert.is((await api.remove('/scopes/nowhere/worker-pools/spot')).status, 404);
  assert.is((await api.get('/scopes/debian/worker-pools/spot')).status, 404);
});

test('of a membership what is named is changed', async () => {
  const at = '/scopes/debian/worker-pools/spot';
  const none = await api.patch(at, { priority: 1 });
  assert.is(none.status, 404);
  assert.match(none.text, 'scope debian has no worker pool spot.');
  is(await api.put(at, { priority: 3, limits: { target_latency_seconds: 60 } }), 201);
  assert.equal(is(await api.patch(at, { priority: 9 }), 200)['priority'], 9);
  await isSettled((client) => client.patch(at, { priority: 9 }));
  const limits = { target_max_seconds_per_month: null, target_latency_seconds: 60 };
  assert.equal(is(await api.get(at), 200), { scope: 'debian', worker_pool: 'spot', priority: 9, limits });
  assert.is((await api.patch(at, { limits: { colour: 'red' } })).status, 422);
});

test('a scope is deleted once nothing uses it', async () => {
  const etag = String((await api.get('/scopes/debian')).headers['etag']);
  const refused = await api.remove('/scopes/debian');
  assert.is(refused.status, 409);
  assert.match(refused.text, 'scope debian is in use: worker pool spot.');
  is(await api.remove('/scopes/debian/worker-pools/spot'), 200);
  const stale = await api.send('/scopes/debian', { method: 'DELETE', headers: { 'if-match': etag } });
  assert.is(stale.status, 412);
  const work = { scope: 'debian', architecture: 'arm64' };
  const { id } = is(await api.post('/work-requests', work), 201);
  assert.match((await api.remove('/scopes/debian')).text, 'scope debian is in use: 1 work request.');
  is(await api.remove(`/work-requests/${String(id)}`), 200);
  is(await api.remove('/scopes/debian?dry_run=true'), 200);
  assert.equal(is(await api.remove('/scopes/debian?reason=closed'), 200), { name: 'debian' });
  for (const again of ['/scopes/debian', '/scopes/debian?dry_run=true'])
    assert.match((await api.remove(again)).text, 'scope debian not found.');
  is(await api.put('/scopes/debian', {}), 201);
});

test('what is wrong with an account is named by its field as it was sent, and its value is not repeated', async () => {
  const { status, json, text } = await api.put('/assets/cloud', {
    ...account,
    provider_typ: 'hetzner',
    credentials: { api_token: ['very-secret'] },
  });
  assert.is(status, 422, text);
  const { errors } = z.object({ errors: z.record(z.string(), z.unknown()) }).parse(json);
  assert.equal(Object.keys(errors).toSorted(), ['credentials.api_token', 'provider_typ']);
  assert.not.match(text, 'very-secret');
});

test('a name that can not be one is wrong as name, whatever it is of', async () => {
  for (const [path, body] of [
    ['/assets/Not%20one', account],
    ['/worker-pools/Not%20one', pool],
    ['/scopes/Not%20one', {}],
  ] as const) {
    const { status, json } = await api.put(path, body);
    assert.is(status, 422, path);
    assert.equal(Object.keys(z.object({ errors: z.looseObject({}) }).parse(json).errors), ['name'], path);
  }
});

test('of an account what is named is changed; its credentials stay, or are replaced, and are never shown', async () => {
  const etag = String((await api.get('/assets/cloud')).headers['etag']);
  const configuration = { server_url: 'https://edgeward.example.com' };
  is(await api.patch('/assets/cloud', { configuration }), 200);
  await isSettled((client) => client.patch('/assets/cloud', { configuration }));
  assert.equal(is(await api.get('/assets/cloud'), 200)['configuration'], configuration);
  assert.is((await api.patch('/assets/cloud', { configuration: {} }, { 'if-match': etag })).status, 412);
  const replaced = await api.patch('/assets/cloud', { credentials: { api_token: 'more-secret' } });
  is(replaced, 200);
  assert.not.match(replaced.text, /(?:more|very)-secret/);
  const none = await api.patch('/assets/cloud', { credentials: null });
  assert.is(none.status, 422);
  assert.not.match(none.text, /(?:more|very)-secret/);
  assert.is((await api.patch('/assets/cloud', { provider_type: 'aws' })).status, 422);
  assert.match((await api.patch('/assets/none', {})).text, 'asset none not found.');
});

test('an account is tried at its provider, and an answer is had when that says no', async () => {
  // Nothing listens there.
  is(await api.patch('/assets/cloud', { configuration: { endpoint: `http://127.0.0.1:${await freePort()}` } }), 200);
  const said = is(await api.post('/assets/cloud/test'), 200);
  assert.is(said['works'], false);
  assert.not.match(String(said['because']), /more-secret/);
  assert.is((await api.post('/assets/none/test')).status, 404);
});

test('pools and workers have all fields that their records have', async () => {
  const [listed] = z.object({ data: z.array(z.looseObject({})) }).parse((await api.get('/worker-pools')).json).data;
  assert.equal(listed?.['dynamic_metadata'], {}, 'nothing was launched yet');
  await edgeward.json('worker', 'register', 'builder', '--architectures', 'amd64');
  const worker = is(await api.get('/workers/builder'), 200);
  assert.equal([worker['instance_created_at'], worker['worker_pool_data']], [null, null]);
  assert.type(worker['registered_at'], 'string');
});

test('workers are listed, and a pool is deleted', async () => {
  assert.is((await api.get('/workers')).status, 200);
  assert.is((await api.get('/workers/none')).status, 404);
  assert.is((await api.post('/workers/none/terminate')).status, 404);
  const inUse = await api.remove('/assets/cloud');
  assert.is(inUse.status, 409);
  assert.match(inUse.text, 'asset cloud is used by worker pool spot.');
  const etag = String((await api.get('/worker-pools/spot')).headers['etag']);
  is(await api.patch('/worker-pools/spot', { ephemeral: true }), 200);
  const stale = await api.send('/worker-pools/spot', { method: 'DELETE', headers: { 'if-match': etag } });
  assert.is(stale.status, 412);
  is(await api.remove('/worker-pools/spot'), 200);
  const again = await api.remove('/worker-pools/spot');
  assert.is(again.status, 404);
  assert.match(again.text, 'worker pool spot not found.');
  assert.match((await api.post('/worker-pools/spot/launch', { count: 1 })).text, 'worker pool spot not found.');
  is(await api.remove('/assets/cloud?dry_run=true'), 200);
  is(await api.remove('/assets/cloud'), 200);
  assert.is((await api.remove('/assets/cloud')).status, 404);
});

test('accounts are shown; a token is shown once, and revoked', async () => {
  assert.equal(is(await api.get('/accounts/ada'), 200)['role'], 'administrator');
  const issued = is(await api.post('/accounts/ada/tokens', { scopes: ['read'], label: 'panel' }), 201);
  assert.match(String(issued['token']), /^edwa_/);
  const listed = await api.get('/accounts/ada/tokens');
  assert.match(listed.text, String(issued['id']));
  assert.not.match(listed.text, String(issued['token']));
  is(await api.remove(`/accounts/ada/tokens/${String(issued['id'])}`), 200);
  const stranger = openAdminClient(url, String(issued['token']));
  assert.is((await stranger.get('/accounts')).status, 401);
  await stranger.close();
  assert.is((await api.post('/accounts/ada/tokens', { scopes: ['everything'] })).status, 422);
  assert.is((await api.post('/accounts/nobody/tokens', { scopes: ['read'] })).status, 404);
});

test.run();
