import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { createCustomer } from '../../../../../src/application/ip-control/customers.ts';
import { createRegion } from '../../../../../src/application/ip-control/regions.ts';
import { addSubnet } from '../../../../../src/application/ip-control/subnets.ts';
import { disable, one } from '../../../../commands/ip-control/customer-examples.ts';
import {
  openPagesOfAdministrator,
  type PagesOfAdministrator,
} from '../../../../support/http/pages-of-administrator.ts';

const test = suite<{ pages: PagesOfAdministrator }>('the event browser');

test.before(async (context) => {
  context.pages = await openPagesOfAdministrator();
  const { application, clock } = context.pages;
  await createRegion({ name: 'eu-west' }, application.context, application);
  await createCustomer({ name: '<b>Acme', settings: {} }, application.context, application);
  const subnet = { customer: 1, cidr: '203.0.113.0/24', region: 'eu-west', asn: 64_500, metro: 'ams' };
  await addSubnet(subnet, application.context, application);
  await clock.advance('PT24H');
  await application.customers.handle(1, disable(one('203.0.113.7')), { actor: 'token:t1', requestId: 'r7' });
  await application.catchUp();
  // The session of before is over after a day.
  context.pages = { ...context.pages, client: await context.pages.logIn('audrey', 'auditor') };
});
test.after(({ pages }) => pages.close());

/** The types of the events that a page lists, in its order. */
const typesOn = (text: string): readonly string[] =>
  [...text.matchAll(/<\/time><\/td><td>.*?<\/td><td>(\w+)<\/td>/g)].map(([, type = '']) => type);

test('a stream is picked by what it is of; its events come in the order of the log', async ({ pages: { client } }) => {
  const ofCustomer = await client.get('/admin/events?of=customer&name=%3Cb%3EAcme');
  assert.equal(typesOn(ofCustomer.text), ['CustomerRegistered', 'SubnetAssigned', 'AddressesDisabled']);
  assert.not.ok(ofCustomer.text.includes('<b>'));
  assert.ok(ofCustomer.text.includes('href="/admin/events/verify?stream=customer-1"'));
  assert.equal(typesOn((await client.get('/admin/events?of=region&name=eu-west')).text), ['RegionCreated']);
  const ofAccount = typesOn((await client.get('/admin/events?of=account&name=ada')).text);
  assert.is(ofAccount[0], 'AdministratorCreated');
  const byToken = (await client.get('/admin/events?actor=token:t1')).text;
  assert.equal(typesOn(byToken), ['AddressesDisabled']);
  assert.ok(byToken.includes('<summary>regionId 1, ranges 203.0.113.7</summary>'));
  assert.ok(byToken.includes('<details><summary>'));
  assert.ok((await client.get('/admin/events?actor=token:t1&open=all')).text.includes('<details open><summary>'));
});

test('types and days are filtered by; what is not understood is said', async ({ pages: { client } }) => {
  assert.equal(typesOn((await client.get('/admin/events?type=SubnetAssigned')).text), ['SubnetAssigned']);
  const secondDay = typesOn((await client.get('/admin/events?of=customer&name=1&from=2026-11-28')).text);
  assert.equal(secondDay, ['AddressesDisabled']);
  const firstDay = typesOn((await client.get('/admin/events?of=customer&name=1&to=2026-11-27')).text);
  assert.equal(firstDay, ['CustomerRegistered', 'SubnetAssigned']);
  for (const [query, because] of [
    ['of=customer&name=Globex', 'Customer Globex not found.'],
    ['of=customer', 'Say which one.'],
    ['name=Globex', 'Say what the name is of.'],
    ['type=Nothing', 'Nothing is no type of event.'],
    ['from=yesterday', 'From: a day (2026-11-28) or an instant'],
    ['after=x', 'After: it must be a position of the log.'],
  ] as const) {
    const { status, text } = await client.get(`/admin/events?${query}`);
    assert.is(status, 422, query);
    assert.ok(text.includes(because), text.slice(-900));
  }
});

test('an event shows what it says, that it is unaltered, and what belongs to it', async ({ pages: { client } }) => {
  const list = (await client.get('/admin/events?actor=token:t1')).text;
  const [, position = ''] = /href="\/admin\/events\/(\d+)"/.exec(list) ?? [];
  const { text } = await client.get(`/admin/events/${position}`);
  assert.ok(text.includes('it is the same, and follows the event before it.'));
  for (const part of ['<code>r7</code>', 'token:t1', '203.0.113.7', 'AddressesDisabled, schema 1'])
    assert.ok(text.includes(part), part);
  const first = (await client.get('/admin/events/1')).text;
  assert.ok(first.includes('it is the same, and follows the event before it.'), 'the first of its stream too');
  assert.is((await client.get('/admin/events/999999')).status, 404);
  assert.is((await client.get('/admin/events/x')).status, 404);
});

test('a stream is verified', async ({ pages: { client } }) => {
  assert.match(
    (await client.get('/admin/events/verify?stream=customer-1')).text,
    /3 events: each follows the one before/,
  );
  assert.is((await client.get('/admin/events/verify?stream=customer-9')).status, 404);
});

test('an auditor takes the events of a filter along, one a line; an operator may not', async ({ pages }) => {
  const { status, headers, text } = await pages.client.get('/admin/events/export?of=customer&name=1');
  assert.is(status, 200);
  assert.is(headers['content-type'], 'application/x-ndjson');
  const rows = text.trimEnd().split('\n');
  assert.equal(
    rows.map((line) => z.object({ type: z.string() }).parse(JSON.parse(line)).type),
    ['CustomerRegistered', 'SubnetAssigned', 'AddressesDisabled'],
  );
  assert.is((await pages.client.get('/admin/events/export?type=Nothing')).status, 422);
  const operator = await pages.logIn('oscar', 'operator');
  assert.is((await operator.get('/admin/events/export')).status, 403);
  assert.not.ok((await operator.get('/admin/events?order=log')).text.includes('Download as NDJSON'));
});

test.run();
