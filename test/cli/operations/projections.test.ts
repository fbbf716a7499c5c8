import { openSqlite } from '../../../src/adapters/sqlite/sqlite-library.ts';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { openApiClient } from '../../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../../support/servers/edgeward-server.ts';
import { waitUntil } from '../../support/wait-until.ts';

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west');
const acme = await addCustomer(edgeward, 'Acme', [['203.0.113.0/24', 'eu-west']], ['--allow-synchronous']);

test.after(() => edgeward.remove());

const status = z.array(
  z.strictObject({ name: z.string(), version: z.number(), position: z.string(), behind: z.string() }),
);

async function projections(): Promise<z.infer<typeof status>> {
  return status.parse(await edgeward.json('projections', 'list'));
}

/** Everything that the API shows of the customer. */
async function shownBy(url: string): Promise<readonly string[]> {
  const api = openApiClient(url, acme.token);
  const answers = [];
  for (const path of ['/subnets', '/subnets/1', '/subnets/1/pending', '/subnets/1?view=ranges']) {
    const { status: code, text } = await api.get(path);
    assert.is(code, 200, text);
    answers.push(text);
  }
  await api.close();
  return answers;
}

test('projections are listed with how far they are', async () => {
  const api = openApiClient(await edgeward.serve(), acme.token);
  await api.post('/ips/bulk', { action: 'disable', cidr: '203.0.113.0/28' });
  await api.post('/ips/disable', { ip: '203.0.113.77', synchronous: true });
  await api.post('/ips/enable', { ip: '203.0.113.3' });
  await api.close();
  await edgeward.stop();
  const rows = await projections();
  const names = rows.map(({ name }) => name);
  for (const name of ['customers', 'tokens', 'subnets', 'addresses', 'regions', 'commits'])
    assert.ok(names.includes(name), name);
  assert.ok(
    rows.every(({ behind }) => behind === '0'),
    'a server that has stopped has saved everything',
  );
  const { out } = await edgeward.command('projections', 'list');
  assert.match(out, /^NAME +VERSION +POSITION +BEHIND$/m);
});

test('a rebuild without a server changes nothing that is shown', async () => {
  const before = await shownBy(await edgeward.serve());
  await edgeward.stop();
  const { exitCode, out, err } = await edgeward.command('projections', 'rebuild', '--all');
  assert.is(exitCode, 0, err);
  assert.match(out, /^rebuilt: .*addresses.*\n$/);
  assert.equal(await shownBy(await edgeward.serve()), before);
  await edgeward.stop();
});

test('one projection can be rebuilt, by its name', async () => {
  assert.equal(await edgeward.json('projections', 'rebuild', 'addresses', 'subnets'), {
    rebuilt: ['addresses', 'subnets'],
  });
  const { exitCode, err } = await edgeward.command('projections', 'rebuild', 'nothing');
  assert.is(exitCode, 3);
  assert.is(err, 'edgeward: projection nothing not found.\n');
});

test('a rebuild repairs views that somebody has spoilt', async () => {
  const before = await shownBy(await edgeward.serve());
  await edgeward.stop();
  const views = openSqlite(join(edgeward.dataDir, 'views.db'));
  const tables = views
    .prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE sql LIKE '%json TEXT%'")
    .all();
  const spoilt = tables.map(
    ({ name }) => views.prepare(`DELETE FROM "${name}" WHERE json LIKE '%203.0.113.%'`).run().changes,
  );
  assert.ok(Math.max(...spoilt) > 0);
  views.close();
  await edgeward.json('projections', 'rebuild', '--all');
  assert.equal(await shownBy(await edgeward.serve()), before);
  await edgeward.stop();
});

test('without any views the server makes them from the events', async () => {
  const before = await shownBy(await edgeward.serve());
  await edgeward.stop();
  for (const name of ['views.db', 'views.db-wal', 'views.db-shm'])
    rmSync(join(edgeward.dataDir, name), { force: true });
  assert.equal(await shownBy(await edgeward.serve()), before);
  await edgeward.stop();
});

test('a rebuild beside a server that has read nothing yet is not noticed', async () => {
  const before = await shownBy(await edgeward.serve());
  await edgeward.stop();
  const url = await edgeward.serve();
  await edgeward.json('projections', 'rebuild', '--all');
  assert.equal(await shownBy(url), before);
  await edgeward.stop();
  assert.equal(await shownBy(await edgeward.serve()), before);
  await edgeward.stop();
});

test('rebuilds beside a server that works are not noticed either', async () => {
  const url = await edgeward.serve();
  const api = openApiClient(url, acme.token);
  const stop = new AbortController();
  let changes = 0;
  const working = (async () => {
    while (!stop.signal.aborted) {
      const ip = `203.0.113.${128 + (changes % 100)}`;
      const action = Math.floor(changes / 100) % 2 === 0 ? 'disable' : 'enable';
      const changed = await api.post(`/ips/${action}`, { ip });
      assert.is(changed.status, 200, changed.text);
      const read = await api.get(`/subnets/1?limit=1&after=203.0.113.${127 + (changes % 100)}`);
      assert.is(read.status, 200, read.text);
      assert.match(read.text, `{"address":"${ip}","status":"${action}d","pending_change":true}`);
      changes += 1;
    }
  })();
  try {
    for (let times = 0; times < 3; times += 1) {
      const before = changes;
      await Promise.race([edgeward.json('projections', 'rebuild', '--all'), working]);
      await Promise.race([waitUntil('it goes on working', () => changes > before + 10), working]);
    }
  } finally {
    stop.abort();
    await working;
    await api.close();
  }
  const shown = await shownBy(url);
  await edgeward.stop();
  assert.ok((await projections()).every(({ behind }) => behind === '0'));
  assert.equal(await shownBy(await edgeward.serve()), shown);
  await edgeward.stop();
});

test('what a command does is seen by a running server soon', async () => {
  const api = openApiClient(await edgeward.serve(), acme.token);
  assert.is((await api.get('/subnets')).status, 200);
  await edgeward.json('subnet', 'add', 'Acme', '192.0.2.0/28', '--region', 'eu-west', '--asn', '1', '--metro', 'fra');
  await waitUntil(
    'the subnet is there',
    async () => (await api.post('/ips/disable', { ip: '192.0.2.1' })).status === 200,
  );
  await api.close();
});

test.run();
