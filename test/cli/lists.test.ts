// What lists are narrowed by, and what an id may be shortened to.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { openOutput } from '../../src/cli/output.ts';
import { submitForm } from '../http/customer/source-whitelist-examples.ts';
import { openApiClient } from '../support/http/api-client.ts';
import { addCustomer, addRegion, type Edgeward, openEdgeward } from '../support/servers/edgeward-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const test = suite<{ edgeward: Edgeward }>('lists and ids of the command line');

test.before(async (context) => {
  context.edgeward = await openEdgeward();
});
test.after(({ edgeward }) => edgeward.remove());

/** Of seventeen ids two begin with the same hexadecimal digit. */
const ENOUGH = 17;
const LATER = 'PT1H';
const NEVER = '2999-01-01T00:00:00Z';

/** An account at a provider that nobody asks. */
const ACCOUNT = {
  name: 'clouds',
  provider_type: 'hetzner',
  configuration: {},
  credentials: { api_token: 'x'.repeat(64) },
};

const ids = z.array(z.object({ id: z.string() }));

/** A beginning that two of them have, and those. */
function shared(all: readonly string[]): Readonly<{ beginning: string; owners: readonly string[] }> {
  for (const beginning of '0123456789abcdef') {
    const owners = all.filter((id) => id.startsWith(beginning));
    if (owners.length > 1) return { beginning, owners };
  }
  throw new Error('no two ids begin alike');
}

/** The shortest beginning of the first that no other has. */
function unique([first = '', ...others]: readonly string[]): string {
  let length = 1;
  while (others.some((id) => id.startsWith(first.slice(0, length)))) length += 1;
  return first.slice(0, length);
}

async function requireAmbiguous(edgeward: Edgeward, all: readonly string[], ...command: readonly string[]) {
  const { beginning, owners } = shared(all);
  const { exitCode, err } = await edgeward.command(...command, beginning, ...(REASON[command[1] ?? ''] ?? []));
  assert.is(exitCode, 2, command.join(' '));
  assert.match(err, new RegExp(`${owners.length} [a-z ]+ begin with ${beginning}: `));
  for (const id of owners) assert.ok(err.includes(`${id} (`), `${id} in ${err}`);
}

/** What these need besides an id. */
const REASON: Readonly<Record<string, readonly string[]>> = {
  reject: ['--reason', 'no'],
  evidence: ['--output', '/nonexistent/file'],
};

test('tokens and work go by the beginning of their ids; where several have it, they are listed', async ({
  edgeward,
}) => {
  await addRegion(edgeward, 'ams');
  await edgeward.json('customer', 'create', 'globex');
  const tokens: string[] = [];
  for (let count = 0; count < ENOUGH; count += 1) {
    const issued = await edgeward.json('token', 'create', 'globex', '--label', `n${count}`);
    tokens.push(z.object({ id: z.string() }).parse(issued).id);
  }
  for (const verb of ['disable', 'enable', 'revoke']) await requireAmbiguous(edgeward, tokens, 'token', verb);
  assert.match(
    JSON.stringify(await edgeward.json('token', 'disable', unique(tokens).toUpperCase())),
    String(tokens[0]),
  );

  const own = async (...more: readonly string[]) =>
    ids.parse(await edgeward.json('token', 'list', 'globex', ...more)).length;
  assert.equal(await Promise.all([own('--status', 'disabled'), own('--since', LATER), own('--since', NEVER)]), [
    1,
    ENOUGH,
    0,
  ]);

  await edgeward.json('scope', 'create', 'ci');
  const sent = await edgeward.json('work', 'submit', '--scope', 'ci', '--architecture', 'amd64');
  await edgeward.json('work', 'cancel', z.object({ id: z.string() }).parse(sent).id.slice(0, 8));
  const jobs = async (...more: readonly string[]) => ids.parse(await edgeward.json('work', 'list', ...more)).length;
  assert.equal(
    await Promise.all([jobs('--status', 'cancelled'), jobs('--state', 'cancelled'), jobs('--since', NEVER)]),
    [1, 1, 0],
  );
  for (const option of ['--status', '--state'])
    assert.is((await edgeward.command('work', 'list', option, 'done')).exitCode, 2, option);
});

test('a whitelist request goes by the beginning of its id, and requests by region, status and age', async ({
  edgeward,
}) => {
  await addRegion(edgeward, 'fra');
  await addRegion(edgeward, 'lon');
  const subnets = [
    ['203.0.113.0/24', 'fra'],
    ['198.51.100.0/24', 'lon'],
  ] as const;
  const { token } = await addCustomer(edgeward, 'acme', subnets, ['--allow-source-whitelist']);
  const api = openApiClient(await edgeward.serve(), token);
  for (let count = 0; count < ENOUGH; count += 1) {
    const regions = [count === 0 ? 'lon' : 'fra'];
    assert.is((await submitForm(api, { ip: `192.31.196.${count}`, regions })).status, 201);
  }
  await api.close();
  await edgeward.stop();
  const list = async (...more: readonly string[]) =>
    ids.parse(await edgeward.json('whitelist', 'list', ...more)).map(({ id }) => id);
  const all = await list();
  for (const verb of ['show', 'approve', 'reject', 'evidence'])
    await requireAmbiguous(edgeward, all, 'whitelist', verb);
  assert.match(JSON.stringify(await edgeward.json('whitelist', 'show', unique(all))), String(all[0]));
  await edgeward.json('whitelist', 'approve', unique(all));
  assert.equal(await list('--status', 'pending_deploy'), all.slice(0, 1));
  assert.is((await edgeward.command('whitelist', 'show', 'zz')).exitCode, 3);
  assert.is((await list('--region', 'lon')).length, 1);
  assert.is((await list('--since', LATER)).length, ENOUGH);
  assert.is((await list('--since', NEVER)).length, 0);
  assert.is((await edgeward.command('whitelist', 'list', '--region', 'nowhere')).exitCode, 3);
});

test('commits, subnets and customers are narrowed by region, status and age', async ({ edgeward }) => {
  await edgeward.json('commit', 'run', 'acme', 'fra', '--list', 'SRC_WHITELIST');
  const commits = async (...more: readonly string[]) =>
    z.array(z.unknown()).parse(await edgeward.json('commit', 'list', ...more)).length;
  const counts = [
    ['--region', 'fra'],
    ['--region', 'lon'],
    ['--status', 'success'],
    ['--status', 'failed'],
    ['--since', NEVER],
  ];
  assert.equal(await Promise.all(counts.map((options) => commits(...options))), [1, 0, 1, 0, 0]);
  const rows = async (...command: readonly string[]) => JSON.stringify(await edgeward.json(...command));
  assert.not.match(await rows('subnet', 'list', '--region', 'fra'), '198.51.100.0/24');
  await edgeward.json('customer', 'disable', 'globex');
  assert.match(await rows('customer', 'list', '--status', 'disabled'), 'globex');
  assert.not.match(await rows('customer', 'list', '--status', 'disabled'), 'acme');
  await edgeward.json('admin', 'create', 'ada');
  assert.is(await rows('admin', 'list', '--status', 'disabled'), '[]');
  assert.match(await rows('admin', 'list', '--status', 'enabled'), 'ada');
  for (const since of ['yesterday', 'P', '2026-11-27']) {
    const { exitCode, err } = await edgeward.command('commit', 'list', '--since', since);
    assert.is(exitCode, 2, since);
    assert.match(err, '--since must be an instant with an offset');
  }
});

/** The lists, with what each is narrowed by besides `--limit`. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
  'admin list': ['status', 'since'],
  'admin token list': ['since'],
  'asset list': ['since'],
  'commit list': ['status', 'region', 'since'],
  'customer list': ['status', 'region', 'since'],
  events: ['region', 'since'],
  'projections list': [],
  'region list': ['since'],
  'router list': ['status', 'region', 'since'],
  'scope list': ['since'],
  'secret list': ['status', 'since'],
  'subnet list': ['region', 'since'],
  'token list': ['status', 'since'],
  'whitelist list': ['status', 'region', 'since'],
  'work list': ['status', 'since'],
  'worker list': ['status', 'since'],
  'worker_pool list': ['status', 'since'],
};

test('every list says in its help what it is narrowed by, and no other command does', async ({ edgeward }) => {
  const found: Record<string, readonly string[]> = {};
  const walk = async (...path: readonly string[]): Promise<void> => {
    const help = (await edgeward.command(...path, '--help')).out;
    if (/^ {2}--limit /m.test(help)) {
      found[path.join(' ')] = ['status', 'region', 'since'].filter((name) =>
        new RegExp(`^ {2}--${name} `, 'm').test(help),
      );
    }
    const [, commands = ''] = help.split('\nCommands:\n');
    for (const [, name = ''] of commands.matchAll(/^ {2}(\S+)/gm)) if (name !== 'help') await walk(...path, name);
  };
  await walk();
  assert.equal(found, LISTS);
});

test('--since leaves what was made since then, in every list of what is made', async ({ edgeward }) => {
  await edgeward.json('admin', 'token', 'create', 'ada', '--scopes', 'read');
  const pool = join(edgeward.folder, 'account.json');
  writeFileSync(pool, JSON.stringify(ACCOUNT));
  await edgeward.json('asset', 'create', 'cloud-provider-account', '--data', pool);
  await edgeward.json('worker', 'register', 'w1', '--architectures', 'amd64');
  const count = async (list: string, ...more: readonly string[]) => {
    const rows = await edgeward.json(...list.split(' '), ...(list === 'events' ? ['--all'] : []), ...more);
    return z.array(z.unknown()).parse(rows).length;
  };
  for (const [list, options] of Object.entries(LISTS)) {
    if (!options.includes('since') || list === 'worker_pool list') continue;
    const all = await count(list);
    assert.ok(all > 0, list);
    assert.equal([await count(list, '--since', LATER), await count(list, '--since', NEVER)], [all, 0], list);
    assert.is(await count(list, '--limit', '1'), 1, list);
  }
});

test('customers are narrowed by where they have a subnet, secrets by whether something uses them', async ({
  edgeward,
}) => {
  const named = z.array(z.object({ name: z.string() }));
  const customers = async (region: string) =>
    named.parse(await edgeward.json('customer', 'list', '--region', region)).map(({ name }) => name);
  assert.equal([await customers('lon'), await customers('ams')], [['acme'], []]);
  assert.is((await edgeward.command('customer', 'list', '--region', 'nowhere')).exitCode, 3);

  const file = join(edgeward.folder, 'login');
  writeFileSync(file, 'let-me-in');
  await edgeward.json('secret', 'put', 'spare', '--from', file);
  const secrets = async (status: string) =>
    ids.parse(await edgeward.json('secret', 'list', '--status', status)).map(({ id }) => id);
  assert.equal(await secrets('unused'), ['spare']);
  assert.equal(await secrets('missing'), []);
  assert.not.ok((await secrets('used')).includes('spare'));
});

test('long lists of ranges are told by their ends, and whole where that is asked for', async ({ edgeward }) => {
  const { token } = await addCustomer(edgeward, 'initech', [['192.0.2.0/24', 'fra']]);
  const api = openApiClient(await edgeward.serve(), token);
  const ips = Array.from({ length: 60 }, (_, at) => `192.0.2.${2 * at}`);
  assert.is((await api.post('/ips/bulk', { action: 'disable', ips })).status, 200);
  await api.close();
  await edgeward.stop();
  const out = async (...command: readonly string[]) => (await edgeward.command(...command)).out;
  const events = ['events', 'initech', '--type', 'AddressesDisabled'] as const;
  assert.match(await out(...events), '"ranges":"60 ranges (192.0.2.0 … 192.0.2.118)"');
  assert.match(await out(...events, '--wide'), '"192.0.2.2","192.0.2.4"');
  assert.match(await out(...events, '--json=lines'), /^\{"at".*"192\.0\.2\.2","192\.0\.2\.4".*\}\n$/);
  assert.match(await out('state', 'initech'), '    60 blocks (192.0.2.0/32 … 192.0.2.118/32); --wide lists them\n');
  assert.match(await out('state', 'initech', '--wide'), '    192.0.2.2/32\n');
  const diff = ['commit', 'diff', 'initech', 'fra'] as const;
  assert.match(await out(...diff), '  + 60 blocks (192.0.2.0/32 … 192.0.2.118/32); --wide lists them\n');
  assert.match(await out(...diff, '--wide'), '  + 192.0.2.2/32\n');
  assert.is((await out('events', '--all', '--limit', '3')).trim().split('\n').length, 4, 'a heading and three rows');
  assert.is((await out('events', '--all', '--limit', '3', '--json=lines')).trim().split('\n').length, 3);
});

test('routers are listed with whether they answered the server, and when they last did', async ({ edgeward }) => {
  const one = z.object({ name: z.string(), status: z.string(), last_seen: z.string().nullable() });
  const list = async (...more: readonly string[]) =>
    z.array(one).parse(await edgeward.json('router', 'list', '--region', 'fra', ...more));
  await edgeward.serve();
  const check = () => edgeward.command('router', 'check', 'fra-edge1');
  assert.is((await check()).exitCode, 0);
  const [seen] = await waitUntil('it was seen', async () => {
    const rows = await list('--status', 'reachable');
    return rows.length > 0 ? rows : undefined;
  });
  assert.match(seen?.last_seen ?? '', /^\d{4}-\d\d-\d\dT/);
  rmSync(join(edgeward.folder, 'fra'), { recursive: true });
  assert.is((await check()).exitCode, 1);
  await waitUntil('it is away', async () => (await list('--status', 'unreachable')).length > 0);
  // What was seen outlives the server.
  await edgeward.stop();
  const [away] = await list();
  assert.is(away?.status, 'unreachable');
  assert.ok((away?.last_seen ?? '') >= (seen?.last_seen ?? '-'), 'when it was last seen is still told');
  const table = (await edgeward.command('router', 'list')).out;
  assert.match(table, /^REGION +NAME +DRIVER +STATUS +LAST_SEEN +OPTIONS$/m);
  assert.match(table, /^fra +fra-edge1 +file +unreachable +\d{4}-\S+\+00:00 /m);
  await edgeward.json('router', 'disable', 'fra-edge1');
  assert.is((await list())[0]?.status, 'disabled');
});

test('instants for people have one form, whatever form they were written in', () => {
  let text = '';
  const at = ['2026-11-27T20:50:00Z', '2026-11-27T22:50:00.000123+02:00', '2026-11-27T20:50:00.000+00:00'];
  openOutput(false, (more) => void (text += more)).table(
    ['at'],
    at.map((one) => ({ at: one })),
  );
  assert.is(text, `AT\n${'2026-11-27T20:50:00.000+00:00\n'.repeat(3)}`);
});

test.run();
