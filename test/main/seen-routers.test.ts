import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createLog } from '../../src/adapters/log.ts';
import { openSqliteLeases } from '../../src/adapters/sqlite/leases.ts';
import { openSqliteReadModels } from '../../src/adapters/sqlite/read-models.ts';
import { LEADERS_LEASE } from '../../src/main/leadership.ts';
import { seeRouters } from '../../src/main/seen-routers.ts';
import { type RouterDriver, RouterFailure } from '../../src/ports/routers.ts';
import { freePort } from '../support/free-port.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { addRegion, openEdgeward } from '../support/servers/edgeward-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const SILENT = createLog({ level: 'silent' });
const NEVER = new AbortController().signal;
/** A router that holds nothing and takes everything. */
const DRIVER: RouterDriver = {
  read: () => Promise.resolve('absent'),
  replace: () => Promise.resolve(),
  remove: () => Promise.resolve(),
  lists: () => Promise.resolve([]),
  check: () => Promise.resolve(),
  close: () => Promise.resolve(),
};
const SEEN = /^edgeward_router_(?:reachable|last_seen_timestamp_seconds)\{/m;

test('a server that leads no more says nothing of how routers answer, which it asks no more', async () => {
  const port = String(await freePort());
  const edgeward = await openEdgeward({ METRICS_PORT: port, DRIFT_INTERVAL: 'PT0.2S' });
  await addRegion(edgeward, 'ams');
  await edgeward.serve();
  const page = async (): Promise<string> => (await request(`http://127.0.0.1:${port}/metrics`)).body.text();
  await waitUntil('its routers were seen', async () => SEEN.test(await page()));

  // As when another server takes over.
  const locks = join(edgeward.dataDir, 'locks');
  rmSync(join(locks, `${LEADERS_LEASE}.lease`));
  const others = openSqliteLeases({ directory: locks, label: 'another' });
  await others.acquire(LEADERS_LEASE, new AbortController().signal);
  await waitUntil('it leads no more', async () => (await page()).includes('edgeward_leader 0'));
  const after = await page();
  assert.not.match(after, SEEN);
  assert.match(after, 'edgeward_router_enabled{');

  await others.close();
  await waitUntil('it leads again, and asks', async () => SEEN.test(await page()));
  await edgeward.remove();
});

test('a router that could not be reached stays so for the next server that leads, until it answers', async () => {
  const { path, remove } = await temporaryFolder();
  const clock = createManualClock();
  const { readModels } = openSqliteReadModels({ file: join(path, 'views.db'), log: SILENT, clock });
  const edge = { name: 'edge', driver: 'file', options: {} } as const;
  let isDead = false;
  const driverOf = () => {
    if (isDead) throw new RouterFailure('unreachable', 'no answer');
    return DRIVER;
  };
  const serve = () => {
    const drivers = { driverOf, close: () => Promise.resolve() };
    return seeRouters(drivers, () => undefined, { readModels, clock, log: SILENT });
  };
  const look = async ({ drivers }: ReturnType<typeof serve>) => drivers.driverOf(1, edge).lists(NEVER);
  const seenAt = clock.now().epochMilliseconds;

  const first = serve();
  await first.takeOver();
  await look(first);
  await first.stop();
  await clock.advance({ minutes: 1 });
  const second = serve();
  await second.takeOver();
  assert.is(second.seen(1, 'edge'), undefined, 'what answered before may be dead by now');
  isDead = true;
  await look(second).catch(() => undefined);
  assert.equal(second.seen(1, 'edge'), { seenAt, isReachable: false });
  await second.stop();

  const third = serve();
  await third.takeOver();
  assert.equal(third.seen(1, 'edge'), { seenAt, isReachable: false });
  isDead = false;
  await look(third);
  assert.is(third.seen(1, 'edge')?.isReachable, true);
  await third.stop();
  await readModels.close();
  await remove();
});

test.run();
