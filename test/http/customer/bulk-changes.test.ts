import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Answer, openApiClient } from '../../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../../support/servers/edgeward-server.ts';

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west');
await addRegion(edgeward, 'us-east');
const acme = await addCustomer(edgeward, 'Acme', [
  ['203.0.113.0/25', 'eu-west'],
  ['203.0.113.192/26', 'us-east'],
  ['10.0.0.0/8', 'eu-west'],
  ['2001:db8::/32', 'us-east'],
]);
await addCustomer(edgeward, 'Other', [['203.0.113.128/26', 'eu-west']]);
const url = await edgeward.serve();
const api = openApiClient(url, acme.token);

test.after(async () => {
  await api.close();
  await edgeward.remove();
});

test.before.each(async () => {
  for (const cidr of ['0.0.0.0/0', '::/0']) await api.post('/ips/bulk', { action: 'enable', cidr });
  for (const region of ['eu-west', 'us-east']) await edgeward.json('commit', 'run', 'Acme', region);
});

function disable(target: object): Promise<Answer> {
  return api.post('/ips/bulk', { action: 'disable', ...target });
}

async function assertChanged(target: object, changed: bigint | number, pending: bigint | number): Promise<void> {
  const { status, text } = await disable(target);
  assert.is(status, 200, text);
  assert.is(text, `{"data":{"changed":${changed},"action":"disable"},"meta":{"pending_changes":${pending}}}`);
}

async function recordedBy(work: () => Promise<unknown>): Promise<readonly string[]> {
  const before = (await edgeward.events()).length;
  await work();
  return (await edgeward.events()).slice(before).map(({ type, data }) => `${type} ${JSON.stringify(data)}`);
}

async function assertRefused(body: unknown, status: number, json: unknown): Promise<void> {
  const recorded = await recordedBy(async () => {
    const answer = await api.post('/ips/bulk', body);
    assert.is(answer.status, status, JSON.stringify(body));
    assert.equal(answer.json, json);
  });
  assert.equal(recorded, [], 'nothing is recorded');
}

// Lists

test('a list changes what it names, in one event a region', async () => {
  const ips = ['203.0.113.1', '203.0.113.2', '203.0.113.4', '2001:DB8::1', '203.0.113.193'];
  const recorded = await recordedBy(() => assertChanged({ ips }, 5, 5));
  assert.equal(recorded, [
    'AddressesDisabled {"regionId":1,"ranges":["203.0.113.1-203.0.113.2","203.0.113.4"]}',
    'AddressesDisabled {"regionId":2,"ranges":["203.0.113.193","2001:db8::1"]}',
  ]);
});

test('duplicates count once, in whatever form they come', async () => {
  await assertChanged({ ips: ['203.0.113.1', '203.0.113.1'] }, 1, 1);
  await assertChanged({ ips: ['2001:db8::1', '2001:0DB8:0::0:1', '2001:db8::0.0.0.1'] }, 1, 1);
});

test('what is so already is skipped and not counted', async () => {
  await assertChanged({ ips: ['203.0.113.1', '203.0.113.2'] }, 2, 2);
  await assertChanged({ ips: ['203.0.113.1', '203.0.113.2', '203.0.113.3'] }, 1, 3);
  const recorded = await recordedBy(() => assertChanged({ ips: ['203.0.113.1', '203.0.113.3'] }, 0, 3));
  assert.equal(recorded, []);
});

test('one address outside the account refuses the whole list and is named as it was sent', async () => {
  await assertRefused({ action: 'disable', ips: ['203.0.113.1', '192.0.2.1', '192.0.2.2'] }, 422, {
    message: 'IP 192.0.2.1 does not belong to your account.',
  });
  await assertRefused({ action: 'enable', ips: ['2001:DB9::1'] }, 422, {
    message: 'IP 2001:DB9::1 does not belong to your account.',
  });
  // Another customer's address is as foreign as nobody's.
  await assertRefused({ action: 'disable', ips: ['203.0.113.127', '203.0.113.128'] }, 422, {
    message: 'IP 203.0.113.128 does not belong to your account.',
  });
  await assertRefused({ action: 'disable', ips: ['::ffff:203.0.113.1'] }, 422, {
    message: 'IP ::ffff:203.0.113.1 does not belong to your account.',
  });
});

test('a list has 1 to 10,000 addresses', async () => {
  const ips = Array.from({ length: 10_000 }, (_, at) => `10.7.${at >> 8}.${at & 255}`);
  await assertChanged({ ips }, 10_000, 10_000);
  await assertRefused({ action: 'disable', ips: [...ips, '10.8.0.0'] }, 422, {
    message: 'ips: must name at most 10000 addresses.',
    errors: { ips: ['must name at most 10000 addresses.'] },
  });
  await assertRefused({ action: 'disable', ips: [...ips, ips[0]] }, 422, {
    message: 'ips: must name at most 10000 addresses.',
    errors: { ips: ['must name at most 10000 addresses.'] },
  });
  await assertRefused({ action: 'disable', ips: [] }, 422, {
    message: 'ips: must name at least one address.',
    errors: { ips: ['must name at least one address.'] },
  });
});

test('what is no address is named by its place', async () => {
  const advice =
    '"x" is not an IP address: IPv4 is four decimal numbers from 0 to 255 with dots between, such as 192.0.2.1';
  await assertRefused({ action: 'disable', ips: ['203.0.113.1', 'x', '203.0.113.2', 'x'] }, 422, {
    message: `ips.1: ${advice}`,
    errors: { 'ips.1': [advice], 'ips.3': [advice] },
  });
  await assertRefused({ action: 'disable', ips: ['203.0.113.1', 7, null, ['203.0.113.1']] }, 422, {
    message: 'ips.1: must be an IP address as text.',
    errors: {
      'ips.1': ['must be an IP address as text.'],
      'ips.2': ['must be an IP address as text.'],
      'ips.3': ['must be an IP address as text.'],
    },
  });
  await assertRefused({ action: 'disable', ips: '203.0.113.1' }, 422, {
    message: 'ips: must be a list of IP addresses.',
    errors: { ips: ['must be a list of IP addresses.'] },
  });
});

// Ranges

test('a range changes what the account owns of it, over subnets and regions', async () => {
  const recorded = await recordedBy(() =>
    assertChanged({ range: { start: '203.0.113.100', end: '203.0.113.200' } }, 28 + 9, 28 + 9),
  );
  assert.equal(recorded, [
    'AddressesDisabled {"regionId":1,"ranges":["203.0.113.100-203.0.113.127"]}',
    'AddressesDisabled {"regionId":2,"ranges":["203.0.113.192-203.0.113.200"]}',
  ]);
});

test('a range of one address, and of all there are', async () => {
  await assertChanged({ range: { start: '203.0.113.5', end: '203.0.113.5' } }, 1, 1);
  await assertChanged(
    { range: { start: '0.0.0.0', end: '255.255.255.255' } },
    2 ** 24 + 128 + 64 - 1,
    2 ** 24 + 128 + 64,
  );
});

test('a range that the account owns nothing of changes nothing', async () => {
  const recorded = await recordedBy(() => assertChanged({ range: { start: '192.0.2.0', end: '192.0.2.255' } }, 0, 0));
  assert.equal(recorded, []);
});

test('a range starts at or below its end, in one IP version', async () => {
  const swapped = 'the start of a range must not be above its end: 203.0.113.6 and 203.0.113.5 are probably swapped';
  await assertRefused({ action: 'disable', range: { start: '203.0.113.6', end: '203.0.113.5' } }, 422, {
    message: `range.end: ${swapped}`,
    errors: { 'range.end': [swapped] },
  });
  const mixed = 'a range has one IP version: 203.0.113.5 and 2001:db8::5 are of different ones';
  await assertRefused({ action: 'disable', range: { start: '203.0.113.5', end: '2001:db8::5' } }, 422, {
    message: `range.end: ${mixed}`,
    errors: { 'range.end': [mixed] },
  });
});

test('a range has both ends, as addresses, and nothing else', async () => {
  await assertRefused({ action: 'disable', range: {} }, 422, {
    message: 'range.start: is required.',
    errors: { 'range.start': ['is required.'], 'range.end': ['is required.'] },
  });
  await assertRefused({ action: 'disable', range: { start: '203.0.113.1' } }, 422, {
    message: 'range.end: is required.',
    errors: { 'range.end': ['is required.'] },
  });
  await assertRefused({ action: 'disable', range: { start: '203.0.113.1', end: '203.0.113.2', step: 2 } }, 422, {
    message: 'range.step: is not a known field.',
    errors: { 'range.step': ['is not a known field.'] },
  });
  for (const range of ['203.0.113.1-203.0.113.2', 7, null, ['203.0.113.1', '203.0.113.2'], true]) {
    await assertRefused({ action: 'disable', range }, 422, {
      message: 'range: must be an object with start and end.',
      errors: { range: ['must be an object with start and end.'] },
    });
  }
});

// CIDRs

test('a CIDR changes every address that the account owns in it', async () => {
  await assertChanged({ cidr: '203.0.113.0/24' }, 128 + 64, 128 + 64);
  await assertChanged({ cidr: '203.0.113.0/32' }, 0, 128);
  await assertChanged({ cidr: '10.0.0.0/9' }, 2 ** 23, 2 ** 23 + 128);
});

test('a CIDR wider than the internet is exact to the last address', async () => {
  await assertChanged({ cidr: '::/0' }, 2n ** 96n, 2n ** 96n);
  await assertChanged({ cidr: '0.0.0.0/0' }, 2 ** 24 + 128 + 64, 2n ** 96n + BigInt(2 ** 24 + 128 + 64));
  const { text } = await api.post('/ips/bulk', { action: 'enable', cidr: '2001:db8::/33' });
  assert.match(text, `{"changed":${2n ** 95n},"action":"enable"}`);
});

test('a CIDR with host bits set is refused and the network that was meant is named', async () => {
  for (const [cidr, network] of [
    ['203.0.113.5/24', '203.0.113.0/24'],
    ['2001:db8::1/64', '2001:db8::/64'],
    ['10.1.2.3/8', '10.0.0.0/8'],
  ] as const) {
    const problem = `"${cidr}" has host bits set: the network is probably ${network}`;
    await assertRefused({ action: 'disable', cidr }, 422, { message: `cidr: ${problem}`, errors: { cidr: [problem] } });
  }
});

test('a CIDR is an address, a slash and a length without leading zeros', async () => {
  for (const cidr of [
    '',
    '203.0.113.0',
    '203.0.113.0/',
    '203.0.113.0/33',
    '203.0.113.0/024',
    '203.0.113.0/ 24',
    '203.0.113/24',
    '/24',
    '203.0.113.0/24/24',
    '203.0.113.0/255.255.255.0',
    '2001:db8::/129',
    '2001:db8::/-1',
    '203.0.113.0/+24',
    '203.0.113.0/1e1',
  ]) {
    const { status, text } = await disable({ cidr });
    assert.is(status, 422, cidr);
    assert.match(text, 'is not a CIDR: ', cidr);
  }
  await assertRefused({ action: 'disable', cidr: 24 }, 422, {
    message: 'cidr: must be a CIDR as text.',
    errors: { cidr: ['must be a CIDR as text.'] },
  });
});

// Modes and actions

test('exactly one of ips, range and cidr is given', async () => {
  const [ips, range, cidr] = [['203.0.113.1'], { start: '203.0.113.1', end: '203.0.113.2' }, '203.0.113.0/24'];
  const problem = 'exactly one of ips, range and cidr is required.';
  for (const modes of [{}, { ips, range }, { ips, cidr }, { range, cidr }, { ips, range, cidr }]) {
    await assertRefused({ action: 'disable', ...modes }, 422, {
      message: `ips: ${problem}`,
      errors: { ips: [problem], range: [problem], cidr: [problem] },
    });
  }
});

test('the action is enable or disable, exactly', async () => {
  for (const action of ['Disable', 'disabled', '', 'toggle', null, 1, true, ['disable']]) {
    await assertRefused({ action, cidr: '203.0.113.0/24' }, 422, {
      message: 'action: must be enable or disable.',
      errors: { action: ['must be enable or disable.'] },
    });
  }
});

test('enabling in bulk is the reverse, and stays pending', async () => {
  await assertChanged({ cidr: '203.0.113.0/28' }, 16, 16);
  const recorded = await recordedBy(async () => {
    const { text } = await api.post('/ips/bulk', {
      action: 'enable',
      range: { start: '203.0.113.4', end: '203.0.113.30' },
    });
    assert.is(text, '{"data":{"changed":12,"action":"enable"},"meta":{"pending_changes":16}}');
  });
  assert.equal(recorded, ['AddressesEnabled {"regionId":1,"ranges":["203.0.113.4-203.0.113.15"]}']);
  assert.match((await api.get('/subnets')).text, '"ip_counts":{"total":128,"enabled":124,"disabled":4,"pending":16}');
});

test('pending changes are counted in the regions that were touched', async () => {
  await assertChanged({ ips: ['203.0.113.1'] }, 1, 1);
  await assertChanged({ ips: ['203.0.113.200', '203.0.113.201'] }, 2, 2);
  await assertChanged({ range: { start: '203.0.113.127', end: '203.0.113.192' } }, 2, 5);
});

test('a synchronous bulk call is refused where the account may not have one', async () => {
  await assertRefused({ action: 'disable', cidr: '203.0.113.0/24', synchronous: true }, 403, {
    message: 'synchronous mode is not enabled for your account',
  });
});

test.run();
