import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createAdministrator } from '../../../src/application/ip-control/administrators.ts';
import {
  createCustomer,
  ensureCustomer,
  listCustomers,
  pageCustomers,
  removeCustomer,
  showCustomer,
  updateCustomer,
} from '../../../src/application/ip-control/customers.ts';
import {
  chooseDeployPolicy,
  createRegion,
  ensureRegion,
  listRegions,
} from '../../../src/application/ip-control/regions.ts';
import { addSubnet, listSubnets, removeSubnet } from '../../../src/application/ip-control/subnets.ts';
import { issueToken, listTokens, revokeToken } from '../../../src/application/ip-control/tokens.ts';
import { DIRECTORY_ID } from '../../../src/commands/ip-control/directory.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { openTestApplication, type TestApplication } from '../../support/test-application.ts';

const test = suite<{ application: TestApplication }>('use cases of customers, their subnets and their tokens');

test.before.each(async (at) => {
  at.application = await openTestApplication();
});
test.after.each(({ application }) => application.close());

const context = { actor: 'admin:ada', requestId: 'request-1' };
const HOOK = 'https://hooks.example.com/edgeward';

function taken<T extends object>(answer: T): Exclude<T, { refused: string }> {
  assert.not(isRefusal(answer), JSON.stringify(answer));
  return answer as Exclude<T, { refused: string }>;
}

function refused(answer: object): string {
  assert.ok(isRefusal(answer), JSON.stringify(answer));
  return answer.refused;
}

async function withCustomers(application: TestApplication): Promise<void> {
  for (const name of ['acme', 'globex']) taken(await createCustomer({ name, settings: {} }, context, application));
  taken(await createRegion({ name: 'eu-west' }, context, application));
}

const SUBNET = { customer: 'acme', region: 'eu-west', cidr: '192.0.2.0/24', asn: 64500, metro: 'AMS' };

test('a customer has the defaults for what is not set, and no secret without a webhook', async ({ application }) => {
  const created = taken(await createCustomer({ name: 'acme', settings: { trusted: true } }, context, application));
  assert.equal(created.webhookSecrets, { ended: 0 });
  assert.equal(created.customer, {
    customerId: 1,
    name: 'acme',
    listName: 'ACME',
    standing: 'enabled',
    settings: {
      rateLimitPerMinute: 60,
      allowSynchronous: false,
      allowSourceWhitelist: false,
      trusted: true,
      whitelistLimit: 100,
      evidenceMaxBytes: 5 * 1024 * 1024,
      webhookUrl: null,
      prefixLimit: 10_000,
    },
  });
  assert.equal(await listCustomers(application), [created.customer]);
});

test('a name that is taken, and a URL that leads nowhere, leave nothing behind', async ({ application }) => {
  const end = async () => application.store.end();
  await createCustomer({ name: 'acme', settings: {} }, context, application);
  const before = await end();
  const again = await createCustomer({ name: 'acme', settings: { webhookUrl: HOOK } }, context, application);
  assert.is(refused(again), 'customer-name-taken');
  const nowhere = { name: 'globex', settings: { webhookUrl: 'hooks.example.com' } };
  assert.is(refused(await createCustomer(nowhere, context, application)), 'bad-webhook-url');
  assert.is(await end(), before);
  assert.equal(application.secretIds(), []);
});

test('the first webhook of a customer brings a secret, which the store has before the log names it', async ({
  application,
}) => {
  await createCustomer({ name: 'acme', settings: {} }, context, application);
  const changes = { webhookUrl: HOOK };
  const wanted = { customer: '1', changes, rotateWebhookSecret: false, immediately: false };
  const first = taken(await updateCustomer(wanted, context, application));
  assert.ok(first.isChanged);
  assert.match(first.webhookSecrets.secret ?? '', /^whsec_/);
  const again = taken(await updateCustomer(wanted, context, application));
  assert.equal([again.isChanged, again.webhookSecrets], [false, { ended: 0 }]);
  const { state } = await application.customers.state(1);
  const secretId = state.phase === 'registered' ? (state.webhookSecretId ?? '') : '';
  assert.is(await application.secrets.get(secretId), first.webhookSecrets.secret);
});

test('a secret that is rotated signs on for a day, and ends when that is asked for', async ({ application }) => {
  await createCustomer({ name: 'acme', settings: { webhookUrl: HOOK } }, context, application);
  const nothing = { customer: 'acme', changes: {}, rotateWebhookSecret: false, immediately: false };
  const rotated = taken(await updateCustomer({ ...nothing, rotateWebhookSecret: true }, context, application));
  assert.is(rotated.webhookSecrets.previousUntil, '2026-11-28T20:50:00.123+00:00');
  assert.is(application.secretIds().length, 2);
  const ended = taken(await updateCustomer({ ...nothing, immediately: true }, context, application));
  assert.equal(ended.webhookSecrets, { ended: 1 });
  assert.is(application.secretIds().length, 1);
});

test('a fifth secret is refused, and is not left in the store', async ({ application }) => {
  await createCustomer({ name: 'acme', settings: { webhookUrl: HOOK } }, context, application);
  const rotate = { customer: 'acme', changes: {}, rotateWebhookSecret: true, immediately: false };
  for (let round = 0; round < 3; round += 1) taken(await updateCustomer(rotate, context, application));
  assert.is(refused(await updateCustomer(rotate, context, application)), 'webhook-secrets-in-use');
  assert.is(application.secretIds().length, 4);
});

test('a page of customers is full without those that were removed, so that the pages behind it are asked for', async ({
  application,
}) => {
  for (const name of ['acme', 'globex', 'initech', 'umbrella'])
    taken(await createCustomer({ name, settings: {} }, context, application));
  for (const customer of ['acme', 'initech'])
    taken(await removeCustomer({ customer, force: false }, context, application));
  await application.catchUp();
  const page = async (after: string | undefined, limit: number) =>
    (await pageCustomers({ after, limit }, application)).map(({ name }) => name);
  assert.equal(await page(undefined, 1), ['globex']);
  assert.equal(await page(undefined, 2), ['globex', 'umbrella']);
  assert.equal(await page('2', 2), ['umbrella']);
  assert.equal(await page('4', 2), []);
});

test('a number is not taken for a name, nor a name for a number', async ({ application }) => {
  await withCustomers(application);
  const { settings } = taken(await showCustomer('acme', application));
  const customerId = 3;
  const reserve = { type: 'ReserveCustomerName', data: { name: '1', settings } } as const;
  assert.not(isRefusal(await application.olderDirectory().handle(DIRECTORY_ID, reserve, context)));
  const register = { type: 'RegisterCustomer', data: { customerId, name: '1', listName: '1', settings } } as const;
  assert.not(isRefusal(await application.customers.handle(customerId, register, context)));
  const numberOf = async (customer: string): Promise<number> =>
    taken(await showCustomer(customer, application)).customerId;
  assert.equal([await numberOf('1'), await numberOf('2'), await numberOf('acme')], [3, 2, 1]);
  const update = { changes: { trusted: true }, rotateWebhookSecret: false, immediately: false };
  assert.is(taken(await updateCustomer({ customer: 1, ...update }, context, application)).customer.name, 'acme');
  assert.is(taken(await updateCustomer({ customer: '1', ...update }, context, application)).customer.customerId, 3);
  const put = await ensureCustomer({ name: '1', settings: { rateLimitPerMinute: 7 } }, context, application);
  assert.equal([taken(put).customer.customerId, taken(put).isNew], [3, false]);
  const end = await application.store.end();
  assert.is(refused(await ensureCustomer({ name: '2', settings: {} }, context, application)), 'bad-customer-name');
  const region = await ensureRegion({ name: '1', deployPolicy: 'all-or-nothing' }, context, application);
  assert.is(refused(region), 'bad-region-name');
  assert.is(await application.store.end(), end);
});

test('what is named and not there is not found, and names the field', async ({ application }) => {
  await withCustomers(application);
  const update = { customer: 'nobody', changes: {}, rotateWebhookSecret: false, immediately: false };
  const answers = [
    await updateCustomer(update, context, application),
    await showCustomer('nobody', application),
    await addSubnet({ ...SUBNET, customer: 'nobody' }, context, application),
    await listSubnets('nobody', application),
    await addSubnet({ ...SUBNET, region: 'nowhere' }, context, application),
    await chooseDeployPolicy({ region: '7', deployPolicy: 'each' }, context, application),
    await removeSubnet('7', context, application),
    await removeSubnet('seven', context, application),
    await revokeToken({ tokenId: 'none' }, context, application),
  ];
  assert.equal(
    answers.map((answer) => (isRefusal(answer) ? `${answer.refused} ${answer.field}: ${answer.because}` : answer)),
    [
      'not-found customer: customer nobody not found.',
      'not-found customer: customer nobody not found.',
      'not-found customer: customer nobody not found.',
      'not-found customer: customer nobody not found.',
      'not-found region: region nowhere not found.',
      'not-found region: region 7 not found.',
      'not-found subnet: subnet 7 not found.',
      'not-found subnet: subnet seven not found.',
      'not-found token: token none not found.',
    ],
  );
});

test('a region is created with its policy, which can change', async ({ application }) => {
  const created = taken(await createRegion({ name: 'eu-west', deployPolicy: 'all-or-nothing' }, context, application));
  assert.equal(await listRegions(application), [created]);
  const changed = await chooseDeployPolicy({ region: 'eu-west', deployPolicy: 'each' }, context, application);
  assert.equal(changed, { regionId: 1, name: 'eu-west', deployPolicy: 'each', routers: 0 });
  assert.equal(await listRegions(application), [changed]);
});

test('a subnet belongs to one customer until it is taken back, and then to whom it is given', async ({
  application,
}) => {
  await withCustomers(application);
  const added = taken(await addSubnet(SUBNET, context, application));
  assert.equal(added, { ...SUBNET, subnetId: 1, regionId: 1 });
  assert.equal(await listSubnets(undefined, application), [added]);
  assert.equal(await listSubnets('globex', application), []);
  const theirs = { ...SUBNET, customer: 'globex', cidr: '192.0.2.128/25' };
  assert.is(refused(await addSubnet(theirs, context, application)), 'subnet-overlaps');
  assert.equal(await removeSubnet('1', context, application), { subnetId: 1, cidr: '192.0.2.0/24' });
  assert.is(taken(await addSubnet(theirs, context, application)).subnetId, 2);
  assert.equal(taken(await showCustomer('globex', application)).subnets, [{ subnetId: 2, cidr: '192.0.2.128/25' }]);
});

test('a CIDR that is none is refused with what would be right', async ({ application }) => {
  await withCustomers(application);
  const answer = await addSubnet({ ...SUBNET, cidr: '192.0.2.1/24' }, context, application);
  assert.is(refused(answer), 'bad-cidr');
  assert.equal(isRefusal(answer) && answer.field, 'cidr');
});

test('a removal that was cut off between the two streams is finished by asking again', async ({ application }) => {
  await withCustomers(application);
  taken(await addSubnet(SUBNET, context, application));
  await application.customers.handle(1, { type: 'ReleaseSubnet', data: { subnetId: 1 } }, context);
  assert.equal(await removeSubnet('1', context, application), { subnetId: 1, cidr: '192.0.2.0/24' });
  assert.equal(await listSubnets(undefined, application), []);
});

test('only the hash of a token is kept, and whoever has it is found when it is revoked', async ({ application }) => {
  await withCustomers(application);
  const issued = taken(await issueToken({ customer: 'globex', label: 'ci' }, context, application));
  assert.match(issued.token, /^edw_[\w-]{43}$/);
  assert.not.ok((await application.logText()).includes(issued.token));
  const listed = taken(await listTokens(undefined, application));
  assert.equal(
    listed.map(({ tokenId, customer, label, prefix }) => ({ tokenId, customer, label, prefix })),
    [{ tokenId: issued.tokenId, customer: 'globex', label: 'ci', prefix: issued.token.slice(0, 10) }],
  );
  assert.equal(await listTokens('acme', application), []);
  const of = { tokenId: issued.tokenId, customer: 'acme' };
  assert.is(refused(await revokeToken(of, context, application)), 'not-found');
  const revoked = await revokeToken({ tokenId: issued.tokenId }, context, application);
  assert.equal(revoked, { tokenId: issued.tokenId, customer: 'globex' });
  assert.is(refused(await revokeToken({ tokenId: issued.tokenId }, context, application)), 'not-found');
});

test('an administrator has a password whose hash is kept; a refused one leaves no secret', async ({ application }) => {
  const created = taken(await createAdministrator({ name: 'ada' }, context, application));
  const [secretId = ''] = application.secretIds();
  const kept = await application.secrets.get(secretId);
  assert.match(kept ?? '', /^scrypt\$32768\$8\$1\$/);
  assert.not.ok(kept?.includes(created.password));
  assert.is(refused(await createAdministrator({ name: 'ada' }, context, application)), 'administrator-exists');
  assert.is(refused(await createAdministrator({ name: '../ada' }, context, application)), 'bad-administrator-name');
  assert.equal(application.secretIds(), [secretId]);
});

test.run();
