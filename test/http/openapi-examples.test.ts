import { createServer } from 'node:http';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { ADMIN_SCOPES } from '../../src/domain/ip-control/admin-roles.ts';
import { EXAMPLES } from '../../src/http/openapi/examples.ts';
import { adminToken } from '../support/http/admin-client.ts';
import { formBody } from '../support/http/multipart-form.ts';
import { type Edgeward, openEdgeward } from '../support/servers/edgeward-server.ts';
import { waitUntil } from '../support/wait-until.ts';

/** What was found on the way, by the names that paths below have for it. */
type Found = Map<string, string>;
type Context = { edgeward: Edgeward; url: string; hooks: string; close: () => void; found: Found };
const examples = suite<Context>('the examples of the description');

examples.before(async (context) => {
  const receiver = createServer((asked, answer) => void asked.resume().once('end', () => answer.writeHead(204).end()));
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const at = receiver.address();
  context.hooks = `http://127.0.0.1:${typeof at === 'object' ? at?.port : ''}`;
  context.close = () => receiver.close();
  // Nothing is deployed until the example that asks for it.
  context.edgeward = await openEdgeward({ QUIET_PERIOD: 'PT1H', SCHEDULER_INTERVAL: 'PT0.1S' });
  const { edgeward } = context;
  mkdirSync(join(edgeward.folder, 'edge1'));
  context.url = await edgeward.serve({ ROUTER_FILES_ROOT: edgeward.folder });
  const admin = await adminToken(edgeward, 'root', ADMIN_SCOPES);
  await edgeward.shown();
  context.found = new Map([['admin', admin.token]]);
});

examples.after(async ({ edgeward, close }) => {
  await edgeward.remove();
  close();
});

/** Where each example is asked, in this order; what is in braces was found before. */
const PATHS: Readonly<Record<string, string>> = {
  adminPutRegionsRegion: '/regions/eu-west',
  adminPutRegionsRegionRoutersRouter: '/regions/eu-west/routers/edge1',
  adminPutCustomersCustomer: '/customers/Acme%20Corp.',
  adminPatchCustomersCustomer: '/customers/Acme%20Corp.?dry_run=true',
  adminPutCustomersCustomerSubnetsSubnet: '/customers/Acme%20Corp./subnets/203.0.113.0%2F24',
  adminPostCustomersCustomerTokens: '/customers/Acme%20Corp./tokens',
  postIpsDisable: '/ips/disable',
  getSubnetsSubnetId: '/subnets/1?view=ranges',
  postIpsBulk: '/ips/bulk',
  postIpsEnable: '/ips/enable',
  getSubnets: '/subnets',
  getSubnetsSubnetIdPending: '/subnets/1/pending?view=ranges',
  adminPostCommitsRun: '/commits/run',
  getCommits: '/commits',
  getCommitsCommitSetId: '/commits/{commit_set_id}',
  getWebhookDeliveries: '/webhook-deliveries',
  postWebhookDeliveriesIdRedeliver: '/webhook-deliveries/{delivery}/redeliver',
  postSourceWhitelist: '/source-whitelist',
  getSourceWhitelist: '/source-whitelist',
  adminPostWhitelistRequestsRequestReject: '/whitelist-requests/{request_id}/reject',
  deleteSourceWhitelistRequestId: '/source-whitelist/{request_id}',
  adminPutAccountsAccount: '/accounts/terraform',
  adminPostAccountsAccountTokens: '/accounts/terraform/tokens',
  adminPutAssetsAsset: '/assets/hcloud',
  adminPutWorkerPoolsPool: '/worker-pools/builders',
  adminPutScopesScope: '/scopes/debian',
  adminPutScopesScopeWorkerPoolsPool: '/scopes/debian/worker-pools/builders',
  adminPostWorkRequests: '/work-requests',
};

const methodsOf = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.looseObject({ operationId: z.string() }))),
});

/** The method of each operation. */
async function described(url: string): Promise<ReadonlyMap<string, string>> {
  const { paths } = methodsOf.parse(await (await request(`${url}/openapi.json`)).body.json());
  const operations = Object.values(paths).flatMap((methods) => Object.entries(methods));
  return new Map(operations.map(([method, { operationId }]) => [operationId, method.toUpperCase()]));
}

const EVIDENCE = formBody([
  { name: 'ip', value: '192.31.196.7' },
  { name: 'regions[]', value: 'eu-west' },
  { name: 'evidence', file: Buffer.from('%PDF-1.4\n'), fileName: 'contract.pdf', contentType: 'application/pdf' },
]);

examples('are asked and answered as they are described, each after those before it', async (context) => {
  const { edgeward, url, hooks, found } = context;
  const methods = await described(url);
  assert.equal(Object.keys(PATHS).toSorted(), Object.keys(EXAMPLES).toSorted(), 'each is asked');
  /** What can't be the same on every machine, in place of what the examples have. */
  const here = (text: string): string =>
    text.replaceAll('https://hooks.example.com', hooks).replaceAll('/srv/lists', edgeward.folder);
  const ask = async (id: string): Promise<Readonly<{ status: number; text: string }>> => {
    const path = PATHS[id]?.replaceAll(/\{(\w+)\}/g, (_, name: string) => found.get(name) ?? '');
    const isAdmin = id.startsWith('admin');
    const body = EXAMPLES[id]?.body;
    const json =
      body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: here(JSON.stringify(body)) };
    const { headers, body: sent = null } = { headers: {}, ...(id === 'postSourceWhitelist' ? EVIDENCE : json) };
    const answered = await request(`${url}${isAdmin ? '/api/admin/v1' : '/api/v1'}${path}`, {
      method: methods.get(id) ?? 'GET',
      headers: { authorization: `Bearer ${found.get(isAdmin ? 'admin' : 'customer')}`, ...headers },
      body: sent,
    });
    return { status: answered.statusCode, text: await answered.body.text() };
  };
  for (const id of Object.keys(PATHS)) {
    // The webhook is told once the commit is over.
    if (id === 'getWebhookDeliveries')
      await waitUntil('the webhook is told', async () => (await ask(id)).text.includes('"delivered"'));
    const { status, text } = await ask(id);
    assert.is(status, EXAMPLES[id]?.status, `${id}: ${text}`);
    assert.equal(withoutChance(text), withoutChance(here(JSON.stringify(EXAMPLES[id]?.answer))), id);
    remember(id, text, found);
  }
});

const idsOf = z.object({
  data: z.union([
    z.looseObject({ token: z.string().optional(), request_id: z.string().optional() }),
    z.array(z.looseObject({ id: z.string().optional(), commit_set_id: z.string().optional() })),
  ]),
});

/** What later examples name. */
function remember(id: string, text: string, found: Found): void {
  const read = idsOf.safeParse(JSON.parse(text));
  if (!read.success) return;
  const { data } = read.data;
  if (Array.isArray(data)) {
    if (id === 'getCommits') found.set('commit_set_id', data[0]?.commit_set_id ?? '');
    if (id === 'getWebhookDeliveries') found.set('delivery', data[0]?.id ?? '');
    return;
  }
  if (id === 'adminPostCustomersCustomerTokens') found.set('customer', data.token ?? '');
  if (id === 'postSourceWhitelist') found.set('request_id', data.request_id ?? '');
}

/** A JSON text as a value, without what differs from run to run. */
function withoutChance(text: string): unknown {
  return JSON.parse(text, (name, value: unknown) => {
    if (typeof value === 'number' && name === 'milliseconds') return 0;
    if (typeof value !== 'string') return value;
    if (name === 'password') return 'a password';
    return value
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'an id')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:\+00:00|Z)/g, 'an instant')
      .replaceAll(/\b(?:edwa?|whsec)_[A-Za-z0-9_+/=-]+/g, 'a secret');
  });
}

examples.run();
