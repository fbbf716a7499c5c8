import { openSqlite } from '../../../src/adapters/sqlite/sqlite-library.ts';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { type ApiClient, openApiClient } from '../../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../../support/servers/edgeward-server.ts';

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west');
const acme = await addCustomer(edgeward, 'Acme', [['10.0.0.0/16', 'eu-west']]);
const rival = await addCustomer(edgeward, 'Rival', [['10.1.0.0/16', 'eu-west']]);
const list = z.object({
  data: z.array(z.object({ ip_counts: z.object({ disabled: z.number(), pending: z.number() }) })),
});
const page = z.object({ data: z.object({ ips: z.array(z.object({ address: z.string(), status: z.string() })) }) });

test.after(() => edgeward.remove());

async function statusOf(api: ApiClient, client: number, last: number): Promise<string | undefined> {
  const { json } = await api.get(`/subnets/${acme.subnetIds[0]}?limit=1&after=10.0.${client}.${last - 1}`);
  const [row] = page.parse(json).data.ips;
  assert.is(row?.address, `10.0.${client}.${last}`);
  return row?.status;
}

test('fifty clients at once each read what they wrote, after every answer', async () => {
  const url = await edgeward.serve();
  const api = openApiClient(url, acme.token);
  const rivalApi = openApiClient(url, rival.token);
  await Promise.all(
    Array.from({ length: 50 }, async (_, client) => {
      for (let last = 1; last <= 3; last += 1) {
        const ip = `10.0.${client}.${last}`;
        assert.is((await api.post('/ips/disable', { ip })).status, 200);
        assert.is(await statusOf(api, client, last), 'disabled');
        const counts = list.parse((await api.get('/subnets')).json).data[0]?.ip_counts;
        assert.ok((counts?.disabled ?? 0) >= 1 && (counts?.pending ?? 0) >= last);
        if (last % 3 === 0) {
          const { text } = await api.post('/ips/bulk', { action: 'enable', cidr: `10.0.${client}.0/24` });
          assert.match(text, '"changed":3,');
          assert.is(await statusOf(api, client, last), 'enabled');
        }
        assert.is((await rivalApi.post('/ips/disable', { ip: `10.1.${client}.${last}` })).status, 200);
      }
    }),
  );
  assert.equal(list.parse((await api.get('/subnets')).json).data, [{ ip_counts: { disabled: 0, pending: 150 } }]);
  assert.equal(list.parse((await rivalApi.get('/subnets')).json).data, [
    { ip_counts: { disabled: 150, pending: 150 } },
  ]);
  assert.match(JSON.stringify(await edgeward.json('verify')), '"ok":true');
  await api.close();
  await rivalApi.close();
});

test('clients that change the same addresses leave one of the orders behind', async () => {
  const api = openApiClient(await restarted(), acme.token);
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, at) =>
      api.post('/ips/bulk', { action: at % 2 === 0 ? 'disable' : 'enable', cidr: '10.0.200.0/28' }),
    ),
  );
  const changed = answers.map(({ text }) => Number(/"changed":(\d+)/.exec(text)?.[1]));
  assert.ok(
    changed.every((count) => count === 0 || count === 16),
    'all of a call is done, or nothing',
  );
  const { text } = await api.get(`/subnets/${acme.subnetIds[0]}?after=10.0.199.255&limit=16`);
  const statuses = new Set([...text.matchAll(/"status":"(\w+)"/g)].map(([, status]) => status));
  assert.is(statuses.size, 1, 'one status for all');
  await api.close();
});

async function restarted(): Promise<string> {
  await edgeward.stop();
  return edgeward.serve();
}

test('after a restart the first reader finds what was answered before', async () => {
  for (let times = 0; times < 3; times += 1) {
    const api = openApiClient(await restarted(), acme.token);
    const ips = Array.from({ length: 100 }, (_, at) => `10.0.${100 + times}.${at}`);
    await Promise.all(ips.map((ip) => api.post('/ips/disable', { ip })));
    await api.close();
    const again = openApiClient(await restarted(), acme.token);
    const { text } = await again.post('/ips/bulk', { action: 'disable', cidr: `10.0.${100 + times}.0/24` });
    assert.match(text, '"changed":156,');
    await again.close();
  }
});

test('killed at any moment, nothing that was answered is lost', async () => {
  await edgeward.stop();
  const serving = await edgeward.spawn(['serve']);
  const api = openApiClient(await serving.listening(), acme.token);
  const answered: string[] = [];
  const clients = Array.from({ length: 10 }, async (_, client) => {
    for (let last = 0; last < 256; last += 1) {
      const ip = `10.0.${150 + client}.${last}`;
      const { status } = await api.post('/ips/disable', { ip });
      assert.is(status, 200);
      answered.push(ip);
      if (answered.length === 300) serving.child.kill('SIGKILL');
    }
  });
  const outcomes = await Promise.allSettled(clients);
  assert.ok(
    outcomes.some(({ status }) => status === 'rejected'),
    'it was killed while it worked',
  );
  assert.is(await serving.ended, 'SIGKILL');
  await api.close();
  const again = openApiClient(await edgeward.serve(), acme.token);
  const { json } = await again.get(`/subnets/${acme.subnetIds[0]}?after=10.0.149.255&limit=2560`);
  const disabled = new Set(
    page
      .parse(json)
      .data.ips.filter(({ status }) => status === 'disabled')
      .map(({ address }) => address),
  );
  assert.equal(
    answered.filter((ip) => !disabled.has(ip)),
    [],
  );
  assert.match(JSON.stringify(await edgeward.json('verify')), '"ok":true');
  await again.close();
});

test('when the store can not be written to, it is 503 with a time to come back, and reading goes on', async () => {
  const api = openApiClient(await restarted(), acme.token);
  await api.get('/subnets');
  const holder = openSqlite(join(edgeward.dataDir, 'events.db'));
  holder.exec('BEGIN IMMEDIATE');
  try {
    const refused = api.post('/ips/disable', { ip: '10.0.250.1' });
    assert.is((await api.get('/subnets')).status, 200);
    const { status, headers, json } = await refused;
    assert.is(status, 503);
    assert.match(String(headers['retry-after']), /^[1-9]\d*$/);
    assert.equal(json, { message: 'the service is temporarily unavailable.' });
  } finally {
    holder.exec('ROLLBACK');
    holder.close();
  }
  const answer = await api.post('/ips/disable', { ip: '10.0.250.1' });
  assert.match(answer.text, '"status":"disabled","pending_change":true');
  await api.close();
});

test.run();
