// What machines read, whatever command prints it: the names of fields, and the form of instants.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openApiClient } from '../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../support/servers/edgeward-server.ts';

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west');
const allowed = ['--webhook-url', 'http://127.0.0.1:9/hook', '--allow-source-whitelist'];
const acme = await addCustomer(edgeward, 'Acme', [['203.0.113.0/24', 'eu-west']], allowed);
const api = openApiClient(await edgeward.serve(), acme.token);

test.after(async () => {
  await api.close();
  await edgeward.remove();
});

/** Below these the names are somebody else's: those of the log, of a driver, of a provider. */
const NOT_OURS: ReadonlySet<string> = new Set(['data', 'options', 'specifications']);
const SNAKE_CASE = /^[a-z0-9]+(?:_[a-z0-9]+)*$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;
const WITH_OFFSET = /[+-]\d\d:\d\d$/;

/** What is not as it should be in a value, each with its path. */
function wrongIn(value: unknown, path: string): readonly string[] {
  if (typeof value === 'string') return INSTANT.test(value) && !WITH_OFFSET.test(value) ? [`${path}: ${value}`] : [];
  if (Array.isArray(value)) return value.flatMap((entry: unknown) => wrongIn(entry, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) => [
    ...(SNAKE_CASE.test(name) ? [] : [`${path}.${name}`]),
    ...(NOT_OURS.has(name) ? [] : wrongIn(member, `${path}.${name}`)),
  ]);
}

function document(name: string, content: object): string {
  const path = join(edgeward.folder, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

test('fields are in snake case and instants have a numeric offset, whatever command prints them', async () => {
  assert.is((await api.post('/ips/disable', { ip: '203.0.113.7', until: 'PT1H', reason: 'scan' })).status, 200);
  const account = document('account.json', {
    name: 'hcloud',
    provider_type: 'hetzner',
    configuration: { server_url: 'https://edgeward.example.com' },
    credentials: { api_token: 'hunter2' },
  });
  const kind = { provider_type: 'hetzner', server_type: 'cx32', image_name: 'debian-13' };
  const queue = [{ scope: 'debian', architecture: 'amd64', count: 2, expected_seconds: 600 }];
  const pool = ['--provider-account', 'hcloud', '--architectures', 'amd64'];
  const commands: readonly (readonly string[])[] = [
    ['commit', 'list'],
    ['commit', 'diff', 'Acme', 'eu-west'],
    ['commit', 'diff', '--all'],
    ['commit', 'run', 'Acme', 'eu-west'],
    ['commit', 'list'],
    ['customer', 'update', 'Acme', '--rotate-webhook-secret'],
    ['customer', 'list'],
    ['customer', 'show', 'Acme'],
    ['token', 'create', 'Acme', '--expires', 'P1D'],
    ['token', 'list'],
    ['subnet', 'list'],
    ['region', 'list'],
    ['router', 'list'],
    ['router', 'test', 'eu-west-edge1'],
    ['router', 'check', 'eu-west-edge1'],
    ['router', 'check', '--all'],
    ['router', 'prune', 'eu-west-edge1'],
    ['router', 'disable', 'eu-west-edge1'],
    ['router', 'enable', 'eu-west-edge1'],
    ['router', 'drain', 'eu-west-edge1'],
    ['whitelist', 'list'],
    ['events', 'Acme'],
    ['events', 'Acme', '--deliveries'],
    ['events', '--all'],
    ['state', 'Acme'],
    ['state', 'Acme', '--at', '2099-01-01T00:00:00Z'],
    ['admin', 'create', 'ada'],
    ['admin', 'list'],
    ['admin', 'token', 'create', 'ada', '--scopes', 'read'],
    ['admin', 'token', 'list'],
    ['secret', 'list'],
    ['restore', 'status'],
    ['projections', 'list'],
    ['verify', '--views'],
    ['asset', 'create', 'cloud-provider-account', '--data', account],
    ['asset', 'list'],
    ['asset', 'show', 'hcloud'],
    ['worker_pool', 'create', 'spot', ...pool, '--specifications', document('kind.json', kind)],
    ['worker_pool', 'list'],
    ['scope', 'create', 'debian'],
    ['scope', 'add_worker_pool', 'debian', 'spot'],
    ['scope', 'list'],
    ['scope', 'show', 'debian'],
    ['worker_pool', 'scale', '--queue', document('queue.json', queue), '--dry-run'],
    ['worker_pool', 'usage'],
    ['worker_pool', 'usage', 'spot'],
    ['worker_pool', 'show', 'spot'],
    ['worker', 'register', 'builder', '--architectures', 'amd64'],
    ['worker', 'list'],
    ['worker', 'show', 'builder'],
    ['work', 'submit', '--scope', 'debian', '--architecture', 'amd64'],
    ['work', 'list'],
    ['stores', 'backup', join(edgeward.folder, 'backup')],
  ];
  /** As release 0.1 wrote it: states of one log are the same bytes ever since. */
  const asEver = /^state Acme[^.]*\.at: /;
  const wrong: string[] = [];
  for (const args of commands) wrong.push(...wrongIn(await edgeward.json(...args), args.slice(0, 3).join(' ')));
  assert.equal(
    [...new Set(wrong)].filter((one) => !asEver.test(one)),
    [],
  );
});

test.run();
