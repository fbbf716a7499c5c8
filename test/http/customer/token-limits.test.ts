import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { type ApiClient, openApiClient } from '../../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../../support/servers/edgeward-server.ts';
import { waitUntil } from '../../support/wait-until.ts';

const edgeward = await openEdgeward({ TRUST_PROXY: 'true' });
await addRegion(edgeward, 'eu-west');
await addCustomer(edgeward, 'Acme', [['203.0.113.0/24', 'eu-west']]);
const url = await edgeward.serve();
const clients: ApiClient[] = [];

test.after(async () => {
  for (const client of clients) await client.close();
  await edgeward.remove();
});

async function tokenWith(
  ...options: readonly string[]
): Promise<Readonly<{ id: string; api: ApiClient; prefix: string }>> {
  const { id, token } = z
    .object({ id: z.string(), token: z.string() })
    .parse(await edgeward.json('token', 'create', 'Acme', ...options));
  const api = openApiClient(url, token);
  clients.push(api);
  await waitUntil('the server knows it', async () => (await api.get('/subnets')).status !== 401);
  return { id, api, prefix: token.slice(0, 10) };
}

async function tokenOf(customer: string, ...options: readonly string[]): Promise<string> {
  return z.object({ token: z.string() }).parse(await edgeward.json('token', 'create', customer, ...options)).token;
}

test('a token that may only read changes nothing, and says why', async () => {
  const { api } = await tokenWith('--read-only');
  assert.is((await api.get('/subnets')).status, 200);
  const before = await edgeward.end();
  for (const path of ['/ips/disable', '/ips/enable', '/ips/bulk', '/source-whitelist']) {
    const { status, json } = await api.post(path, { ip: '203.0.113.1' });
    assert.equal([status, json], [403, { message: 'this token may only read.' }]);
  }
  assert.is(await edgeward.end(), before);
});

test('what such a token asks that is no change is answered as to any other', async () => {
  const { api } = await tokenWith('--read-only');
  assert.is((await api.send('/subnets', { method: 'HEAD' })).status, 200);
  for (const method of ['OPTIONS', 'TRACE']) {
    const { status, headers } = await api.send('/ips/disable', { method });
    assert.equal([status, headers.allow], [405, 'POST'], method);
  }
});

test('a token is of use from the addresses that it names alone', async () => {
  const { api } = await tokenWith('--allow', '192.0.2.0/24', '--allow', '2001:db8::/32');
  const from = (address: string) => api.send('/subnets', { headers: { 'x-forwarded-for': address } });
  for (const address of ['192.0.2.7', '::ffff:192.0.2.7', '2001:db8::9'])
    assert.is((await from(address)).status, 200, address);
  for (const address of ['198.51.100.7', '2001:db9::1', '127.0.0.1', 'nonsense']) {
    const { status, json } = await from(address);
    assert.equal([status, json], [403, { message: 'this token may not be used from this address.' }], address);
  }
});

test('a token that is tried from elsewhere takes no requests from its customer: they are those of the address', async () => {
  const globex = await addCustomer(edgeward, 'Globex', [], ['--rate-limit', '5']);
  const own = openApiClient(url, globex.token);
  const stolen = openApiClient(url, await tokenOf('Globex', '--allow', '192.0.2.0/24'));
  clients.push(own, stolen);
  const triedFrom = (address: string) => stolen.send('/subnets', { headers: { 'x-forwarded-for': address } });
  await waitUntil('the server knows it', async () => (await triedFrom('198.51.100.98')).status === 403);
  for (let more = 0; more < 10; more += 1) {
    const { status, headers } = await triedFrom('198.51.100.99');
    assert.equal([status, headers['x-ratelimit-limit']], [403, '60']);
  }
  const { status, headers } = await own.get('/subnets');
  assert.equal([status, headers['x-ratelimit-remaining']], [200, '4']);
});

test('a token that has expired is worth nothing', async () => {
  const { api } = await tokenWith('--expires', 'PT4S');
  assert.is((await api.get('/subnets')).status, 200);
  await waitUntil('it has expired', async () => (await api.get('/subnets')).status === 401, 30);
  const { json, headers } = await api.get('/subnets');
  assert.equal(json, { message: 'authentication required' });
  assert.is(headers['www-authenticate'], 'Bearer error="invalid_token", error_description="this token has expired."');
});

test('a token is disabled and enabled', async () => {
  const { api, prefix } = await tokenWith();
  await edgeward.json('token', 'disable', prefix);
  await waitUntil('it is worth nothing', async () => (await api.get('/subnets')).status === 401);
  assert.match(String((await api.get('/subnets')).headers['www-authenticate']), 'this token is disabled.');
  await edgeward.json('token', 'enable', prefix);
  await waitUntil('it is worth what it was', async () => (await api.get('/subnets')).status === 200);
});

test('when a token was last used is kept to the hour, by one event however many requests there are', async () => {
  const { id, api } = await tokenWith();
  for (let asked = 0; asked < 20; asked += 1) await api.get('/subnets');
  const list = z.array(z.object({ id: z.string(), last_used: z.string().nullable() }));
  const lastUsed = async (): Promise<string | null | undefined> =>
    list.parse(await edgeward.json('token', 'list')).find((token) => token.id === id)?.last_used;
  await waitUntil('it is kept', async () => (await lastUsed()) !== null, 20);
  assert.match((await lastUsed()) ?? '', /^\d{4}-\d\d-\d\dT\d\d:00:00\.000\+00:00$/);
  const used = (await edgeward.json('events', '--all', '--type', 'ApiTokenUsed')) as readonly {
    data: { tokenId: string };
  }[];
  const hours = used.filter(({ data }) => data.tokenId === id).length;
  assert.ok(hours === 1 || hours === 2, `${hours} events: one, or two at the turn of an hour`);
});

test.run();
