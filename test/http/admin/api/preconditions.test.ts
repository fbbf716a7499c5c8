import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { SCOPES_OF_ROLE } from '../../../../src/domain/ip-control/admin-roles.ts';
import { ADMIN_OPERATIONS } from '../../../../src/http/admin/api/routes.ts';
import { furnish } from '../../../support/browser/furnished.ts';
import { type AdminClient, adminToken, openAdminClient } from '../../../support/http/admin-client.ts';
import type { Answer } from '../../../support/http/api-client.ts';
import { type Edgeward, openEdgeward } from '../../../support/servers/edgeward-server.ts';

const test = suite<{ edgeward: Edgeward; api: AdminClient }>('what must be as its caller has seen it');

test.before(async (context) => {
  context.edgeward = await openEdgeward();
  const { edgeward } = context;
  await furnish(edgeward);
  const { token } = await adminToken(edgeward, 'ada', SCOPES_OF_ROLE.administrator);
  context.api = openAdminClient(await edgeward.serve(), token);
});
test.after(async ({ edgeward, api }) => {
  await api.close();
  await edgeward.remove();
});

const one = z.object({ data: z.looseObject({}), meta: z.looseObject({ changed: z.boolean() }) });

function is(answer: Answer, status: number): Answer {
  assert.is(answer.status, status, answer.text);
  return answer;
}

/** How much was recorded in ada's name; the server decides about workers meanwhile. */
async function recorded({ events }: Edgeward): Promise<number> {
  return (await events()).filter(({ metadata }) => metadata.actor.startsWith('admin:ada')).length;
}

const made = async (api: AdminClient, path: string, body: object): Promise<string> =>
  String(one.parse(is(await api.post(path, body), 201).json).data['id']);

test('everything that is put, patched or deleted can be rehearsed, and be held to what was read', () => {
  const changing = ADMIN_OPERATIONS.filter(({ method }) => ['PUT', 'PATCH', 'DELETE'].includes(method));
  assert.ok(changing.length > 20);
  for (const { method, path, request, answers } of changing) {
    assert.ok(Object.hasOwn(request.query?.shape ?? {}, 'dry_run'), `${method} ${path}`);
    assert.ok(Object.hasOwn(answers, '412'), `${method} ${path}`);
  }
});

test('lists that fit on one page say so as others do', async ({ api }) => {
  const list = z.object({ data: z.array(z.looseObject({})), meta: z.object({ next_after: z.null() }) });
  for (const path of ['/customers/1/tokens', '/regions/eu-west/routers', '/accounts/ada/tokens', '/projections'])
    assert.ok(list.parse(is(await api.get(path), 200).json).data.length > 0, path);
});

const SUBNET = { region: 'eu-west', asn: 64_500, metro: 'ams' };

test('a rehearsal gives no revision that there is not', async ({ api }) => {
  for (const [path, changes] of [
    ['/customers/1', { trusted: true }],
    ['/regions/eu-west', { deploy_policy: 'all-or-nothing' }],
  ] as const) {
    const { etag } = is(await api.get(path), 200).headers;
    assert.is(is(await api.patch(`${path}?dry_run=true`, changes), 200).headers.etag, undefined, path);
    assert.is(is(await api.patch(`${path}?dry_run=true`, {}), 200).headers.etag, etag, 'nothing would change');
    assert.is(is(await api.get(path), 200).headers.etag, etag);
  }
  is(await api.put('/regions/not-there?dry_run=true', {}), 200);
  assert.is((await api.put('/regions/not-there?dry_run=true', {})).headers.etag, undefined);
});

test('what has moved stays as it is: subnets, tokens, pools of scopes, work', async ({ api, edgeward }) => {
  const work = await made(api, '/work-requests', { scope: 'builds', architecture: 'arm64' });
  const token = await made(api, '/customers/1/tokens', { label: 'ci' });
  const own = await made(api, '/accounts/ada/tokens', { scopes: ['read'] });
  const before = await recorded(edgeward);
  const headers = { 'if-match': '"999999"' };
  for (const path of [
    '/customers/1/subnets/203.0.113.0%2F24',
    `/customers/1/tokens/${token}`,
    `/accounts/ada/tokens/${own}`,
    '/scopes/builds/worker-pools/small',
    `/work-requests/${work}`,
  ])
    is(await api.send(path, { method: 'DELETE', headers }), 412);
  is(await api.put('/customers/1/subnets/203.0.113.0%2F24', SUBNET, headers), 412);
  is(await api.put('/scopes/builds/worker-pools/small', { priority: 9 }, headers), 412);
  is(await api.patch('/scopes/builds/worker-pools/small', { priority: 9 }, headers), 412);
  assert.is(await recorded(edgeward), before);
  for (const path of ['/customers/1/subnets/203.0.113.0%2F24', '/scopes/builds/worker-pools/small']) {
    const etag = String(is(await api.get(path), 200).headers['etag']);
    assert.match(etag, /^"\d+"$/, path);
    is(await api.send(`${path}?dry_run=true`, { method: 'DELETE', headers: { 'if-match': etag } }), 200);
  }
  assert.is(await recorded(edgeward), before);
  for (const path of [`/customers/1/tokens/${token}`, `/work-requests/${work}`]) {
    const etag = String(is(await api.get(path), 200).headers['etag']);
    is(await api.send(path, { method: 'DELETE', headers: { 'if-match': etag } }), 200);
  }
});

test('with If-None-Match only what is not there is made', async ({ api, edgeward }) => {
  const before = await recorded(edgeward);
  const headers = { 'if-none-match': '*' };
  is(await api.put('/customers/1/subnets/203.0.113.0%2F24', SUBNET, headers), 412);
  is(await api.put('/scopes/builds/worker-pools/small', {}, headers), 412);
  assert.is(await recorded(edgeward), before);
  const path = '/customers/1/subnets/198.51.100.0%2F24';
  const answers = await Promise.all([1, 2, 3].map(() => api.put(path, SUBNET, headers)));
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  assert.is(statuses.filter((status) => status === 201).length, 1, String(statuses));
  assert.ok(
    statuses.every((status) => [201, 409, 412].includes(status)),
    String(statuses),
  );
});

test('a rehearsed cancellation says how the work would be, and leaves it', async ({ api, edgeward }) => {
  const id = await made(api, '/work-requests', {
    scope: 'builds',
    architecture: 'arm64',
    payload: { suite: 'trixie' },
  });
  const before = await recorded(edgeward);
  const { data, meta } = one.parse(is(await api.remove(`/work-requests/${id}?dry_run=true`), 200).json);
  assert.equal([data['state'], data['payload'], meta.changed], ['cancelled', null, true]);
  assert.is(await recorded(edgeward), before);
});

test.run();
