import { once } from 'node:events';
import { Readable } from 'node:stream';
import { request } from 'undici';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { systemClock } from '../../src/adapters/clock.ts';
import { systemIds } from '../../src/adapters/ids.ts';
import { createLog } from '../../src/adapters/log.ts';
import { createHttpServer } from '../../src/http/app.ts';
import { METRICS_OPERATION } from '../../src/http/operations/metrics.ts';
import { exactCount } from '../../src/http/route.ts';
import { StoreUnavailable } from '../../src/ports/event-store.ts';
import { type Answer, type ApiClient, openApiClient } from '../support/http/api-client.ts';
import { formBody, pdf } from '../support/http/multipart-form.ts';
import { checkExchange, exactJson, fullPath, OPERATIONS, seenAnswers } from '../support/http/stated-answers.ts';
import { freePort } from '../support/free-port.ts';
import { addCustomer, addRegion, openEdgeward } from '../support/servers/edgeward-server.ts';
import { submitForm } from './source-whitelist-examples.ts';

const metricsPort = await freePort();
const edgeward = await openEdgeward({ METRICS_PORT: String(metricsPort) });
await addRegion(edgeward, 'eu-west');
const flags = ['--allow-source-whitelist', '--allow-synchronous'];
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
  ids = { subnet: subnetId, request: NO_REQUEST },
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (const { method, path, scope } of OPERATIONS) {
    if (scope !== 'customer') continue;
    const filled = path.replace('{subnet_id}', String(ids.subnet)).replace('{request_id}', ids.request);
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
  const submitted = await isAnswered(201, submitForm(api, { ip: '192.31.196.7' }));
  await isAnswered(200, submitForm(api, { ip: '192.31.196.7' }));
  await isAnswered(200, api.get('/source-whitelist'));
  const { data } = z.object({ data: z.object({ request_id: z.string() }) }).parse(submitted.json);
  await isAnswered(200, api.send(`/source-whitelist/${data.request_id}`, { method: 'DELETE' }));
  for (const path of ['/healthz', '/readyz']) assert.is((await request(`${url}${path}`)).statusCode, 200);
});

test('those who show no token, and those who ask too often, are told so by every operation', async () => {
  for (const { status } of await sendEach(clientOf(url))) assert.is(status, 401);
  const client = clientOf(url, hurried.token);
  await isAnswered(200, client.get('/subnets'));
  for (const { status } of await sendEach(client)) assert.is(status, 429);
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
  for (const path of ['/subnets/999', '/subnets/999/pending']) await isAnswered(404, api.get(path));
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
  for (const path of ['/subnets', `/subnets/${subnetId}`, `/subnets/${subnetId}/pending`, '/source-whitelist'])
    await isAnswered(422, api.get(`${path}?no=1`));
  await isAnswered(422, submitForm(api, {}));
  await isAnswered(422, api.send(`/source-whitelist/${NO_REQUEST}?no=1`, { method: 'DELETE' }));
});

test('a path answers 405 to other methods', async () => {
  for (const operation of OPERATIONS) {
    const path = fullPath(operation).replace('{subnet_id}', '1').replace('{request_id}', NO_REQUEST);
    const answer = await request(`${url}${path}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${acme.token}` },
    });
    assert.is(answer.statusCode, 405, path);
    await answer.body.dump();
  }
});

/** A server of which every part fails. */
async function failingServer(failure: Error): Promise<Readonly<{ base: string; close: () => Promise<void> }>> {
  const fails = (): Promise<never> => Promise.reject(failure);
  const views = { get: fails, list: fails };
  const { server, connections } = createHttpServer({
    customers: { handle: fails, state: fails },
    views: {
      addresses: views,
      subnets: views,
      regions: views,
      tokens: views,
      customers: views,
      sourceWhitelists: views,
    },
    evidence: { isShared: false, begin: fails, read: fails, recover: fails },
    ids: systemIds,
    regionLimits: fails,
    commitNow: fails,
    shown: fails,
    readiness: () => Promise.resolve({ checks: { event_store: 'unreachable' }, restored: false }),
    isCaughtUp: () => true,
    isOutage: (error) => error instanceof StoreUnavailable,
    log: createLog({ level: 'fatal', destination: () => undefined }),
    clock: systemClock,
    trustProxy: false,
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
    assert.is((await request(`${base}/readyz`)).statusCode, 503);
    await close();
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
  const count = exactJson(`{"count":${2n ** 80n},"text":"${2n ** 80n}"}`);
  assert.equal(count, { count: 2n ** 80n, text: String(2n ** 80n) });
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
