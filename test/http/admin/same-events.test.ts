// One story, told by the command line and through the API: the log says the same, but for who did it.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SCOPES_OF_ROLE } from '../../../src/domain/ip-control/admin-roles.ts';
import { type AdminClient, adminToken, openAdminClient } from '../../support/http/admin-client.ts';
import { type Edgeward, openEdgeward } from '../../support/servers/edgeward-server.ts';

const opened: (() => Promise<void>)[] = [];
test.after(async () => {
  for (const close of opened.toReversed()) await close();
});

type Step = Readonly<{ command: readonly string[]; ask: (api: AdminClient) => Promise<Readonly<{ status: number }>> }>;

const HOOK = 'https://hooks.example.com/edgeward';
const subnet = { region: 'eu-west', asn: 64_500, metro: 'ams' };

/** Told in an installation of its own, whose folder has room for a router. */
const storyIn = (folder: string): readonly Step[] => [
  { command: ['region', 'create', 'eu-west'], ask: (api) => api.put('/regions/eu-west', {}) },
  {
    command: ['region', 'update', 'eu-west', '--deploy-policy', 'all-or-nothing'],
    ask: (api) => api.patch('/regions/eu-west', { deploy_policy: 'all-or-nothing' }),
  },
  {
    command: ['customer', 'create', 'Acme', '--rate-limit', '120', '--webhook-url', HOOK],
    ask: (api) => api.put('/customers/Acme', { rate_limit: 120, webhook_url: HOOK }),
  },
  {
    command: ['customer', 'update', 'Acme', '--trusted', '--reason', 'audited', '--ticket', 'T-7'],
    ask: (api) => api.patch('/customers/Acme', { trusted: true, reason: 'audited', ticket: 'T-7' }),
  },
  {
    command: ['customer', 'update', 'Acme', '--rotate-webhook-secret'],
    ask: (api) => api.post('/customers/Acme/webhook-secret'),
  },
  {
    command: ['subnet', 'add', 'Acme', '203.0.113.0/24', '--region', 'eu-west', '--asn', '64500', '--metro', 'ams'],
    ask: (api) => api.put('/customers/Acme/subnets/203.0.113.0%2F24', subnet),
  },
  {
    command: ['token', 'create', 'Acme', '--label', 'ci'],
    ask: (api) => api.post('/customers/Acme/tokens', { label: 'ci' }),
  },
  {
    command: [
      'router',
      'add',
      'eu-west',
      'edge1',
      '--driver',
      'file',
      '--option',
      `path=${folder}/edge1`,
      '--no-repair',
    ],
    ask: (api) =>
      api.put('/regions/eu-west/routers/edge1', {
        driver: 'file',
        options: { path: `${folder}/edge1` },
        repair: false,
      }),
  },
  {
    command: ['router', 'update', 'eu-west', 'edge1', '--repair'],
    ask: (api) => api.patch('/regions/eu-west/routers/edge1', { repair: true }),
  },
  {
    command: ['router', 'disable', 'eu-west', 'edge1'],
    ask: (api) => api.post('/regions/eu-west/routers/edge1/disable'),
  },
  {
    command: ['router', 'remove', 'eu-west', 'edge1'],
    ask: (api) => api.remove('/regions/eu-west/routers/edge1'),
  },
  { command: ['subnet', 'remove', '1'], ask: (api) => api.remove('/customers/Acme/subnets/1') },
  {
    command: ['admin', 'create', 'grace', '--role', 'reviewer'],
    ask: (api) => api.put('/accounts/grace', { role: 'reviewer' }),
  },
  { command: ['admin', 'role', 'grace', 'auditor'], ask: (api) => api.patch('/accounts/grace', { role: 'auditor' }) },
  { command: ['admin', 'disable', 'grace'], ask: (api) => api.remove('/accounts/grace') },
  { command: ['scope', 'create', 'debian'], ask: (api) => api.put('/scopes/debian', {}) },
  {
    command: ['work', 'submit', '--scope', 'debian', '--architecture', 'amd64', '--expected-seconds', '60'],
    ask: (api) => api.post('/work-requests', { scope: 'debian', architecture: 'amd64', expected_seconds: 60 }),
  },
];

async function open(): Promise<Edgeward> {
  const edgeward = await openEdgeward();
  opened.push(edgeward.remove);
  return edgeward;
}

/** Ids, instants, hashes and beginnings of secrets are of each telling's own. */
function plain(data: object, { folder }: Edgeward): unknown {
  const text = JSON.stringify(data).replaceAll(folder, 'folder');
  return JSON.parse(
    text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{64}|edw_[\w-]{6}|\d{4}-\d\d-\d\dT[\d:.]+\+00:00/g, 'own'),
  );
}

async function told(edgeward: Edgeward, position: bigint) {
  const events = (await edgeward.events()).filter((event) => event.position > position);
  return {
    events: events.map(({ stream, type, data }) => plain({ stream, type, data }, edgeward)),
    actors: [...new Set(events.map(({ metadata }) => metadata.actor))],
  };
}

test('the same events come of it, by another actor', async () => {
  const [typed, called] = [await open(), await open()];
  const start = await typed.end();
  for (const { command } of storyIn(typed.folder)) await typed.json(...command);
  const { token, id } = await adminToken(called, 'ada', SCOPES_OF_ROLE.administrator);
  const url = await called.serve({ ROUTER_FILES_ROOT: called.folder });
  const api = openAdminClient(url, token);
  opened.push(api.close);
  const begin = await called.end();
  for (const { ask, command } of storyIn(called.folder)) {
    const { status } = await ask(api);
    assert.ok(status === 200 || status === 201, `${command.join(' ')}: ${status}`);
  }
  const [byCommand, byApi] = [await told(typed, start), await told(called, begin)];
  assert.equal(byApi.events, byCommand.events);
  assert.match(byCommand.actors.join(), /^admin:[^,]+@cli$/);
  assert.equal(byApi.actors, [`admin:ada+${id.slice(0, 8)}`]);
});

test.run();
