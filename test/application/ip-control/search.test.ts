import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createAdministrator } from '../../../src/application/ip-control/administrators.ts';
import { createCustomer } from '../../../src/application/ip-control/customers.ts';
import { createRegion } from '../../../src/application/ip-control/regions.ts';
import { search } from '../../../src/application/ip-control/search.ts';
import { issueToken } from '../../../src/application/ip-control/tokens.ts';
import { addSubnet } from '../../../src/application/ip-control/subnets.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { disable, enable, one, recordCompleted, requestCommit } from '../../commands/ip-control/customer-examples.ts';
import { reject, submit } from '../../commands/ip-control/source-whitelist-examples.ts';
import { openTestApplication, type TestApplication } from '../../support/test-application.ts';

const test = suite<{ application: TestApplication }>('search');
const SUBMITS = { allowSourceWhitelist: true };
const context = { actor: 'admin:ada', requestId: 'request-1' };

test.before.each(async (at) => {
  at.application = await openTestApplication();
  await createRegion({ name: 'eu-west' }, context, at.application);
  for (const [name, cidr] of [
    ['Acme', '192.0.2.0/24'],
    ['Acme Labs', '2001:db8::/48'],
  ] as const) {
    assert.not(isRefusal(await createCustomer({ name, settings: {} }, context, at.application)));
    const added = await addSubnet(
      { customer: name, cidr, region: 'eu-west', asn: 64_500, metro: 'AMS' },
      context,
      at.application,
    );
    assert.not(isRefusal(added));
  }
  await at.application.catchUp();
});
test.after.each(({ application }) => application.close());

test('an address finds the subnet that holds it, and how it stands', async ({ application }) => {
  const { customers, subnets } = await search('192.0.2.7', application);
  assert.equal(customers, []);
  assert.is(subnets.length, 1);
  assert.is(subnets[0]?.cidr, '192.0.2.0/24');
  assert.is(subnets[0]?.customer.name, 'Acme');
  assert.equal(subnets[0]?.address, { text: '192.0.2.7', isDisabled: false, isPending: false, list: undefined });
  await application.customers.handle(1, disable(one('192.0.2.7')), context);
  await application.catchUp();
  const [hit] = (await search('192.0.2.7', application)).subnets;
  assert.equal(hit?.address, { text: '192.0.2.7', isDisabled: true, isPending: true, list: undefined });
});

test('the list that holds an address on the routers is named, until they have confirmed that it is gone', async (at) => {
  const { application } = at;
  const listsOf = async (): Promise<readonly unknown[]> =>
    (await search('192.0.2.7', application)).subnets.map(({ address }) => address?.list);
  const [first, second] = [application.ids.uuid(), application.ids.uuid()];
  for (const [command, lists] of [
    [disable(one('192.0.2.7')), [undefined]],
    [requestCommit(first), [undefined]],
    [recordCompleted({ commitSetId: first }), ['Svc-ACME-BLACKHOLE']],
    [enable(one('192.0.2.7')), ['Svc-ACME-BLACKHOLE']],
    [requestCommit(second), ['Svc-ACME-BLACKHOLE']],
    [recordCompleted({ commitSetId: second }), [undefined]],
  ] as const) {
    assert.not(isRefusal(await application.customers.handle(1, command, context)));
    await application.catchUp();
    assert.equal(await listsOf(), lists, command.type);
  }
});

test('an address finds the whitelist requests for it, with their list; rejected ones are gone', async ({
  application,
}) => {
  const [requestId, rejectedId] = [application.ids.uuid(), application.ids.uuid()];
  assert.not(isRefusal(await createCustomer({ name: 'Initech', settings: SUBMITS }, context, application)));
  for (const command of [
    submit('9.9.9.0/24', { requestId }),
    submit('9.9.8.0/24', { requestId: rejectedId }),
    reject(rejectedId),
  ])
    assert.not(isRefusal(await application.customers.handle(3, command, context)));
  await application.catchUp();
  const found = { kind: 'request', requestId, name: '9.9.9.0/24', stage: 'waiting', list: 'Svc-INITECH-SRC_WHITELIST' };
  assert.equal(await search('9.9.9.7', application), { customers: [], subnets: [], things: [found] });
  assert.equal((await search('9.9.8.0/23', application)).things, [found]);
});

test('a CIDR finds the subnets that it overlaps, of both IP versions', async ({ application }) => {
  for (const [text, cidr] of [
    ['192.0.0.0/16', '192.0.2.0/24'],
    ['192.0.2.128/25', '192.0.2.0/24'],
    ['2001:DB8:0::/64', '2001:db8::/48'],
  ] as const)
    assert.equal(
      (await search(text, application)).subnets.map((hit) => [hit.cidr, hit.address]),
      [[cidr, undefined]],
    );
  assert.equal(await search('198.51.100.1', application), { customers: [], subnets: [], things: [] });
});

test('names and names of lists find customers, in any case', async ({ application }) => {
  const names = async (text: string): Promise<readonly string[]> =>
    (await search(text, application)).customers.map(({ name }) => name);
  assert.equal(await names('acme'), ['Acme', 'Acme Labs']);
  assert.equal(await names('labs'), ['Acme Labs']);
  assert.equal(await names('Svc-ACME-LABS-BLACKHOLE'), ['Acme Labs']);
  assert.equal(await names('nothing'), []);
});

test('a name finds regions, routers and accounts, too; a number what has it', async ({ application }) => {
  const { views } = application;
  const kinds = async (text: string): Promise<readonly string[]> =>
    (await search(text, application)).things.map(({ kind, name }) => `${kind} ${name}`);
  assert.equal(await kinds('WEST'), ['region eu-west']);
  const added = {
    type: 'AddRouter',
    data: { router: 'west-edge', driver: 'file', options: { path: '/tmp' } },
  } as const;
  assert.not(isRefusal(await application.regions.handle(1, added, context)));
  assert.not(isRefusal(await createAdministrator({ name: 'westley' }, context, application)));
  const issued = await issueToken({ customer: 'Acme', label: 'ci' }, context, application);
  assert.not(isRefusal(issued));
  await application.catchUp();
  assert.equal(await kinds('west'), ['region eu-west', 'router west-edge', 'account westley']);
  const [token] = (await views.customers.get('1'))?.tokens ?? [];
  assert.equal(await kinds(String(token?.tokenId)), ['token ci']);
  assert.equal(await kinds(String('token' in issued && issued.token)), ['token ci']);
  const [commitSetId, requestId] = [application.ids.uuid(), application.ids.uuid()];
  assert.not(isRefusal(await createCustomer({ name: 'Initech', settings: SUBMITS }, context, application)));
  for (const [customerId, command] of [
    [1, disable(one('192.0.2.7'))],
    [1, requestCommit(commitSetId)],
    [3, submit('9.9.9.9', { requestId })],
  ] as const)
    assert.not(isRefusal(await application.customers.handle(customerId, command, context)));
  await application.catchUp();
  assert.equal(await kinds(commitSetId.toUpperCase()), [`commit ${commitSetId}`]);
  assert.equal(await kinds(requestId), ['request 9.9.9.9']);
  assert.equal(await kinds(application.ids.uuid()), []);
});

test('digits find the event at this position, beside whose name holds them', async ({ application }) => {
  const end = await application.store.end();
  const [region] = (await search('1', application)).things;
  assert.equal(region, { kind: 'event', position: 1n, name: '1 RegionNameReserved' });
  assert.equal((await search(String(end + 1n), application)).things, []);
  assert.equal((await search('9'.repeat(30), application)).things, []);
  assert.not(isRefusal(await createCustomer({ name: `Line ${end}`, settings: {} }, context, application)));
  await application.catchUp();
  const { customers, things } = await search(String(end), application);
  assert.equal([customers.map(({ name }) => name), things.map(({ kind }) => kind)], [[`Line ${end}`], ['event']]);
});

test.run();
