import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { VERSION } from '../../src/main/version.ts';
import { request } from 'undici';
import { type Answer, checkedAnswer, openApiClient } from '../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../support/servers/edgeward-server.ts';
import { formBody } from '../support/http/multipart-form.ts';
import { waitUntil } from '../support/wait-until.ts';

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west');
const acme = await addCustomer(edgeward, 'Acme', [['203.0.113.0/24', 'eu-west']], ['--allow-source-whitelist']);
const other = await addCustomer(edgeward, 'Other', [['198.51.100.0/24', 'eu-west']]);
const url = await edgeward.serve();
const api = openApiClient(url, acme.token);
const stranger = openApiClient(url);

test.after(async () => {
  await api.close();
  await stranger.close();
  await edgeward.remove();
});

const ENDPOINTS = [
  ['GET', '/subnets'],
  ['GET', `/subnets/${acme.subnetIds[0]}`],
  ['GET', `/subnets/${acme.subnetIds[0]}/pending`],
  ['POST', '/ips/enable'],
  ['POST', '/ips/disable'],
  ['POST', '/ips/bulk'],
] as const;

function messageOf({ json }: Answer): unknown {
  return typeof json === 'object' && json !== null && 'message' in json ? json.message : undefined;
}

// Authentication

test('every endpoint wants a token', async () => {
  for (const [method, path] of ENDPOINTS) {
    const answer = await stranger.send(path, { method });
    assert.is(answer.status, 401, path);
    assert.is(answer.headers['www-authenticate'], 'Bearer');
    assert.equal(answer.json, { message: 'authentication required' });
  }
});

const WORTHLESS: Readonly<Record<string, string>> = {
  'an unknown token': 'Bearer edw_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  'another scheme': `Basic ${acme.token}`,
  'a token without a scheme': acme.token,
  'an empty token': 'Bearer ',
  'a token with a character too many': `Bearer ${acme.token}A`,
  'a token in other letters': `Bearer ${acme.token.toUpperCase()}`,
  'a token of absurd length': `Bearer ${'A'.repeat(8000)}`,
  "the token's SHA-256": 'Bearer e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
};

for (const [what, authorization] of Object.entries(WORTHLESS)) {
  test(`${what} is worth nothing`, async () => {
    const answer = await stranger.send('/subnets', { headers: { authorization } });
    assert.is(answer.status, 401);
    assert.equal(answer.json, { message: 'authentication required' });
  });
}

test('the scheme is not case-sensitive', async () => {
  const answer = await stranger.send('/subnets', { headers: { authorization: `bearer ${acme.token}` } });
  assert.is(answer.status, 200);
});

test('a revoked token is worth nothing, the others go on', async () => {
  const second = await addCustomer(edgeward, 'Second');
  const client = openApiClient(url, second.token);
  await waitUntil('the token is known', async () => (await client.get('/subnets')).status === 200);
  await edgeward.json('token', 'revoke', second.tokenId);
  await waitUntil('the token is worth nothing', async () => (await client.get('/subnets')).status === 401);
  assert.is((await api.get('/subnets')).status, 200);
  await client.close();
});

// Paths and methods

test('an unknown route is 404, for customers only', async () => {
  for (const path of ['/', '/nothing', '/subnets/1/nothing', '/ips', '/ips/enable/1', '//subnets', '/subnets%2f1']) {
    const answer = await api.get(path);
    assert.is(answer.status, 404, path);
    assert.equal(answer.json, { message: 'not found.' }, path);
    assert.is((await stranger.get(path)).status, 401, path);
  }
});

test('outside the API an unknown route is 404 for everybody', async () => {
  for (const path of ['/', '/subnets', '/api', '/api/v2/subnets', '/API/V1/subnets', '/api/v1%2Fsubnets']) {
    const response = await request(`${url}${path}`);
    const { status, json } = checkedAnswer(response.statusCode, response.headers, await response.body.text());
    assert.is(status, 404, path);
    assert.equal(json, { message: 'not found.' });
  }
});

test('paths are written in lower case', async () => {
  for (const path of ['/SUBNETS', '/Subnets/1', '/subnets/1/PENDING'])
    assert.is((await api.get(path)).status, 404, path);
  assert.is((await api.post('/ips/Enable', { ip: '203.0.113.1' })).status, 404);
});

test('a slash at the end changes nothing', async () => {
  assert.equal((await api.get('/subnets/')).json, (await api.get('/subnets')).json);
  assert.equal((await api.get('/subnets/1/')).json, (await api.get('/subnets/1')).json);
});

test('a method that a path does not have is 405 and names those it has', async () => {
  for (const [method, path] of ENDPOINTS) {
    const isGet = method === 'GET';
    for (const wrong of [
      'PUT',
      'PATCH',
      'DELETE',
      'OPTIONS',
      'TRACE',
      isGet ? 'POST' : 'GET',
      ...(isGet ? [] : ['HEAD']),
    ]) {
      const answer = await api.send(path, { method: wrong });
      assert.is(answer.status, 405, `${wrong} ${path}`);
      assert.is(answer.headers.allow, isGet ? 'GET, HEAD' : 'POST', `${wrong} ${path}`);
      if (wrong !== 'HEAD') assert.equal(answer.json, { message: 'method not allowed.' });
    }
  }
});

test('HEAD is GET without the body', async () => {
  for (const path of ['/subnets', '/subnets/1', '/subnets/1/pending', '/subnets/99']) {
    const [head, get] = [await api.send(path, { method: 'HEAD' }), await api.get(path)];
    assert.is(head.status, get.status, path);
    assert.is(head.text, '', path);
    assert.is(head.headers['content-type'], 'application/json; charset=utf-8', path);
  }
});

// Subnet ids

test('a subnet id that is none is 404', async () => {
  const ids = ['0', '-1', '1.0', '1e0', '0x1', '01', 'one', '%31%20', '%00', '%zz', '%E0%A4', '1%2Fpending', '99'];
  for (const id of [...ids, '9007199254740993', '1'.repeat(400), '__proto__', 'constructor', '1;2', '1,2', '١']) {
    for (const path of [`/subnets/${id}`, `/subnets/${id}/pending`]) {
      const answer = await api.get(encodeURI(decodeSafely(path)) === path ? path : encodeNonAscii(path));
      assert.is(answer.status, 404, path);
      assert.equal(answer.json, { message: 'not found.' }, path);
    }
  }
});

function decodeSafely(path: string): string {
  return /%/.test(path) ? '' : path;
}

function encodeNonAscii(path: string): string {
  return path.replace(/[^\x20-\x7e]/g, encodeURIComponent);
}

test('a percent-encoded id is the id', async () => {
  assert.is((await api.get('/subnets/%31')).status, 200);
});

test("another customer's subnet is 403", async () => {
  for (const path of [`/subnets/${other.subnetIds[0]}`, `/subnets/${other.subnetIds[0]}/pending`]) {
    const answer = await api.get(path);
    assert.is(answer.status, 403);
    assert.equal(answer.json, { message: 'subnet does not belong to your account.' });
  }
});

// Order of checks

test('authentication comes before everything else', async () => {
  const answer = await stranger.send('/ips/disable', {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: '{',
  });
  assert.is(answer.status, 401);
});

test('the account flag comes before validation', async () => {
  const forbidden = { message: 'synchronous mode is not enabled for your account' };
  for (const [path, body] of [
    ['/ips/disable', { synchronous: true }],
    ['/ips/enable', { ip: 'nonsense', synchronous: true, more: 1 }],
    ['/ips/disable', { ip: '192.0.2.1', synchronous: true }],
    ['/ips/bulk', { synchronous: true }],
    ['/ips/bulk', { action: 'neither', ips: 7, synchronous: true }],
  ] as const) {
    const answer = await api.post(path, body);
    assert.is(answer.status, 403, JSON.stringify(body));
    assert.equal(answer.json, forbidden);
  }
});

test('validation comes before ownership', async () => {
  assert.is((await api.post('/ips/disable', { ip: '192.0.2.1', more: 1 })).status, 422);
  assert.is((await api.post('/ips/bulk', { action: 'disable', ips: ['192.0.2.1', 'x'] })).status, 422);
  const wrongQuery = await api.get(`/subnets/${other.subnetIds[0]}?limit=0`);
  assert.is(wrongQuery.status, 422);
  assert.is((await api.get('/subnets/99?view=both')).status, 422);
});

// Queries

const UNKNOWN_PARAMETERS = [
  'veiw=ranges',
  'limit[]=1',
  'limit[a]=1',
  'View=ips',
  '__proto__=1',
  'dryrun=true',
  'region=x',
  'x',
  '=1',
];

function nameIn(parameter: string): string {
  return parameter.split('=')[0] ?? '';
}

test('a query parameter that an endpoint does not know is refused, everywhere', async () => {
  const body = '{"ip":"203.0.113.1","action":"enable","ips":["203.0.113.1"]}';
  const before = await edgeward.end();
  for (const [method, path] of [
    ...ENDPOINTS,
    ['GET', '/source-whitelist'],
    ['POST', '/source-whitelist'],
    ['DELETE', '/source-whitelist/1'],
  ] as const) {
    for (const parameter of UNKNOWN_PARAMETERS) {
      const form = path === '/source-whitelist' ? formBody([]) : undefined;
      const json = { method, headers: { 'content-type': 'application/json' }, body };
      const { status, json: answer } = await api.send(
        `${path}?${parameter}`,
        method === 'POST' ? (form ?? json) : { method },
      );
      assert.is(status, 422, `${method} ${path}?${parameter}`);
      assert.is(Object(answer).message, `${nameIn(parameter)}: is not a known field.`);
      assert.equal(Object(answer).errors[nameIn(parameter)], ['is not a known field.']);
    }
  }
  assert.is(await edgeward.end(), before);
});

test('a change with a query that it does not know is none, also where the body is read quickly', async () => {
  const before = await edgeward.end();
  const answer = await api.post('/ips/bulk?dryrun=true', { action: 'disable', ips: ['203.0.113.1'] });
  assert.is(answer.status, 422);
  assert.equal(answer.json, {
    message: 'dryrun: is not a known field.',
    errors: { dryrun: ['is not a known field.'] },
  });
  const both = await api.post('/ips/disable?veiw=1', { ip: 7, more: 1 });
  assert.equal(Object.keys(Object(both.json).errors), ['veiw', 'ip', 'more']);
  assert.is(await edgeward.end(), before);
});

test('a query parameter is given once', async () => {
  for (const query of [
    'view=ips&view=ips',
    'limit=1&limit=2',
    'after=203.0.113.1&after=203.0.113.2',
    'limit=1&l%69mit=1',
  ]) {
    const name = nameIn(query);
    for (const path of ['/subnets/1', '/subnets/1/pending']) {
      const { status, json } = await api.get(`${path}?${query}`);
      assert.is(status, 422, query);
      assert.equal(json, { message: `${name}: must be given once.`, errors: { [name]: ['must be given once.'] } });
    }
  }
});

test('of many parameters none is passed over', async () => {
  for (const between of ['&', '&view=ips&', '&limit=1&']) {
    const { status } = await api.get(`/subnets/1?${between.repeat(1_100)}veiw=1`);
    assert.is(status, 422, between);
  }
});

test('an empty query is none', async () => {
  for (const path of ['/subnets?', '/subnets?&', '/subnets/1?', '/subnets/1?view=ips&'])
    assert.is((await api.get(path)).status, 200, path);
});

// Headers

test('a sane request id is kept and any other replaced, whatever the answer', async () => {
  const sane = ['1', 'a-b.c_d:e', '0'.repeat(128), '7f0c1b1e-3b1e-4d5c-9e8d-1a2b3c4d5e6f'];
  const insane = ['', '-a', ' ', 'a b', 'a/b', 'ä', '<script>', '0'.repeat(129), "a'; DROP TABLE events"];
  for (const [client, path] of [
    [api, '/subnets'],
    [api, '/nothing'],
    [stranger, '/subnets'],
  ] as const) {
    for (const id of sane) {
      const { headers } = await client.send(path, { headers: { 'x-request-id': id } });
      assert.is(headers['x-request-id'], id);
    }
    for (const id of insane) {
      const { headers } = await client.send(path, { headers: { 'x-request-id': id } });
      assert.is.not(headers['x-request-id'], id);
    }
  }
  const [first, second] = [await api.get('/subnets'), await api.get('/subnets')];
  assert.is.not(first.headers['x-request-id'], second.headers['x-request-id']);
});

test('the request id is in the log and in the events, with who asked', async () => {
  await api.send('/ips/disable', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-request-id': 'traced-1' },
    body: '{"ip":"203.0.113.200"}',
  });
  const events = await edgeward.events();
  const metadata = events.at(-1)?.metadata;
  assert.is(metadata?.$correlationId, 'traced-1');
  assert.is(metadata?.actor, `token:${acme.tokenId}`);
  assert.match(metadata?.at ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
  const line = await waitUntil('the request is logged', () =>
    edgeward.logged().find(({ requestId }) => requestId === 'traced-1'),
  );
  const { method, path, status, customer } = line;
  assert.equal(
    { method, path, status, customer },
    { method: 'POST', path: '/api/v1/ips/disable', status: 200, customer: 'Acme' },
  );
});

test('no token is ever logged', async () => {
  await api.get(`/subnets?token=${acme.token}`);
  await waitUntil('it is logged', () => edgeward.logged().some(({ path }) => path === '/api/v1/subnets'));
  assert.not.match(JSON.stringify(edgeward.logged()), acme.token);
});

test('answers are not for caches to revalidate, and name no software', async () => {
  const { headers } = await api.get('/subnets');
  assert.not(headers.etag);
  assert.not(headers.server);
  assert.not(headers['x-powered-by']);
});

test('a message names what is wrong', async () => {
  assert.is(messageOf(await api.post('/ips/disable', {})), 'ip: is required.');
});

// Health

test('the process and its parts say how they are, to anybody and uncounted', async () => {
  for (const [path, expected] of [
    ['/healthz', { status: 'ok' }],
    [
      '/readyz',
      { status: 'ready', version: VERSION, checks: { event_store: 'ok', read_models: 'ok', projections: 'ok' } },
    ],
  ] as const) {
    for (let times = 0; times < 70; times += 1) {
      const response = await request(`${url}${path}`);
      const { status, json } = checkedAnswer(response.statusCode, response.headers, await response.body.text());
      assert.is(status, 200);
      assert.equal(json, expected);
    }
    const wrong = await request(`${url}${path}`, { method: 'POST' });
    assert.is(wrong.statusCode, 405);
    assert.is(wrong.headers.allow, 'GET, HEAD');
    await wrong.body.dump();
  }
});

test.run();
