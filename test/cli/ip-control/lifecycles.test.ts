// Customers and regions that come to their end, on routers that are directories.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { submitForm } from '../../http/customer/source-whitelist-examples.ts';
import { openApiClient } from '../../support/http/api-client.ts';
import { addCustomer, addRegion, type Edgeward, openEdgeward } from '../../support/servers/edgeward-server.ts';

const test = suite<{ edgeward: Edgeward }>('the end of customers and regions');

test.before.each(async (context) => {
  context.edgeward = await openEdgeward();
});
test.after.each(({ edgeward }) => edgeward.remove());

test('a disabled customer is refused and keeps its lists; enabled again it may act', async ({ edgeward }) => {
  await addRegion(edgeward, 'ams');
  const { token } = await addCustomer(edgeward, 'acme', [['203.0.113.0/24', 'ams']]);
  const api = openApiClient(await edgeward.serve(), token);
  assert.is((await api.post('/ips/disable', { ip: '203.0.113.7' })).status, 200);
  await edgeward.json('commit', 'run', 'acme', 'ams');
  await edgeward.json('customer', 'disable', 'acme', '--reason', 'unpaid');
  await edgeward.shown();
  const refused = await api.get('/subnets');
  assert.is(refused.status, 403);
  assert.equal(refused.json, { message: 'this account is disabled.' });
  assert.match(JSON.stringify(await edgeward.json('customer', 'show', 'acme')), '"state":"disabled"');
  await edgeward.json('commit', 'run', 'acme', 'ams');
  assert.is(list(edgeward, 'ams', 'Svc-ACME-BLACKHOLE'), '203.0.113.7/32\n');
  await edgeward.json('customer', 'enable', 'acme');
  await edgeward.shown();
  assert.is((await api.get('/subnets')).status, 200);
  await api.close();
});

test('of a removed customer nothing stays on a router, and nothing else goes', async ({ edgeward }) => {
  for (const region of ['ams', 'fra']) await addRegion(edgeward, region, 2);
  const acme = await addCustomer(
    edgeward,
    'acme',
    [
      ['203.0.113.0/24', 'ams'],
      ['2001:db8:1::/48', 'fra'],
    ],
    ['--allow-source-whitelist', '--trusted'],
  );
  const globex = await addCustomer(edgeward, 'globex', [['198.51.100.0/24', 'ams']]);
  const url = await edgeward.serve();
  const [asAcme, asGlobex] = [openApiClient(url, acme.token), openApiClient(url, globex.token)];
  assert.is((await asAcme.post('/ips/bulk', { action: 'disable', cidr: '203.0.113.0/25' })).status, 200);
  assert.is((await asAcme.post('/ips/disable', { ip: '2001:db8:1::7' })).status, 200);
  assert.is((await submitForm(asAcme, { ip: '192.31.196.1', regions: ['ams'] })).status, 201);
  assert.is((await asGlobex.post('/ips/disable', { ip: '198.51.100.9' })).status, 200);
  const runs = [
    ['acme', 'ams'],
    ['acme', 'fra'],
    ['acme', 'ams', '--list', 'SRC_WHITELIST'],
    ['globex', 'ams'],
  ] as const;
  for (const run of runs) await edgeward.json('commit', 'run', ...run);
  assert.is(list(edgeward, 'ams-2', 'Svc-ACME-SRC_WHITELIST'), '192.31.196.1/32\n');

  const { exitCode, err } = await edgeward.command('customer', 'remove', 'acme');
  assert.is(exitCode, 4);
  assert.match(err, 'customer acme has 2 subnets and 1 whitelist request');
  const removed = await edgeward.json('customer', 'remove', 'acme', '--force', '--reason', 'left us');
  assert.match(JSON.stringify(removed), /"state":"removed".*"subnets":2,"requests":1,"tokens":1/);
  await edgeward.shown();
  assert.is((await asAcme.get('/subnets')).status, 401);
  // Commits go on for it, by name too.
  for (const run of runs.slice(0, 3)) await edgeward.json('commit', 'run', ...run);
  for (const router of ['ams', 'ams-2', 'fra', 'fra-2']) {
    assert.is(list(edgeward, router, 'Svc-ACME-BLACKHOLE'), '', router);
  }
  for (const router of ['ams', 'ams-2']) {
    assert.is(list(edgeward, router, 'Svc-ACME-SRC_WHITELIST'), '', router);
    assert.is(list(edgeward, router, 'Svc-GLOBEX-BLACKHOLE'), '198.51.100.9/32\n', router);
  }

  assert.is((await edgeward.command('customer', 'show', 'acme')).exitCode, 3);
  assert.not.match(JSON.stringify(await edgeward.json('customer', 'list')), 'acme');
  assert.match((await edgeward.command('customer', 'create', 'acme')).err, 'customer acme was removed: its name stays');
  assert.match(JSON.stringify(await edgeward.json('events', 'acme')), 'left us');
  // Its addresses are free for others.
  await edgeward.json('subnet', 'add', 'globex', '203.0.113.0/24', '--region', 'ams', '--asn', '1', '--metro', 'x');
  assert.match(JSON.stringify(await edgeward.json('verify')), '"ok":true');
  await asAcme.close();
  await asGlobex.close();
});

test('a region goes once no router and no subnet uses it, and its name may come back', async ({ edgeward }) => {
  const first = await addRegion(edgeward, 'ams');
  const { subnetIds } = await addCustomer(edgeward, 'acme', [['203.0.113.0/24', 'ams']]);
  const remove = () => edgeward.command('region', 'remove', 'ams');
  assert.match((await remove()).err, 'region ams has 1 router:');
  await edgeward.json('router', 'remove', 'ams-edge1');
  const used = await remove();
  assert.is(used.exitCode, 4);
  assert.match(used.err, 'region ams has 1 subnet:');
  await edgeward.json('subnet', 'remove', String(subnetIds[0]));
  assert.is((await remove()).exitCode, 0);
  assert.is((await remove()).exitCode, 3);
  assert.equal(await edgeward.json('region', 'list'), []);
  assert.not.equal(await addRegion(edgeward, 'ams', 0), first);
});

function list(edgeward: Edgeward, router: string, name: string): string {
  return readFileSync(join(edgeward.folder, router, name), 'utf8');
}

test.run();
