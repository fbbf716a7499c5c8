import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCustomer } from '../../../src/application/ip-control/customers.ts';
import { createRegion } from '../../../src/application/ip-control/regions.ts';
import { type ListPage, listsOfCustomer, listsOfRegion } from '../../../src/application/ip-control/list-standing.ts';
import { addSubnet } from '../../../src/application/ip-control/subnets.ts';
import type { CustomerCommand } from '../../../src/commands/ip-control/customer.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import {
  disable,
  one,
  recordCompleted,
  recordFailed,
  requestCommit,
} from '../../commands/ip-control/customer-examples.ts';
import { openTestApplication, type TestApplication } from '../../support/test-application.ts';

type Opened = { application: TestApplication; does: (customerId: number, command: CustomerCommand) => Promise<void> };

const test = suite<Opened>('how lists stand');
const context = { actor: 'admin:ada', requestId: 'request-1' };
const [EAST, WEST] = [1, 2];

/** Customers 1, 2 and 3, with a /24 in each of two regions: 10.<customer>.<region>.0. */
test.before.each(async (at) => {
  at.application = await openTestApplication();
  const { application } = at;
  for (const region of ['eu-east', 'eu-west']) await createRegion({ name: region }, context, application);
  for (const [before, name] of ['Acme', 'Initech', 'Acme Labs'].entries()) {
    const customer = before + 1;
    assert.not(isRefusal(await createCustomer({ name, settings: {} }, context, application)));
    for (const [place, region] of ['eu-east', 'eu-west'].entries()) {
      const cidr = `10.${customer}.${place + 1}.0/24`;
      assert.not(
        isRefusal(await addSubnet({ customer, cidr, region, asn: 64_500, metro: 'AMS' }, context, application)),
      );
    }
  }
  at.does = async (customerId, command) => {
    assert.not(isRefusal(await application.customers.handle(customerId, command, context)));
    await application.catchUp();
  };
  await application.catchUp();
});
test.after.each(({ application }) => application.close());

const ALL = { after: undefined, limit: 100 };
const named = ({ lists }: ListPage): readonly string[] =>
  lists.map(({ prefixListName, region }) => `${prefixListName} in ${region}`);

test('a list is there from its first change on, and has prefixes once a commit has come to something', async (at) => {
  const { application, does } = at;
  const only = async () => {
    const { lists } = await listsOfCustomer({ customerId: 1, ...ALL }, application);
    const [list] = lists;
    const { prefixes, commit, change } = list ?? {};
    return [lists.length, prefixes, commit?.status, change !== undefined];
  };
  assert.equal((await listsOfCustomer({ customerId: 1, ...ALL }, application)).lists, []);
  await does(1, disable(one('10.1.1.7')));
  assert.equal(await only(), [1, null, undefined, true]);
  await does(1, requestCommit('c1', EAST));
  assert.equal(await only(), [1, null, 'deploying', true]);
  await does(1, recordCompleted({ commitSetId: 'c1', regionId: EAST }));
  assert.equal(await only(), [1, 1, 'success', false]);
  await does(1, disable(one('10.1.1.9')));
  assert.equal(await only(), [1, 1, 'success', true]);
  await does(1, requestCommit('c2', EAST));
  assert.equal(await only(), [1, 1, 'deploying', true], 'routers hold what the commit before has brought');
  await does(1, recordFailed({ commitSetId: 'c2', regionId: EAST }));
  assert.equal(await only(), [1, 1, 'failed', true]);
});

test('the lists of a customer come by region, those of a region by customer, in pages', async (at) => {
  const { application, does } = at;
  for (const [customer, region] of [
    [1, EAST],
    [1, WEST],
    [2, EAST],
    [3, EAST],
  ] as const) {
    const commitSetId = `c${customer}-${region}`;
    await does(customer, disable(one(`10.${customer}.${region}.7`)));
    await does(customer, requestCommit(commitSetId, region));
    await does(customer, recordCompleted({ commitSetId, regionId: region }));
  }
  const [acme, initech, labs] = ['ACME', 'INITECH', 'ACME-LABS'].map((name) => `Svc-${name}-BLACKHOLE in eu-east`);
  assert.equal(named(await listsOfCustomer({ customerId: 1, ...ALL }, application)), [
    acme,
    'Svc-ACME-BLACKHOLE in eu-west',
  ]);
  const inEast = (text: string, asked: Readonly<{ after: string | undefined; limit: number }>): Promise<ListPage> =>
    listsOfRegion({ regionId: EAST, text, ...asked }, application);
  assert.equal(named(await inEast('', ALL)), [acme, initech, labs]);
  assert.equal(named(await inEast('acme', ALL)), [acme, labs]);
  assert.equal(named(await inEast('nobody', ALL)), []);
  const first = await inEast('', { after: undefined, limit: 2 });
  assert.equal(named(first), [acme, initech]);
  const last = await inEast('', { after: first.nextAfter, limit: 2 });
  assert.equal([named(last), last.nextAfter], [[labs], undefined]);
  const filtered = await inEast('acme', { after: undefined, limit: 1 });
  assert.equal(named(filtered), [acme]);
  assert.equal(named(await inEast('acme', { after: filtered.nextAfter, limit: 1 })), [labs]);
  const whole = await inEast('', { after: undefined, limit: 3 });
  assert.is(whole.nextAfter, undefined, 'a page that just fits is the last one');
});

test('the lists of a customer that was removed are there until they are off the routers', async ({
  application,
  does,
}) => {
  const inEast = async (): Promise<readonly string[]> =>
    named(await listsOfRegion({ regionId: EAST, text: '', ...ALL }, application));
  await does(1, disable(one('10.1.1.7')));
  await does(1, requestCommit('c1', EAST));
  await does(1, recordCompleted({ commitSetId: 'c1', regionId: EAST }));
  await does(1, { type: 'RemoveCustomer', data: { force: true } });
  assert.equal(await inEast(), ['Svc-ACME-BLACKHOLE in eu-east']);
  await does(1, requestCommit('c2', EAST));
  await does(1, recordCompleted({ commitSetId: 'c2', regionId: EAST }));
  assert.equal(await inEast(), []);
});

test.run();
