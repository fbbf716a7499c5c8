import { join } from 'node:path';
import { mkdirSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openApiClient } from '../../support/http/api-client.ts';
import { addCustomer, openEdgeward } from '../../support/servers/edgeward-server.ts';

const edgeward = await openEdgeward();
await edgeward.json('region', 'create', 'eu-west');
for (const [name, ...options] of [['wide'], ['narrow', '--option', 'max_entries=3']] as const) {
  const path = join(edgeward.folder, name);
  mkdirSync(path);
  await edgeward.json('router', 'add', 'eu-west', name, '--driver', 'file', '--option', `path=${path}`, ...options);
}
const acme = await addCustomer(edgeward, 'Acme', [['203.0.113.0/24', 'eu-west']]);
const api = openApiClient(await edgeward.serve(), acme.token);

test.after(async () => {
  await api.close();
  await edgeward.remove();
});

test.before.each(async () => {
  await api.post('/ips/bulk', { action: 'enable', cidr: '0.0.0.0/0' });
});

const SCATTERED = ['203.0.113.1', '203.0.113.3', '203.0.113.5'];

for (const [field, path, body, needed] of [
  ['ip', '/ips/disable', { ip: '203.0.113.7' }, 4],
  ['ips', '/ips/bulk', { action: 'disable', ips: ['203.0.113.9', '203.0.113.11'] }, 5],
  ['range', '/ips/bulk', { action: 'disable', range: { start: '203.0.113.9', end: '203.0.113.10' } }, 5],
  ['cidr', '/ips/bulk', { action: 'disable', cidr: '203.0.113.128/25' }, 4],
] as const) {
  test(`what a router of the region can't take is refused before anything is recorded, by ${field}`, async () => {
    await api.post('/ips/bulk', { action: 'disable', ips: SCATTERED });
    const before = await edgeward.end();
    const answer = await api.post(path, body);
    const message = `this change needs ${needed} prefixes in eu-west; at most 3 are possible.`;
    assert.is(answer.status, 422);
    assert.equal(answer.json, { message, errors: { [field]: [message] } });
    assert.is(await edgeward.end(), before);
    assert.is((await api.post('/ips/disable', { ip: '203.0.113.4' })).status, 200, 'what makes the cover no longer');
  });
}

test("the customer's own limit, where it is smaller, and taken back", async () => {
  await edgeward.json('customer', 'update', 'Acme', '--prefix-limit', '2');
  await edgeward.shown();
  const answer = await api.post('/ips/bulk', { action: 'disable', ips: SCATTERED });
  assert.is(answer.status, 422);
  assert.match(answer.text, 'this change needs 3 prefixes in eu-west; at most 2 are possible.');
  await edgeward.json('customer', 'update', 'Acme', '--prefix-limit', '10000');
  await edgeward.shown();
  assert.is((await api.post('/ips/bulk', { action: 'disable', ips: SCATTERED })).status, 200);
});

test.run();
