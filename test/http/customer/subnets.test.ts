import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { openApiClient } from '../../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../../support/servers/edgeward-server.ts';
import { waitUntil } from '../../support/wait-until.ts';

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west');
await addRegion(edgeward, 'us-east');
const acme = await addCustomer(edgeward, 'Acme', [
  ['203.0.113.248/29', 'eu-west'],
  ['2001:db8:0:0::/126', 'us-east'],
  ['198.51.100.7/32', 'eu-west'],
  ['2001:db8:7::/48', 'eu-west'],
  ['10.0.0.0/8', 'us-east'],
  ['2001:db8:ffff:ffff:ffff:ffff:ffff:ffff/128', 'eu-west'],
]);
const [small = 0, small6 = 0, single = 0, large6 = 0, large4 = 0] = acme.subnetIds;
const poor = await addCustomer(edgeward, 'No Subnets');
const url = await edgeward.serve();
const api = openApiClient(url, acme.token);

test.after(async () => {
  await api.close();
  await edgeward.remove();
});

const JSON_TYPE = { 'content-type': 'application/json' };

const listing = z.strictObject({
  data: z.strictObject({
    id: z.number(),
    cidr: z.string(),
    ip_version: z.number(),
    asn: z.number(),
    ips: z.array(z.strictObject({ address: z.string(), status: z.string(), pending_change: z.boolean() })),
  }),
  meta: z.strictObject({ pending_changes: z.number(), next_after: z.string().optional() }),
});

/** Addresses as `address status pending`, which is easier on the eye. */
function ips(json: unknown): readonly string[] {
  return listing
    .parse(json)
    .data.ips.map(
      ({ address, status, pending_change: isPending }) => `${address} ${status}${isPending ? ' pending' : ''}`,
    );
}

/** One page of the small IPv4 subnet: the last numbers of its addresses, and where the next one begins. */
async function page(query: string): Promise<readonly [string, string | undefined]> {
  const { json } = await api.get(`/subnets/${small}?${query}`);
  const { meta } = listing.parse(json);
  assert.is(meta.pending_changes, 4);
  return [
    ips(json)
      .map((line) => line.split(' ')[0]?.split('.')[3])
      .join(' '),
    meta.next_after,
  ];
}

/** One row of the list, as text, with nothing disabled. */
function item(id: number, cidr: string, version: number, region: string, total: string): string {
  return (
    `{"id":${id},"cidr":"${cidr}","ip_version":${version},"asn":64500,"metro":"ams","region":"${region}",` +
    `"ip_counts":{"total":${total},"enabled":${total},"disabled":0,"pending":0}}`
  );
}

/** One row of the small IPv4 subnet, as text. */
function row(last: number, status = 'enabled', pending = false): string {
  return `{"address":"203.0.113.${last}","status":"${status}","pending_change":${pending}}`;
}

// The list

test('a customer without subnets has an empty list', async () => {
  const client = openApiClient(url, poor.token);
  assert.equal((await client.get('/subnets')).json, { data: [] });
  await client.close();
});

test("the list has the customer's own subnets with exactly the specified fields", async () => {
  const text = (await api.get('/subnets')).text;
  assert.is(
    text,
    `{"data":[${[
      item(1, '203.0.113.248/29', 4, 'eu-west', '8'),
      item(2, '2001:db8::/126', 6, 'us-east', '4'),
      item(3, '198.51.100.7/32', 4, 'eu-west', '1'),
      // Above 2^53, to the last digit.
      item(4, '2001:db8:7::/48', 6, 'eu-west', '1208925819614629174706176'),
      item(5, '10.0.0.0/8', 4, 'us-east', '16777216'),
      item(6, '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff/128', 6, 'eu-west', '1'),
    ].join(',')}]}`,
  );
});

test('counts above 2^53 stay exact when they change', async () => {
  await api.post('/ips/bulk', { action: 'disable', cidr: '2001:db8:7:ff00::/56' });
  await api.post('/ips/disable', { ip: '2001:db8:7::' });
  await api.post('/ips/enable', { ip: '2001:db8:7:ff00::' });
  const { text } = await api.get('/subnets');
  const disabled = 2n ** 72n;
  const total = 2n ** 80n;
  assert.match(
    text,
    `"ip_counts":{"total":${total},"enabled":${total - disabled},"disabled":${disabled},"pending":${disabled + 1n}}`,
  );
  const detail = await api.get(`/subnets/${large6}?view=ranges`);
  assert.is(
    detail.text,
    `{"data":{"id":4,"cidr":"2001:db8:7::/48","ip_version":6,"asn":64500,"ranges":[` +
      `{"start":"2001:db8:7::","end":"2001:db8:7::","status":"disabled","pending_change":true},` +
      `{"start":"2001:db8:7::1","end":"2001:db8:7:feff:ffff:ffff:ffff:ffff","status":"enabled","pending_change":false},` +
      `{"start":"2001:db8:7:ff00::","end":"2001:db8:7:ff00::","status":"enabled","pending_change":true},` +
      `{"start":"2001:db8:7:ff00::1","end":"2001:db8:7:ffff:ffff:ffff:ffff:ffff","status":"disabled","pending_change":true}` +
      `]},"meta":{"pending_changes":${disabled + 1n}}}`,
  );
});

// The detail

test('the detail lists every address in numeric order, with exactly the specified fields', async () => {
  await api.post('/ips/disable', { ip: '203.0.113.250' });
  const { text } = await api.get(`/subnets/${small}`);
  assert.is(
    text,
    `{"data":{"id":1,"cidr":"203.0.113.248/29","ip_version":4,"asn":64500,"ips":[` +
      [row(248), row(249), row(250, 'disabled', true), row(251), row(252), row(253), row(254), row(255)].join(',') +
      `]},"meta":{"pending_changes":1}}`,
  );
});

test('network and broadcast address are ordinary addresses', async () => {
  for (const ip of ['203.0.113.248', '203.0.113.255']) assert.is((await api.post('/ips/disable', { ip })).status, 200);
  assert.equal(ips((await api.get(`/subnets/${small}/pending`)).json), [
    '203.0.113.248 disabled pending',
    '203.0.113.250 disabled pending',
    '203.0.113.255 disabled pending',
  ]);
  for (const ip of ['203.0.113.248', '203.0.113.255']) await api.post('/ips/enable', { ip });
});

test('IPv6 addresses are listed in their canonical form', async () => {
  assert.equal(ips((await api.get(`/subnets/${small6}`)).json), [
    '2001:db8:: enabled',
    '2001:db8::1 enabled',
    '2001:db8::2 enabled',
    '2001:db8::3 enabled',
  ]);
});

test('a subnet of one address is that address', async () => {
  assert.equal((await api.get(`/subnets/${single}`)).json, {
    data: {
      id: single,
      cidr: '198.51.100.7/32',
      ip_version: 4,
      asn: 64_500,
      ips: [{ address: '198.51.100.7', status: 'enabled', pending_change: false }],
    },
    meta: { pending_changes: 0 },
  });
});

test('a subnet of more than 65,536 addresses lists those that are disabled or pending', async () => {
  assert.equal(ips((await api.get(`/subnets/${large4}`)).json), []);
  await api.post('/ips/bulk', { action: 'disable', ips: ['10.255.255.255', '10.0.0.0', '10.9.0.1', '10.10.0.1'] });
  await api.post('/ips/enable', { ip: '10.10.0.1' });
  const { json } = await api.get(`/subnets/${large4}`);
  assert.equal(ips(json), [
    '10.0.0.0 disabled pending',
    '10.9.0.1 disabled pending',
    '10.10.0.1 enabled pending',
    '10.255.255.255 disabled pending',
  ]);
});

// What is pending

test('pending has the shape of the detail and only what is pending', async () => {
  await api.post('/ips/bulk', { action: 'enable', cidr: '203.0.113.248/29' });
  await api.post('/ips/disable', { ip: '203.0.113.251' });
  const pending = await api.get(`/subnets/${small}/pending`);
  assert.equal(pending.json, {
    data: {
      id: small,
      cidr: '203.0.113.248/29',
      ip_version: 4,
      asn: 64_500,
      ips: [
        { address: '203.0.113.248', status: 'enabled', pending_change: true },
        { address: '203.0.113.250', status: 'enabled', pending_change: true },
        { address: '203.0.113.251', status: 'disabled', pending_change: true },
        { address: '203.0.113.255', status: 'enabled', pending_change: true },
      ],
    },
    meta: { pending_changes: 4 },
  });
  assert.equal((await api.get(`/subnets/${single}/pending`)).json, {
    data: { id: single, cidr: '198.51.100.7/32', ip_version: 4, asn: 64_500, ips: [] },
    meta: { pending_changes: 0 },
  });
});

test('pending as ranges has the runs of what is pending', async () => {
  assert.equal((await api.get(`/subnets/${small}/pending?view=ranges`)).json, {
    data: {
      id: small,
      cidr: '203.0.113.248/29',
      ip_version: 4,
      asn: 64_500,
      ranges: [
        { start: '203.0.113.248', end: '203.0.113.248', status: 'enabled', pending_change: true },
        { start: '203.0.113.250', end: '203.0.113.250', status: 'enabled', pending_change: true },
        { start: '203.0.113.251', end: '203.0.113.251', status: 'disabled', pending_change: true },
        { start: '203.0.113.255', end: '203.0.113.255', status: 'enabled', pending_change: true },
      ],
    },
    meta: { pending_changes: 4 },
  });
});

// The query

const BAD_QUERIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'view=both': { view: 'must be ips or ranges.' },
  'view=': { view: 'must be ips or ranges.' },
  'view=IPS': { view: 'must be ips or ranges.' },
  'view=ips&view=ranges': { view: 'must be given once.' },
  'limit=0': { limit: 'must be a whole number from 1 to 65536.' },
  'limit=65537': { limit: 'must be a whole number from 1 to 65536.' },
  'limit=-1': { limit: 'must be a whole number from 1 to 65536.' },
  'limit=1.5': { limit: 'must be a whole number from 1 to 65536.' },
  'limit=1e3': { limit: 'must be a whole number from 1 to 65536.' },
  'limit=010': { limit: 'must be a whole number from 1 to 65536.' },
  'limit=': { limit: 'must be a whole number from 1 to 65536.' },
  'limit=9007199254740993': { limit: 'must be a whole number from 1 to 65536.' },
  'limit=1&limit=2': { limit: 'must be given once.' },
  'after=1&after=2': { after: 'must be given once.' },
  'after=203.0.113': {
    after:
      '"203.0.113" is not an IP address: IPv4 is four decimal numbers from 0 to 255 with dots between, such as 192.0.2.1',
  },
  'after=2001:db8::': { after: 'must be an IPv4 address, like the subnet.' },
  'view=ranges&limit=5': { limit: 'does not go with view=ranges, which is complete.' },
  'view=ranges&after=203.0.113.1&limit=1': {
    after: 'does not go with view=ranges, which is complete.',
    limit: 'does not go with view=ranges, which is complete.',
  },
  'view=x&limit=x': { view: 'must be ips or ranges.', limit: 'must be a whole number from 1 to 65536.' },
};

for (const [query, errors] of Object.entries(BAD_QUERIES)) {
  test(`the query ${query} is refused, field by field`, async () => {
    for (const path of [`/subnets/${small}`, `/subnets/${small}/pending`]) {
      const answer = await api.get(`${path}?${query}`);
      assert.is(answer.status, 422);
      const [field, problem] = Object.entries(errors)[0] ?? ['', ''];
      assert.equal(answer.json, {
        message: `${field}: ${problem}`,
        errors: Object.fromEntries(Object.entries(errors).map(([name, text]) => [name, [text]])),
      });
    }
  });
}

test('pages begin after an address of either side of the subnet, or of its middle', async () => {
  assert.equal(await page('limit=3'), ['248 249 250', '203.0.113.250']);
  assert.equal(await page('limit=3&after=203.0.113.250'), ['251 252 253', '203.0.113.253']);
  assert.equal(await page('limit=3&after=203.0.113.253'), ['254 255', undefined]);
  assert.equal(
    await page('limit=2&after=203.0.113.253'),
    ['254 255', undefined],
    'a last page that is full is the last',
  );
  assert.equal(await page('after=203.0.113.255'), ['', undefined]);
  assert.equal(await page('after=255.255.255.255'), ['', undefined]);
  assert.equal(await page('limit=1&after=0.0.0.0'), ['248', '203.0.113.248']);
  assert.equal(await page('limit=1&after=203.0.113.247'), ['248', '203.0.113.248']);
  assert.equal(await page('view=ips&limit=8'), ['248 249 250 251 252 253 254 255', undefined]);
});

test('pages of what is pending count what is pending', async () => {
  const { json } = await api.get(`/subnets/${small}/pending?limit=2&after=203.0.113.248`);
  assert.equal(ips(json), ['203.0.113.250 enabled pending', '203.0.113.251 disabled pending']);
  assert.is(listing.parse(json).meta.next_after, '203.0.113.251');
});

test('an address in any of its forms can be paged after', async () => {
  const forms = ['2001:db8::1', '2001:DB8:0:0:0:0:0:1', '2001:db8::0.0.0.1', '2001:0db8:0000::0001'];
  for (const form of forms)
    assert.equal(ips((await api.get(`/subnets/${small6}?after=${form}&limit=1`)).json), ['2001:db8::2 enabled'], form);
});

test('queries that mean nothing here are refused, all of them at once', async () => {
  const { status, json } = await api.get(`/subnets/${small}?page=2&constructor=1&limit[]=3`);
  assert.is(status, 422);
  const { errors } = z.object({ errors: z.record(z.string(), z.array(z.string())) }).parse(json);
  assert.equal(Object.keys(errors), ['page', 'constructor', 'limit[]']);
  assert.equal(new Set(Object.values(errors).flat()), new Set(['is not a known field.']));
  assert.is((await api.get('/subnets?limit=0&view=x')).status, 422);
});

// Changes by administrators

test('a subnet that is assigned appears within a second, one that is taken back goes', async () => {
  const added = await edgeward.json(
    'subnet',
    'add',
    'Acme',
    '192.0.2.0/30',
    '--region',
    'eu-west',
    '--asn',
    '4294967295',
    '--metro',
    'São Paulo',
  );
  const { id } = z.object({ id: z.number() }).parse(added);
  const list = await waitUntil('the subnet is listed', async () => {
    const { text } = await api.get('/subnets');
    return text.includes('192.0.2.0/30') && text;
  });
  assert.match(
    list,
    `{"id":${id},"cidr":"192.0.2.0/30","ip_version":4,"asn":4294967295,"metro":"São Paulo","region":"eu-west"`,
  );
  await api.post('/ips/disable', { ip: '192.0.2.1' });
  await edgeward.json('subnet', 'remove', String(id));
  await waitUntil('the subnet is gone', async () => (await api.get(`/subnets/${id}`)).status === 404);
  assert.not.match((await api.get('/subnets')).text, '192.0.2.0/30');
  assert.is((await api.post('/ips/disable', { ip: '192.0.2.2' })).status, 404);
});

test('reading changes nothing', async () => {
  const before = (await edgeward.events()).length;
  await api.get('/subnets');
  await api.get(`/subnets/${large4}?view=ranges`);
  await api.send('/subnets', { method: 'HEAD', headers: JSON_TYPE });
  assert.is((await edgeward.events()).length, before);
});

test.run();
