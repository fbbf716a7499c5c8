// The log is put back from a backup, as an operator does it: no address that was disabled since comes back by our doing.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqlite } from '../../src/adapters/sqlite/sqlite-library.ts';
import { request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openApiClient } from '../support/http/api-client.ts';
import {
  addCustomer,
  addRegion,
  type Edgeward,
  openEdgeward,
  type TestCustomer,
} from '../support/servers/edgeward-server.ts';
import { freePort } from '../support/free-port.ts';
import { waitUntil } from '../support/wait-until.ts';

type Given = { edgeward: Edgeward; customer: TestCustomer; metricsPort: number };
const test = suite<Given>('a log that was put back from a backup');
const LIST = 'Svc-ACME-CORP-BLACKHOLE';
const KEEPS = 'the log was restored: the router keeps what it does not explain';

/** .7 is disabled, deployed and in the backup; .77 is disabled and deployed after it, as is a customer with a list of its own. */
test.before.each(async (state) => {
  const metricsPort = await freePort();
  const edgeward = await openEdgeward({ DRIFT_INTERVAL: 'PT0.2S', METRICS_PORT: String(metricsPort) });
  await addRegion(edgeward, 'ams', 2);
  const customer = await addCustomer(edgeward, 'Acme Corp.', [['203.0.113.0/24', 'ams']]);
  Object.assign(state, { edgeward, customer, metricsPort });
  const url = await edgeward.serve();
  await change(url, customer, 'disable', 7);
  await edgeward.json('commit', 'run', 'Acme Corp.', 'ams');
  const log = openSqlite(join(edgeward.dataDir, 'events.db'), { readonly: true });
  await log.backup(join(edgeward.folder, 'backup.db'));
  log.close();
  await change(url, customer, 'disable', 77);
  await edgeward.json('commit', 'run', 'Acme Corp.', 'ams');
  const later = await addCustomer(edgeward, 'Later', [['198.51.100.0/24', 'ams']]);
  await change(url, later, 'disable', 1, '198.51.100');
  await edgeward.json('commit', 'run', 'Later', 'ams');
  await edgeward.stop();
  assert.equal(lists(edgeward), [hosts(7, 77), hosts(7, 77)]);
});
test.after.each(({ edgeward }) => edgeward.remove());

async function change(url: string, { token }: TestCustomer, action: string, host: number, net = '203.0.113') {
  const client = openApiClient(url, token);
  const { status, text } = await client.post(`/ips/${action}`, { ip: `${net}.${host}` });
  assert.is(status, 200, text);
  await client.close();
}

async function putBack({ folder, dataDir }: Edgeward, views: 'stay' | 'go'): Promise<void> {
  for (const end of ['', '-wal', '-shm']) {
    rmSync(join(dataDir, `events.db${end}`), { force: true });
    if (views === 'go') rmSync(join(dataDir, `views.db${end}`), { force: true });
  }
  await copyFile(join(folder, 'backup.db'), join(dataDir, 'events.db'));
}

const hosts = (...numbers: number[]) => numbers.map((host) => `203.0.113.${host}/32\n`).join('');
const held = ({ folder }: Edgeward, router: string, list = LIST) => readFileSync(join(folder, router, list), 'utf8');
const lists = (edgeward: Edgeward) => [held(edgeward, 'ams'), held(edgeward, 'ams-2')];

/** Until each router was looked at so many times more. */
async function looks(edgeward: Edgeward, times: number, routers = ['ams-edge1', 'ams-edge2']): Promise<void> {
  const count = (router: string) =>
    edgeward.logged().filter(({ msg, router: of }) => msg === KEEPS && of === router).length;
  const before = routers.map((router): [string, number] => [router, count(router)]);
  await waitUntil('the routers are looked at', () => before.every(([router, n]) => count(router) >= n + times));
}

async function readyz(url: string): Promise<unknown> {
  const { statusCode, body } = await request(`${url}/readyz`);
  const { status, restored } = Object(await body.json());
  return [statusCode, status, restored];
}

const restoredGauge = async (port: number): Promise<string | undefined> =>
  (await (await request(`http://127.0.0.1:${port}/metrics`)).body.text())
    .split('\n')
    .find((line) => line.startsWith('edgeward_restored{'));

test('views that have seen more tell it: .77 stays through looks, commits, checks and maintenance', async (given) => {
  const { edgeward, customer, metricsPort } = given;
  await putBack(edgeward, 'stay');
  const url = await edgeward.serve();
  assert.equal(await readyz(url), [200, 'ready', true]);
  assert.is(await restoredGauge(metricsPort), 'edgeward_restored{region="ams"} 1');
  await looks(edgeward, 2);
  assert.equal(lists(edgeward), [hosts(7, 77), hosts(7, 77)]);

  await change(url, customer, 'disable', 8);
  await edgeward.json('commit', 'run', 'Acme Corp.', 'ams');
  assert.equal(lists(edgeward), [hosts(7, 8, 77), hosts(7, 8, 77)]);
  const [commit] = Array.from(Object(await edgeward.json('commit', 'list')), Object);
  assert.equal([commit.status, commit.prefixes, commit.outcomes[0].kept], ['success', 2, 1]);
  assert.match(commit.problems, 'ams-edge1: keeps 1 block that the restored log does not explain');

  const check = Object(await edgeward.json('router', 'check', 'ams-edge1'));
  assert.equal([check.drifted, check.unowned], [[], ['Svc-LATER-BLACKHOLE']]);
  await edgeward.json('router', 'disable', 'ams-edge1');
  await edgeward.json('router', 'enable', 'ams-edge1');
  assert.is((await edgeward.command('router', 'prune', 'ams-edge1')).exitCode, 1);
  assert.is(held(edgeward, 'ams', 'Svc-LATER-BLACKHOLE'), '198.51.100.1/32\n');
  assert.equal(lists(edgeward), [hosts(7, 8, 77), hosts(7, 8, 77)]);

  await edgeward.stop();
  await edgeward.serve();
  await looks(edgeward, 1);
  assert.equal(lists(edgeward), [hosts(7, 8, 77), hosts(7, 8, 77)], 'after a restart too');
});

test('the status names what the log does not explain; what is disabled again is explained, and accepting ends it', async ({
  edgeward,
  customer,
  metricsPort,
}) => {
  await putBack(edgeward, 'stay');
  const url = await edgeward.serve();
  const status = async () => Object(await edgeward.json('restore', 'status'));
  const { restored, because, by, regions } = await status();
  assert.equal([restored, because, by], [true, 'log-older-than-views', 'system:restore']);
  const unexplained = [
    { list: LIST, customer: 'Acme Corp.', prefixes: ['203.0.113.77/32'] },
    { list: 'Svc-LATER-BLACKHOLE', customer: null, prefixes: ['198.51.100.1/32'] },
  ];
  assert.equal(regions, [
    {
      region: 'ams',
      restored: true,
      routers: [
        { router: 'ams-edge1', lists: unexplained },
        { router: 'ams-edge2', lists: unexplained },
      ],
    },
  ]);
  const { out } = await edgeward.command('restore', 'status');
  assert.match(out, `ams-edge1: ${LIST} (Acme Corp.): 1 block\n    203.0.113.77/32\n`);

  await change(url, customer, 'disable', 77);
  await edgeward.json('commit', 'run', 'Acme Corp.', 'ams');
  assert.equal((await status()).regions[0].routers[0].lists, unexplained.slice(1));
  writeFileSync(join(edgeward.folder, 'ams', LIST), hosts(7, 77, 99));
  await looks(edgeward, 1, ['ams-edge1']);
  assert.is((await edgeward.command('restore', 'accept', '--region', 'nowhere')).exitCode, 3);
  assert.equal(await edgeward.json('restore', 'accept'), { restored: false, accepted: ['ams'], left: [] });
  await waitUntil('the next look takes away what is not wanted', () => held(edgeward, 'ams') === hosts(7, 77));
  assert.equal(await readyz(url), [200, 'ready', undefined]);
  assert.is(await restoredGauge(metricsPort), 'edgeward_restored{region="ams"} 0');
  assert.equal(await status(), { restored: false, regions: [] });
  assert.equal(await edgeward.json('restore', 'accept'), { restored: false, accepted: [], left: [] });
});

test('where the views were restored too, the operator says it, and says it again without harm', async ({
  edgeward,
}) => {
  await putBack(edgeward, 'go');
  const args = ['serve', '--restored'];
  for (let starts = 0; starts < 2; starts += 1) {
    const server = await edgeward.spawn(args);
    assert.equal(await readyz(await server.listening()), [200, 'ready', true]);
    await waitUntil('the routers are looked at', () => server.out().split(KEEPS).length > 3);
    server.child.kill('SIGKILL');
    await server.ended;
  }
  assert.equal(lists(edgeward), [hosts(7, 77), hosts(7, 77)]);
  const { out } = await edgeward.command('events', '--all', '--type', 'RestoreBegan', '--json');
  assert.match(out, /"actor":"admin:[^"]*@cli"/);
  assert.is(out.split('"RestoreBegan"').length, 2, 'it began once');
});

for (const [what, args] of [
  ['a check of a router', ['router', 'check', 'ams-edge1']],
  ['a commit', ['commit', 'run', 'Acme Corp.', 'ams']],
] as const) {
  test(`${what} by a command, before any server runs, keeps it too`, async ({ edgeward }) => {
    await putBack(edgeward, 'stay');
    await edgeward.json(...args);
    assert.is(held(edgeward, 'ams'), hosts(7, 77));
    assert.is(Object(await edgeward.json('restore', 'status')).because, 'log-older-than-views');
  });
}

for (const [what, args] of [
  ['brings views up to date', ['commit', 'list']],
  ['makes views again', ['projections', 'rebuild', '--all']],
] as const) {
  test(`a command that ${what} before any server runs does not make them forget it`, async ({ edgeward }) => {
    await putBack(edgeward, 'stay');
    assert.is((await edgeward.command(...args)).exitCode, 0);
    await edgeward.serve();
    await looks(edgeward, 1);
    assert.equal(lists(edgeward), [hosts(7, 77), hosts(7, 77)]);
  });
}

test.run();
