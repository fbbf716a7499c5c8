import { mock } from 'node:test';
import { Temporal } from '@js-temporal/polyfill';
import { Agent, request } from 'undici';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Answer, checkedAnswer, openApiClient } from '../../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../../support/servers/edgeward-server.ts';
import { waitUntil } from '../../support/wait-until.ts';

const edgeward = await openEdgeward({ TRUST_PROXY: '127.0.0.9' });
await addRegion(edgeward, 'eu-west');
const url = await edgeward.serve();

test.after(() => edgeward.remove());

let customers = 0;

/** A customer of its own with the given limit, known to the server. */
async function customerWithLimit(limit: number) {
  customers += 1;
  const customer = await addCustomer(edgeward, `Customer ${customers}`, [], ['--rate-limit', String(limit + 1)]);
  const api = openApiClient(url, customer.token);
  // Its own look-up is the one request too many.
  await waitUntil('the token is known', async () => (await strangersView(customer.token)) === 200);
  return { ...customer, api };
}

/** Asked from an address that no other test uses. */
async function strangersView(token: string): Promise<number> {
  const { status } = await from('127.0.0.77', { authorization: `Bearer ${token}` });
  return status;
}

/** Asks for the subnets from one of the loopback addresses. */
async function from(localAddress: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const dispatcher = new Agent({ localAddress });
  try {
    const response = await request(`${url}/api/v1/subnets`, { dispatcher, headers });
    return checkedAnswer(response.statusCode, response.headers, await response.body.text());
  } finally {
    await dispatcher.close();
  }
}

function counts({ status, headers }: Answer): readonly unknown[] {
  return [status, headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']];
}

function assertTooMany({ status, headers, json }: Answer): void {
  assert.is(status, 429);
  const seconds = Number(headers['retry-after']);
  assert.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60, `Retry-After ${seconds}`);
  assert.equal(json, { message: 'too many requests.', retry_after: seconds });
}

test('requests are counted down, and the one too many is 429', async () => {
  const { api } = await customerWithLimit(3);
  assert.equal(counts(await api.get('/subnets')), [200, '4', '2']);
  assert.equal(counts(await api.get('/subnets')), [200, '4', '1']);
  assert.equal(counts(await api.get('/subnets')), [200, '4', '0']);
  const refused = await api.get('/subnets');
  assert.equal(counts(refused), [429, '4', '0']);
  assertTooMany(refused);
  const now = Temporal.Now.instant().epochMilliseconds / 1000;
  const secondsLeft = Number(refused.headers['x-ratelimit-reset']) - now;
  assert.ok(secondsLeft > 0 && secondsLeft <= 61, 'the window ends within a minute');
  await api.close();
});

test('the default is 60 a minute', async () => {
  const { id, name } = await customerWithLimit(59);
  await edgeward.json('customer', 'create', 'By default');
  const rows = JSON.stringify(await edgeward.json('customer', 'list'));
  assert.match(rows, '"name":"By default","list_name":"BY-DEFAULT","rate_limit":60');
  assert.match(rows, `{"id":${id},"name":"${name}"`);
});

test('every answer counts: refusals, missing routes, malformed bodies', async () => {
  const { api } = await customerWithLimit(6);
  const remaining: unknown[] = [];
  for (const send of [
    () => api.get('/nothing'),
    () => api.get('/subnets/1'),
    () => api.post('/ips/disable', {}),
    () => api.send('/ips/disable', { method: 'POST', body: '{', headers: { 'content-type': 'application/json' } }),
    () => api.send('/subnets', { method: 'DELETE' }),
    () => api.post('/ips/disable', { synchronous: true }),
  ]) {
    const { status, headers } = await send();
    remaining.push([status, headers['x-ratelimit-remaining']]);
  }
  assert.equal(remaining, [
    [404, '5'],
    [404, '4'],
    [422, '3'],
    [400, '2'],
    [405, '1'],
    [403, '0'],
  ]);
  // The limit comes before the account's flags and before validation.
  assertTooMany(await api.post('/ips/disable', { synchronous: true }));
  assertTooMany(await api.get('/nothing'));
  await api.close();
});

test('all tokens of a customer share one count, and customers do not', async () => {
  const first = await customerWithLimit(4);
  const second = await customerWithLimit(4);
  const { token } = await tokenOf(first.name);
  const again = openApiClient(url, token);
  await waitUntil('the token is known', async () => {
    const { status } = await again.get('/subnets');
    return status === 200;
  });
  const left = Number((await first.api.get('/subnets')).headers['x-ratelimit-remaining']);
  for (let at = left; at > 0; at -= 1) await (at % 2 === 0 ? first.api : again).get('/subnets');
  assertTooMany(await first.api.get('/subnets'));
  assertTooMany(await again.get('/subnets'));
  assert.is((await second.api.get('/subnets')).status, 200);
  for (const { close } of [first.api, second.api, again]) await close();
});

async function tokenOf(name: string): Promise<{ token: string }> {
  const created = await edgeward.json('token', 'create', name);
  if (typeof created !== 'object' || created === null || !('token' in created)) throw new Error('no token');
  return { token: String(created.token) };
}

test('of requests at the same moment exactly as many as the limit get through', async () => {
  const { api } = await customerWithLimit(20);
  const answers = await Promise.all(Array.from({ length: 50 }, () => api.get('/subnets')));
  assert.is(answers.filter(({ status }) => status === 200).length, 20);
  assert.is(answers.filter(({ status }) => status === 429).length, 30);
  await api.close();
});

test('a changed limit holds at once', async () => {
  const { api, name } = await customerWithLimit(2);
  await api.get('/subnets');
  await api.get('/subnets');
  assert.is((await api.get('/subnets')).status, 429);
  await edgeward.json('customer', 'update', name, '--rate-limit', '1000');
  const answer = await waitUntil('the new limit holds', async () => {
    const tried = await api.get('/subnets');
    return tried.status === 200 && tried;
  });
  assert.is(answer.headers['x-ratelimit-limit'], '1000');
  await api.close();
});

test('the wall clock neither begins a window nor holds one up', async () => {
  const { api } = await customerWithLimit(1);
  await api.get('/subnets');
  assertTooMany(await api.get('/subnets'));
  const now = Date.now();
  for (const step of [-3_600_000, 3_600_000, 61_000, -61_000]) {
    mock.timers.enable({ apis: ['Date'], now: now + step });
    try {
      const answer = await api.get('/subnets');
      assertTooMany(answer);
      const secondsLeft = Number(answer.headers['x-ratelimit-reset']) - (now + step) / 1000;
      assert.ok(secondsLeft > 0 && secondsLeft <= 61, 'the end is told by the clock as it is');
    } finally {
      mock.timers.reset();
    }
  }
  await api.close();
});

test('strangers are counted per address, with the default limit', async () => {
  for (let left = 59; left >= 0; left -= 1) {
    const headers = left % 2 === 0 ? {} : { authorization: `Bearer guess-${left}` };
    assert.equal(counts(await from('127.0.0.2', headers)), [401, '60', String(left)]);
  }
  assertTooMany(await from('127.0.0.2'));
  assertTooMany(await from('127.0.0.2', { authorization: 'Bearer one-more-guess' }));
  assert.is((await from('127.0.0.3')).status, 401, 'another address has a count of its own');
});

test('a stranger at the same address takes nothing from a customer', async () => {
  const { token } = await customerWithLimit(5);
  assert.is((await from('127.0.0.2')).status, 429);
  assert.is((await from('127.0.0.2', { authorization: `Bearer ${token}` })).status, 200);
});

test('a header does not make another address of a client that is no trusted proxy', async () => {
  const first = await from('127.0.0.4', { 'x-forwarded-for': '192.0.2.1' });
  const second = await from('127.0.0.4', { 'x-forwarded-for': '192.0.2.2' });
  assert.equal([first.headers['x-ratelimit-remaining'], second.headers['x-ratelimit-remaining']], ['59', '58']);
});

/** What a client that the trusted proxy speaks for has left. */
async function leftOf(client: string): Promise<unknown> {
  const { status, headers } = await from('127.0.0.9', { 'x-forwarded-for': client });
  assert.is(status, 401);
  return headers['x-ratelimit-remaining'];
}

test('behind a trusted proxy an IPv6 client is its /64, an IPv4 client itself', async () => {
  assert.is(await leftOf('2001:db8:0:1::1'), '59');
  assert.is(await leftOf('2001:db8:0:1:ffff:ffff:ffff:ffff'), '58');
  assert.is(await leftOf('2001:DB8:0000:0001:0:0:0:2'), '57');
  assert.is(await leftOf('2001:db8:0:2::1'), '59');
  assert.is(await leftOf('192.0.2.1'), '59');
  assert.is(await leftOf('192.0.2.2'), '59');
  assert.is(await leftOf('::ffff:192.0.2.1'), '58', 'a mapped address is the IPv4 client');
  assert.is(await leftOf('nonsense'), '59');
});

test('the port is no part of a client', async () => {
  for (let port = 0; port < 5; port += 1) {
    assert.is(await leftOf(`198.51.100.1:${20_000 + port}`), String(59 - port));
    assert.is(await leftOf(`[2001:db8:0:3::${port}]:${20_000 + port}`), String(59 - port));
  }
  assert.is(await leftOf('198.51.100.1'), '54');
  assert.is(await leftOf('[::ffff:198.51.100.1]:443'), '53');
  assert.is(await leftOf('::ffff:c633:6401'), '52');
  assert.is(await leftOf('[2001:db8:0:3::]'), '54');
  assert.is(await leftOf('2001:db8:0:3::9%eth0'), '53');
});

test('a port does not make a stranger of a proxy that is trusted', async () => {
  assert.is(await leftOf('198.51.100.2, 127.0.0.9:5000'), '59');
  assert.is(await leftOf('198.51.100.3:1,127.0.0.9:5001, 127.0.0.9'), '59');
  assert.is(await leftOf('198.51.100.2:7, [::ffff:127.0.0.9]:5001'), '58');
});

test('all that is no address is one stranger', async () => {
  const first = Number(await leftOf('unknown'));
  const kinds = [
    '_hidden',
    '1.2.3',
    '1.2.3.4:',
    '1.2.3.4:5:6',
    '[2001:db8::1',
    '2001:db8::1]:5',
    '256.1.1.1:80',
    '[]:1',
    ':80',
    '1.2.3.4:123456',
  ];
  for (const [at, nonsense] of kinds.entries()) assert.is(await leftOf(nonsense), String(first - 1 - at), nonsense);
});

test.run();
