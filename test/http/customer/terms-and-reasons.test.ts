import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { type Answer, openApiClient } from '../../support/http/api-client.ts';
import { formBody, pdf } from '../../support/http/multipart-form.ts';
import { addCustomer, addRegion, openEdgeward } from '../../support/servers/edgeward-server.ts';
import { waitUntil } from '../../support/wait-until.ts';

const edgeward = await openEdgeward({ QUIET_PERIOD: 'PT0.5S', SCHEDULER_INTERVAL: 'PT0.1S' });
await addRegion(edgeward, 'eu-west');
const acme = await addCustomer(
  edgeward,
  'Acme',
  [
    ['203.0.113.0/24', 'eu-west'],
    ['2001:db8::/48', 'eu-west'],
  ],
  ['--allow-source-whitelist', '--prefix-limit', '50', '--rate-limit', '10000'],
);
const [ipv4 = 0, ipv6 = 0] = acme.subnetIds;
const api = openApiClient(await edgeward.serve(), acme.token);

test.after(async () => {
  await api.close();
  await edgeward.remove();
});

async function lastEvents(count: number): Promise<readonly unknown[]> {
  return (await edgeward.events()).slice(-count).map(({ type, data }) => ({ type, ...data }));
}

async function refuses(message: string, field: string, asked: Promise<Answer>): Promise<void> {
  const before = await changes();
  const { status, json } = await asked;
  assert.equal([status, json], [422, { message: `${field}: ${message}`, errors: { [field]: [message] } }]);
  assert.is(await changes(), before, 'nothing is recorded');
}

/** How often addresses were changed: commits come by themselves. */
async function changes(): Promise<number> {
  return (await edgeward.events()).filter(({ type }) => !type.startsWith('Commit')).length;
}

const listed = z.object({
  data: z.object({
    ips: z.array(z.object({ address: z.string(), disabled_until: z.string().nullable().optional() })).optional(),
    ranges: z.array(z.object({ start: z.string(), end: z.string(), disabled_until: z.string().optional() })).optional(),
  }),
});

// Why

test('a change says why, and so does each event of it', async () => {
  const why = { reason: 'DDoS, seen at 20:50', ticket: 'NET-7' };
  assert.is((await api.post('/ips/disable', { ip: '203.0.113.1', ...why })).status, 200);
  assert.equal(await lastEvents(1), [{ type: 'AddressesDisabled', regionId: 1, ranges: ['203.0.113.1'], ...why }]);
  assert.is((await api.post('/ips/bulk', { action: 'enable', cidr: '203.0.113.0/24', ticket: 'NET-8' })).status, 200);
  assert.is((await api.post('/ips/enable', { ip: '203.0.113.1', reason: 'over' })).status, 200);
  const events = await edgeward.events();
  assert.equal(events.find(({ type }) => type === 'AddressesEnabled')?.data, {
    regionId: 1,
    ranges: ['203.0.113.1'],
    ticket: 'NET-8',
  });
});

test('a submission to the source whitelist says why', async () => {
  const { body, headers } = formBody([
    { name: 'ip', value: '9.18.7.9' },
    { name: 'regions[]', value: '1' },
    { name: 'reason', value: 'our monitoring' },
    { name: 'ticket', value: 'NET-9' },
    { name: 'evidence', file: pdf(), fileName: 'contract.pdf' },
  ]);
  assert.is((await api.send('/source-whitelist', { method: 'POST', headers, body })).status, 201);
  const submitted = (await edgeward.events()).find(({ type }) => type === 'SourceWhitelistSubmitted');
  assert.match(JSON.stringify(submitted?.data), '"reason":"our monitoring","ticket":"NET-9"');
});

function submit(ip: string, reason: string, ticket: string): Promise<Answer> {
  const form = formBody([
    { name: 'reason', value: reason },
    { name: 'ip', value: ip },
    { name: 'ticket', value: ticket },
    { name: 'regions[]', value: 'eu-west' },
    { name: 'evidence', file: pdf(), fileName: 'contract.pdf' },
  ]);
  return api.send('/source-whitelist', form);
}

test('a reason of a submission has up to 500 characters of any script, and a ticket up to 100', async () => {
  for (const [at, character] of ['x', 'é', '界', '\u{1F310}'].entries()) {
    const [reason, ticket] = [character.repeat(500), character.repeat(100)];
    const { status, text } = await submit(`9.18.8.${at}`, reason, ticket);
    assert.is(status, 201, text);
    const { data } = (await edgeward.events()).findLast(({ type }) => type === 'SourceWhitelistSubmitted') ?? {};
    assert.equal([Object(data).reason, Object(data).ticket], [reason, ticket]);
    const tooLong = submit(`9.18.9.${at}`, character.repeat(501), ticket);
    await refuses('must be text of 1 to 500 characters.', 'reason', tooLong);
    await refuses(
      'must be text of 1 to 100 characters.',
      'ticket',
      submit(`9.18.9.${at}`, reason, character.repeat(101)),
    );
  }
});

test('a reason that is none is refused by its name', async () => {
  const ip = '203.0.113.2';
  await refuses('must be text of 1 to 500 characters.', 'reason', api.post('/ips/disable', { ip, reason: '' }));
  await refuses(
    'must be text of 1 to 500 characters.',
    'reason',
    api.post('/ips/enable', { ip, reason: 'x'.repeat(501) }),
  );
  await refuses('must be text of 1 to 100 characters.', 'ticket', api.post('/ips/disable', { ip, ticket: 7 }));
  await refuses('must not have control characters.', 'reason', api.post('/ips/disable', { ip, reason: '\u001B[2J' }));
});

// Until

const UNTIL = 'must be an instant with an offset, such as 2026-11-27T20:50:00+00:00, or a duration, such as PT4H.';

test('until is an instant with offset or a duration, at most 90 days off, and goes with disabling', async () => {
  const ip = '203.0.113.2';
  for (const until of ['', 'tomorrow', '2099-01-01', '2099-01-01T00:00:00', 'P', 'PT', 7, null])
    await refuses(UNTIL, 'until', api.post('/ips/disable', { ip, until }));
  for (const until of ['2001-01-01T00:00:00Z', 'PT0S', '-PT1H'])
    await refuses('must be in the future.', 'until', api.post('/ips/disable', { ip, until }));
  for (const until of ['P91D', 'P1Y', 'P90DT1S', '2199-01-01T00:00:00+01:00', `P${'9'.repeat(8)}Y`])
    await refuses(
      'must be at most 90 days from now.',
      'until',
      api.post('/ips/bulk', { action: 'disable', ips: [ip], until }),
    );
  await refuses('is not a known field.', 'until', api.post('/ips/enable', { ip, until: 'PT1H' }));
  await refuses(
    'goes with action disable only.',
    'until',
    api.post('/ips/bulk', { action: 'enable', ips: [ip], until: 'PT1H' }),
  );
});

test('a /48 is disabled until then as one range, and listings say until when', async () => {
  const { status, text } = await api.post('/ips/bulk', { action: 'disable', cidr: '2001:db8::/48', until: 'P90D' });
  assert.is(status, 200);
  assert.match(text, '"changed":1208925819614629174706176,');
  const ranges = listed.parse((await api.get(`/subnets/${ipv6}?view=ranges`)).json).data.ranges ?? [];
  assert.equal(
    ranges.map(({ start, end }) => [start, end]),
    [['2001:db8::', '2001:db8:0:ffff:ffff:ffff:ffff:ffff']],
  );
  assert.match(ranges[0]?.disabled_until ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
  const inTwoDays = new Date(Date.now() + 2 * 86_400_000).toISOString().replace('Z', '+00:00');
  assert.is((await api.post('/ips/disable', { ip: '203.0.113.9', until: inTwoDays })).status, 200);
  assert.match((await api.get(`/subnets/${ipv4}?view=ranges`)).text, `"disabled_until":"${inTwoDays}"`);
});

test('a list says it of each address when it is asked for', async () => {
  await api.post('/ips/bulk', { action: 'enable', cidr: '203.0.113.0/24' });
  await api.post('/ips/bulk', { action: 'disable', ips: ['203.0.113.20', '203.0.113.21'], until: 'PT1H' });
  await api.post('/ips/disable', { ip: '203.0.113.21' });
  const { ips = [] } = listed.parse((await api.get(`/subnets/${ipv4}?fields=until`)).json).data;
  const untilOf = (address: string): unknown => ips.find((one) => one.address === address)?.disabled_until;
  assert.is(ips.length, 256);
  assert.type(untilOf('203.0.113.20'), 'string');
  assert.equal([untilOf('203.0.113.21'), untilOf('203.0.113.22')], [null, null]);
  const plain = listed.parse((await api.get(`/subnets/${ipv4}`)).json).data.ips ?? [];
  assert.ok(plain.every((one) => !('disabled_until' in one)));
  await refuses('must be until.', 'fields', api.get(`/subnets/${ipv4}?fields=all`));
});

test('when the time is over the address is enabled, by the service, and leaves the routers', async () => {
  await api.post('/ips/disable', { ip: '203.0.113.30', until: 'PT2S', reason: 'a short one' });
  const isDisabled = async (): Promise<boolean> =>
    (await api.get(`/subnets/${ipv4}`)).text.includes('"203.0.113.30","status":"disabled"');
  assert.is(await isDisabled(), true);
  await waitUntil('it is enabled', async () => !(await isDisabled()), 30);
  const ended = (await edgeward.events()).findLast(({ type }) => type === 'AddressesEnabled');
  assert.equal(
    [ended?.metadata.actor, ended?.data],
    ['system:expiry', { regionId: 1, ranges: ['203.0.113.30'], because: 'until' }],
  );
  await waitUntil(
    'nothing is pending',
    async () => (await api.get(`/subnets/${ipv4}/pending`)).text.includes('"pending_changes":0'),
    30,
  );
});

test('state knows until when, and why, now and at any moment', async () => {
  await api.post('/ips/disable', { ip: '203.0.113.40', until: 'PT1H', reason: 'scan', ticket: 'NET-10' });
  const before = new Date().toISOString();
  const shown = z.object({
    regions: z.array(
      z.object({
        disabled_until: z.array(z.object({ until: z.string(), prefixes: z.array(z.string()) })),
        because: z.array(
          z.object({
            reason: z.string().optional(),
            ticket: z.string().optional(),
            by: z.string(),
            prefixes: z.array(z.string()),
          }),
        ),
      }),
    ),
  });
  const stateAt = async (...at: readonly string[]) =>
    shown.parse(await edgeward.json('state', 'Acme', ...at)).regions[0];
  const now = await stateAt();
  assert.ok(now?.disabled_until.some(({ prefixes }) => prefixes.includes('203.0.113.40/32')));
  const why = now?.because.find(({ prefixes }) => prefixes.includes('203.0.113.40/32'));
  assert.equal([why?.reason, why?.ticket], ['scan', 'NET-10']);
  assert.match(why?.by ?? '', /^token:/);
  await api.post('/ips/disable', { ip: '203.0.113.40' });
  assert.ok(
    (await stateAt('--at', before))?.disabled_until.some(({ prefixes }) => prefixes.includes('203.0.113.40/32')),
  );
  assert.not((await stateAt())?.disabled_until.some(({ prefixes }) => prefixes.includes('203.0.113.40/32')));
  assert.match((await edgeward.command('state', 'Acme')).out, /^ {2}disabled until /m);
});

// Dry run

test('a dry run answers what would be, and records nothing', async () => {
  await api.post('/ips/bulk', { action: 'enable', cidr: '203.0.113.0/24' });
  await api.post('/ips/bulk', { action: 'enable', cidr: '2001:db8::/48' });
  await waitUntil(
    'all is deployed',
    async () => (await api.get(`/subnets/${ipv6}/pending`)).text.includes('"pending_changes":0'),
    30,
  );
  await waitUntil(
    'all is deployed',
    async () => (await api.get(`/subnets/${ipv4}/pending`)).text.includes('"pending_changes":0'),
    30,
  );
  const before = await changes();
  assert.is(
    (await api.post('/ips/disable?dry_run=true', { ip: '203.0.113.50', until: 'PT1H', reason: 'x' })).text,
    '{"data":{"address":"203.0.113.50","status":"disabled","pending_change":true},"meta":{"dry_run":true,"pending_changes":1,"prefixes":{"eu-west":1}}}',
  );
  assert.is(
    (
      await api.post('/ips/bulk?dry_run=true', {
        action: 'disable',
        range: { start: '203.0.113.1', end: '203.0.113.6' },
      })
    ).text,
    '{"data":{"changed":6,"action":"disable"},"meta":{"dry_run":true,"pending_changes":6,"prefixes":{"eu-west":4}}}',
  );
  assert.is(
    (await api.post('/ips/enable?dry_run=true', { ip: '203.0.113.50' })).text,
    '{"data":{"address":"203.0.113.50","status":"enabled","pending_change":false},"meta":{"dry_run":true,"pending_changes":0,"prefixes":{"eu-west":0}}}',
  );
  assert.is((await api.post('/ips/disable?dry_run=true', { ip: '192.0.2.1' })).status, 404);
  await refuses('must be true or false.', 'dry_run', api.post('/ips/disable?dry_run=yes', { ip: '203.0.113.50' }));
  assert.is(await changes(), before);
  assert.is((await api.post('/ips/disable?dry_run=false', { ip: '203.0.113.50' })).status, 200);
  assert.is(await changes(), before + 1);
});

test('a dry run says that a change needs too many prefixes', async () => {
  const ips = Array.from({ length: 60 }, (_, at) => `203.0.113.${2 * at + 1}`);
  const { status, json } = await api.post('/ips/bulk?dry_run=true', { action: 'disable', ips });
  const message = 'this change needs 60 prefixes in eu-west; at most 50 are possible.';
  assert.equal([status, json], [422, { message, errors: { ips: [message] } }]);
});

// Counts as text

test('counts are decimal text where that is asked for', async () => {
  const accept = { accept: 'text/html, application/json;numbers=string' };
  const v6 = (answer: Answer): unknown =>
    z
      .object({ data: z.array(z.object({ id: z.number(), ip_counts: z.unknown() })) })
      .parse(answer.json)
      .data.find(({ id }) => id === ipv6)?.ip_counts;
  for (const answer of [await api.get('/subnets?numbers=string'), await api.send('/subnets', { headers: accept })])
    assert.equal(v6(answer), {
      total: '1208925819614629174706176',
      enabled: '1208925819614629174706176',
      disabled: '0',
      pending: '0',
    });
  assert.match((await api.get('/subnets')).text, '"total":1208925819614629174706176,');
  assert.match((await api.get(`/subnets/${ipv6}/pending?numbers=string`)).text, '"meta":{"pending_changes":"0"}');
  assert.match(
    (await api.post('/ips/bulk?numbers=string&dry_run=true', { action: 'disable', cidr: '2001:db8::/48' })).text,
    '{"data":{"changed":"1208925819614629174706176","action":"disable"},"meta":{"dry_run":true,"pending_changes":"1208925819614629174706177",',
  );
  await refuses('must be string.', 'numbers', api.get('/subnets?numbers=number'));
});

test.run();
