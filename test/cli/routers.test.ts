import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { openSqliteLeases } from '../../src/adapters/sqlite/leases.ts';
import { openApiClient } from '../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../support/servers/edgeward-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const LIST = 'Svc-ACME-BLACKHOLE';
const STRAY = 'Svc-STRAY';

// Nobody looks at routers by himself: what is seen here is what was asked for.
const edgeward = await openEdgeward({ DRIFT_INTERVAL: 'PT0S' });
await addRegion(edgeward, 'ams', 2);
const acme = await addCustomer(edgeward, 'Acme', [['203.0.113.0/24', 'ams']]);

test.after(() => edgeward.remove());

function fileOf(router: 'ams' | 'ams-2', list = LIST): string {
  return join(edgeward.folder, router, list);
}

function heldBy(router: 'ams' | 'ams-2'): string {
  return readFileSync(fileOf(router), 'utf8');
}

async function disable(...ips: readonly string[]): Promise<void> {
  const api = openApiClient(await edgeward.serve(), acme.token);
  assert.is((await api.post('/ips/bulk', { action: 'disable', ips })).status, 200);
  await api.close();
  await edgeward.stop();
}

async function eventTypesOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  const before = (await edgeward.events()).length;
  await work();
  return (await edgeward.events()).slice(before).map(({ type }) => type);
}

const states = z.array(
  z.object({
    name: z.string(),
    state: z.string(),
    repair: z.boolean(),
    drifted: z.array(z.string()),
    unowned: z.array(z.string()),
  }),
);

async function stateOf(router: string) {
  return states.parse(await edgeward.json('router', 'list')).find(({ name }) => name === router);
}

test('what is due is shown for all customers, counted and listed, and nothing is changed by looking', async () => {
  assert.equal(await edgeward.json('commit', 'diff', '--due'), {
    lists_count: 0,
    added_count: 0,
    removed_count: 0,
    lists: [],
  });
  await disable('203.0.113.1', '203.0.113.7');
  writeFileSync(fileOf('ams'), '203.0.113.64/26\n');
  const recorded = await eventTypesOf(async () => {
    const { out, exitCode } = await edgeward.command('commit', 'diff', '--due');
    assert.is(exitCode, 0);
    assert.is(
      out,
      [
        `${LIST} in ams: 2 blocks`,
        'ams-edge1: 2 added, 1 removed',
        '  + 203.0.113.1/32',
        '  + 203.0.113.7/32',
        '  - 203.0.113.64/26',
        'ams-edge2: 2 added, 0 removed',
        '  + 203.0.113.1/32',
        '  + 203.0.113.7/32',
        '1 list: 4 added, 1 removed in all',
        '',
      ].join('\n'),
    );
    const { lists_count: lists, added_count: added } = Object(await edgeward.json('commit', 'diff', '--all'));
    assert.equal({ lists, added }, { lists: 2, added: 4 });
  });
  assert.equal(recorded, []);
  assert.is(heldBy('ams'), '203.0.113.64/26\n');
  for (const args of [[], ['Acme'], ['Acme', 'ams', '--due']])
    assert.is((await edgeward.command('commit', 'diff', ...args)).exitCode, 2, args.join(' '));
});

test('a disabled router is passed over by commits, and said so', async () => {
  const { out } = await edgeward.command('router', 'disable', 'ams-edge2');
  assert.is(out, 'router ams-edge2 is disabled\n');
  assert.is((await edgeward.command('commit', 'run', 'Acme', 'ams')).exitCode, 0);
  assert.is(heldBy('ams'), '203.0.113.1/32\n203.0.113.7/32\n');
  assert.throws(() => heldBy('ams-2'));
  assert.is((await stateOf('ams-edge2'))?.state, 'disabled');
  const [commit] = z
    .array(z.object({ outcomes: z.array(z.object({ result: z.string() })) }))
    .parse(await edgeward.json('commit', 'list'));
  assert.equal(
    commit?.outcomes.map(({ result }) => result),
    ['confirmed', 'skipped'],
  );
  assert.match((await edgeward.command('commit', 'diff', 'Acme', 'ams')).out, /^ams-edge2: disabled/m);
});

test('enabled without a server, it is brought up to date by the command itself', async () => {
  const recorded = await eventTypesOf(async () => {
    assert.equal(await edgeward.json('router', 'enable', 'ams-edge2'), {
      name: 'ams-edge2',
      region: 'ams',
      state: 'enabled',
      lists: 1,
      changed: 1,
    });
  });
  assert.equal(recorded, ['RouterEnabled', 'RouterCaughtUp']);
  assert.is(heldBy('ams-2'), heldBy('ams'));
  assert.is((await edgeward.command('router', 'enable', 'ams-edge2')).out, 'router ams-edge2 is enabled\n');
});

test('enabled beside a server, the server does it', async () => {
  await edgeward.serve();
  await edgeward.json('router', 'disable', 'ams-edge2');
  writeFileSync(fileOf('ams-2'), '');
  const { out } = await edgeward.command('router', 'enable', 'ams-edge2');
  assert.is(out, 'router ams-edge2 is enabled and up to date: 1 list compared, 1 changed\n');
  assert.is(heldBy('ams-2'), heldBy('ams'));
  await edgeward.stop();
});

test('a router that can not be brought up to date does not count, and the command says so', async () => {
  await edgeward.json('router', 'disable', 'ams-edge2');
  rmSync(join(edgeward.folder, 'ams-2'), { recursive: true });
  const { exitCode, err } = await edgeward.command('router', 'enable', 'ams-edge2');
  assert.is(exitCode, 1);
  assert.match(err, /ams-edge2 is not up to date: unreachable/);
  assert.is((await stateOf('ams-edge2'))?.state, 'catching-up');
  await edgeward.json('router', 'disable', 'ams-edge2');
});

for (const where of ['without a server', 'beside a server'] as const) {
  test(`a check finds what others have changed, and puts it right, ${where}`, async () => {
    if (where === 'beside a server') await edgeward.serve();
    writeFileSync(fileOf('ams'), 'nonsense');
    writeFileSync(fileOf('ams', STRAY), '192.0.2.0/24\n');
    const { out, exitCode } = await edgeward.command('router', 'check', 'ams-edge1');
    assert.is(exitCode, 0);
    assert.is(
      out,
      [
        'ams-edge1: 1 list compared, 1 drifted, 1 repaired; 0 left to commits under way; 1 without a customer',
        `  repaired ${LIST}`,
        `  unowned ${STRAY}`,
        '',
      ].join('\n'),
    );
    assert.is(heldBy('ams'), '203.0.113.1/32\n203.0.113.7/32\n');
    assert.equal((await stateOf('ams-edge1'))?.unowned, [STRAY]);
    assert.equal(await edgeward.json('router', 'prune', 'ams-edge1'), {
      name: 'ams-edge1',
      region: 'ams',
      removed: [STRAY],
      unowned: [STRAY],
      problems: [],
    });
    assert.throws(() => readFileSync(fileOf('ams', STRAY)));
    assert.equal((await stateOf('ams-edge1'))?.unowned, []);
    await edgeward.stop();
  });
}

test('where drift is not to be put right it is told, and left', async () => {
  await edgeward.json('router', 'update', 'ams-edge1', '--no-repair');
  writeFileSync(fileOf('ams'), '');
  const { exitCode, out } = await edgeward.command('router', 'check', '--all');
  assert.is(exitCode, 1);
  assert.match(out, `  drifted ${LIST}`);
  assert.is(heldBy('ams'), '');
  assert.equal((await stateOf('ams-edge1'))?.drifted, [LIST]);
  await edgeward.json('router', 'update', 'ams-edge1', '--repair');
  assert.equal(
    z
      .object({ drifted_count: z.number(), repaired_count: z.number() })
      .parse(await edgeward.json('router', 'check', '--all')),
    {
      drifted_count: 1,
      repaired_count: 1,
    },
  );
  assert.equal((await stateOf('ams-edge1'))?.drifted, []);
  assert.is((await edgeward.command('router', 'update', 'ams-edge1')).exitCode, 2);
  assert.is((await edgeward.command('router', 'check')).exitCode, 2);
});

test('a router that is added with --no-repair is left as others make it', async () => {
  const add = ['--driver', 'file', '--option', `path=${join(edgeward.folder, 'ams-3')}`, '--no-repair'];
  await edgeward.json('router', 'add', 'ams', 'ams-edge3', ...add);
  assert.is((await stateOf('ams-edge3'))?.repair, false);
});

test('all routers are checked at once, those of all regions, with a sum', async () => {
  await edgeward.json('router', 'update', 'ams-edge3', '--repair');
  await addRegion(edgeward, 'lon', 2);
  const rows = z.object({ routers: z.array(z.object({ router: z.string() })), unowned_count: z.number() });
  writeFileSync(join(edgeward.folder, 'lon', STRAY), '');
  const { routers, unowned_count: unowned } = rows.parse(await edgeward.json('router', 'check', '--all'));
  assert.equal(
    routers.map(({ router }) => router),
    ['ams-edge1', 'ams-edge3', 'lon-edge1', 'lon-edge2'],
  );
  assert.is(unowned, 1);
});

test('a region is created with a deploy policy, and changes it', async () => {
  assert.equal(await edgeward.json('region', 'create', 'fra', '--deploy-policy', 'all-or-nothing'), {
    id: 3,
    name: 'fra',
    deploy_policy: 'all-or-nothing',
  });
  await edgeward.json('region', 'update', 'fra', '--deploy-policy', 'each');
  const regions = z
    .array(z.object({ name: z.string(), deploy_policy: z.string() }))
    .parse(await edgeward.json('region', 'list'));
  assert.equal(
    regions.map(({ deploy_policy: policy }) => policy),
    ['each', 'each', 'each'],
  );
  assert.is((await edgeward.command('region', 'update', 'fra')).exitCode, 2);
  assert.is((await edgeward.command('region', 'create', 'x', '--deploy-policy', 'some')).exitCode, 2);
});

test('what has happened to the routers of a region can be read, and by whom', async () => {
  const rows = z.array(z.object({ type: z.string(), actor: z.string() }));
  const events = rows.parse(await edgeward.json('events', '--region', 'ams'));
  const actorOf = (type: string): string => events.find((event) => event.type === type)?.actor ?? 'nobody';
  assert.match(actorOf('RouterDisabled'), /^admin:/);
  assert.is(actorOf('DriftDetected'), 'system:drift');
  assert.is((await edgeward.command('events')).exitCode, 2);
  assert.is((await edgeward.command('events', 'Acme', '--region', 'ams')).exitCode, 2);
  assert.is((await edgeward.command('events', '--region', 'nowhere')).exitCode, 3);
});

test('routers that are not there are exit code 3', async () => {
  for (const args of [
    ['disable', 'nobody'],
    ['enable', 'nobody'],
    ['check', 'nobody'],
    ['prune', 'nobody'],
    ['update', 'nobody', '--repair'],
  ])
    assert.is((await edgeward.command('router', ...args)).exitCode, 3, args.join(' '));
});

test('beside another command that changes routers they are checked and enabled when that has ended, without a server', async () => {
  // More than one timer can wait.
  const own = await openEdgeward({ SYNCHRONOUS_TIMEOUT: 'P30DT0.0005S' });
  await addRegion(own, 'ams');
  await own.json('router', 'disable', 'ams-edge1');
  for (const [command, end] of [
    ['enable', 'RouterCaughtUp'],
    ['check', 'RouterChecked'],
  ] as const) {
    const before = (await own.events()).length;
    const others = openSqliteLeases({ directory: join(own.dataDir, 'locks'), label: 'another command' });
    await others.acquire('server', new AbortController().signal);
    const running = own.command('router', command, 'ams-edge1');
    await waitUntil('it is asked for', async () => (await own.events()).length > before);
    await others.close();
    const { exitCode, err } = await running;
    assert.is(exitCode, 0, err);
    assert.ok((await own.events()).slice(before).some(({ type }) => type === end));
  }
  await own.remove();
});

test.run();
