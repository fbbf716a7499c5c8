import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { systemClock } from '../../src/adapters/clock.ts';
import { systemIds } from '../../src/adapters/ids.ts';
import { createLog } from '../../src/adapters/log.ts';
import { createHttpServer, type HttpDependencies } from '../../src/http/app.ts';
import { METRICS_OPERATION } from '../../src/http/operations/metrics.ts';
import { DESCRIPTION_OPERATIONS } from '../../src/http/openapi/pages.ts';
import { exactCount } from '../../src/http/route.ts';
import { WORKER_OPERATIONS } from '../../src/http/worker/worker-api.ts';
import { commandApplication } from '../../src/main/application.ts';
import { readConfig } from '../../src/config.ts';
import { StoreUnavailable } from '../../src/ports/event-store.ts';
import { type Answer, type ApiClient, openApiClient } from '../support/http/api-client.ts';
import { formBody, pdf } from '../support/http/multipart-form.ts';
import {
  checkExchange,
  exactJson,
  fullPath,
  OPERATIONS as EVERY_OPERATION,
  seenAnswers,
} from '../support/http/stated-answers.ts';
import { waitUntil } from '../support/wait-until.ts';
import { freePort } from '../support/free-port.ts';
import { addCustomer, addRegion, openEdgeward } from '../support/servers/edgeward-server.ts';
import { submitForm } from './customer/source-whitelist-examples.ts';

/** Those of administrators have tests of their own. */
const OPERATIONS = EVERY_OPERATION.filter(({ scope }) => scope !== 'admin');

const metricsPort = await freePort();
const edgeward = await openEdgeward({ METRICS_PORT: String(metricsPort), WEBHOOK_ALLOW_PRIVATE: 'true' });
await addRegion(edgeward, 'eu-west');
const flags = ['--allow-source-whitelist', '--allow-synchronous', '--rate-limit', '10000'];
const acme = await addCustomer(edgeward, 'Acme', [['203.0.113.0/24', 'eu-west']], flags);
const plain = await addCustomer(edgeward, 'Plain', [['198.51.100.0/24', 'eu-west']]);
const hurried = await addCustomer(edgeward, 'Hurried', [], ['--rate-limit', '1']);
const url = await edgeward.serve();
const clients: ApiClient[] = [];
const clientOf = (base: string, token?: string): ApiClient => {
  const client = openApiClient(base, token);
  clients.push(client);
  return client;
};
const api = clientOf(url, acme.token);
const [subnetId = 0] = acme.subnetIds;
const NO_REQUEST = '00000000-0000-4000-8000-000000000000';
const TOO_LONG = Buffer.alloc(1024 * 1024 + 1, ' ');

test.after(async () => {
  for (const client of clients) await client.close();
  await edgeward.remove();
});

/** Sends a request of each operation of customers, as it is meant to be but for its body. */
async function sendEach(
  client: ApiClient,
  ids = { subnet: subnetId, request: NO_REQUEST, delivery: `msg_${NO_REQUEST}_success` },
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (const { method, path, scope } of OPERATIONS) {
    if (scope !== 'customer') continue;
    const filled = path
      .replace('{subnet_id}', String(ids.subnet))
      .replace(/\{(?:request_id|commit_set_id)\}/, ids.request)
      .replace('{id}', ids.delivery);
    answers.push(await client.send(filled, { method }));
  }
  return answers;
}

async function isAnswered(status: number, asked: Promise<Answer>): Promise<Answer> {
  const answer = await asked;
  assert.is(answer.status, status, answer.text);
  return answer;
}

const JSON_PATHS = ['/ips/disable', '/ips/enable', '/ips/bulk'];

test('what is right is answered', async () => {
  await isAnswered(200, api.post('/ips/disable', { ip: '203.0.113.7' }));
  await isAnswered(200, api.post('/ips/enable', { ip: '203.0.113.7', synchronous: true }));
  await isAnswered(200, api.post('/ips/bulk', { action: 'disable', ips: ['203.0.113.7', '203.0.113.9'] }));
  await isAnswered(200, api.get('/subnets'));
  for (const path of [`/subnets/${subnetId}`, `/subnets/${subnetId}/pending`]) {
    await isAnswered(200, api.get(`${path}?limit=1`));
    await isAnswered(200, api.get(`${path}?view=ranges`));
  }
  await isAnswered(200, api.get(`/subnets/${subnetId}/pending?wait=PT0.1S`));
  const { data: commits } = z
    .object({ data: z.array(z.object({ commit_set_id: z.string() })) })
    .parse((await isAnswered(200, api.get('/commits?limit=1&list=BLACKHOLE&region=eu-west'))).json);
  await isAnswered(200, api.get(`/commits/${commits[0]?.commit_set_id}`));
  const submitted = await isAnswered(201, submitForm(api, { ip: '192.31.196.7' }));
  await isAnswered(200, submitForm(api, { ip: '192.31.196.7' }));
  await isAnswered(200, api.get('/source-whitelist'));
  const { data } = z.object({ data: z.object({ request_id: z.string() }) }).parse(submitted.json);
  await isAnswered(200, api.send(`/source-whitelist/${data.request_id}`, { method: 'DELETE' }));
  for (const { path } of DESCRIPTION_OPERATIONS) assert.is((await request(`${url}${path}`)).statusCode, 200);
  for (const path of ['/healthz', '/readyz']) assert.is((await request(`${url}${path}`)).statusCode, 200);
});

test('counts are decimal text where that is asked for, by every operation', async () => {
  for (const { method, path, scope } of OPERATIONS) {
    if (scope !== 'customer' || method !== 'GET') continue;
    const filled = path.replace('{subnet_id}', String(subnetId)).replace('{commit_set_id}', NO_REQUEST);
    const { headers } = await api.get(`${filled}?numbers=string`);
    assert.match(String(headers['content-type']), 'numbers=string', path);
  }
});

test('a delivery is sent again, as long as there is somewhere to send it', async () => {
  const told = await addCustomer(
    edgeward,
    'Told',
    [['192.0.2.0/24', 'eu-west']],
    ['--allow-synchronous', '--webhook-url', `http://127.0.0.1:${await freePort()}/`],
  );
  const client = clientOf(url, told.token);
  await waitUntil('the server knows it', async () => (await client.get('/subnets')).status === 200);
  await isAnswered(200, client.post('/ips/disable', { ip: '192.0.2.7', synchronous: true }));
  const listed = await isAnswered(200, client.get('/webhook-deliveries'));
  const { data } = z.object({ data: z.array(z.object({ id: z.string() })) }).parse(listed.json);
  const again = `/webhook-deliveries/${data[0]?.id}/redeliver`;
  assert.equal((await isAnswered(202, client.send(again, { method: 'POST' }))).json, {
    data: { id: data[0]?.id, state: 'retrying' },
  });
  // Of another customer there is none.
  await isAnswered(404, api.send(again, { method: 'POST' }));
  await isAnswered(
    413,
    client.send(again, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: TOO_LONG }),
  );
  await isAnswered(422, client.send(`${again}?no=1`, { method: 'POST' }));
  await isAnswered(422, client.get('/webhook-deliveries?limit=0'));
  await edgeward.json('customer', 'update', 'Told', '--webhook-url', 'none');
  await isAnswered(409, client.send(again, { method: 'POST' }));
});

test('those who show no token, and those who ask too often, are told so by every operation', async () => {
  for (const { status } of await sendEach(clientOf(url))) assert.is(status, 401);
  const client = clientOf(url, hurried.token);
  await isAnswered(200, client.get('/subnets'));
  for (const { status } of await sendEach(client)) assert.is(status, 429);
});

test('what describes the API is counted as strangers are', async () => {
  const dispatcher = new Agent({ localAddress: '127.0.0.42' });
  const ask = async (path: string): Promise<number> => {
    const { statusCode, body } = await request(`${url}${path}`, { dispatcher });
    await body.dump();
    return statusCode;
  };
  for (let left = 60; left > 0; left -= 1)
    assert.is(await ask(left % 2 === 0 ? '/docs/page.js' : '/api/v1/subnets'), left % 2 === 0 ? 200 : 401);
  for (const { path } of DESCRIPTION_OPERATIONS) assert.is(await ask(path), 429);
  assert.is((await request(`${url}/docs`)).statusCode, 200, 'from elsewhere');
  await dispatcher.close();
});

test('what a token may not is told by every operation', async () => {
  const { token } = z
    .object({ token: z.string() })
    .parse(await edgeward.json('token', 'create', 'Acme', '--allow', '192.0.2.1/32'));
  const client = clientOf(url, token);
  await waitUntil('the server knows it', async () => (await client.get('/subnets')).status === 403);
  for (const { status } of await sendEach(client)) assert.is(status, 403);
});

test('what an account may not do is 403', async () => {
  const client = clientOf(url, plain.token);
  for (const path of JSON_PATHS) await isAnswered(403, client.post(path, { synchronous: true }));
  for (const path of [`/subnets/${subnetId}`, `/subnets/${subnetId}/pending`]) await isAnswered(403, client.get(path));
  await isAnswered(403, client.get('/source-whitelist'));
  await isAnswered(403, submitForm(client, { ip: '192.31.196.7' }));
  await isAnswered(403, client.send(`/source-whitelist/${NO_REQUEST}`, { method: 'DELETE' }));
});

test('what is not there is 404', async () => {
  for (const path of ['/ips/disable', '/ips/enable']) await isAnswered(404, api.post(path, { ip: '192.0.2.1' }));
  for (const path of ['/subnets/999', '/subnets/999/pending', `/commits/${NO_REQUEST}`])
    await isAnswered(404, api.get(path));
  await isAnswered(404, api.send(`/source-whitelist/${NO_REQUEST}`, { method: 'DELETE' }));
});

test('a body that can not be read is 400, of another type 415, too long 413', async () => {
  const json = { 'content-type': 'application/json' };
  for (const path of JSON_PATHS) {
    await isAnswered(400, api.send(path, { method: 'POST', headers: json, body: '{' }));
    await isAnswered(413, api.send(path, { method: 'POST', headers: json, body: TOO_LONG }));
    await isAnswered(415, api.send(path, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{}' }));
  }
  const form = formBody([{ name: 'evidence', file: pdf(), fileName: 'evidence.pdf' }]);
  const path = '/source-whitelist';
  await isAnswered(400, api.send(path, { ...form, body: form.body.subarray(0, -20) }));
  await isAnswered(415, api.send(path, { ...form, headers: json }));
  const fields = Array.from({ length: 40 }, (_, at) => ({ name: `f${at}`, value: 'x'.repeat(64 * 1024) }));
  const limit = 10 * 1024 * 1024;
  const large = formBody([...fields, { name: 'evidence', file: pdf('', limit - 1), fileName: 'evidence.pdf' }]);
  await isAnswered(413, sendInPieces(large.body, large.headers));
  await isAnswered(413, api.send(`${path}/${NO_REQUEST}`, { method: 'DELETE', headers: json, body: TOO_LONG }));
});

/** Without saying how long it is. */
async function sendInPieces(body: Buffer, headers: Readonly<Record<string, string>>): Promise<Answer> {
  const response = await request(`${url}/api/v1/source-whitelist`, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${acme.token}` },
    body: Readable.from([body.subarray(0, -1), body.subarray(-1)]),
  });
  return { status: response.statusCode, headers: response.headers, text: await response.body.text(), json: undefined };
}

test('what is not valid is 422', async () => {
  for (const path of JSON_PATHS) await isAnswered(422, api.post(path, {}));
  for (const path of [
    '/subnets',
    `/subnets/${subnetId}`,
    `/subnets/${subnetId}/pending`,
    '/source-whitelist',
    '/commits',
    `/commits/${NO_REQUEST}`,
  ])
    await isAnswered(422, api.get(`${path}?no=1`));
  await isAnswered(422, submitForm(api, {}));
  await isAnswered(422, api.send(`/source-whitelist/${NO_REQUEST}?no=1`, { method: 'DELETE' }));
});

test('a path answers 405 to other methods', async () => {
  for (const operation of OPERATIONS) {
    const path = fullPath(operation)
      .replace('{subnet_id}', '1')
      .replace(/\{(?:request_id|commit_set_id|id)\}/, NO_REQUEST);
    const answer = await request(`${url}${path}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${acme.token}` },
    });
    assert.is(answer.statusCode, 405, path);
    await answer.body.dump();
  }
});

/** What workers ask, with bodies that are right. */
async function sendEachOfWorkers(base: string, token: string): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (const { method, path, request: asks } of WORKER_OPERATIONS) {
    if (method === 'GET') {
      statuses.push(await fetchAgent(base, token, path));
      continue;
    }
    const body = path === '/finish' ? { id: NO_REQUEST, outcome: 'failed' } : {};
    statuses.push(await tellService(base, token, path, asks.body === undefined ? undefined : JSON.stringify(body)));
  }
  return statuses;
}

async function fetchAgent(base: string, token: string, path = '/agent'): Promise<number> {
  const answer = await request(`${base}/api/worker/v1${path}`, { headers: { authorization: `Bearer ${token}` } });
  await answer.body.dump();
  return answer.statusCode;
}

async function tellService(
  base: string,
  token: string,
  path: string,
  body?: string | Buffer,
  type = 'application/json',
): Promise<number> {
  const answer = await request(`${base}/api/worker/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': type }) },
    ...(body === undefined ? {} : { body }),
  });
  await answer.body.dump();
  return answer.statusCode;
}

/** A worker of a pool that has reported in before its provider has answered; gives its token. */
async function bootingWorker(): Promise<string> {
  const activation = `edgeward.spot-001.${'y'.repeat(43)}`;
  const activationSha256 = createHash('sha256').update(activation).digest('hex');
  const log = createLog({ level: 'fatal', destination: () => undefined });
  const context = { actor: 'system:test', requestId: 'test' };
  const at = '2026-11-27T20:50:00.000+00:00';
  const architectures = ['amd64'] as const;
  await commandApplication(
    () => readConfig(edgeward.settings),
    log,
  )(async ({ workers }) => {
    const worker = { worker: 'spot-001', pool: 'spot', architectures, at };
    await workers.handle('spot-001', { type: 'RegisterWorker', data: worker }, context);
    const launch = { run: 'a', providerAccount: 'hcloud', architectures, activationSha256, because: 'asked', at };
    await workers.handle('spot-001', { type: 'RequestLaunch', data: launch }, context);
  });
  const answer = await request(`${url}/api/worker/v1/activate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${activation}` },
  });
  return z.object({ worker_token: z.string() }).parse(await answer.body.json()).worker_token;
}

const NO_WORKER = `edgeward.unknown.${'x'.repeat(43)}`;

test('workers are answered as stated', async () => {
  const unknown = await sendEachOfWorkers(url, NO_WORKER);
  assert.equal(unknown, [401, 401, 401, 401, 401, 401]);
  const registered = await edgeward.json('worker', 'register', 'builder', '--architectures', 'amd64');
  const { activation_token } = z.object({ activation_token: z.string() }).parse(registered);
  assert.is(await tellService(url, activation_token, '/activate?no=1'), 422);
  assert.is(await fetchAgent(url, activation_token, '/agent?no=1'), 422);
  assert.is(await fetchAgent(url, activation_token), 200);
  const answer = await request(`${url}/api/worker/v1/activate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${activation_token}` },
  });
  const { worker_token: token } = z.object({ worker_token: z.string() }).parse(await answer.body.json());
  assert.is(await tellService(url, activation_token, '/activate'), 401, 'once');
  assert.is(await fetchAgent(url, activation_token), 401, 'it is over');
  assert.is(await tellService(url, token, '/ready', '{"metadata":{"cpus":4}}'), 204);
  assert.is(await tellService(url, token, '/heartbeat'), 204);
  assert.is(await tellService(url, token, '/take?wait=PT0S'), 204);
  await edgeward.json('scope', 'create', 'debian');
  await edgeward.json('work', 'submit', '--scope', 'debian', '--architecture', 'amd64');
  assert.is(await tellService(url, token, '/take?wait=PT20S'), 200);
  const [work] = z.array(z.object({ id: z.string() })).parse(await edgeward.json('work', 'list'));
  const finished = JSON.stringify({ id: work?.id, outcome: 'succeeded' });
  for (const time of ['first', 'again']) assert.is(await tellService(url, token, '/finish', finished), 204, time);
  assert.is(await tellService(url, token, '/finish', JSON.stringify({ id: NO_REQUEST, outcome: 'failed' })), 404);
  const other = z
    .object({ id: z.string() })
    .parse(await edgeward.json('work', 'submit', '--scope', 'debian', '--architecture', 'arm64'));
  assert.is(await tellService(url, token, '/finish', JSON.stringify({ id: other.id, outcome: 'failed' })), 409);
  for (const path of ['/ready', '/finish']) {
    assert.is(await tellService(url, token, path, '{'), 400);
    assert.is(await tellService(url, token, path, '{}', 'text/plain'), 415);
    assert.is(await tellService(url, token, path, TOO_LONG), 413);
    assert.is(await tellService(url, token, path, '{"no":1}'), 422);
  }
  const booting = await bootingWorker();
  assert.is(await tellService(url, booting, '/ready', '{}'), 409, 'its creation is not recorded yet');
  assert.is(await tellService(url, token, '/heartbeat?no=1'), 422);
  for (const wait of ['PT2M', 'PT60.5S', 'PT1M1S', 'PT', '30', 'PT-1S', 'P1D', 'PT1S&wait=PT1S'])
    assert.is(await tellService(url, token, `/take?wait=${wait}`), 422, wait);
  for (const { path } of WORKER_OPERATIONS) {
    const wrong = await request(`${url}/api/worker/v1${path}`, { method: 'PUT' });
    assert.is(wrong.statusCode, 405);
    await wrong.body.dump();
  }
});

/** A server of which every part fails. */
async function failingServer(
  failure: Error,
  changes: Partial<HttpDependencies> = {},
): Promise<Readonly<{ base: string; close: () => Promise<void> }>> {
  const fails = (): Promise<never> => Promise.reject(failure);
  const views = { get: fails, list: fails, page: fails };
  const aggregate = { category: 'none', handle: fails, state: fails, keepSnapshot: fails };
  const { server, connections } = createHttpServer({
    customers: aggregate,
    views: {
      addresses: views,
      subnets: views,
      regions: views,
      tokens: views,
      customers: views,
      sourceWhitelists: views,
      commits: views,
      commitLog: views,
      webhookDeliveries: views,
      webhookDeliveryLog: views,
    },
    evidence: { isShared: false, begin: fails, read: fails, recover: fails },
    ids: systemIds,
    regionLimits: fails,
    commitNow: fails,
    shown: fails,
    noteUse: () => undefined,
    corsOrigins: [],
    deliveries: aggregate,
    readiness: () => Promise.resolve({ checks: { event_store: 'unreachable' }, restored: false, version: '0' }),
    instruments: { requestEnded: () => undefined, rateLimited: () => undefined },
    workerApi: {
      workers: aggregate,
      workRequests: aggregate,
      clock: systemClock,
      ids: systemIds,
      dispatcher: { take: fails },
      heard: () => undefined,
      agentProgram: fails,
    },
    isCaughtUp: () => true,
    untilShown: () => undefined,
    outageOf: (error) => (error instanceof StoreUnavailable ? 'unavailable' : undefined),
    log: createLog({ level: 'fatal', destination: () => undefined }),
    clock: systemClock,
    trustProxy: false,
    ...changes,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { base: `http://127.0.0.1:${address.port}`, close: () => connections.close(1_000) };
}

test('what fails inside is 500, a store that is away 503', async () => {
  for (const [failure, status] of [
    [new Error('something inside'), 500],
    [new StoreUnavailable('the store is away'), 503],
  ] as const) {
    const { base, close } = await failingServer(failure);
    for (const answer of await sendEach(clientOf(base, acme.token))) assert.is(answer.status, status);
    for (const answered of await sendEachOfWorkers(base, NO_WORKER)) assert.is(answered, status);
    assert.is((await request(`${base}/readyz`)).statusCode, 503);
    await close();
  }
});

test('views that catch up are 503 for all who read, and the log has the cause of each without a line of error', async () => {
  const lines: string[] = [];
  const log = createLog({ level: 'info', destination: (line) => void lines.push(line) });
  const checks = { event_store: undefined, read_models: undefined, projections: 'catching up' };
  const behind = {
    log,
    readiness: () => Promise.resolve({ checks, restored: false, version: '0' }),
    outageOf: () => 'behind' as const,
  };
  const asked = new Set<string>();
  for (const changes of [behind, { ...behind, isCaughtUp: () => false, isCatchingUp: () => true }]) {
    const { base, close } = await failingServer(new StoreUnavailable('the views are behind'), changes);
    for (const path of ['/readyz', '/api/v1/subnets']) {
      const answer = await request(base + path, { headers: { authorization: `Bearer ${acme.token}` } });
      assert.is(answer.statusCode, 503, path);
      asked.add(String(answer.headers['x-request-id']));
      await answer.body.dump();
    }
    await close();
  }
  const said = lines.map((line) =>
    z.looseObject({ level: z.string(), msg: z.string(), requestId: z.string() }).parse(JSON.parse(line)),
  );
  const causes = said.filter(({ msg }) => msg === 'request failed');
  assert.equal(new Set(causes.map(({ requestId }) => requestId)), asked);
  for (const { level, error } of causes) {
    assert.equal([level, error], ['info', { because: 'the views are catching up with the log' }]);
  }
});

test('metrics are answered as stated', async () => {
  const { statusCode, headers, body } = await request(`http://127.0.0.1:${metricsPort}${METRICS_OPERATION.path}`);
  assert.equal([statusCode, headers['content-type']], [200, METRICS_OPERATION.contentType]);
  METRICS_OPERATION.answers[200].parse(await body.text());
});

// All of the above has been watched

test('every answer that an operation states has been seen', () => {
  const stated = OPERATIONS.flatMap((operation) => [
    ...Object.keys(operation.answers).map((status) => `${operation.method} ${fullPath(operation)} ${status}`),
    `${fullPath(operation)} 405`,
  ]);
  assert.equal(
    stated.filter((answer) => !seenAnswers.has(answer)),
    [],
    'a test of this file asks for each',
  );
});

test('an answer that is not stated, and one that is not as stated, are found', () => {
  const exchange = { method: 'GET', url: '/api/v1/subnets', contentType: 'application/json; charset=utf-8' };
  assert.is(checkExchange({ ...exchange, status: 200, text: '{"data":[]}' }), 'GET /api/v1/subnets 200');
  for (const [status, text] of [
    [201, '{"data":[]}'],
    [200, '{"data":[],"more":1}'],
    [200, '{"data":[{"id":1}]}'],
    [404, '{"message":"not found."}'],
    [401, '{"message":"authentication required","code":1}'],
  ] as const)
    assert.throws(() => checkExchange({ ...exchange, status, text }), /stated/, text);
  assert.throws(
    () => checkExchange({ ...exchange, status: 200, text: '{"data":[]}', contentType: 'text/html' }),
    /type/,
  );
});

test('counts are exact above 2^53', () => {
  const count = exactJson(`{"count":${2n ** 80n},"below":-${2n ** 80n},"text":"${2n ** 80n}"}`);
  assert.equal(count, { count: 2n ** 80n, below: -(2n ** 80n), text: String(2n ** 80n) });
  for (const right of [0, 2 ** 53 - 1, 2n ** 80n]) assert.is(exactCount.safeParse(right).success, true);
  for (const wrong of [-1, 0.5, 2 ** 60, -1n, '1', null]) assert.is(exactCount.safeParse(wrong).success, false);
});

function described(schema: z.ZodType): unknown {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
}

test('every schema can be described', () => {
  for (const { request: asked, answers } of OPERATIONS) {
    for (const schema of [asked.params, asked.query, asked.body?.schema, ...Object.values(answers)])
      if (schema !== undefined)
        assert.not.match(JSON.stringify(described(schema)), /:\{\}/, 'a part that says nothing');
  }
  assert.equal(described(z.object({ count: exactCount })), {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { count: { type: 'integer', minimum: 0, description: 'Exact, also above 2^53.' } },
    required: ['count'],
  });
});

test.run();
