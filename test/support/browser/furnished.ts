import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { submissionOf, submitForm } from '../../http/customer/source-whitelist-examples.ts';
import { openApiClient } from '../http/api-client.ts';
import { png } from '../http/multipart-form.ts';
import { freePort } from '../free-port.ts';
import type { Edgeward } from '../servers/edgeward-server.ts';

/** A name that is markup, with letters that go the other way. */
export const HOSTILE_NAME = '<script>alert(1)</script> "עזה" & Söhne';

/** An installation in which each page has something to show: a region, customers (one with a hostile name), subnets and tokens. */
export async function furnish(edgeward: Edgeward): Promise<Readonly<{ token: string; tokenId: string }>> {
  const { json, folder } = edgeward;
  await json('region', 'create', 'eu-west');
  await json('router', 'add', 'eu-west', 'edge1', '--driver', 'file', '--option', `path=${join(folder, 'edge1')}`);
  await json(
    'customer',
    'create',
    'Acme Corp.',
    '--webhook-url',
    'https://hooks.example/edgeward',
    '--allow-synchronous',
    '--allow-source-whitelist',
  );
  await json('customer', 'create', HOSTILE_NAME);
  await json('customer', 'create', 'W'.repeat(64));
  await json(
    'subnet',
    'add',
    'Acme Corp.',
    '203.0.113.0/24',
    '--region',
    'eu-west',
    '--asn',
    '64500',
    '--metro',
    'ams',
  );
  await json(
    'subnet',
    'add',
    'Acme Corp.',
    '2001:db8:7::/48',
    '--region',
    'eu-west',
    '--asn',
    '64500',
    '--metro',
    'ams',
  );
  await furnishPool(edgeward);
  await json('token', 'create', HOSTILE_NAME, '--label', '"><img src=x onerror=alert(1)>');
  const issued = await json('token', 'create', 'Acme Corp.', '--label', 'furnished');
  return z
    .object({ token: z.string(), id: z.string() })
    .transform(({ token, id }) => ({ token, tokenId: id }))
    .parse(issued);
}

/** A pool of workers that is disabled, with one worker that its provider does not launch, and a scope that uses it. */
async function furnishPool({ json, folder }: Edgeward): Promise<void> {
  const [account, specifications] = [join(folder, 'account.json'), join(folder, 'specifications.json')];
  const configuration = { endpoint: `http://127.0.0.1:${await freePort()}`, server_url: 'https://edgeward.example' };
  await writeFile(
    account,
    JSON.stringify({ name: 'cloud', provider_type: 'hetzner', configuration, credentials: { api_token: 'secret' } }),
  );
  const machine = { server_type: 'cax11', image_name: 'debian-12', location: 'fsn1', networks: [], ssh_keys: [] };
  await writeFile(specifications, JSON.stringify({ provider_type: 'hetzner', ...machine }));
  const pool = ['--provider-account', 'cloud', '--architectures', 'arm64', '--specifications', specifications];
  await json('asset', 'create', 'cloud-provider-account', '--data', account);
  await json('worker_pool', 'create', 'small', ...pool);
  await json('worker_pool', 'launch', 'small', '1');
  await json('worker_pool', 'disable', 'small');
  await json('scope', 'create', 'builds');
  await json('scope', 'add_worker_pool', 'builds', 'small', '--priority', '5');
}

/** What only a running server takes in: requests for the whitelist, with evidence, and a commit. Gives the first one's id, and the commit's. */
export async function furnishRunning(
  base: string,
  token: string,
): Promise<Readonly<{ requestId: string; commitSetId: string }>> {
  const api = openApiClient(base, token);
  const ids: string[] = [];
  for (const ip of ['192.31.196.1', '192.31.196.2']) {
    const submitted = await submitForm(api, { ip, evidence: png(), fileName: '<b>letter.png' });
    ids.push(submissionOf(submitted).data.request_id);
  }
  const disabled = await api.post('/ips/disable', { ip: '203.0.113.200', synchronous: true });
  if (disabled.status !== 200) throw new Error(disabled.text);
  const commits = z.object({ data: z.array(z.object({ commit_set_id: z.string() })) });
  const [commit] = commits.parse((await api.get('/commits')).json).data;
  await api.close();
  return { requestId: ids[0] ?? '', commitSetId: commit?.commit_set_id ?? '' };
}
