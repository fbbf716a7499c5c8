import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCustomer } from '../../../../../src/application/ip-control/customers.ts';
import { createRegion } from '../../../../../src/application/ip-control/regions.ts';
import { addSubnet } from '../../../../../src/application/ip-control/subnets.ts';
import { isRefusal } from '../../../../../src/kernel/decider.ts';
import {
  block,
  disable,
  list,
  one,
  recordCompleted,
  requestCommit,
} from '../../../../commands/ip-control/customer-examples.ts';
import {
  openPagesOfAdministrator,
  type PagesOfAdministrator,
} from '../../../../support/http/pages-of-administrator.ts';

const test = suite<{ pages: PagesOfAdministrator }>('the map of a subnet');

test.before(async (context) => {
  context.pages = await openPagesOfAdministrator();
  const { application } = context.pages;
  await createRegion({ name: 'eu-west' }, application.context, application);
  assert.not(isRefusal(await createCustomer({ name: '<b>Acme', settings: {} }, application.context, application)));
  for (const cidr of ['203.0.113.0/24', '10.0.0.0/16', '2001:db8:7::/48', '198.51.100.0/24', '192.0.2.0/24'])
    assert.not(
      isRefusal(
        await addSubnet(
          { customer: 1, cidr, region: 'eu-west', asn: 64_500, metro: 'ams' },
          application.context,
          application,
        ),
      ),
    );
});
test.after(({ pages }) => pages.close());

/** A second later the command is carried out, so that each is a step of its own. */
async function does(
  { application, clock }: PagesOfAdministrator,
  command: Parameters<PagesOfAdministrator['application']['customers']['handle']>[1],
): Promise<void> {
  await clock.advance({ seconds: 1 });
  assert.not(isRefusal(await application.customers.handle(1, command, application.context)));
  await application.catchUp();
}

/** What the legend and the paths say of the map. */
const legend = (text: string): readonly string[] =>
  [...text.matchAll(/<\/svg>([^<]+)<span class="dim">([^<]+)<\/span><\/li>/g)].map(([, name = '', cells = '']) =>
    `${name.trim()}: ${cells}`.replace('\u2009', ''),
  );

const facts = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...text.matchAll(/<dt>([^<]+)<\/dt><dd>(?:<code>)?([^<]*)/g)].map(([, name = '', value = '']) => [name, value]),
  );

test('all subnets are listed with how their addresses stand, and found by address and customer', async ({ pages }) => {
  await does(pages, disable(block('203.0.113.32/27')));
  const { text } = await pages.client.get('/admin/subnets');
  for (const part of ['/admin/subnets/1"', '10.0.0.0/16', '2001:db8:7::/48', '&lt;b>Acme', '5 subnets'])
    assert.ok(text.includes(part), part);
  assert.not.ok(text.includes('<b>'));
  const found = async (q: string) => (await pages.client.get(`/admin/subnets?q=${encodeURIComponent(q)}`)).text;
  assert.match(await found('203.0.113.7'), /1 subnet</);
  assert.match(await found('2001:db8:7::/64'), /1 subnet</);
  assert.match(await found('acme'), /5 subnets</);
  assert.match(await found('172.16.0.1'), /No subnet holds or overlaps this/);
});

test('a /24 is shown address by address: what is wanted, what routers have, and how they differ', async ({ pages }) => {
  const wanted = (await pages.client.get('/admin/subnets/1')).text;
  assert.equal(legend(wanted), ['enabled: 224 addresses', 'to be disabled: 32 addresses']);
  assert.is(facts(wanted)['Pending'], '32');
  await does(pages, requestCommit());
  await does(pages, recordCompleted());
  await does(pages, disable(one('203.0.113.7')));
  const now = (await pages.client.get('/admin/subnets/1')).text;
  assert.equal(legend(now), ['enabled: 223 addresses', 'disabled: 32 addresses', 'to be disabled: 1 address']);
  const deployed = (await pages.client.get('/admin/subnets/1?look=deployed')).text;
  assert.equal(legend(deployed), ['enabled: 224 addresses', 'disabled: 32 addresses']);
  const difference = (await pages.client.get('/admin/subnets/1?look=difference')).text;
  assert.equal(legend(difference), ['no difference: 255 addresses', 'to be disabled: 1 address']);
  for (const part of ['203.0.113.240', '<code>203.0.113.32</code>', '<code>203.0.113.63</code>'])
    assert.ok(now.includes(part), part);
});

test('its history is gone through by what has happened to it, with an address for each instant', async ({ pages }) => {
  const { client } = pages;
  await does(pages, disable(one('198.51.100.7')));
  await does(pages, disable(one('192.0.2.7')));
  await does(pages, requestCommit('c2'));
  await does(pages, recordCompleted({ commitSetId: 'c2' }));
  const now = (await client.get('/admin/subnets/4')).text;
  assert.match(now, /4 of 4: <time[^>]*>[^<]+<\/time>, 1 address confirmed by all routers/);
  const second = await client.get('/admin/subnets/4?step=2&look=deployed');
  assert.is(second.status, 303);
  assert.match(second.location, /^\/admin\/subnets\/4\?look=deployed&at=2026-11-27T20%3A50%3A\d\d.123%2B00%3A00$/);
  const then = (await client.get(second.location.replace('look=deployed&', ''))).text;
  assert.match(then, /2 of 4: .*, 1 address disabled \(admin:test\)/);
  assert.equal(legend(then), ['enabled: 255 addresses', 'to be disabled: 1 address']);
  assert.ok(then.includes('This is how it was then.'));
  assert.is((await client.get('/admin/subnets/4?step=4')).location, '/admin/subnets/4', 'the newest is now');
  assert.is((await client.get('/admin/subnets/4?step=x')).location, '/admin/subnets/4');
  const early = (await client.get('/admin/subnets/4?at=2020-01-01T00:00:00Z')).text;
  assert.match(early, /1 of 4: .* 256 addresses assigned/, 'before it was assigned there is nothing to show');
  const other = (await client.get('/admin/subnets/3')).text;
  assert.match(other, /1 of 1: /, 'another subnet has steps of its own');
});

test('of a larger block a cell is a block, and one goes into it and out again', async ({ pages }) => {
  await does(pages, disable(block('10.0.16.0/20')));
  await does(pages, disable(one('10.0.0.3')));
  const { client } = pages;
  const whole = (await client.get('/admin/subnets/2')).text;
  assert.ok(whole.includes('a cell is a /28'));
  assert.equal(legend(whole), ['enabled: 3839 cells', 'to be disabled: 257 cells']);
  assert.ok(whole.includes('href="/admin/subnets/2?block=10.0.16.0%2F20"'));
  const part = (await client.get('/admin/subnets/2?block=10.0.0.0%2F24')).text;
  assert.equal(legend(part), ['enabled: 255 addresses', 'to be disabled: 1 address']);
  for (const out of ['10.0.0.0/16', '10.0.0.0/20'])
    assert.ok(part.includes(`href="/admin/subnets/2?block=${encodeURIComponent(out)}">${out}</a>`), out);
  assert.ok((await client.get('/admin/subnets/3')).text.includes('a cell is a /60'));
  assert.ok((await client.get('/admin/subnets/3?block=2001:db8:7::%2F120')).text.includes('a cell is an address'));
});

test('ranges are shown a hundred at a time', async ({ pages }) => {
  const odd = Array.from({ length: 120 }, (_, at) => `192.0.2.${2 * at + 1}`);
  await does(pages, disable(list(...odd)));
  const { client } = pages;
  const first = (await client.get('/admin/subnets/5')).text;
  const [, next = ''] = /href="([^"]+)">Next ranges/.exec(first) ?? [];
  assert.is(next, '/admin/subnets/5?from=192.0.2.100');
  const second = (await client.get(next)).text;
  assert.ok(second.includes('<code>192.0.2.101</code>'));
  assert.ok(second.includes('First ranges'));
});

test('what is no block of it, no instant, or not there is said', async ({ pages: { client } }) => {
  for (const other of ['192.0.2.0/24', 'x', '203.0.0.0/16', '203.0.113.1/24'])
    assert.is((await client.get(`/admin/subnets/1?block=${encodeURIComponent(other)}`)).status, 404, other);
  const { status, text } = await client.get('/admin/subnets/1?at=yesterday');
  assert.is(status, 422);
  assert.ok(text.includes('yesterday is no instant with an offset.'));
  assert.is((await client.get('/admin/subnets/99')).status, 404);
  assert.is((await client.get('/admin/subnets/x')).status, 404);
});

test.run();
