import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { filesBelow } from '../../support/files-below.ts';
import { openApiClient } from '../../support/http/api-client.ts';
import { type FormBody, formBody } from '../../support/http/multipart-form.ts';
import { openRawConnection, type RawConnection } from '../../support/http/raw-http.ts';
import { addCustomer, addRegion, openEdgeward } from '../../support/servers/edgeward-server.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { submissionParts } from './source-whitelist-examples.ts';

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west');
const rights = ['--allow-source-whitelist', '--trusted', '--rate-limit', '10000'];
const acme = await addCustomer(edgeward, 'Acme', [['203.0.113.0/24', 'eu-west']], rights);
const globex = await addCustomer(edgeward, 'Globex', [['198.51.100.0/24', 'eu-west']], rights);
const url = await edgeward.serve();

test.after(() => edgeward.remove());

/** Begins a POST, of which the last byte is still to come. */
async function begin(path: string, token: string, { headers, body }: Omit<FormBody, 'method'>): Promise<RawConnection> {
  const connection = await openRawConnection(url);
  const lines = [
    `POST /api/v1${path} HTTP/1.1`,
    'Host: edgeward',
    `Authorization: Bearer ${token}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${body.length}`,
  ];
  connection.send(`${lines.join('\r\n')}\r\nExpect: 100-continue\r\n\r\n`);
  await waitUntil('the body is asked for', () => connection.received().includes('100 Continue'));
  connection.send(body.subarray(0, -1));
  return connection;
}

const json = (value: object) => ({
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(value)),
});

async function beginAll(token: string, network: string): Promise<readonly (readonly [RawConnection, Buffer])[]> {
  const requests = [
    ['/ips/disable', json({ ip: `${network}.7` })],
    ['/ips/bulk', json({ action: 'disable', cidr: `${network}.0/24` })],
    ['/source-whitelist', formBody(submissionParts({ ip: '192.31.196.1' }))],
  ] as const;
  return Promise.all(
    requests.map(async ([path, request]) => [await begin(path, token, request), request.body] as const),
  );
}

/** What each answers once its last byte has come. */
async function ended([connection, body]: readonly [RawConnection, Buffer]): Promise<readonly [number, string]> {
  connection.send(body.subarray(-1));
  const finalAnswer = /HTTP\/1\.1 (?!100)(\d{3})[^]*\r\n\r\n([^]+)$/;
  const [, status, text = ''] = await waitUntil(
    'an answer',
    () => finalAnswer.exec(connection.received()) ?? undefined,
  );
  connection.socket.destroy();
  return [Number(status), text];
}

test('a customer that is disabled while a request comes in changes nothing with it', async () => {
  const requests = await beginAll(acme.token, '203.0.113');
  await edgeward.json('customer', 'disable', 'Acme');
  const before = await edgeward.end();
  for (const request of requests) assert.equal(await ended(request), [403, '{"message":"this account is disabled."}']);
  assert.is(await edgeward.end(), before);
  assert.equal(await filesBelow(join(edgeward.dataDir, 'evidence')), []);
});

test('neither does one whose token is revoked or disabled meanwhile', async () => {
  const token = z.object({ id: z.string(), token: z.string() });
  for (const end of ['revoke', 'disable']) {
    const own = token.parse(await edgeward.json('token', 'create', 'Globex'));
    const api = openApiClient(url, own.token);
    await waitUntil('the server knows it', async () => (await api.get('/subnets')).status === 200);
    await api.close();
    const requests = await beginAll(own.token, '198.51.100');
    await edgeward.json('token', end, own.id);
    const before = await edgeward.end();
    for (const request of requests) assert.equal(await ended(request), [401, '{"message":"authentication required"}']);
    assert.is(await edgeward.end(), before);
  }
  assert.equal(await filesBelow(join(edgeward.dataDir, 'evidence')), []);
});

test('one that is removed meanwhile is a stranger, and nothing is wrong with the server', async () => {
  const requests = await beginAll(globex.token, '198.51.100');
  await edgeward.json('customer', 'remove', 'Globex', '--force');
  const before = await edgeward.end();
  for (const request of requests) assert.equal(await ended(request), [401, '{"message":"authentication required"}']);
  assert.is(await edgeward.end(), before);
  assert.equal(await filesBelow(join(edgeward.dataDir, 'evidence')), []);
});

test.run();
