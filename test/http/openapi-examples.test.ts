import { createServer, type IncomingHttpHeaders } from 'node:http';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { ADMIN_SCOPES } from '../../src/domain/ip-control/admin-roles.ts';
import { WORK_ID } from '../../src/http/openapi/examples/example.ts';
import { EXAMPLES } from '../../src/http/openapi/examples.ts';
import { adminToken } from '../support/http/admin-client.ts';
import { type HetznerFake, startHetznerFake } from '../support/clouds/hetzner-fake.ts';
import { formBody } from '../support/http/multipart-form.ts';
import { type Edgeward, openEdgeward } from '../support/servers/edgeward-server.ts';
import { waitUntil } from '../support/wait-until.ts';

/** What was found on the way, by the names that paths below have for it. */
type Found = Map<string, string>;
type Context = { edgeward: Edgeward; cloud: HetznerFake; url: string; hooks: string; close: () => void; found: Found };
const examples = suite<Context>('the examples of the description');

examples.before(async (context) => {
  const receiver = createServer((asked, answer) => void asked.resume().once('end', () => answer.writeHead(204).end()));
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const at = receiver.address();
  context.hooks = `http://127.0.0.1:${typeof at === 'object' ? at?.port : ''}`;
  context.close = () => receiver.close();
  context.cloud = await startHetznerFake();
  // Nothing is deployed until the example that asks for it.
  context.edgeward = await openEdgeward({ QUIET_PERIOD: 'PT1H', SCHEDULER_INTERVAL: 'PT0.1S' });
  const { edgeward } = context;
  mkdirSync(join(edgeward.folder, 'edge1'));
  const admin = await adminToken(edgeward, 'root', ADMIN_SCOPES);
  context.url = await edgeward.serve({
    ROUTER_FILES_ROOT: edgeward.folder,
    PUBLIC_URL: 'https://edgeward.example.net',
  });
  context.found = new Map([['admin', admin.token]]);
});

examples.after(async ({ edgeward, cloud, close }) => {
  await edgeward.remove();
  await cloud.stop();
  close();
});

/**
 * An operation where it is asked; what is in braces was found before. What others do meanwhile is awaited: then it is asked until
 * its answer has that text, and not compared. `finds`: where in its answer that is what later ones name.
 */
type Step = Readonly<{ id: string; path: string; awaits?: string; finds?: Readonly<Record<string, string>> }>;

const CUSTOMER = '/customers/Acme%20Corp.';
const ROUTER = '/regions/eu-west/routers/edge1';
const WHITELIST = '/whitelist-requests/{request}';
const POOL = '/worker-pools/builders';

/** Each example, in an order in which they can be asked; some a second time, for what the first one has made is gone. */
const STEPS: readonly Step[] = [
  { id: 'adminPutRegionsRegion', path: '/regions/eu-west' },
  { id: 'adminPatchRegionsRegion', path: '/regions/eu-west' },
  { id: 'adminPutRegionsRegionRoutersRouter', path: ROUTER },
  { id: 'adminPatchRegionsRegionRoutersRouter', path: ROUTER },
  { id: 'adminGetRegions', path: '/regions' },
  { id: 'adminGetRegionsRegion', path: '/regions/eu-west' },
  { id: 'adminGetRegionsRegionRouters', path: '/regions/eu-west/routers' },
  { id: 'adminGetRegionsRegionRoutersRouter', path: ROUTER },
  { id: 'adminGetEvents', path: '/events?stream=region-1&limit=1', finds: { position: 'data.0.position' } },
  { id: 'adminGetEventsPosition', path: '/events/{position}' },
  { id: 'adminGetVerify', path: '/verify?stream=region-1' },
  { id: 'adminGetProjections', path: '/projections' },
  { id: 'adminPutCustomersCustomer', path: CUSTOMER },
  { id: 'adminPatchCustomersCustomer', path: `${CUSTOMER}?dry_run=true` },
  { id: 'adminGetCustomers', path: '/customers' },
  { id: 'adminGetCustomersCustomer', path: CUSTOMER },
  { id: 'adminPutCustomersCustomerSubnetsSubnet', path: `${CUSTOMER}/subnets/203.0.113.0%2F24` },
  { id: 'adminGetCustomersCustomerSubnets', path: `${CUSTOMER}/subnets` },
  { id: 'adminGetCustomersCustomerSubnetsSubnet', path: `${CUSTOMER}/subnets/203.0.113.0%2F24` },
  { id: 'adminGetSubnets', path: '/subnets' },
  {
    id: 'adminPostCustomersCustomerTokens',
    path: `${CUSTOMER}/tokens`,
    finds: { customer: 'data.token', token: 'data.id' },
  },
  { id: 'adminGetCustomersCustomerTokens', path: `${CUSTOMER}/tokens` },
  { id: 'adminGetCustomersCustomerTokensToken', path: `${CUSTOMER}/tokens/{token}` },
  { id: 'postIpsDisable', path: '/ips/disable' },
  { id: 'getSubnetsSubnetId', path: '/subnets/1?view=ranges' },
  { id: 'postIpsBulk', path: '/ips/bulk' },
  { id: 'postIpsEnable', path: '/ips/enable' },
  { id: 'getSubnets', path: '/subnets' },
  { id: 'getSubnetsSubnetIdPending', path: '/subnets/1/pending?view=ranges' },
  { id: 'adminGetCustomersCustomerState', path: `${CUSTOMER}/state` },
  { id: 'adminGetCommitsDiff', path: '/commits/diff?customer=Acme%20Corp.&region=eu-west' },
  { id: 'adminPostCommitsRun', path: '/commits/run', finds: { operation: 'headers.x-request-id' } },
  { id: 'adminGetOperationsOperation', path: '/operations/{operation}' },
  { id: 'adminGetCommits', path: '/commits' },
  { id: 'getCommits', path: '/commits', finds: { commit_set_id: 'data.0.commit_set_id' } },
  { id: 'adminGetCommitsCommitSet', path: '/commits/{commit_set_id}' },
  { id: 'getCommitsCommitSetId', path: '/commits/{commit_set_id}' },
  { id: 'getWebhookDeliveries', path: '/webhook-deliveries', awaits: '"delivered"' },
  { id: 'getWebhookDeliveries', path: '/webhook-deliveries', finds: { delivery: 'data.0.id' } },
  { id: 'adminGetCustomersCustomerWebhookDeliveries', path: `${CUSTOMER}/webhook-deliveries` },
  { id: 'adminGetCustomersCustomerWebhookDeliveriesDelivery', path: `${CUSTOMER}/webhook-deliveries/{delivery}` },
  {
    id: 'adminPostCustomersCustomerWebhookDeliveriesDeliveryRedeliver',
    path: `${CUSTOMER}/webhook-deliveries/{delivery}/redeliver`,
  },
  { id: 'postWebhookDeliveriesIdRedeliver', path: '/webhook-deliveries/{delivery}/redeliver' },
  { id: 'adminPostCustomersCustomerWebhookDeliveriesTest', path: `${CUSTOMER}/webhook-deliveries/test` },
  { id: 'adminPostCustomersCustomerWebhookSecret', path: `${CUSTOMER}/webhook-secret` },
  { id: 'postSourceWhitelist', path: '/source-whitelist', finds: { request: 'data.request_id' } },
  { id: 'getSourceWhitelist', path: '/source-whitelist' },
  { id: 'adminGetWhitelistRequests', path: '/whitelist-requests?status=pending_review' },
  { id: 'adminGetWhitelistRequestsRequest', path: WHITELIST },
  { id: 'adminGetWhitelistRequestsRequestEvidence', path: `${WHITELIST}/evidence` },
  { id: 'adminPostWhitelistRequestsRequestReject', path: `${WHITELIST}/reject` },
  { id: 'postSourceWhitelist', path: '/source-whitelist', finds: { request: 'data.request_id' } },
  { id: 'adminPostWhitelistRequestsRequestApprove', path: `${WHITELIST}/approve` },
  { id: 'deleteSourceWhitelistRequestId', path: '/source-whitelist/{request}' },
  { id: 'adminPostRegionsRegionRoutersRouterTest', path: `${ROUTER}/test` },
  { id: 'adminPostRegionsRegionRoutersRouterCheck', path: `${ROUTER}/check` },
  { id: 'adminPostRegionsRegionRoutersRouterPrune', path: `${ROUTER}/prune` },
  { id: 'adminPostRegionsRegionRoutersRouterDisable', path: `${ROUTER}/disable` },
  { id: 'adminPostRegionsRegionRoutersRouterEnable', path: `${ROUTER}/enable` },
  { id: 'adminPostRegionsRegionRoutersRouterDrain', path: `${ROUTER}/drain` },
  { id: 'adminPostCustomersCustomerDisable', path: `${CUSTOMER}/disable` },
  { id: 'adminPostCustomersCustomerEnable', path: `${CUSTOMER}/enable` },
  { id: 'adminDeleteCustomersCustomerTokensToken', path: `${CUSTOMER}/tokens/{token}` },
  { id: 'adminDeleteCustomersCustomerSubnetsSubnet', path: `${CUSTOMER}/subnets/203.0.113.0%2F24` },
  { id: 'adminDeleteCustomersCustomer', path: CUSTOMER },
  { id: 'adminDeleteRegionsRegionRoutersRouter', path: ROUTER },
  { id: 'adminDeleteRegionsRegion', path: '/regions/eu-west' },
  { id: 'adminPutAccountsAccount', path: '/accounts/terraform' },
  { id: 'adminPatchAccountsAccount', path: '/accounts/terraform' },
  { id: 'adminGetAccountsAccount', path: '/accounts/terraform' },
  { id: 'adminGetAccounts', path: '/accounts?after=root' },
  {
    id: 'adminPostAccountsAccountTokens',
    path: '/accounts/terraform/tokens',
    finds: { account_token: 'data.id' },
  },
  { id: 'adminGetAccountsAccountTokens', path: '/accounts/terraform/tokens' },
  { id: 'adminDeleteAccountsAccountTokensToken', path: '/accounts/terraform/tokens/{account_token}' },
  { id: 'adminPostAccountsAccountResetPassword', path: '/accounts/terraform/reset-password' },
  { id: 'adminDeleteAccountsAccount', path: '/accounts/terraform' },
  { id: 'adminPutScopesScope', path: '/scopes/debian' },
  { id: 'adminPostWorkRequests', path: '/work-requests', finds: { work: 'data.id' } },
  { id: 'adminGetWorkRequests', path: '/work-requests?scope=debian' },
  { id: 'adminGetWorkRequestsId', path: '/work-requests/{work}' },
  { id: 'workerGetAgent', path: '/agent' },
  { id: 'workerPostActivate', path: '/activate', finds: { worker: 'worker_token' } },
  { id: 'workerPostReady', path: '/ready' },
  { id: 'workerPostHeartbeat', path: '/heartbeat' },
  { id: 'workerPostTake', path: '/take?wait=PT30S' },
  { id: 'workerPostFinish', path: '/finish' },
  { id: 'adminPostWorkRequests', path: '/work-requests', finds: { work: 'data.id' } },
  { id: 'adminDeleteWorkRequestsId', path: '/work-requests/{work}' },
  { id: 'adminPutAssetsAsset', path: '/assets/hcloud' },
  { id: 'adminPatchAssetsAsset', path: '/assets/hcloud' },
  { id: 'adminGetAssets', path: '/assets' },
  { id: 'adminGetAssetsAsset', path: '/assets/hcloud' },
  { id: 'adminPostAssetsAssetTest', path: '/assets/hcloud/test' },
  { id: 'adminPutWorkerPoolsPool', path: POOL },
  { id: 'adminPatchWorkerPoolsPool', path: POOL },
  { id: 'adminPutScopesScopeWorkerPoolsPool', path: `/scopes/debian${POOL}` },
  { id: 'adminPatchScopesScopeWorkerPoolsPool', path: `/scopes/debian${POOL}` },
  { id: 'adminGetScopesScopeWorkerPoolsPool', path: `/scopes/debian${POOL}` },
  { id: 'adminGetScopesScope', path: '/scopes/debian' },
  { id: 'adminGetScopes', path: '/scopes' },
  { id: 'adminPostWorkerPoolsPoolLaunch', path: `${POOL}/launch` },
  { id: 'adminGetWorkersWorker', path: '/workers/builders-001', awaits: '"booting"' },
  { id: 'adminGetWorkersWorker', path: '/workers/builders-001' },
  { id: 'adminGetWorkers', path: '/workers?pool=builders' },
  { id: 'adminGetWorkerPoolsPool', path: POOL },
  { id: 'adminGetWorkerPools', path: '/worker-pools' },
  { id: 'adminGetWorkerPoolsPoolUsage', path: `${POOL}/usage` },
  { id: 'adminPostWorkersWorkerTerminate', path: '/workers/builders-001/terminate' },
  { id: 'adminGetWorkersWorker', path: '/workers/builders-001', awaits: '"stopped"' },
  { id: 'adminGetWorkerPoolsPool', path: POOL, awaits: '"active_workers":[]' },
  { id: 'adminDeleteScopesScopeWorkerPoolsPool', path: `/scopes/debian${POOL}` },
  { id: 'adminDeleteScopesScope', path: '/scopes/debian' },
  { id: 'adminDeleteWorkerPoolsPool', path: `${POOL}?force=true` },
  { id: 'adminDeleteAssetsAsset', path: '/assets/hcloud' },
];

const methodsOf = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.looseObject({ operationId: z.string() }))),
});

/** The method of each operation. */
async function described(url: string): Promise<ReadonlyMap<string, string>> {
  const { paths } = methodsOf.parse(await (await request(`${url}/openapi.json`)).body.json());
  const operations = Object.values(paths).flatMap((methods) => Object.entries(methods));
  return new Map(operations.map(([method, { operationId }]) => [operationId, method.toUpperCase()]));
}

function missing(from: readonly string[], all: readonly string[]): readonly string[] {
  return all.filter((id) => !from.includes(id));
}

const EVIDENCE = formBody([
  { name: 'ip', value: '192.31.196.7' },
  { name: 'regions[]', value: 'eu-west' },
  { name: 'evidence', file: Buffer.from('%PDF-1.4\n'), fileName: 'contract.pdf', contentType: 'application/pdf' },
]);

examples(
  'are there for every operation, and are asked and answered as they are described, each after those before it',
  async (context) => {
    const { edgeward, cloud, url, hooks, found } = context;
    const methods = await described(url);
    const [ids, asked, given] = [[...methods.keys()], STEPS.map(({ id }) => id), Object.keys(EXAMPLES)];
    assert.equal(missing(given, ids), [], 'operations without an example in src/http/openapi/examples');
    assert.equal(missing(asked, ids), [], 'operations without a place in STEPS');
    assert.equal(missing(ids, [...given, ...asked]), [], 'examples and steps of no operation');
    const registered = await edgeward.json('worker', 'register', 'build-host', '--architectures', 'amd64');
    found.set('activation', z.object({ activation_token: z.string() }).parse(registered).activation_token);
    await edgeward.shown();
    /** What can't be the same on every machine, and what was found, in place of what the examples have. */
    const here = (text: string): string =>
      text
        .replaceAll('https://hooks.example.com', hooks)
        .replaceAll('/srv/lists', edgeward.folder)
        .replaceAll('https://api.hetzner.cloud/v1', cloud.url)
        .replaceAll('token-of-the-provider', cloud.token)
        .replaceAll(WORK_ID, found.get('work') ?? WORK_ID);
    const ask = async ({ id, path }: Step): Promise<Answered> => {
      const body = EXAMPLES[id]?.body;
      const json =
        body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: here(JSON.stringify(body)) };
      const { headers, body: sent = null } = { headers: {}, ...(id === 'postSourceWhitelist' ? EVIDENCE : json) };
      const { below, token } = scopeOf(id);
      const answered = await request(`${url}${below}${filled(path, found)}`, {
        method: methods.get(id) ?? 'GET',
        headers: { authorization: `Bearer ${found.get(token)}`, ...headers },
        body: sent,
      });
      return { status: answered.statusCode, headers: answered.headers, text: await answered.body.text() };
    };
    for (const step of STEPS) {
      const { id, awaits, finds = {} } = step;
      if (awaits !== undefined) {
        await waitUntil(`${id}: ${awaits}`, async () => (await ask(step)).text.includes(awaits));
        continue;
      }
      const { status, headers, text } = await ask(step);
      const { status: wanted, answer, isPart = false } = EXAMPLES[id] ?? {};
      assert.is(status, wanted, `${id}: ${text}`);
      // What is no JSON is a file, or nothing.
      if (answer === undefined) continue;
      const stated = withoutChance(here(JSON.stringify(answer)));
      if (isPart)
        assert.equal(
          rowsOf(stated).filter((row) => !hasRow(withoutChance(text), row)),
          [],
          id,
        );
      else assert.equal(withoutChance(text), stated, id);
      const all: unknown = { headers, ...Object(JSON.parse(text)) };
      for (const [name, place] of Object.entries(finds)) found.set(name, String(partOf(all, place)));
    }
  },
);

type Answered = Readonly<{ status: number; headers: IncomingHttpHeaders; text: string }>;

/** Below which path an operation is, and which of the tokens found it needs. */
function scopeOf(id: string): Readonly<{ below: string; token: string }> {
  if (id.startsWith('admin')) return { below: '/api/admin/v1', token: 'admin' };
  if (!id.startsWith('worker')) return { below: '/api/v1', token: 'customer' };
  const isBefore = id === 'workerGetAgent' || id === 'workerPostActivate';
  return { below: '/api/worker/v1', token: isBefore ? 'activation' : 'worker' };
}

/** The text with what was found in place of its names in braces. */
function filled(text: string, found: Found): string {
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => found.get(name) ?? '');
}

/** `data.0.id` of a value. */
function partOf(value: unknown, place: string): unknown {
  return place
    .split('.')
    .reduce<unknown>((inside, step) => z.record(z.string(), z.unknown()).parse(Object.assign({}, inside))[step], value);
}

/** The rows of an answer that is a list. */
function rowsOf(answer: unknown): readonly unknown[] {
  return z.object({ data: z.array(z.unknown()) }).parse(answer).data;
}

function hasRow(answer: unknown, row: unknown): boolean {
  return rowsOf(answer).some((one) => isDeepStrictEqual(one, row));
}

/** Fields that have something else each time. */
const DIFFERENT: ReadonlySet<string> = new Set([
  'behind',
  'last_used',
  'milliseconds',
  'month',
  'password',
  'position',
  'projected_seconds',
  'runtime_seconds',
  'used_seconds',
  'worker_token',
]);

/** A JSON text as a value, without what differs from run to run. */
function withoutChance(text: string): unknown {
  return JSON.parse(text, (name, value: unknown) => {
    if (DIFFERENT.has(name)) return name;
    if (typeof value !== 'string') return value;
    return value
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'an id')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:\+00:00|Z)/g, 'an instant')
      .replaceAll(/\b[0-9a-f]{64}\b/g, 'a hash')
      .replaceAll(/^admin:root\+[0-9a-f]{8}$/g, 'an administrator')
      .replaceAll(/\b(?:edwa?|whsec)_[A-Za-z0-9_+/=-]+/g, 'a secret');
  });
}

examples.run();
