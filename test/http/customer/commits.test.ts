import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { openApiClient } from '../../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../../support/servers/edgeward-server.ts';

const PORTAL = 'https://portal.example.com';
const edgeward = await openEdgeward({ QUIET_PERIOD: 'PT1S', SCHEDULER_INTERVAL: 'PT0.1S', CORS_ORIGINS: PORTAL });
await addRegion(edgeward, 'eu-west');
await addRegion(edgeward, 'us-east', 0);
const limits = ['--rate-limit', '10000', '--allow-synchronous'];
const acme = await addCustomer(
  edgeward,
  'Acme',
  [
    ['203.0.113.0/24', 'eu-west'],
    ['198.51.100.0/24', 'us-east'],
  ],
  limits,
);
const other = await addCustomer(edgeward, 'Other', [['192.0.2.0/24', 'eu-west']], limits);
const url = await edgeward.serve();
const api = openApiClient(url, acme.token);
const stranger = openApiClient(url, other.token);
const [subnetId = 0] = acme.subnetIds;

test.after(async () => {
  await api.close();
  await stranger.close();
  await edgeward.remove();
});

const commits = z.object({
  data: z.array(
    z.looseObject({
      commit_set_id: z.string(),
      region: z.string(),
      prefix_list_name: z.string(),
      status: z.string(),
      prefixes: z.number().nullable(),
      completed_at: z.string().nullable(),
      reason: z.string().nullable(),
    }),
  ),
  meta: z.object({ next_after: z.string().nullable() }),
});

async function listed(query = '') {
  return commits.parse((await api.get(`/commits${query}`)).json);
}

test('pending is waited for, and answered when all of it is deployed', async () => {
  await api.post('/ips/disable', { ip: '203.0.113.7' });
  const began = performance.now();
  const { status, text } = await api.get(`/subnets/${subnetId}/pending?wait=PT30S`);
  assert.is(status, 200);
  assert.match(text, '"meta":{"pending_changes":0}');
  assert.ok(performance.now() - began > 300, 'it has waited');
});

test('with nothing pending there is nothing to wait for, and another count ends a wait', async () => {
  assert.match((await api.get(`/subnets/${subnetId}/pending?wait=PT60S`)).text, '"pending_changes":0');
  await api.post('/ips/disable', { ip: '203.0.113.8' });
  const waiting = api.get(`/subnets/${subnetId}/pending?wait=PT30S`);
  await api.post('/ips/disable', { ip: '203.0.113.9' });
  assert.is((await waiting).status, 200);
});

test('a wait is at most a minute, and goes with pending alone', async () => {
  const message = 'must be a duration of at most a minute, such as PT30S.';
  for (const wait of ['PT61S', 'P1Y', '-PT1S', '30', ''])
    assert.equal((await api.get(`/subnets/${subnetId}/pending?wait=${wait}`)).json, {
      message: `wait: ${message}`,
      errors: { wait: [message] },
    });
  assert.is((await api.get(`/subnets/${subnetId}?wait=PT1S`)).status, 422);
});

test('commits are listed newest first, one region or list of them, page after page', async () => {
  for (const ip of ['203.0.113.20', '198.51.100.20', '203.0.113.21'])
    assert.is((await api.post('/ips/disable', { ip, synchronous: true })).status, 200);
  const all = await listed();
  assert.equal(
    all.data.slice(0, 3).map(({ region, prefix_list_name: list, status }) => [region, list, status]),
    ['eu-west', 'us-east', 'eu-west'].map((region) => [region, 'Svc-ACME-BLACKHOLE', 'success']),
  );
  assert.equal(
    (await listed('?region=us-east')).data.map(({ region }) => region),
    ['us-east'],
  );
  assert.equal((await listed('?region=2')).data, (await listed('?region=us-east')).data);
  assert.equal((await listed('?region=77')).data, [], 'one that is gone, or was never there');
  assert.equal((await listed('?list=SRC_WHITELIST')).data, []);
  const paged: string[] = [];
  for (let after = ''; ;) {
    const { data, meta } = await listed(`?limit=2${after}`);
    paged.push(...data.map(({ commit_set_id: id }) => id));
    if (meta.next_after === null) break;
    after = `&after=${meta.next_after}`;
  }
  assert.equal(
    paged,
    all.data.map(({ commit_set_id: id }) => id),
  );
});

test('a commit is shown to its customer alone', async () => {
  const [newest] = (await listed()).data;
  const path = `/commits/${newest?.commit_set_id}`;
  assert.equal((await api.get(path)).json, { data: (await listed()).data[0] });
  assert.equal((await stranger.get(path)).json, { message: 'not found.' });
  assert.equal(commits.parse((await stranger.get('/commits')).json).data, []);
});

test('a query of commits that is not right is refused by its name', async () => {
  for (const [query, field] of [
    ['?limit=0', 'limit'],
    ['?limit=101', 'limit'],
    ['?after=7', 'after'],
    ['?list=blackhole', 'list'],
    ['?region=eu-wset', 'region'],
    ['?status=success', 'status'],
  ] as const) {
    const { status, json } = await api.get(`/commits${query}`);
    assert.is(status, 422);
    assert.equal(Object.keys(z.object({ errors: z.object({}).loose() }).parse(json).errors), [field]);
  }
});

// What is sent in fewer bytes, and to pages of others

async function raw(path: string, headers: Readonly<Record<string, string>>, method: 'GET' | 'OPTIONS' = 'GET') {
  const answer = await request(`${url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${acme.token}`, ...headers },
  });
  return { status: answer.statusCode, headers: answer.headers, bytes: Buffer.from(await answer.body.arrayBuffer()) };
}

test('answers above 1 KiB are gzip where that is taken, whole ones and streams', async () => {
  for (const path of [`/subnets/${subnetId}`, '/commits']) {
    const plain = await raw(path, {});
    assert.is(plain.headers['content-encoding'], undefined);
    assert.equal(plain.headers['vary'], ['Origin', 'Accept-Encoding']);
    const packed = await raw(path, { 'accept-encoding': 'br, gzip;q=0.5' });
    assert.is(packed.headers['content-encoding'], 'gzip', path);
    assert.is(gunzipSync(packed.bytes).toString(), plain.bytes.toString());
    assert.ok(packed.bytes.length < plain.bytes.length / 2);
    for (const not of ['identity', 'gzip;q=0', 'br', 'gzipped'])
      assert.is((await raw(path, { 'accept-encoding': not })).headers['content-encoding'], undefined, not);
  }
  for (const small of ['/subnets/999', `/subnets/${subnetId}/pending`, `/subnets/${subnetId}?view=ranges`])
    assert.is((await raw(small, { 'accept-encoding': 'gzip' })).headers['content-encoding'], undefined, small);
});

test('pages of the origins that a setting names may call from a browser, others not', async () => {
  const asked = { origin: PORTAL, 'access-control-request-method': 'POST' };
  const preflight = await raw('/ips/disable', { ...asked, authorization: '' }, 'OPTIONS');
  assert.equal([preflight.status, preflight.headers['access-control-allow-origin']], [204, PORTAL]);
  assert.match(String(preflight.headers['access-control-allow-headers']), 'Authorization');
  assert.is((await raw('/subnets', { origin: PORTAL })).headers['access-control-allow-origin'], PORTAL);
  for (const origin of ['https://elsewhere.example.com', `${PORTAL}.evil.example`, 'null']) {
    assert.is((await raw('/subnets', { origin })).headers['access-control-allow-origin'], undefined, origin);
    assert.is((await raw('/ips/disable', { ...asked, origin }, 'OPTIONS')).status, 405);
  }
});

test.run();
