import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openSqliteLeases } from '../../src/adapters/sqlite/leases.ts';
import { LEADERS_LEASE } from '../../src/main/leadership.ts';
import { freePort } from '../support/free-port.ts';
import { addRegion, openEdgeward } from '../support/servers/edgeward-server.ts';
import { waitUntil } from '../support/wait-until.ts';

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

test.run();
