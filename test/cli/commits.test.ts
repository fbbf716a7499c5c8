import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { openSqliteLeases } from '../../src/adapters/sqlite/leases.ts';
import { createLog } from '../../src/adapters/log.ts';
import { readConfig } from '../../src/config.ts';
import { commandApplication } from '../../src/main/application.ts';
import { enable, ranges } from '../commands/ip-control/customer-examples.ts';
import { openApiClient } from '../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../support/servers/edgeward-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const LIST = 'Svc-ACME-BLACKHOLE';

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west', 2);
await addRegion(edgeward, 'us-east', 1);
const acme = await addCustomer(edgeward, 'Acme', [
  ['203.0.113.0/24', 'eu-west'],
  ['2001:db8::/48', 'eu-west'],
  ['198.51.100.0/24', 'us-east'],
]);
const other = await addCustomer(edgeward, 'Other', [['192.0.2.0/24', 'eu-west']]);

test.after(() => edgeward.remove());

function routerFile(router: string): string {
  return join(edgeward.folder, router, LIST);
}

/** Changes addresses through a server that runs only for it. */
async function changed(token: string, ...bodies: readonly object[]): Promise<void> {
  const api = openApiClient(await edgeward.serve(), token);
  for (const body of bodies) assert.is((await api.post('/ips/bulk', body)).status, 200);
  await api.close();
  await edgeward.stop();
}

async function eventTypesOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  const before = (await edgeward.events()).length;
  await work();
  return (await edgeward.events()).slice(before).map(({ type }) => type);
}

test('before the first commit there is none to list, and nothing to change', async () => {
  assert.equal(await edgeward.json('commit', 'list'), []);
  const { exitCode, out } = await edgeward.command('commit', 'diff', 'Acme', 'eu-west');
  assert.is(exitCode, 0);
  assert.is(
    out,
    `${LIST} in eu-west: 0 blocks\neu-west-edge1: 0 added, 0 removed\neu-west-edge2: 0 added, 0 removed\n`,
  );
});

test('a difference is what a commit would change on each router, from what the router really has', async () => {
  await changed(acme.token, { action: 'disable', cidr: '203.0.113.0/30' }, { action: 'disable', ips: ['2001:db8::1'] });
  const waiting = z
    .array(z.object({ id: z.null(), status: z.string(), customer: z.string(), waiting_seconds: z.int().nonnegative() }))
    .parse(await edgeward.json('commit', 'list'));
  assert.equal(
    waiting.map(({ status, customer }) => [status, customer]),
    [['waiting', 'Acme']],
  );
  writeFileSync(routerFile('eu-west-2'), '203.0.113.0/30\n203.0.113.64/26\n');
  const recorded = await eventTypesOf(async () => {
    const { exitCode, out } = await edgeward.command('commit', 'diff', 'Acme', 'eu-west');
    assert.is(exitCode, 0);
    assert.is(
      out,
      [
        `${LIST} in eu-west: 2 blocks`,
        'eu-west-edge1: 2 added, 0 removed',
        '  + 203.0.113.0/30',
        '  + 2001:db8::1/128',
        'eu-west-edge2: 1 added, 1 removed',
        '  + 2001:db8::1/128',
        '  - 203.0.113.64/26',
        '',
      ].join('\n'),
    );
    assert.equal(await edgeward.json('commit', 'diff', 'Acme', 'us-east'), {
      customer: 'Acme',
      region: 'us-east',
      list: LIST,
      prefixes: 0,
      routers: [{ router: 'us-east-edge1', added_count: 0, removed_count: 0, added: [], removed: [] }],
    });
  });
  assert.equal(recorded, []);
  assert.is(readFileSync(routerFile('eu-west-2'), 'utf8'), '203.0.113.0/30\n203.0.113.64/26\n', 'nothing is changed');
});

test('a router that can not be read is said to be so', async () => {
  rmSync(join(edgeward.folder, 'us-east'), { recursive: true });
  const { exitCode, out, err } = await edgeward.command('commit', 'diff', 'Acme', 'us-east');
  assert.is(exitCode, 1);
  assert.match(out, /^us-east-edge1: unreachable: /m);
  assert.is(err, 'edgeward: what is on us-east-edge1 could not be seen.\n');
});

test('without a server a commit is deployed by the command itself', async () => {
  const recorded = await eventTypesOf(async () => {
    const { exitCode, out, err } = await edgeward.command('commit', 'run', 'Acme', 'eu-west');
    assert.is(exitCode, 0, err);
    assert.is(out, 'BLACKHOLE of Acme in eu-west: success\n');
  });
  assert.equal(recorded, ['CommitRequested', 'CommitCompleted']);
  for (const router of ['eu-west', 'eu-west-2'])
    assert.is(readFileSync(routerFile(router), 'utf8'), '203.0.113.0/30\n2001:db8::1/128\n');
  const [requested, completed] = (await edgeward.events()).slice(-2).map(({ metadata }) => metadata.actor);
  assert.match(requested ?? '', /^admin:[^@]+@cli$/, 'who has asked for it');
  assert.is(completed, 'system:deploy-commit');
});

test('beside another command that changes routers a commit is deployed when that has ended, without a server', async () => {
  const own = await openEdgeward({ SYNCHRONOUS_TIMEOUT: 'PT20S' });
  await addRegion(own, 'ams');
  const { token } = await addCustomer(own, 'Acme', [['203.0.113.0/24', 'ams']]);
  const api = openApiClient(await own.serve(), token);
  assert.is((await api.post('/ips/disable', { ip: '203.0.113.7' })).status, 200);
  await api.close();
  await own.stop();

  const before = (await own.events()).length;
  const others = openSqliteLeases({ directory: join(own.dataDir, 'locks'), label: 'another command' });
  await others.acquire('server', new AbortController().signal);
  const running = own.command('commit', 'run', 'Acme', 'ams');
  await waitUntil('it is asked for', async () => (await own.events()).length > before);
  await others.close();
  const { exitCode, out, err } = await running;
  assert.is(exitCode, 0, err);
  assert.is(out, 'BLACKHOLE of Acme in ams: success\n');
  await own.remove();
});

test('what a server has left unfinished is ended, and what came after it is deployed too', async () => {
  await changed(acme.token, { action: 'disable', ips: ['203.0.113.9'] });
  const withApplication = commandApplication(() => readConfig(edgeward.settings), createLog({ level: 'silent' }));
  await withApplication(async ({ customers, ids }) => {
    const context = { actor: 'system:quiet-period', requestId: 'test' };
    const request = { regionId: 1, list: 'BLACKHOLE', reason: 'quiet', commitSetId: ids.uuid() } as const;
    await customers.handle(acme.id, { type: 'RequestCommit', data: request }, context);
    await customers.handle(acme.id, enable(ranges('203.0.113.9')), context);
  });
  const recorded = await eventTypesOf(async () => {
    const { exitCode, err } = await edgeward.command('commit', 'run', 'Acme', 'eu-west');
    assert.is(exitCode, 0, err);
  });
  assert.equal(recorded, ['CommitCompleted', 'CommitRequested', 'CommitCompleted']);
  assert.is(readFileSync(routerFile('eu-west'), 'utf8'), '203.0.113.0/30\n2001:db8::1/128\n');
});

test('where nothing is pending there is nothing to run', async () => {
  const recorded = await eventTypesOf(async () => {
    assert.equal(await edgeward.json('commit', 'run', '1', '1'), {
      customer: 'Acme',
      region: 'eu-west',
      list: 'BLACKHOLE',
      status: 'success',
      problems: [],
    });
  });
  assert.equal(recorded, []);
});

test('a commit that fails on a router is exit code 1, and can be run again under its name', async () => {
  await changed(acme.token, { action: 'disable', ips: ['198.51.100.1'] });
  const failed = await edgeward.command('commit', 'run', 'Acme', 'us-east');
  assert.is(failed.exitCode, 1);
  assert.is(failed.err, 'edgeward: the commit is failed.\n');
  assert.match(failed.out, /^BLACKHOLE of Acme in us-east: failed\nus-east-edge1: unreachable: .+\n$/);
  mkdirSync(join(edgeward.folder, 'us-east'));
  assert.is((await edgeward.command('commit', 'run', 'Acme', 'us-east')).exitCode, 0);
  const sets = (await edgeward.events())
    .filter(({ stream, type }) => stream === `customer-${acme.id}` && type.startsWith('Commit'))
    .slice(-4)
    .map(({ type, data }) => [type, Object(data).attempt, Object(data).commitSetId]);
  const id = sets[0]?.[2];
  assert.equal(sets, [
    ['CommitRequested', 1, id],
    ['CommitFailed', 1, id],
    ['CommitRequested', 2, id],
    ['CommitCompleted', 2, id],
  ]);
});

test('a running server deploys what a command asks for', async () => {
  const api = openApiClient(await edgeward.serve(), other.token);
  await api.post('/ips/disable', { ip: '192.0.2.9' });
  const { exitCode } = await edgeward.command('commit', 'run', 'Other', 'eu-west');
  assert.is(exitCode, 0);
  assert.match((await api.get(`/subnets/${other.subnetIds[0]}`)).text, '"meta":{"pending_changes":0}');
  await api.close();
  assert.ok(
    edgeward.logged().some(({ message, msg }) => String(message ?? msg).includes('commit')),
    'it was the server',
  );
  await edgeward.stop();
});

test('commits are listed, newest first, of all customers or of one', async () => {
  const row = z.object({
    id: z.uuid(),
    customer: z.string(),
    region: z.string(),
    list: z.string(),
    status: z.string(),
    attempt: z.number(),
    prefixes: z.number(),
    requested_at: z.string(),
    completed_at: z.string(),
    outcomes: z.array(z.object({ router: z.string(), result: z.string() })),
    waiting_seconds: z.null(),
  });
  const all = z.array(row).parse(await edgeward.json('commit', 'list'));
  assert.equal(
    all.map(({ customer, region, list, status, attempt, prefixes }) => [
      customer,
      region,
      list,
      status,
      attempt,
      prefixes,
    ]),
    [
      ['Other', 'eu-west', 'BLACKHOLE', 'success', 1, 1],
      ['Acme', 'us-east', 'BLACKHOLE', 'success', 2, 1],
      ['Acme', 'eu-west', 'BLACKHOLE', 'success', 1, 2],
      ['Acme', 'eu-west', 'BLACKHOLE', 'success', 1, 3],
      ['Acme', 'eu-west', 'BLACKHOLE', 'success', 1, 2],
    ],
  );
  assert.equal(
    all[2]?.outcomes.map(({ router, result }) => [router, result]),
    [
      ['eu-west-edge1', 'confirmed'],
      ['eu-west-edge2', 'confirmed'],
    ],
  );
  const own = z.array(row).parse(await edgeward.json('commit', 'list', '--customer', 'Other'));
  assert.is(own.length, 1);
  const { out } = await edgeward.command('commit', 'list', '--customer', 'Acme');
  assert.match(
    out,
    /^ID +CUSTOMER +REGION +LIST +STATUS +ATTEMPT +PREFIXES +REQUESTED_AT +COMPLETED_AT +WAITING_SECONDS +PROBLEMS$/m,
  );
  assert.is(out.trim().split('\n').length, 5);
});

test('customers and regions that are not there are exit code 3', async () => {
  for (const args of [
    ['diff', 'Nobody', 'eu-west'],
    ['diff', 'Acme', 'nowhere'],
    ['run', 'Nobody', 'eu-west'],
    ['run', 'Acme', 'nowhere'],
    ['list', '--customer', 'Nobody'],
  ]) {
    const { exitCode, out } = await edgeward.command('commit', ...args);
    assert.is(exitCode, 3, args.join(' '));
    assert.is(out, '');
  }
});

test.run();
