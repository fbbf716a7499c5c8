import { request } from 'undici';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ADMIN_SCOPES, SCOPES_OF_ROLE } from '../../../../src/domain/ip-control/admin-roles.ts';
import { ADMIN_OPERATIONS } from '../../../../src/http/admin/api/routes.ts';
import { STATUS_OF_ADMIN_REFUSAL } from '../../../../src/http/admin/api/refusals.ts';
import { EXIT_OF_REFUSAL } from '../../../../src/cli/output.ts';
import { type AdminClient, adminToken, openAdminClient } from '../../../support/http/admin-client.ts';
import { openApiClient } from '../../../support/http/api-client.ts';
import { addCustomer, openEdgeward } from '../../../support/servers/edgeward-server.ts';
import { waitUntil } from '../../../support/wait-until.ts';

/** What each operation needs. One that is not here fails below. */
const NEEDS: Readonly<Record<string, string>> = {
  'GET /customers': 'read',
  'GET /customers/{customer}': 'read',
  'PUT /customers/{customer}': 'customers:write',
  'PATCH /customers/{customer}': 'customers:write',
  'POST /customers/{customer}/webhook-secret': 'webhooks:write',
  'GET /customers/{customer}/state': 'read',
  'GET /customers/{customer}/tokens': 'read',
  'POST /customers/{customer}/tokens': 'tokens:write',
  'DELETE /customers/{customer}': 'customers:write',
  'POST /customers/{customer}/disable': 'customers:write',
  'POST /customers/{customer}/enable': 'customers:write',
  'GET /customers/{customer}/tokens/{token}': 'read',
  'DELETE /customers/{customer}/tokens/{token}': 'tokens:write',
  'GET /subnets': 'read',
  'GET /customers/{customer}/subnets': 'read',
  'GET /customers/{customer}/subnets/{subnet}': 'read',
  'PUT /customers/{customer}/subnets/{subnet}': 'subnets:write',
  'DELETE /customers/{customer}/subnets/{subnet}': 'subnets:write',
  'GET /customers/{customer}/webhook-deliveries': 'read',
  'POST /customers/{customer}/webhook-deliveries/test': 'webhooks:write',
  'GET /customers/{customer}/webhook-deliveries/{delivery}': 'read',
  'POST /customers/{customer}/webhook-deliveries/{delivery}/redeliver': 'webhooks:write',
  'GET /whitelist-requests': 'read',
  'GET /whitelist-requests/{request}': 'read',
  'POST /whitelist-requests/{request}/approve': 'whitelist:review',
  'POST /whitelist-requests/{request}/reject': 'whitelist:review',
  'GET /whitelist-requests/{request}/evidence': 'evidence:read',
  'GET /regions': 'read',
  'GET /regions/{region}': 'read',
  'PUT /regions/{region}': 'regions:write',
  'PATCH /regions/{region}': 'regions:write',
  'GET /regions/{region}/routers': 'read',
  'GET /regions/{region}/routers/{router}': 'read',
  'PUT /regions/{region}/routers/{router}': 'regions:write',
  'PATCH /regions/{region}/routers/{router}': 'regions:write',
  'DELETE /regions/{region}': 'regions:write',
  'DELETE /regions/{region}/routers/{router}': 'regions:write',
  'POST /regions/{region}/routers/{router}/disable': 'routers:operate',
  'POST /regions/{region}/routers/{router}/test': 'routers:operate',
  'POST /regions/{region}/routers/{router}/check': 'routers:operate',
  'POST /regions/{region}/routers/{router}/prune': 'routers:operate',
  'POST /regions/{region}/routers/{router}/drain': 'routers:operate',
  'POST /regions/{region}/routers/{router}/enable': 'routers:operate',
  'GET /operations/{operation}': 'read',
  'GET /commits': 'read',
  'GET /commits/diff': 'read',
  'POST /commits/run': 'commits:run',
  'GET /commits/{commit_set}': 'read',
  'GET /events': 'read',
  'GET /events/{position}': 'read',
  'GET /verify': 'read',
  'GET /projections': 'read',
  'GET /accounts': 'read',
  'GET /accounts/{account}': 'read',
  'PUT /accounts/{account}': 'accounts:write',
  'PATCH /accounts/{account}': 'accounts:write',
  'DELETE /accounts/{account}': 'accounts:write',
  'POST /accounts/{account}/reset-password': 'accounts:write',
  'GET /accounts/{account}/tokens': 'read',
  'POST /accounts/{account}/tokens': 'accounts:write',
  'DELETE /accounts/{account}/tokens/{token}': 'accounts:write',
  'GET /worker-pools': 'read',
  'GET /worker-pools/{pool}': 'read',
  'PUT /worker-pools/{pool}': 'pools:write',
  'PATCH /worker-pools/{pool}': 'pools:write',
  'DELETE /worker-pools/{pool}': 'pools:write',
  'POST /worker-pools/{pool}/launch': 'pools:operate',
  'GET /worker-pools/{pool}/usage': 'read',
  'GET /scopes': 'read',
  'GET /scopes/{scope}': 'read',
  'PUT /scopes/{scope}': 'pools:write',
  'DELETE /scopes/{scope}': 'pools:write',
  'GET /scopes/{scope}/worker-pools/{pool}': 'read',
  'PUT /scopes/{scope}/worker-pools/{pool}': 'pools:write',
  'PATCH /scopes/{scope}/worker-pools/{pool}': 'pools:write',
  'DELETE /scopes/{scope}/worker-pools/{pool}': 'pools:write',
  'GET /assets': 'read',
  'GET /assets/{asset}': 'read',
  'PUT /assets/{asset}': 'pools:write',
  'PATCH /assets/{asset}': 'pools:write',
  'DELETE /assets/{asset}': 'pools:write',
  'POST /assets/{asset}/test': 'pools:operate',
  'GET /workers': 'read',
  'GET /workers/{worker}': 'read',
  'POST /workers/{worker}/terminate': 'pools:operate',
  'GET /work-requests': 'read',
  'POST /work-requests': 'work:write',
  'GET /work-requests/{id}': 'read',
  'DELETE /work-requests/{id}': 'work:write',
};

/** Behind a proxy, so that strangers come from as many addresses as there are operations: each has 60 requests a minute. */
const edgeward = await openEdgeward({ TRUST_PROXY: 'true' });
let strangers = 0;
const elsewhere = (): Readonly<Record<string, string>> => {
  strangers += 1;
  return { 'x-forwarded-for': `192.0.2.${strangers}` };
};
const acme = await addCustomer(edgeward, 'Acme');
const clients = new Map<string, AdminClient>();
const tokens = new Map<string, string>();
for (const scope of ADMIN_SCOPES) tokens.set(scope, (await adminToken(edgeward, 'ada', [scope])).token);
const url = await edgeward.serve();
for (const [scope, token] of tokens) clients.set(scope, openAdminClient(url, token));
const stranger = openAdminClient(url);

test.after(async () => {
  for (const client of [...clients.values(), stranger]) await client.close();
  await edgeward.remove();
});

test('every operation needs what the table says', () => {
  const found = ADMIN_OPERATIONS.map(({ method, path, needs }) => [`${method} ${path}`, needs]);
  assert.equal(Object.fromEntries(found), NEEDS);
});

test('a token with the scope of an operation may ask for it, all others may not, and strangers least', async () => {
  for (const { method, path, needs } of ADMIN_OPERATIONS) {
    const asked = path.replaceAll(/\{\w+\}/g, 'none');
    for (const [scope, client] of clients) {
      const { status, json } = await client.send(asked, { method });
      const where = `${method} ${path} with ${scope}: ${status}`;
      if (scope !== needs) assert.equal([status, json], [403, { message: `this needs the scope ${needs}.` }], where);
      else assert.not([401, 403, 500].includes(status), where);
    }
    assert.is((await stranger.send(asked, { method, headers: elsewhere() })).status, 401);
  }
});

test('who may do something is one table: a refusal of the rules has a status here where it has an exit code there', () => {
  // Of copies of stores and of secrets, which there is no operation for.
  const others = [
    'bad-backup-directory',
    'log-too-new',
    'not-copied',
    'source-altered',
    'target-differs',
    'target-in-use',
    'too-large',
  ];
  const known = Object.keys(EXIT_OF_REFUSAL).filter((code) => !others.includes(code));
  assert.equal(
    known.filter((code) => STATUS_OF_ADMIN_REFUSAL[code] === undefined),
    [],
  );
});

test('neither a cookie nor a customer’s token says anything here, nor an admin token to the customers’ API', async () => {
  const token = String(tokens.get('read'));
  for (const headers of [
    { cookie: `__Host-edgeward=${token}; edgeward=${token}` },
    { authorization: `Bearer ${acme.token}` },
  ])
    assert.is((await stranger.send('/customers', { headers: { ...headers, ...elsewhere() } })).status, 401);
  const customers = openApiClient(url, token);
  assert.is((await customers.get('/subnets')).status, 401);
  await customers.close();
});

test('a token never allows more than its account does now, and nothing once that is disabled or it is revoked', async () => {
  const { token, id } = await adminToken(edgeward, 'bob', SCOPES_OF_ROLE.administrator);
  const client = openAdminClient(url, token);
  await waitUntil('the token is known', async () => (await client.get('/customers')).status === 200);
  await edgeward.json('admin', 'token', 'revoke', id.slice(0, 8));
  await waitUntil('the token is worth nothing', async () => (await client.get('/customers')).status === 401);
  await client.close();
});

test('each token has 600 requests a minute', async () => {
  const { headers } = await request(`${url}/api/admin/v1/customers`, {
    headers: { authorization: `Bearer ${String(tokens.get('read'))}` },
  });
  assert.is(headers['x-ratelimit-limit'], '600');
});

const REFUSED = [
  [['--scopes', 'everything'], 'bad-scopes'],
  [['--scopes', 'read', '--expires', 'P400D'], 'bad-expiry'],
  [['--scopes', 'read', '--expires', 'PT0S'], 'bad-expiry'],
  [['--scopes', 'read', '--expires', 'soon'], 'bad-expiry'],
] as const;

test('a token that can not be meant is refused', async () => {
  for (const [options, code] of REFUSED) {
    const { exitCode, err } = await edgeward.command('admin', 'token', 'create', 'ada', ...options, '--json');
    assert.is(exitCode, 2, err);
    assert.match(err, code);
  }
  assert.is((await edgeward.command('admin', 'token', 'create', 'nobody', '--scopes', 'read')).exitCode, 3);
  assert.is((await edgeward.command('admin', 'token', 'revoke', 'none')).exitCode, 3);
  const listed = await edgeward.json('admin', 'token', 'list', 'ada');
  assert.ok(Array.isArray(listed) && listed.length === ADMIN_SCOPES.length);
});

test.run();
