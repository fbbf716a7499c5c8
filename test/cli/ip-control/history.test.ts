import { openSqlite } from '../../../src/adapters/sqlite/sqlite-library.ts';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { type ApiClient, openApiClient } from '../../support/http/api-client.ts';
import { addCustomer, addRegion, type Edgeward, openEdgeward } from '../../support/servers/edgeward-server.ts';
import { waitUntil } from '../../support/wait-until.ts';

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west');
await addRegion(edgeward, 'us-east');
const acme = await addCustomer(edgeward, 'Acme', [
  ['203.0.113.0/24', 'eu-west'],
  ['198.51.100.0/24', 'us-east'],
  ['2001:db8::/48', 'eu-west'],
]);
const api: ApiClient = openApiClient(await edgeward.serve(), acme.token);

test.after(async () => {
  await api.close();
  await edgeward.remove();
});

const row = z.strictObject({
  at: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/),
  revision: z.string(),
  actor: z.string(),
  type: z.string(),
  data: z.record(z.string(), z.unknown()),
  id: z.uuid(),
  position: z.string(),
  request_id: z.string(),
  schema: z.number(),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
});

async function events(...options: readonly string[]): Promise<readonly z.infer<typeof row>[]> {
  return z.array(row).parse(await edgeward.json('events', 'Acme', ...options));
}

async function state(...options: readonly string[]) {
  const region = z.object({
    region: z.string(),
    disabled: z.array(z.string()),
    pending: z.array(z.string()),
    deployed: z.array(z.string()),
  });
  const { regions } = z.object({ regions: z.array(region) }).parse(await edgeward.json('state', 'Acme', ...options));
  return Object.fromEntries(
    regions.map(({ region: name, disabled, pending, deployed }) => [name, { disabled, pending, deployed }]),
  );
}

/** The instant of the customer's newest event, and nothing happens within its millisecond afterwards. */
async function now(): Promise<string> {
  const at = (await events()).at(-1)?.at ?? '';
  await waitUntil('the clock goes on', () => Date.now() > Date.parse(at));
  return at;
}

// The story that these tests look back at

await api.post('/ips/bulk', { action: 'disable', cidr: '203.0.113.0/30' });
const whenDisabled = await now();
await edgeward.json('commit', 'run', 'Acme', 'eu-west');
const whenDeployed = await now();
await api.post('/ips/enable', { ip: '203.0.113.1' });
await api.post('/ips/disable', { ip: '198.51.100.7' });
const whenChanged = await now();

// Events

test("a customer's history is complete, in order, with everything about each event", async () => {
  const all = await events();
  assert.equal(
    all.map(({ revision, type }) => `${revision} ${type}`),
    [
      '0 CustomerRegistered',
      '1 SubnetAssigned',
      '2 SubnetAssigned',
      '3 SubnetAssigned',
      '4 ApiTokenIssued',
      '5 AddressesDisabled',
      '6 CommitRequested',
      '7 CommitCompleted',
      '8 AddressesEnabled',
      '9 AddressesDisabled',
    ],
  );
  assert.is(all[5]?.actor, `token:${acme.tokenId}`);
  assert.match(all[1]?.actor ?? '', /^admin:[^@]+@cli$/);
  assert.is(all[6]?.actor, all[1]?.actor, 'who has asked for the commit, though the server deploys it');
  assert.is(all[7]?.actor, 'system:deploy-commit');
  assert.equal(all[8]?.data, { regionId: 1, ranges: ['203.0.113.1'] });
});

test('for people it is a table', async () => {
  const { out } = await edgeward.command('events', 'Acme', '--type', 'AddressesEnabled');
  const [head = '', line = ''] = out.split('\n');
  assert.match(head, /^AT +REVISION +ACTOR +TYPE +DATA$/);
  assert.match(line, /^\S+\+00:00 +8 +token:\S+ +AddressesEnabled +\{"regionId":1,"ranges":\["203\.0\.113\.1"\]\}$/);
});

test('a history is narrowed by type and by time, both ends included', async () => {
  assert.equal(
    (await events('--type', 'AddressesDisabled')).map(({ revision }) => revision),
    ['5', '9'],
  );
  assert.equal(
    (await events('--from', whenDisabled, '--to', whenDeployed)).map(({ type }) => type),
    ['AddressesDisabled', 'CommitRequested', 'CommitCompleted'],
  );
  assert.is((await events('--from', whenDisabled.replace('+00:00', 'Z'))).length, 5);
  assert.is((await events('--to', '2020-01-01T00:00:00+02:00')).length, 0);
  assert.is((await events('--type', 'SubnetReleased')).length, 0);
});

test('an instant has an offset', async () => {
  for (const option of ['--from', '--to'] as const) {
    for (const instant of ['yesterday', '2026-11-27', '2026-11-27T20:50:00', '2026-13-27T20:50:00Z', '1795812600']) {
      const { exitCode, err } = await edgeward.command('events', 'Acme', option, instant);
      assert.is(exitCode, 2, instant);
      assert.is(err, `edgeward: ${option} must be an instant with an offset, such as 2026-11-27T20:50:00Z.\n`);
    }
  }
  assert.is((await edgeward.command('state', 'Acme', '--at', 'now')).exitCode, 2);
  assert.is((await edgeward.command('events', 'Nobody')).exitCode, 3);
  const { exitCode, err } = await edgeward.command('events', 'Acme', '--type', 'AddressDisabled');
  assert.is(exitCode, 2);
  assert.match(err, /--type must be one of .*AddressesDisabled/);
  assert.is((await edgeward.command('state', 'Nobody')).exitCode, 3);
});

test('a followed history goes on with what happens, until it is interrupted', async () => {
  const following = await edgeward.spawn(['events', 'Acme', '--follow', '--json', '--from', whenChanged]);
  const seen = (): readonly unknown[] =>
    following
      .out()
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => row.parse(JSON.parse(line)).data);
  await waitUntil('what was there before', () => seen().length === 1);
  await api.post('/ips/disable', { ip: '198.51.100.8' });
  await waitUntil('what happens', () => seen().length === 2);
  await edgeward.json('customer', 'create', 'Somebody else');
  await api.post('/ips/disable', { ip: '198.51.100.9' });
  await waitUntil('what happens', () => seen().length === 3);
  assert.equal(
    seen().map((data) => Object(data).ranges),
    [['198.51.100.7'], ['198.51.100.8'], ['198.51.100.9']],
  );
  following.child.kill('SIGINT');
  assert.is(await following.ended, 0);
  assert.is(following.err(), '');
  await api.post('/ips/bulk', { action: 'enable', ips: ['198.51.100.8', '198.51.100.9'] });
});

// State

test('the state of any moment comes from the events', async () => {
  const nothing = { disabled: [], pending: [], deployed: [] };
  assert.equal(await state('--at', whenDisabled), {
    'eu-west': { disabled: ['203.0.113.0/30'], pending: ['203.0.113.0/30'], deployed: [] },
    'us-east': nothing,
  });
  assert.equal(await state('--at', whenDeployed), {
    'eu-west': { disabled: ['203.0.113.0/30'], pending: [], deployed: ['203.0.113.0/30'] },
    'us-east': nothing,
  });
  assert.equal(await state('--at', whenChanged), {
    'eu-west': {
      disabled: ['203.0.113.0/32', '203.0.113.2/31'],
      pending: ['203.0.113.1/32'],
      deployed: ['203.0.113.0/30'],
    },
    'us-east': { disabled: ['198.51.100.7/32'], pending: ['198.51.100.7/32'], deployed: [] },
  });
  assert.equal(await state('--at', '2020-01-01T00:00:00Z'), {});
});

test('the state of now is what the API shows', async () => {
  const { 'us-east': east } = await state();
  assert.equal(east, { disabled: ['198.51.100.7/32'], pending: ['198.51.100.7/32', '198.51.100.8/31'], deployed: [] });
  const { text } = await api.get(`/subnets/${acme.subnetIds[1]}/pending?view=ranges`);
  assert.is([...text.matchAll(/"pending_change":true/g)].length, 2);
  const { out } = await edgeward.command('state', 'Acme');
  assert.match(out, /^customer Acme at .+Z$/m);
  assert.match(out, /^region us-east\n {2}disabled \(1 block\)\n {4}198\.51\.100\.7\/32\n/m);
});

// Verification

test('an untouched log verifies, beside the running server', async () => {
  const { exitCode, out } = await edgeward.command('verify');
  assert.is(exitCode, 0);
  assert.match(out, /^\d+ events in \d+ streams, 1 commits .*: 0 problems\n$/);
});

/** A copy of the data directory, whose log is then tampered with. */
async function tampered(sql: string): Promise<Readonly<{ copy: Edgeward; changes: number }>> {
  const copy = await openEdgeward();
  const source = openSqlite(join(edgeward.dataDir, 'events.db'));
  source.pragma('wal_checkpoint(TRUNCATE)');
  source.close();
  cpSync(edgeward.dataDir, copy.dataDir, { recursive: true });
  const db = openSqlite(join(copy.dataDir, 'events.db'));
  const { changes } = db.prepare(sql).run();
  db.close();
  return { copy, changes };
}

const CUSTOMER = `stream = 'customer-${acme.id}'`;
const TAMPERINGS: Readonly<Record<string, readonly [sql: string, finding: RegExp]>> = {
  'other addresses': [
    `UPDATE events SET data = replace(data, '203.0.113.1', '203.0.113.2') WHERE ${CUSTOMER} AND revision = 8`,
    /customer-1 revision 8 \(position \d+\): it was altered, or the one before it was/,
  ],
  'another time': [
    `UPDATE events SET at = '2026-01-01T00:00:00.000+00:00' WHERE ${CUSTOMER} AND revision = 5`,
    /customer-1 revision 5 .*altered/,
  ],
  'another actor': [
    `UPDATE events SET actor = 'admin:somebody' WHERE ${CUSTOMER} AND revision = 5`,
    /customer-1 revision 5 .*altered/,
  ],
  'another request id': [
    `UPDATE events SET correlation_id = 'x' WHERE ${CUSTOMER} AND revision = 5`,
    /customer-1 revision 5 .*altered/,
  ],
  'another type': [
    `UPDATE events SET type = 'AddressesEnabled' WHERE ${CUSTOMER} AND revision = 5`,
    /customer-1 revision 5 .*altered/,
  ],
  'an unknown type': [
    `UPDATE events SET type = 'NothingHappened' WHERE ${CUSTOMER} AND revision = 5`,
    /customer-1 revision 5 .*altered/,
  ],
  'another hash': [
    `UPDATE events SET hash = replace(hash, 'a', 'b') WHERE ${CUSTOMER} AND revision = 8`,
    /customer-1 revision 8 .*altered/,
  ],
  'a removed event': [
    `DELETE FROM events WHERE ${CUSTOMER} AND revision = 5`,
    /customer-1 revision 6 .*: events are missing before it/,
  ],
  'a removed beginning': [
    `DELETE FROM events WHERE ${CUSTOMER} AND revision = 0`,
    /customer-1 revision 1 .*: events are missing before it/,
  ],
  'data that no event has': [
    `UPDATE events SET data = '{}' WHERE ${CUSTOMER} AND revision = 5`,
    /customer-1 revision 5 .*altered/,
  ],
  'data that are no JSON': [
    `UPDATE events SET data = 'nonsense' WHERE ${CUSTOMER} AND revision = 5`,
    /revision 5 of customer-1.*not JSON/,
  ],
  'the region of a router': [
    `UPDATE events SET data = replace(data, 'file', 'none') WHERE stream = 'region-1' AND revision = 1`,
    /region-1 revision 1 .*altered/,
  ],
  'the owner of a subnet': [
    `UPDATE events SET data = replace(data, '"customerId":1', '"customerId":2') WHERE stream = 'directory-main' AND type = 'SubnetReserved' AND data LIKE '%203.0.113.0/24%'`,
    /directory-main revision \d+ .*altered/,
  ],
};

for (const [what, [sql, finding]] of Object.entries(TAMPERINGS)) {
  test(`${what} in the log: verification fails and says where`, async () => {
    const { copy, changes } = await tampered(sql);
    try {
      assert.is(changes, 1, 'one row was tampered with');
      const { exitCode, out, err } = await copy.command('verify');
      assert.is(exitCode, 1);
      assert.match(out + err, finding);
      assert.not.match(out + err, /\n\s+at /, 'no stack');
      const json = await copy.command('verify', '--json');
      assert.is(json.exitCode, 1);
      assert.match(json.out + json.err, finding);
    } finally {
      await copy.remove();
    }
  });
}

test('an empty log verifies nothing: a wrong directory must not look like a clean audit', async () => {
  const empty = await openEdgeward();
  const { exitCode, out } = await empty.command('verify');
  assert.is(exitCode, 1);
  assert.match(out, 'the log is empty: DATA_DIR or EVENT_STORE_URL may name another one than you mean');
  await empty.remove();
});

test.run();
