import { openSqlite } from '../../../src/adapters/sqlite/sqlite-library.ts';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openApiClient } from '../../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../../support/servers/edgeward-server.ts';

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west');
const acme = await addCustomer(edgeward, 'Acme', [['203.0.113.0/24', 'eu-west']]);
// A start that builds the views, and one that has not read the customer's stream yet.
await edgeward.serve();
await edgeward.stop();
const url = await edgeward.serve();

test.after(() => edgeward.remove());

test('what fails inside is 500, and what it was is for the log alone', async () => {
  const log = openSqlite(join(edgeward.dataDir, 'events.db'));
  log.prepare("UPDATE events SET type = 'SubnetForgotten' WHERE type = 'SubnetAssigned'").run();
  log.close();
  const api = openApiClient(url, acme.token);
  for (const send of [
    () => api.post('/ips/disable', { ip: '203.0.113.1' }),
    () => api.post('/ips/bulk', { action: 'enable', cidr: '203.0.113.0/24' }),
  ]) {
    const { status, json, headers } = await send();
    assert.is(status, 500);
    assert.equal(json, { message: 'internal server error' });
    const id = headers['x-request-id'];
    const line = edgeward.logged().find(({ level, requestId }) => level === 'error' && requestId === id);
    assert.match(JSON.stringify(line), 'SubnetForgotten');
  }
  await api.close();
});

test.run();
