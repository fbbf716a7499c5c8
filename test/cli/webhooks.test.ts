import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { type ApiClient, openApiClient } from '../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward, type TestCustomer } from '../support/servers/edgeward-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const test = suite("a customer's webhooks, as commands show them");

/** Answers with the next of `statuses`, else 200. */
const statuses: number[] = [];
const receiver = createServer((request, response) => {
  request.resume().once('end', () => response.writeHead(statuses.shift() ?? 200).end());
});
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
const { port } = receiver.address() as AddressInfo;

const edgeward = await openEdgeward({ WEBHOOK_RETRIES: '1', WEBHOOK_RETRY_DELAY: 'PT0.05S' });
const webhook = (name: string): readonly string[] => ['--webhook-url', `http://127.0.0.1:${port}/${name}`];
await addRegion(edgeward, 'eu-west');
const acme = await addCustomer(edgeward, 'Acme', [['203.0.113.0/24', 'eu-west']], webhook('acme'));
const other = await addCustomer(edgeward, 'Other', [['198.51.100.0/24', 'eu-west']], webhook('other'));
const url = await edgeward.serve();
const apis = new Map([acme, other].map(({ id, token }) => [id, openApiClient(url, token)]));

test.after(async () => {
  for (const api of apis.values()) await api.close();
  await edgeward.remove();
  receiver.close();
});

const rows = z.array(
  z.strictObject({
    at: z.string(),
    revision: z.string(),
    actor: z.string(),
    type: z.string(),
    data: z.record(z.string(), z.unknown()),
    id: z.uuid(),
    position: z.string(),
    request_id: z.string(),
    schema: z.number(),
    hash: z.string(),
    stream: z.string(),
  }),
);

async function events(...args: readonly string[]): Promise<z.infer<typeof rows>> {
  return rows.parse(await edgeward.json('events', ...args));
}

const apiOf = ({ id }: TestCustomer): ApiClient => {
  const api = apis.get(id);
  assert.ok(api);
  return api;
};

/** Has an address of a customer's disabled and deployed, and waits for the end of its notifications. */
async function commit(customer: TestCustomer, ip: string, delivered: number): Promise<void> {
  assert.is((await apiOf(customer).post('/ips/disable', { ip })).status, 200);
  await edgeward.command('commit', 'run', customer.name, 'eu-west');
  await waitUntil('it is told, or given up', async () => {
    const all = await events(customer.name, '--deliveries');
    return all.filter(({ type }) => ['WebhookDelivered', 'WebhookAbandoned'].includes(type)).length === delivered;
  });
}

// The story that these tests look back at

await commit(acme, '203.0.113.1', 1);
statuses.push(500, 503);
await commit(acme, '203.0.113.2', 2);
await commit(other, '198.51.100.1', 1);
rmSync(join(edgeward.folder, 'eu-west'), { recursive: true });
await commit(acme, '203.0.113.3', 3);

test('deliveries are part of a history, in the order of the log, and nobody else is told', async () => {
  const wanted = (await edgeward.events()).filter(
    ({ stream, type, data }) =>
      stream === `customer-${acme.id}` || (type.startsWith('Webhook') && Object(data).customerId === acme.id),
  );
  assert.equal(
    (await events('Acme', '--deliveries')).map(({ position }) => position),
    wanted.map(({ position }) => String(position)),
  );
  const types = (await events('Acme', '--deliveries')).map(({ type }) => type);
  assert.is(
    types.filter((type) => /^(Webhook[DA]|Commit)/.test(type)).join(' '),
    [
      'CommitRequested CommitCompleted WebhookDelivered',
      'CommitRequested CommitCompleted WebhookAttemptFailed WebhookAbandoned',
      'CommitRequested CommitFailed WebhookDelivered',
    ].join(' '),
  );
});

test('the type of a delivery asks for deliveries', async () => {
  const [abandoned, ...more] = await events('Acme', '--type', 'WebhookAbandoned');
  assert.is(abandoned?.data.because, 'answered 503');
  assert.is(abandoned?.stream, `webhookDelivery-${String(abandoned?.data.commitSetId)}`);
  assert.equal(more, []);
  assert.equal(await events('Other', '--type', 'WebhookAbandoned'), []);
  assert.is((await events('Acme', '--deliveries', '--type', 'CommitFailed')).length, 1);
  assert.is((await edgeward.command('events', 'Acme', '--type', 'WebhookForgotten')).exitCode, 2);
});

test('for people the streams have a column', async () => {
  const { out } = await edgeward.command('events', 'Acme', '--type', 'WebhookAttemptFailed');
  const [head = '', line = ''] = out.split('\n');
  assert.match(head, /^AT +REVISION +ACTOR +TYPE +STREAM +DATA$/);
  assert.match(line, /^\S+ +0 +system:deliver-webhook +WebhookAttemptFailed +webhookDelivery-\S+ +\{.*"attempt":1/);
});

test('they are narrowed by time as all events are', async () => {
  const [attempt] = await events('Acme', '--type', 'WebhookAttemptFailed');
  const { at = '' } = attempt ?? {};
  assert.is(
    (await events('Acme', '--deliveries', '--from', at, '--to', at)).filter(({ id }) => id === attempt?.id).length,
    1,
  );
  assert.ok((await events('Acme', '--deliveries', '--from', at)).every((event) => event.at >= at));
  assert.is((await events('Acme', '--deliveries', '--to', '2020-01-01T00:00:00Z')).length, 0);
});

test('they are followed too', async () => {
  const following = await edgeward.spawn(['events', 'Acme', '--deliveries', '--follow', '--json']);
  const seen = () =>
    following
      .out()
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => rows.element.parse(JSON.parse(line)));
  const before = (await events('Acme', '--deliveries')).length;
  await waitUntil('what was there before', () => seen().length === before);
  await commit(other, '198.51.100.2', 2);
  statuses.push(500, 500);
  assert.is((await edgeward.command('router', 'remove', 'eu-west-edge1')).exitCode, 0);
  await commit(acme, '203.0.113.4', 4);
  await waitUntil('what happens', () => seen().at(-1)?.type === 'WebhookAbandoned');
  assert.equal(
    seen().map(({ id }) => id),
    (await events('Acme', '--deliveries')).map(({ id }) => id),
  );
  following.child.kill('SIGINT');
  assert.is(await following.ended, 0);
});

test('the whole log is shown, or what it has of one type', async () => {
  const all = await edgeward.events();
  assert.equal(
    (await events('--all')).map(({ id }) => id),
    all.map(({ id }) => id),
  );
  assert.equal(
    (await events('--all', '--type', 'CustomerNameReserved')).map(({ data }) => data.name),
    ['Acme', 'Other'],
  );
  assert.is((await events('--all', '--type', 'WebhookAbandoned')).length, 2);
});

test('what can not be meant is a misuse', async () => {
  for (const [args, message] of [
    [[], 'name a customer, or give --region or --all.'],
    [['Acme', '--all'], 'name a customer, or give --region or --all.'],
    [['Acme', '--region', 'eu-west'], 'name a customer, or give --region or --all.'],
    [['--region', 'eu-west', '--deliveries'], '--deliveries goes with a customer.'],
    [['--all', '--deliveries'], '--deliveries goes with a customer.'],
  ] as const) {
    assert.equal(await edgeward.command('events', ...args), { exitCode: 2, out: '', err: `edgeward: ${message}\n` });
  }
});

test.run();
