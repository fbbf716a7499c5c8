import { existsSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { startReceiver } from '../../adapters/webhooks/receivers.ts';
import { type ApiClient, openApiClient } from '../../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../../support/servers/edgeward-server.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { listedRequests, type SubmissionForm, submissionOf, submitForm } from './source-whitelist-examples.ts';

const receiver = await startReceiver();
const edgeward = await openEdgeward({
  QUIET_PERIOD: 'PT0.3S',
  SCHEDULER_INTERVAL: 'PT0.05S',
  COMMIT_RETRY_DELAYS: 'PT0.3S',
  WEBHOOK_RETRY_DELAY: 'PT0.1S',
});
await addRegion(edgeward, 'eu-west', 2);
await addRegion(edgeward, 'us-east', 1);
const acme = await addCustomer(
  edgeward,
  'Acme Corp.',
  [['203.0.113.0/24', 'eu-west']],
  ['--allow-source-whitelist', '--allow-synchronous', '--webhook-url', receiver.url],
);
const other = await addCustomer(edgeward, 'Other', [], ['--allow-source-whitelist', '--trusted']);
let api: ApiClient;
let otherApi: ApiClient;

test.before(async () => {
  const url = await edgeward.serve();
  api = openApiClient(url, acme.token);
  otherApi = openApiClient(url, other.token);
});

test.after(async () => {
  await api.close();
  await otherApi.close();
  await edgeward.remove();
  await receiver[Symbol.asyncDispose]();
});

/** The blocks of a list on a router; `undefined` before it was ever there. */
function held(router: string, list = 'Svc-ACME-CORP-SRC_WHITELIST'): string | undefined {
  const file = join(edgeward.folder, router, list);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

async function submitted(form: SubmissionForm, client = api): Promise<string> {
  return submissionOf(await submitForm(client, form)).data.request_id;
}

async function statusOf(id: string, client = api): Promise<string | undefined> {
  return (await listedRequests(client)).data.find(({ request_id: own }) => own === id)?.status;
}

function reaches(id: string, status: string, client = api): Promise<true> {
  return waitUntil(`${id} is ${status}`, async () => (await statusOf(id, client)) === status && (true as const));
}

/** A router whose directory is away fails; `back` brings it back. */
function away(router: string): () => void {
  const path = join(edgeward.folder, router);
  renameSync(path, `${path}.away`);
  return () => renameSync(`${path}.away`, path);
}

async function commits() {
  const row = z.object({ region: z.string(), list: z.string(), status: z.string(), attempt: z.number() });
  return z.array(row).parse(await edgeward.json('commit', 'list', '--customer', 'Acme Corp.'));
}

const notifications = () =>
  receiver.received.map(({ body }) => {
    const {
      prefix_list_name: list,
      region,
      status,
    } = z.object({ prefix_list_name: z.string(), region: z.string(), status: z.string() }).parse(JSON.parse(body));
    return `${list} ${region} ${status}`;
  });

test('an approved request gets on every router of its regions, and the customer is told of its own list', async () => {
  const id = await submitted({ range: ['192.31.196.0', '192.31.196.4'], regions: [1, 2] });
  assert.is(await statusOf(id), 'pending_review');
  await edgeward.json('whitelist', 'approve', id);
  await reaches(id, 'active');
  for (const router of ['eu-west', 'eu-west-2', 'us-east'])
    assert.is(held(router), '192.31.196.0/30\n192.31.196.4/32\n', router);
  assert.is(held('eu-west', 'Svc-ACME-CORP-BLACKHOLE'), undefined, 'the blackhole list was not touched');
  await waitUntil('both regions were told of', () => notifications().length >= 2);
  assert.equal(notifications().toSorted(), [
    'Svc-ACME-CORP-SRC_WHITELIST eu-west success',
    'Svc-ACME-CORP-SRC_WHITELIST us-east success',
  ]);
});

test('what waits for its review, or was rejected, gets nowhere', async () => {
  const waiting = await submitted({ ip: '192.31.196.100' });
  const rejected = await submitted({ ip: '192.31.196.101' });
  await edgeward.json('whitelist', 'reject', rejected, '--reason', 'no contract');
  const approved = await submitted({ ip: '192.31.196.102' });
  await edgeward.json('whitelist', 'approve', approved);
  await reaches(approved, 'active');
  assert.is(held('eu-west'), '192.31.196.0/30\n192.31.196.4/32\n192.31.196.102/32\n');
  assert.equal([await statusOf(waiting), await statusOf(rejected)], ['pending_review', 'rejected']);
});

test('one region that fails makes the request failed, until its retry gets through', async () => {
  const bringBack = away('us-east');
  const id = await submitted({ ip: '192.31.196.110', regions: [1, 2] });
  await edgeward.json('whitelist', 'approve', id);
  await reaches(id, 'failed');
  await waitUntil('the other region has it', () => held('eu-west')?.includes('192.31.196.110/32'));
  assert.is(await statusOf(id), 'failed');
  bringBack();
  await reaches(id, 'active');
  assert.match(held('us-east') ?? '', '192.31.196.110/32');
});

test('what was active stays so while a later one fails', async () => {
  const [first] = (await listedRequests(api)).data.filter(({ status }) => status === 'active');
  const bringBack = away('eu-west-2');
  const id = await submitted({ ip: '192.31.196.120' });
  await edgeward.json('whitelist', 'approve', id);
  await reaches(id, 'failed');
  assert.is(await statusOf(first!.request_id), 'active');
  bringBack();
  await reaches(id, 'active');
});

test('a removed request leaves the routers of all of its regions with their next commits', async () => {
  const id = await submitted({ ip: '192.31.196.130', regions: [1, 2] });
  await edgeward.json('whitelist', 'approve', id);
  await reaches(id, 'active');
  await api.send(`/source-whitelist/${id}`, { method: 'DELETE' });
  for (const router of ['eu-west', 'eu-west-2', 'us-east'])
    await waitUntil(`${router} has lost it`, () => !(held(router) ?? '').includes('192.31.196.130'));
  assert.match(held('us-east') ?? '', '192.31.196.110/32', 'what is live stays');
});

test('what is removed while its deployment fails and is retried ends off the routers', async () => {
  const bringBack = away('us-east');
  const id = await submitted({ ip: '192.31.196.140', regions: [2] });
  await edgeward.json('whitelist', 'approve', id);
  await reaches(id, 'failed');
  await api.send(`/source-whitelist/${id}`, { method: 'DELETE' });
  bringBack();
  await waitUntil('nothing is pending', async () => (await pendingIn('us-east')) === 0);
  assert.not.match(held('us-east') ?? '', '192.31.196.140');
});

async function pendingIn(region: string): Promise<number | undefined> {
  const sets = z.object({ region: z.string(), source_whitelist: z.object({ pending: z.array(z.string()) }) });
  const { regions } = z.object({ regions: z.array(sets) }).parse(await edgeward.json('state', 'Acme Corp.'));
  return regions.find((own) => own.region === region)?.source_whitelist.pending.length;
}

test('a trusted account’s submission goes out by itself, on a list of its own', async () => {
  const id = await submitted({ cidr: '192.31.196.0/28' }, otherApi);
  await reaches(id, 'active', otherApi);
  assert.is(held('eu-west', 'Svc-OTHER-SRC_WHITELIST'), '192.31.196.0/28\n');
});

test('blackhole commits and whitelist commits go each their own way', async () => {
  const before = held('eu-west');
  const { status } = await api.post('/ips/disable', { ip: '203.0.113.7', synchronous: true });
  assert.is(status, 200);
  assert.is(held('eu-west', 'Svc-ACME-CORP-BLACKHOLE'), '203.0.113.7/32\n');
  assert.is(held('eu-west'), before);
  const listed = await commits();
  assert.is(listed.filter(({ list }) => list === 'BLACKHOLE').length, 1);
  const own = z
    .array(z.object({ list: z.string() }))
    .parse(await edgeward.json('commit', 'list', '--customer', 'Acme Corp.', '--list', 'BLACKHOLE'));
  assert.is(own.length, 1);
});

test('everything is as before after a restart, and after all views were built anew', async () => {
  const before = await listedRequests(api);
  const router = held('eu-west');
  await api.close();
  await otherApi.close();
  await edgeward.stop();
  await edgeward.json('projections', 'rebuild', '--all');
  const url = await edgeward.serve();
  api = openApiClient(url, acme.token);
  otherApi = openApiClient(url, other.token);
  assert.equal(await listedRequests(api), before);
  const count = (await commits()).length;
  const id = await submitted({ ip: '192.31.196.150' });
  await edgeward.json('whitelist', 'approve', id);
  await reaches(id, 'active');
  assert.is((await commits()).length, count + 1, 'what was deployed is not deployed again');
  assert.is(held('eu-west'), `${router}192.31.196.150/32\n`);
});

test('every commit is what the events say, and the evidence is as it was given', async () => {
  const { ok, evidence } = z.object({ ok: z.boolean(), evidence: z.number() }).parse(await edgeward.json('verify'));
  assert.ok(ok);
  assert.ok(evidence >= 10);
});

test.run();
