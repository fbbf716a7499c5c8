import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Answer, openApiClient } from '../../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../../support/servers/edgeward-server.ts';

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west');
await addRegion(edgeward, 'us-east');
const acme = await addCustomer(edgeward, 'Acme', [
  ['203.0.113.0/24', 'eu-west'],
  ['2001:db8::/48', 'eu-west'],
  ['198.51.100.0/24', 'us-east'],
  ['::ffff:192.0.2.0/120', 'us-east'],
]);
const other = await addCustomer(edgeward, 'Other', [['192.0.2.0/24', 'eu-west']]);
const url = await edgeward.serve();
const api = openApiClient(url, acme.token);

test.after(async () => {
  await api.close();
  await edgeward.remove();
});

function change(action: 'enable' | 'disable', ip: string): Promise<Answer> {
  return api.post(`/ips/${action}`, { ip });
}

/** The customer's events since the given number of them, as `type region ranges`. */
async function eventsSince(count: number): Promise<readonly string[]> {
  const events = (await edgeward.events()).slice(count);
  // That a token was of use is recorded at its first request of an hour, whatever that asks for.
  return events
    .filter(({ type }) => type !== 'ApiTokenUsed')
    .map(({ type, data }) => `${type} ${JSON.stringify(data)}`);
}

async function eventCount(): Promise<number> {
  return (await edgeward.events()).length;
}

// What is answered and recorded

test('a disabled address is pending, and one event says so', async () => {
  const before = await eventCount();
  const answer = await change('disable', '203.0.113.7');
  assert.is(answer.status, 200);
  assert.is(
    answer.text,
    '{"data":{"address":"203.0.113.7","status":"disabled","pending_change":true},"meta":{"pending_changes":1}}',
  );
  assert.equal(await eventsSince(before), ['AddressesDisabled {"regionId":1,"ranges":["203.0.113.7"]}']);
});

test('disabled again, nothing changes', async () => {
  const before = await eventCount();
  assert.is(
    (await change('disable', '203.0.113.7')).text,
    '{"data":{"address":"203.0.113.7","status":"disabled","pending_change":true},"meta":{"pending_changes":1}}',
  );
  assert.equal(await eventsSince(before), []);
});

test('enabled before a commit, it stays pending: it was touched', async () => {
  const before = await eventCount();
  assert.is(
    (await change('enable', '203.0.113.7')).text,
    '{"data":{"address":"203.0.113.7","status":"enabled","pending_change":true},"meta":{"pending_changes":1}}',
  );
  assert.equal(await eventsSince(before), ['AddressesEnabled {"regionId":1,"ranges":["203.0.113.7"]}']);
  assert.match(
    (await api.get('/subnets/1/pending')).text,
    '"ips":[{"address":"203.0.113.7","status":"enabled","pending_change":true}]',
  );
});

test('enabling what is enabled changes nothing and is not pending', async () => {
  const before = await eventCount();
  assert.is(
    (await change('enable', '203.0.113.8')).text,
    '{"data":{"address":"203.0.113.8","status":"enabled","pending_change":false},"meta":{"pending_changes":1}}',
  );
  assert.equal(await eventsSince(before), []);
});

test("pending changes are counted over the customer's subnets of the region that was touched, and no other", async () => {
  assert.match((await change('disable', '2001:db8::1')).text, '"meta":{"pending_changes":2}');
  assert.match((await change('disable', '198.51.100.1')).text, '"meta":{"pending_changes":1}');
  assert.match((await change('disable', '203.0.113.9')).text, '"meta":{"pending_changes":3}');
  assert.match((await change('enable', '198.51.100.200')).text, '"meta":{"pending_changes":1}');
});

test('after a commit nothing is pending, and a repetition changes nothing', async () => {
  await edgeward.json('commit', 'run', 'Acme', 'eu-west');
  const before = await eventCount();
  assert.is(
    (await change('disable', '203.0.113.9')).text,
    '{"data":{"address":"203.0.113.9","status":"disabled","pending_change":false},"meta":{"pending_changes":0}}',
  );
  assert.equal(await eventsSince(before), []);
  assert.match(
    (await change('enable', '198.51.100.201')).text,
    '"meta":{"pending_changes":1}',
    'the other region waits',
  );
});

// Whose address

test('an address outside the account is 404, named as it was sent, whoever has it', async () => {
  const before = await eventCount();
  for (const ip of [
    '192.0.2.1',
    '203.0.114.0',
    '203.0.112.255',
    '0.0.0.0',
    '255.255.255.255',
    '::',
    '2001:db8:1::',
    '2001:DB8:FFFF::1',
  ]) {
    for (const action of ['enable', 'disable'] as const) {
      const answer = await change(action, ip);
      assert.is(answer.status, 404, ip);
      assert.equal(answer.json, { message: `IP ${ip} not found in your account.` });
    }
  }
  assert.is(await eventCount(), before);
});

test('the other customer sees nothing of all this', async () => {
  const client = openApiClient(url, other.token);
  assert.match((await client.get('/subnets')).text, '"ip_counts":{"total":256,"enabled":256,"disabled":0,"pending":0}');
  assert.is((await client.post('/ips/enable', { ip: '203.0.113.7' })).status, 404);
  assert.is((await client.post('/ips/disable', { ip: '192.0.2.1' })).status, 200);
  assert.match((await api.get('/subnets/1')).text, '"meta":{"pending_changes":0}');
  await client.close();
});

// What an address is

const FORMS: Readonly<Record<string, string>> = {
  '203.0.113.0': '203.0.113.0',
  '2001:db8::a': '2001:db8::a',
  '2001:DB8::A': '2001:db8::a',
  '2001:0db8:0000:0000:0000:0000:0000:000a': '2001:db8::a',
  '2001:db8:0:0:0:0:0:a': '2001:db8::a',
  '2001:db8:0::0:0:a': '2001:db8::a',
  '2001:db8::0.0.0.10': '2001:db8::a',
  '2001:db8::': '2001:db8::',
  '2001:db8:0:1:0:0:1:0': '2001:db8:0:1::1:0',
  '2001:db8:0:0:1:0:0:0': '2001:db8:0:0:1::',
  '2001:db8:0:0:1:2:3:4': '2001:db8::1:2:3:4',
  '2001:db8:0:1:1:1:1:1': '2001:db8:0:1:1:1:1:1',
  '::ffff:192.0.2.7': '::ffff:192.0.2.7',
  '::FFFF:C000:0207': '::ffff:192.0.2.7',
  '0:0:0:0:0:ffff:192.0.2.7': '::ffff:192.0.2.7',
};

for (const [sent, canonical] of Object.entries(FORMS)) {
  test(`${sent} is answered as ${canonical}`, async () => {
    const answer = await change('disable', sent);
    assert.is(answer.status, 200);
    assert.match(answer.text, `"data":{"address":"${canonical}","status":"disabled","pending_change":true}`);
  });
}

test('an IPv4-mapped address is never the IPv4 address', async () => {
  const answer = await change('disable', '::ffff:203.0.113.7');
  assert.is(answer.status, 404);
  assert.equal(answer.json, { message: 'IP ::ffff:203.0.113.7 not found in your account.' });
});

const NO_ADDRESSES = [
  '',
  ' ',
  '203.0.113',
  '203.0.113.7.1',
  '203.0.113.256',
  '203.0.113.07',
  '0313.0.113.7',
  '0xcb.0.0x71.7',
  '3405803783',
  '203.0.28935',
  '203.0.113.7/32',
  '203.0.113.7 ',
  ' 203.0.113.7',
  '203.0.113.7\n',
  '203.0.113.7\u0000',
  '203.0.113.-7',
  '203.0.113.٧',
  '２０３.0.113.7',
  '2001:db8:::1',
  '2001:db8::1::2',
  '2001:db8:1:2:3:4:5',
  '2001:db8:1:2:3:4:5:6:7',
  '2001:db8::12345',
  '2001:db8::g',
  'fe80::1%eth0',
  '2001:db8::1%1',
  '[2001:db8::1]',
  '2001:db8::/48',
  '2001:db8::203.0.113',
  '2001:db8::203.0.113.07',
  ':',
  'example.com',
  'localhost',
];

for (const ip of NO_ADDRESSES) {
  test(`${JSON.stringify(ip)} is no address`, async () => {
    const answer = await change('disable', ip);
    assert.is(answer.status, 422);
    const [problem] = Object.values(Object(answer.json).errors ?? {}).flat();
    assert.match(String(problem), 'is not an IP address: ');
    assert.equal(answer.json, { message: `ip: ${String(problem)}`, errors: { ip: [problem] } });
  });
}

test('a problem says what would be right', async () => {
  const problems: Readonly<Record<string, string>> = {
    '203.0.113.07': 'write the numbers without leading zeros, 203.0.113.7',
    '203.0.113.7/32': 'a single address has no prefix length, write 203.0.113.7',
    ' 203.0.113.7': 'leave the spaces around 203.0.113.7 away',
    'fe80::1%eth0': 'leave the zone id away, write fe80::1',
    '[2001:db8::1]': 'leave the brackets away, write 2001:db8::1',
  };
  for (const [ip, advice] of Object.entries(problems)) assert.match((await change('disable', ip)).text, advice, ip);
});

test('a synchronous change is refused where the account may not have one', async () => {
  const before = await eventCount();
  for (const path of ['/ips/enable', '/ips/disable']) {
    const answer = await api.post(path, { ip: '203.0.113.50', synchronous: true });
    assert.is(answer.status, 403);
    assert.equal(answer.json, { message: 'synchronous mode is not enabled for your account' });
  }
  assert.is(await eventCount(), before);
});

test.run();
