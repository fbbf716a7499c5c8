// The log is put back from a backup in a region that has a router of every kind: what was disabled since stays on all of them, however
// the region is deployed to, until it is accepted that it goes.
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '../../src/adapters/sqlite/sqlite-library.ts';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { never } from '../contracts/router-driver.ts';
import { openApiClient } from '../support/http/api-client.ts';
import { addCustomer, type Edgeward, openEdgeward, type TestCustomer } from '../support/servers/edgeward-server.ts';
import { missingForMixedRegion, type MixedRouter, startMixedRegion } from '../support/routers/mixed-region.ts';
import { waitUntil } from '../support/wait-until.ts';

const LIST = 'Svc-ACME-CORP-BLACKHOLE';
const missing = missingForMixedRegion();

if (missing === undefined) {
  test('a restored log, and a router of every kind', async () => {
    const edgeward = await openEdgeward({ DRIFT_INTERVAL: 'PT1S', DEPLOY_TIMEOUT: 'PT20S' });
    const routers = await startMixedRegion(edgeward.folder);
    try {
      await edgeward.json('region', 'create', 'mixed');
      for (const router of routers) await addRouter(edgeward, router);
      const customer = await addCustomer(edgeward, 'Acme Corp.', [['192.0.2.0/24', 'mixed']]);
      let url = await edgeward.serve();
      await commit(edgeward, url, customer, 'disable', 7);
      await backUp(edgeward);
      await commit(edgeward, url, customer, 'disable', 77);
      await edgeward.stop();
      putBack(edgeward);

      url = await edgeward.serve();
      await looked(edgeward, routers);
      await holdAll(routers, [7, 77], 'looks');
      for (const [policy, kept] of [
        ['each', 8],
        ['all-or-nothing', 9],
      ] as const) {
        await edgeward.json('region', 'update', 'mixed', '--deploy-policy', policy);
        await commit(edgeward, url, customer, 'disable', kept);
        await commit(edgeward, url, customer, 'disable', 200);
        await holdAll(routers, [7, ...(kept === 8 ? [8] : [8, 9]), 77, 200], policy);
        await commit(edgeward, url, customer, 'enable', 200);
        await holdAll(routers, [7, ...(kept === 8 ? [8] : [8, 9]), 77], `${policy}, enabled`);
      }
      const { regions } = Object(await edgeward.json('restore', 'status'));
      assert.equal(
        regions[0].routers.map(({ lists }: { lists: unknown }) => lists),
        routers.map(() => [{ list: LIST, customer: 'Acme Corp.', prefixes: ['192.0.2.77/32'] }]),
      );
      await edgeward.json('restore', 'accept');
      await edgeward.json('router', 'check', '--all');
      await holdAll(routers, [7, 8, 9], 'accepted');
    } finally {
      await edgeward.stop();
      await Promise.all(routers.map((router) => router.stop()));
      await edgeward.remove();
    }
  });
} else {
  console.log(`skipped: a restored log, and a router of every kind, as this machine has no ${missing}`);
  test.skip('a restored log, and a router of every kind');
}

async function addRouter(edgeward: Edgeward, { name, driver, options }: MixedRouter): Promise<void> {
  const given = Object.entries(options).flatMap(([key, value]) => ['--option', `${key}=${value}`]);
  await edgeward.json('router', 'add', 'mixed', name, '--driver', driver, ...given);
}

async function commit(edgeward: Edgeward, url: string, { token }: TestCustomer, action: string, host: number) {
  const client = openApiClient(url, token);
  const { status, text } = await client.post(`/ips/${action}`, { ip: `192.0.2.${host}` });
  assert.is(status, 200, text);
  await client.close();
  await edgeward.json('commit', 'run', 'Acme Corp.', 'mixed');
}

async function backUp({ folder, dataDir }: Edgeward): Promise<void> {
  const log = openSqlite(join(dataDir, 'events.db'), { readonly: true });
  await log.backup(join(folder, 'backup.db'));
  log.close();
}

function putBack({ folder, dataDir }: Edgeward): void {
  for (const end of ['', '-wal', '-shm']) rmSync(join(dataDir, `events.db${end}`), { force: true });
  copyFileSync(join(folder, 'backup.db'), join(dataDir, 'events.db'));
}

/** Until each router was compared after the start, and has kept something. */
async function looked(edgeward: Edgeward, routers: readonly MixedRouter[]): Promise<void> {
  await waitUntil('all routers are looked at', () => {
    const keeping = new Set(edgeward.logged().flatMap(({ kept, router }) => (kept === 1 ? [router] : [])));
    return routers.every(({ name }) => keeping.has(name));
  });
}

async function holdAll(routers: readonly MixedRouter[], hosts: readonly number[], when: string): Promise<void> {
  const expected = [...new Set(hosts)].map((host) => `192.0.2.${host}/32`);
  for (const router of routers) {
    const driver = router.open();
    try {
      const held = await driver.read(LIST, never);
      const covered = held === 'absent' ? [] : held;
      assert.equal(covered.flatMap(singles), expected, `${router.name} after ${when}`);
    } finally {
      await driver.close();
    }
  }
}

/** 192.0.2.8/31 as the two hosts that it is. */
function singles(prefix: string): readonly string[] {
  const [, host = '', length] = /^192\.0\.2\.(\d+)\/(\d+)$/.exec(prefix) ?? [];
  const size = 2 ** (32 - Number(length));
  return Array.from({ length: size }, (_, at) => `192.0.2.${Number(host) + at}/32`);
}

test.run();
