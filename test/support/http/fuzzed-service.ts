import * as assert from 'uvu/assert';
import { z } from 'zod';
import { EXAMPLES } from '../../../src/http/openapi/examples.ts';
import type { TestCustomer } from '../servers/edgeward-server.ts';
import { waitUntil } from '../wait-until.ts';
import { type Answer, openApiClient } from './api-client.ts';
import { openAdminClient } from './admin-client.ts';
import { formBody } from './multipart-form.ts';

export type FuzzedTokens = Readonly<{ customer: string; admin: string; worker: string }>;

/** What is there, by the name of the parameter or field that can name it, for each of those who ask. */
export type Known = Readonly<Record<keyof FuzzedTokens, Readonly<Record<string, readonly (string | number)[]>>>>;

const rows = z.object({ data: z.array(z.looseObject({ id: z.union([z.string(), z.number()]).optional() })) });
const made = z.object({ data: z.looseObject({ id: z.string() }) });

/** Gives a service something of each kind, so that what is asked at random is asked about what is there; says what that is. */
export async function furnishForFuzzing(url: string, tokens: FuzzedTokens, customer: TestCustomer): Promise<Known> {
  const own = openApiClient(url, tokens.customer);
  const admin = openAdminClient(url, tokens.admin);
  try {
    const requests: string[] = [];
    for (const ip of ['192.31.196.7', '192.31.196.9', '192.31.196.11']) {
      const submitted = right(await own.send('/source-whitelist', evidenceFor(ip)));
      requests.push(z.object({ data: z.object({ request_id: z.string() }) }).parse(submitted.json).data.request_id);
    }
    for (const cidr of ['203.0.113.0/29', '2001:db8::/96'])
      right(await own.post('/ips/bulk', { action: 'disable', cidr, until: 'P2D' }));
    const put = async (path: string, of: string, more = {}): Promise<Answer> =>
      right(await admin.put(path, { ...EXAMPLES[of]?.body, ...more }));
    await put('/assets/hcloud', 'adminPutAssetsAsset');
    // No instance is to be created at a provider that is not there.
    await put('/worker-pools/builders', 'adminPutWorkerPoolsPool', { enabled: false });
    await put('/scopes/debian', 'adminPutScopesScope');
    await put('/scopes/debian/worker-pools/builders', 'adminPutScopesScopeWorkerPoolsPool');
    const work: string[] = [];
    for (let at = 0; at < 5; at += 1)
      work.push(
        made.parse(right(await admin.post('/work-requests', EXAMPLES['adminPostWorkRequests']?.body)).json).data.id,
      );
    for (const account of ['terraform', 'eve']) await put(`/accounts/${account}`, 'adminPutAccountsAccount');
    const issued = right(
      await admin.post('/accounts/terraform/tokens', EXAMPLES['adminPostAccountsAccountTokens']?.body),
    );
    const spare = right(await admin.post('/customers/Acme/tokens', { label: 'spare' }));
    await put('/customers/Beta', 'adminPutCustomersCustomer', { webhook_url: null });
    const deliveries = await waitUntil('a commit is told', async () => {
      const { data } = rows.parse((await own.get('/webhook-deliveries')).json);
      return data.length > 0 && data.map(({ id }) => String(id));
    });
    const commits = z
      .object({ data: z.array(z.object({ commit_set_id: z.string() })) })
      .parse((await own.get('/commits')).json).data;
    const sets = commits.map(({ commit_set_id: id }) => id);
    const regions = ['eu-west'];
    return {
      customer: {
        subnet_id: customer.subnetIds,
        commit_set_id: sets,
        id: deliveries,
        request_id: requests,
        'regions[]': regions,
        region: regions,
      },
      worker: { id: work },
      admin: {
        customer: ['Acme', 'Beta', customer.id],
        subnet: ['203.0.113.0/24', ...customer.subnetIds],
        token: [made.parse(issued.json).data.id, made.parse(spare.json).data.id],
        delivery: deliveries,
        request: requests,
        region: regions,
        router: ['eu-west-edge1'],
        commit_set: sets,
        stream: ['customer-1', 'region-1'],
        position: ['1', '5', '9'],
        account: ['terraform', 'eve'],
        pool: ['builders'],
        scope: ['debian'],
        asset: ['hcloud'],
        worker: ['w1'],
        id: work,
      },
    };
  } finally {
    await Promise.all([own.close(), admin.close()]);
  }
}

function right(answer: Answer): Answer {
  assert.ok(answer.status < 300, answer.text);
  return answer;
}

function evidenceFor(ip: string) {
  return formBody([
    { name: 'ip', value: ip },
    { name: 'regions[]', value: 'eu-west' },
    { name: 'evidence', file: Buffer.from('%PDF-1.4\n'), fileName: 'contract.pdf', contentType: 'application/pdf' },
  ]);
}
