import { createServer, type IncomingHttpHeaders } from 'node:http';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { SCOPES_OF_ROLE } from '../../../src/domain/ip-control/admin-roles.ts';
import { type AdminClient, adminToken, openAdminClient } from '../../support/http/admin-client.ts';
import type { Answer } from '../../support/http/api-client.ts';
import { openEdgeward } from '../../support/servers/edgeward-server.ts';
import { waitUntil } from '../../support/wait-until.ts';

const edgeward = await openEdgeward({ WEBHOOK_RETRIES: '0' });
const ada = await adminToken(edgeward, 'ada', SCOPES_OF_ROLE.administrator);
const url = await edgeward.serve({ ROUTER_FILES_ROOT: edgeward.folder });
const api = openAdminClient(url, ada.token);

type Received = Readonly<{ headers: IncomingHttpHeaders; body: string }>;
const received: Received[] = [];
/** A receiver of webhooks. */
const receiver = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => (body += text));
  request.on('end', () => {
    received.push({ headers: request.headers, body });
    response.end();
  });
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');
const place = receiver.address();
const hook = `http://127.0.0.1:${typeof place === 'object' && place !== null ? place.port : 0}/hook`;

test.after(async () => {
  await api.close();
  receiver.closeAllConnections();
  receiver.close();
  await edgeward.remove();
});

function is(answer: Answer, status: number): Answer {
  assert.is(answer.status, status, answer.text);
  return answer;
}

const body = z.object({ data: z.looseObject({}), meta: z.looseObject({}).optional() });
const rows = z.object({ data: z.array(z.looseObject({})), meta: z.looseObject({ next_after: z.string().nullable() }) });

/** That the request changes the log, or does not. */
async function changes(client: AdminClient, ask: (client: AdminClient) => Promise<Answer>): Promise<boolean> {
  const before = await edgeward.end();
  const answer = await ask(client);
  const { meta } = body.parse(answer.json);
  const hasChanged = (await edgeward.end()) !== before;
  assert.is(meta?.['changed'], hasChanged, answer.text);
  return hasChanged;
}

test('a customer is made as it is given, and asking again changes nothing', async () => {
  const made = is(await api.put('/customers/Acme%20Corp.', { rate_limit: 120, webhook_url: hook, reason: 'new' }), 201);
  const { data, meta } = body.parse(made.json);
  assert.equal(
    [data['name'], data['list_name'], data['rate_limit'], data['trusted'], data['prefix_limit']],
    ['Acme Corp.', 'ACME-CORP', 120, false, 10_000],
  );
  assert.match(String(meta?.['webhook_secret']), /^whsec_/);
  const same = { rate_limit: 120, webhook_url: hook };
  assert.is(await changes(api, (client) => client.put('/customers/Acme%20Corp.', same)), false);
  assert.is(await changes(api, (client) => client.put('/customers/Acme%20Corp.', same)), false);
  // What is left out has its default again; by PATCH it stays.
  assert.is(await changes(api, (client) => client.patch('/customers/1', { trusted: true })), true);
  assert.is(await changes(api, (client) => client.patch('/customers/1', { trusted: true })), false);
  const again = body.parse(is(await api.put('/customers/Acme%20Corp.', same), 200).json);
  assert.equal([again.data['rate_limit'], again.data['trusted']], [120, false]);
  assert.equal(body.parse((await api.get('/customers/1')).json).data, again.data);
});

test('events name the account and the token, and the request', async () => {
  const headers = { 'x-request-id': 'terraform-17' };
  is(await api.put('/customers/Globex', { reason: 'contract 7', ticket: 'T-1' }, headers), 201);
  const events = (await edgeward.events()).filter(({ metadata }) => metadata.$correlationId === 'terraform-17');
  assert.equal(
    events.map(({ type }) => type),
    ['CustomerNameReserved', 'CustomerRegistered'],
  );
  for (const { metadata, data } of events) {
    assert.is(metadata.actor, `admin:ada+${ada.id.slice(0, 8)}`);
    assert.is('reason' in data && data.reason, 'contract 7');
    assert.is('ticket' in data && data.ticket, 'T-1');
  }
});

test('a rehearsal says what would be recorded, and records nothing', async () => {
  const before = await edgeward.end();
  const answer = body.parse(is(await api.put('/customers/Initech?dry_run=true', { webhook_url: hook }), 200).json);
  const told = z.array(z.object({ type: z.string() })).parse(answer.meta?.['events']);
  assert.equal(
    told.map(({ type }) => type),
    ['CustomerNameReserved', 'CustomerRegistered', 'WebhookSecretRotated'],
  );
  assert.equal([answer.meta?.['changed'], answer.meta?.['dry_run']], [true, true]);
  assert.is(answer.meta?.['webhook_secret'], undefined);
  is(await api.put('/customers/acme%20CORP?dry_run=true', {}), 409);
  is(await api.patch('/customers/Globex?dry_run=true', { rate_limit: 7 }), 200);
  assert.is(await edgeward.end(), before);
  is(await api.get('/customers/Initech'), 404);
});

test('instants have a numeric offset, those of a rehearsal and of a state too', async () => {
  for (const { json } of [
    is(await api.put('/accounts/bob?dry_run=true', { role: 'auditor' }), 200),
    is(await api.get('/accounts/ada'), 200),
    is(await api.get('/customers/Globex/state'), 200),
    is(await api.get('/customers/Globex/state?at=2026-11-30T12:00:00Z'), 200),
  ]) {
    const { data } = body.parse(json);
    assert.match(String(data['created_at'] ?? data['at']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
  }
});

test('what has moved since it was read is not changed', async () => {
  const { headers } = is(await api.get('/customers/Globex'), 200);
  const etag = String(headers['etag']);
  is(await api.patch('/customers/Globex', { rate_limit: 61 }, { 'if-match': etag }), 200);
  const before = await edgeward.end();
  is(await api.patch('/customers/Globex', { rate_limit: 62 }, { 'if-match': etag }), 412);
  is(await api.put('/customers/Globex', {}, { 'if-none-match': '*' }), 412);
  is(await api.put('/customers/Nobody', {}, { 'if-match': '*' }), 412);
  assert.is(await edgeward.end(), before);
});

test('those who do not say how it must be never hear that it has moved', async () => {
  const limits = Array.from({ length: 12 }, (_, at) => 70 + at);
  const answers = await Promise.all(limits.map((rate_limit) => api.patch('/customers/Globex', { rate_limit })));
  const puts = await Promise.all(limits.map((rate_limit) => api.put('/customers/Globex', { rate_limit })));
  assert.equal([...new Set([...answers, ...puts].map(({ status }) => status))], [200]);
  is(await api.patch('/customers/Globex', { rate_limit: 60 }, { 'if-match': '*' }), 200);
});

test('of several who make what must not be there, one makes it', async () => {
  for (const path of ['/customers/Zed', '/regions/zed']) {
    const answers = await Promise.all([1, 2, 3].map(() => api.put(path, {}, { 'if-none-match': '*' })));
    const statuses = answers.map(({ status }) => status);
    assert.equal(
      statuses.toSorted((a, b) => a - b),
      [201, 412, 412],
      path,
    );
  }
});

test('places that no list has are told by field', async () => {
  const beyond = '9223372036854775808';
  is(await api.get(`/events/${beyond}`), 404);
  for (const path of [`/events?after=${beyond}`, '/whitelist-requests?after=none', '/customers?after=x'])
    assert.match(is(await api.get(path), 422).text, /"after"/);
  for (const path of ['/regions?after=x', '/subnets?after=x', '/customers/Globex/subnets?after=-1'])
    assert.match(is(await api.get(path), 422).text, /"after"/);
});

test('regions, routers and subnets are made, shown, and taken away again', async () => {
  is(await api.put('/regions/eu-west', {}), 201);
  assert.is(await changes(api, (client) => client.put('/regions/eu-west', { deploy_policy: 'each' })), false);
  is(await api.patch('/regions/eu-west', { deploy_policy: 'all-or-nothing' }), 200);
  is(await api.patch('/regions/eu-west', { deploy_policy: 'some' }), 422);
  const router = { driver: 'file', options: { path: `${edgeward.folder}/edge1` } };
  is(await api.put('/regions/eu-west/routers/edge1', router), 201);
  assert.is(await changes(api, (client) => client.put('/regions/eu-west/routers/edge1', router)), false);
  is(await api.put('/regions/eu-west/routers/edge1', { ...router, repair: false }), 200);
  is(
    await api.put('/regions/eu-west/routers/edge1', { driver: 'file', options: { path: `${edgeward.folder}/edge2` } }),
    409,
  );
  const patched = (options: object, more: object = {}): Promise<Answer> =>
    api.patch('/regions/eu-west/routers/edge1', { options, ...more });
  is(await patched({ path: '/etc' }, { force: true }), 422);
  is(await patched({ path: `${edgeward.folder}/nowhere` }), 422);
  is(await patched({ path: `${edgeward.folder}/nowhere` }, { force: true }), 200);
  is(await patched(router.options), 200);
  assert.is(await changes(api, () => patched(router.options)), false);
  // The second of its commands finds what the first has moved.
  const etag = String((await api.get('/regions/eu-west/routers/edge1')).headers['etag']);
  const both = { options: { path: `${edgeward.folder}/edge3` }, force: true, repair: true };
  is(await api.patch('/regions/eu-west/routers/edge1', both, { 'if-match': etag }), 200);
  is(await api.patch('/regions/eu-west/routers/edge1', { repair: false }, { 'if-match': etag }), 412);
  is(await patched(router.options), 200);
  is(await api.put('/regions/eu-west/routers/edge2', { driver: 'file', options: { path: 'here' } }), 422);
  is(await api.put('/regions/eu-west/routers/edge2', { driver: 'abacus' }), 422);
  const subnet = { region: 'eu-west', asn: 64_500, metro: 'ams' };
  is(await api.put('/customers/Acme%20Corp./subnets/203.0.113.0%2F24', subnet), 201);
  assert.is(await changes(api, (client) => client.put('/customers/1/subnets/203.0.113.0%2F24', subnet)), false);
  is(await api.put('/customers/1/subnets/203.0.113.0%2F24', { ...subnet, asn: 64_501 }), 409);
  is(await api.put('/customers/Globex/subnets/203.0.113.128%2F25', subnet), 409);
  is(await api.put('/customers/1/subnets/203.0.113.1%2F24', subnet), 422);
  const shown = body.parse(is(await api.get('/customers/1/subnets/203.0.113.0%2F24'), 200).json).data;
  assert.equal(shown, { id: 1, customer: 'Acme Corp.', cidr: '203.0.113.0/24', ...subnet });
  assert.equal(rows.parse((await api.get('/subnets')).json).data, [shown]);
  is(await api.remove('/customers/Globex/subnets/203.0.113.0%2F24'), 404);
});

test('customers are disabled and enabled, customers and regions removed; a rehearsal records nothing', async () => {
  is(await api.put('/regions/short-lived', {}), 201);
  is(await api.put('/customers/Vandelay', {}), 201);
  is(await api.put('/customers/Vandelay/subnets/100.64.0.0%2F24', { region: 'short-lived', asn: 1, metro: 'x' }), 201);
  for (const [verb, state] of [
    ['disable', 'disabled'],
    ['enable', 'enabled'],
  ] as const) {
    assert.is(await changes(api, (client) => client.post(`/customers/Vandelay/${verb}`, { reason: 'unpaid' })), true);
    assert.is(await changes(api, (client) => client.post(`/customers/Vandelay/${verb}`, {})), false);
    assert.is(body.parse((await api.get('/customers/Vandelay')).json).data['state'], state);
  }
  is(await api.remove('/regions/short-lived'), 409);
  is(await api.remove('/customers/Vandelay'), 409);
  const before = await edgeward.end();
  const told = body.parse(is(await api.remove('/customers/Vandelay?force=true&dry_run=true'), 200).json).meta?.[
    'events'
  ];
  assert.equal(
    z
      .array(z.object({ type: z.string() }))
      .parse(told)
      .map(({ type }) => type),
    ['SubnetReleased', 'CustomerRemoved', 'SubnetReservationReleased'],
  );
  assert.is(await edgeward.end(), before);
  assert.is(await changes(api, (client) => client.remove('/customers/Vandelay?force=true&reason=left')), true);
  is(await api.get('/customers/Vandelay'), 404);
  is(await api.remove('/customers/Vandelay'), 404);
  is(await api.put('/customers/Vandelay', {}), 409);
  assert.not.match((await api.get('/customers')).text, 'Vandelay');
  const etag = String((await api.get('/regions/short-lived')).headers['etag']);
  is(await api.patch('/regions/short-lived', { deploy_policy: 'all-or-nothing' }), 200);
  const withTag = { method: 'DELETE', headers: { 'if-match': etag } };
  is(await api.send('/regions/short-lived', withTag), 412);
  const rehearsed = body.parse(is(await api.remove('/regions/short-lived?dry_run=true'), 200).json).meta;
  assert.match(JSON.stringify(rehearsed), /"RegionRemovalBegan".*"RegionNameReleased"/);
  assert.is(await changes(api, (client) => client.remove('/regions/short-lived')), true);
  is(await api.remove('/regions/short-lived'), 404);
});

test('what may take a while is done in time here, and says where to look otherwise', async () => {
  for (const action of ['test', 'check', 'disable', 'enable', 'prune']) {
    const answer = await api.post(`/regions/eu-west/routers/edge1/${action}`, { reason: 'look' });
    is(answer, 200);
    if (action !== 'check') continue;
    const id = String(answer.headers['x-request-id']);
    const operation = body.parse(is(await api.get(`/operations/${id}`), 200).json).data;
    assert.equal([operation['kind'], operation['state'], operation['router']], ['check', 'succeeded', 'edge1']);
  }
  is(await api.get('/operations/none'), 404);
});

test('a commit is run, shown, and told; its notification is sent again, and a test', async () => {
  const token = String(body.parse(is(await api.post('/customers/1/tokens', { label: 'ci' }), 201).json).data['token']);
  const change = { method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } };
  const changed = await fetch(`${url}/api/v1/ips/disable`, { ...change, body: '{"ip":"203.0.113.7"}' });
  assert.is(changed.status, 200);
  const diff = '/commits/diff?customer=1&region=eu-west';
  const routers = z.array(z.object({ added: z.array(z.string()) }));
  assert.equal(routers.parse(body.parse((await api.get(diff)).json).data['routers'])[0]?.added, ['203.0.113.7/32']);
  const run = body.parse(is(await api.post('/commits/run', { customer: '1', region: 'eu-west' }), 200).json);
  assert.equal([run.data['status'], run.meta?.['changed']], ['success', true]);
  const idle = body.parse(is(await api.post('/commits/run', { customer: '1', region: 'eu-west' }), 200).json);
  assert.equal([idle.data['status'], idle.meta?.['changed']], ['success', false], 'nothing was pending any more');
  const [commit] = rows.parse((await api.get('/commits')).json).data;
  assert.equal([commit?.['status'], commit?.['reason'], commit?.['prefixes']], ['success', 'operator', 1]);
  assert.equal(rows.parse((await api.get('/commits?region=eu-west')).json).data, [commit]);
  assert.equal(rows.parse((await api.get('/commits?customer=1')).json).data, [commit]);
  assert.equal(body.parse((await api.get(`/commits/${String(commit?.['id'])}`)).json).data, commit);
  const deliveries = '/customers/1/webhook-deliveries';
  const delivered = async (): Promise<string | undefined> => {
    const [delivery] = rows.parse((await api.get(deliveries)).json).data;
    return delivery?.['state'] === 'delivered' ? String(delivery['id']) : undefined;
  };
  const id = await waitUntil('the notification is delivered', delivered);
  is(await api.post(`${deliveries}/${id}/redeliver`), 202);
  await waitUntil('it is delivered again', () => received.length === 2);
  const [first, second] = received;
  assert.is(second?.body, first?.body);
  assert.is(second?.headers['webhook-id'], first?.headers['webhook-id']);
  assert.is(first?.headers['webhook-id'], id);
  const tested = body.parse(is(await api.post(`${deliveries}/test`), 200).json).data;
  assert.equal([tested['delivered'], tested['http_status']], [true, 200]);
  const told = z
    .object({ event: z.string(), customer: z.string(), region: z.string() })
    .parse(JSON.parse(received[2]?.body ?? ''));
  assert.equal(told, { event: 'test', customer: 'Acme Corp.', region: 'eu-west' });
  is(await api.post('/customers/Globex/webhook-deliveries/test'), 409);
  is(await api.get(`${deliveries}/msg_none_success`), 404);
  is(await api.get(`/customers/Globex/webhook-deliveries/${id}`), 404);
});

test('a router is drained once a rehearsal has told what that takes off it, and enabled again it holds all of it', async () => {
  const held = () => readdirSync(join(edgeward.folder, 'edge1')).filter((name) => name.startsWith('Svc-'));
  const drain = '/regions/eu-west/routers/edge1/drain';
  const before = held();
  assert.ok(before.length > 0);
  const end = await edgeward.end();
  const told = body.parse(is(await api.post(`${drain}?dry_run=true`, { reason: 'new box' }), 200).json);
  assert.equal([told.data['removed'], told.data['problems']], [before, []]);
  assert.equal(
    z
      .array(z.object({ type: z.string() }))
      .parse(told.meta?.['events'])
      .map(({ type }) => type),
    ['RouterDisabled', 'RouterDrainRequested', 'RouterDrained'],
  );
  assert.equal([await edgeward.end(), held()], [end, before]);

  const answer = is(await api.post(drain, { reason: 'new box' }), 200);
  const drained = { router: 'edge1', region: 'eu-west', state: 'disabled', removed: before, problems: [] };
  assert.equal(body.parse(answer.json).data, drained);
  assert.equal(held(), []);
  const operation = body.parse(is(await api.get(`/operations/${String(answer.headers['x-request-id'])}`), 200).json);
  assert.equal(
    [operation.data['kind'], operation.data['state'], operation.data['result']],
    ['drain', 'succeeded', { removed: before, problems: [] }],
  );
  const asked = (await edgeward.events()).filter(({ type }) => type.startsWith('RouterDrain'));
  assert.equal(
    asked.map(({ type, metadata, data }) => [
      type,
      metadata.actor,
      z.looseObject({ reason: z.string() }).parse(data).reason,
    ]),
    ['RouterDrainRequested', 'RouterDrained'].map((type) => [type, asked[0]?.metadata.actor, 'new box']),
  );
  assert.match(asked[0]?.metadata.actor ?? '', 'ada');
  is(await api.post('/regions/eu-west/routers/none/drain'), 404);
  is(await api.post('/regions/eu-west/routers/edge1/enable'), 200);
  await waitUntil('all of it is there again', () => held().length === before.length);
});

test('events are read page by page, and exported whole', async () => {
  const all = await edgeward.events();
  const seen: unknown[] = [];
  for (let after: string | null = ''; after !== null;) {
    const page = rows.parse(is(await api.get(`/events?limit=7${after === '' ? '' : `&after=${after}`}`), 200).json);
    seen.push(...page.data.map(({ id }) => id));
    after = page.meta.next_after;
  }
  assert.equal(
    seen,
    all.map(({ id }) => id),
  );
  const exported = await fetch(`${url}/api/admin/v1/events?type=CustomerRegistered`, {
    headers: { authorization: `Bearer ${ada.token}`, accept: 'application/x-ndjson' },
  });
  assert.is(exported.headers.get('content-type'), 'application/x-ndjson');
  const lines = (await exported.text()).trimEnd().split('\n');
  assert.is(lines.length, all.filter(({ type }) => type === 'CustomerRegistered').length);
  const [event] = all;
  const whole = body.parse((await api.get(`/events/${event?.position}`)).json).data;
  assert.is(whole['id'], event?.id);
  for (const id of [event?.id ?? '', event?.id.toUpperCase() ?? ''])
    assert.equal(body.parse(is(await api.get(`/events/${id}`), 200).json).data, whole);
  const issued = body.parse(is(await api.post('/accounts/ada/tokens', { scopes: ['read'] }), 201).json).data;
  const looker = openAdminClient(url, String(issued['token']));
  is(await looker.get(`/events/${event?.position}`), 200);
  is(await looker.get(`/events/${event?.id}`), 403);
  await looker.close();
  is(await api.get('/events/00000000-0000-4000-8000-000000000000'), 404);
  is(await api.get('/events/nothing'), 404);
  const verified = body.parse(is(await api.get('/verify?stream=customer-1'), 200).json).data;
  assert.equal(verified['problems'], []);
  is(await api.get('/verify?stream=customer-99'), 404);
  is(await api.get('/events?from=yesterday'), 422);
  is(await api.get('/projections'), 200);
});

test('accounts are made as they are given; the last administrator stays', async () => {
  const made = body.parse(is(await api.put('/accounts/grace', { role: 'reviewer' }), 201).json);
  assert.equal(
    [made.data['name'], made.data['role'], made.data['enabled'], made.data['last_login']],
    ['grace', 'reviewer', true, null],
  );
  assert.match(String(made.meta?.['password']), /^[\w-]{24}$/);
  assert.is(await changes(api, (client) => client.put('/accounts/grace', { role: 'reviewer' })), false);
  assert.equal(body.parse(is(await api.get('/accounts/grace'), 200).json).data, made.data);
  const before = await edgeward.end();
  const rehearsed = body.parse(is(await api.put('/accounts/joan?dry_run=true', { role: 'auditor' }), 200).json);
  assert.equal([rehearsed.data['role'], rehearsed.meta?.['password']], ['auditor', undefined]);
  is(await api.get('/accounts/joan'), 404);
  is(await api.put('/accounts/joan', {}), 422);
  is(await api.put('/accounts/joan', { role: 'king' }), 422);
  is(await api.put('/accounts/jo%40an', { role: 'auditor' }), 422);
  is(await api.put('/accounts/grace', { role: 'auditor' }, { 'if-none-match': '*' }), 412);
  is(await api.patch('/accounts/grace', { role: 'auditor' }, { 'if-match': '"99"' }), 412);
  is(await api.patch('/accounts/ada', { role: 'operator' }), 409);
  is(await api.remove('/accounts/ada'), 409);
  is(await api.remove('/accounts/joan'), 404);
  assert.is(await edgeward.end(), before);
  const changed = body.parse(is(await api.patch('/accounts/grace', { role: 'auditor', enabled: false }), 200).json);
  assert.equal([changed.data['role'], changed.data['enabled']], ['auditor', false]);
  assert.is(await changes(api, (client) => client.remove('/accounts/grace')), false);
  is(await api.put('/accounts/grace', { role: 'auditor' }), 200);
  const reset = body.parse(is(await api.post('/accounts/grace/reset-password'), 200).json).data;
  assert.is.not(reset['password'], made.meta?.['password']);
  is(await api.post('/accounts/joan/reset-password'), 404);
});

test('whitelist requests that are not there, and lists of them', async () => {
  assert.equal(rows.parse(is(await api.get('/whitelist-requests?status=pending_review'), 200).json).data, []);
  is(await api.post('/whitelist-requests/none/approve'), 404);
  is(await api.post('/whitelist-requests/none/reject', {}), 422);
});

test('what is wrong is told by field, and nothing is recorded', async () => {
  const before = await edgeward.end();
  const wrong = is(await api.put('/customers/Acme2', { rate_limit: '7', trusted: 1, colour: 'red' }), 422);
  const { errors } = z.object({ errors: z.record(z.string(), z.array(z.string())) }).parse(wrong.json);
  assert.equal(Object.keys(errors).toSorted(), ['colour', 'rate_limit', 'trusted']);
  is(await api.put('/customers/Acme2', []), 422);
  is(await api.put('/customers/Acme2?dry=true', {}), 422);
  is(await api.get('/customers?limit=0'), 422);
  const json = { 'content-type': 'application/json' };
  is(await api.send('/customers/Acme2', { method: 'PUT', headers: json, body: '{' }), 400);
  is(
    await api.send('/customers/Acme2', { method: 'PUT', headers: json, body: '{"trusted":true,"trusted":false}' }),
    422,
  );
  is(await api.send('/customers/Acme2', { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: '{}' }), 415);
  is(await api.send('/customers/Acme2', { method: 'PUT', headers: json, body: ' '.repeat(65 * 1024) }), 413);
  is(await api.send('/customers/Acme2', { method: 'POST' }), 405);
  is(await api.get('/nothing'), 404);
  is(await api.put('/customers/%E2%80', {}), 404);
  assert.is(await edgeward.end(), before);
});

test('lists come in pages', async () => {
  for (const name of ['Hooli', 'Umbrella', 'Wonka']) is(await api.put(`/customers/${name}`, {}), 201);
  const first = rows.parse((await api.get('/customers?limit=2')).json);
  const rest = rows.parse((await api.get(`/customers?after=${first.meta.next_after}`)).json);
  assert.equal(
    [...first.data, ...rest.data].map(({ name }) => name),
    ['Acme Corp.', 'Globex', 'Zed', 'Hooli', 'Umbrella', 'Wonka'],
  );
  assert.is(rest.meta.next_after, null);
});

test.run();
