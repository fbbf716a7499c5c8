import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { pendingAddresses, regionAddresses } from '../../../src/domain/ip-control/address-ledger.ts';
import { contentOf } from '../../../src/domain/ip-control/commit-content.ts';
import {
  assigned,
  disable,
  enable,
  one,
  ranges,
  registered,
  released,
  requestCommit,
} from '../../commands/ip-control/customer-examples.ts';
import { type DeploymentApplication, openDeploymentApplication } from './deployment-application.ts';

const test = suite<{ application: DeploymentApplication }>('a commit from change to router');
const LIST = 'Svc-ACME-CORP-BLACKHOLE';
const WEBHOOK = 'https://hooks.example/';

test.before.each(async (state) => {
  const application = await openDeploymentApplication();
  state.application = application;
  await application.log.append('region-1', { type: 'RegionCreated', data: { regionId: 1, name: 'ams' } });
  await application.log.append('customer-7', registered({ webhookUrl: WEBHOOK }), assigned(1, '192.0.2.0/24'), {
    type: 'WebhookSecretRotated',
    data: { secretId: 'webhook-7' },
  });
  await application.secrets.put('webhook-7', 'whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=');
});
test.after.each((state) => state.application.close());

async function pendingOf(application: DeploymentApplication): Promise<readonly string[]> {
  const { state } = await application.customers.state(7);
  return state.phase === 'unregistered' ? [] : pendingAddresses(regionAddresses(state.ledger, 1)).toJSON();
}

/** The events of the customer after its setting up. */
const changesOf = (application: DeploymentApplication): Promise<readonly string[]> =>
  application.history('customer-7', 3);

test('a change is on all routers at the first look that finds it two minutes old, and not before', async ({
  application,
}) => {
  await application.addRouter('core1');
  await application.addRouter('core2');
  const processes = await application.start();
  await processes.pass(10);
  await application.ask(disable(ranges('192.0.2.0-192.0.2.5')));
  await processes.pass(169);
  assert.equal(await changesOf(application), ['AddressesDisabled']);
  assert.equal(application.held('core1'), {});
  await processes.pass(1);
  const expected = { [LIST]: ['192.0.2.0/30', '192.0.2.4/31'] };
  assert.equal(application.held('core1'), expected);
  assert.equal(application.held('core2'), expected);
  assert.equal(await changesOf(application), ['AddressesDisabled', 'CommitRequested', 'CommitCompleted']);
  assert.equal(await pendingOf(application), []);
  await processes.stop();
});

test('its outcome tells what each router did, and what was put on them', async ({ application }) => {
  await application.addRouter('core1');
  const processes = await application.start();
  await application.ask(disable(one('192.0.2.9')));
  await application.ask(requestCommit('c1', 1, 'operator'));
  await processes.settle();
  const [completed] = (await application.log.events('customer-7')).filter(({ type }) => type === 'CommitCompleted');
  assert.equal(completed?.data, {
    commitSetId: 'c1',
    regionId: 1,
    list: 'BLACKHOLE',
    attempt: 1,
    outcomes: [{ router: 'core1', result: 'confirmed', untouched: false, milliseconds: 0 }],
    content: contentOf(['192.0.2.9/32']),
    completedAt: '2026-11-27T20:50:00.123+00:00',
    notify: true,
  });
  assert.is(completed?.metadata.actor, 'system:deploy-commit');
  await processes.stop();
});

test('the customer is told, once, with exactly the seven fields', async ({ application }) => {
  await application.addRouter('core1');
  const processes = await application.start();
  await application.ask(disable(one('192.0.2.9')));
  await application.ask(requestCommit('c1'));
  await processes.settle();
  assert.is(application.sent.length, 1);
  const [request] = application.sent;
  assert.is(
    request?.body,
    '{"event":"commit_completed","commit_set_id":"c1","customer":"Acme Corp.","prefix_list_name":"Svc-ACME-CORP-BLACKHOLE",' +
      '"region":"ams","status":"success","completed_at":"2026-11-27T20:50:00.123+00:00"}',
  );
  assert.is(request?.url, WEBHOOK);
  assert.is(request?.messageId, 'msg_c1_success');
  assert.is(request?.timestampSeconds(), 1_795_812_600);
  assert.equal(await application.history('webhookDelivery-c1'), ['WebhookDelivered']);
  await processes.stop();
});

test('a router that holds the right content is not touched', async ({ application }) => {
  await application.addRouter('core1');
  const processes = await application.start();
  await application.ask(disable(one('192.0.2.9')));
  await application.ask(requestCommit('c1'));
  await processes.settle();
  await application.ask(disable(one('192.0.2.10')));
  await application.ask(enable(one('192.0.2.10')));
  await application.ask(requestCommit('c2'));
  await processes.settle();
  assert.equal(application.changes, [`core1 ${LIST}`]);
  assert.equal(await pendingOf(application), []);
  await processes.stop();
});

test('a failed commit is tried again by itself; routers that have the list are left alone; the failure is told once', async ({
  application,
}) => {
  await application.addRouter('core1');
  await application.addRouter('core2');
  application.behave('core2', 'refusing');
  const processes = await application.start();
  await application.ask(disable(one('192.0.2.9')));
  await processes.pass(120);
  assert.equal(await changesOf(application), ['AddressesDisabled', 'CommitRequested', 'CommitFailed']);
  assert.equal(await pendingOf(application), ['192.0.2.9']);
  assert.equal(application.held('core1'), { [LIST]: ['192.0.2.9/32'] });
  await processes.pass(60);
  assert.is((await changesOf(application)).length, 5, 'again after one minute');
  await processes.pass(60);
  assert.is((await changesOf(application)).length, 5);
  application.behave('core2', 'fine');
  await processes.pass(60);
  assert.equal((await changesOf(application)).slice(5), ['CommitRequested', 'CommitCompleted'], 'then after two');
  assert.equal(application.held('core2'), { [LIST]: ['192.0.2.9/32'] });
  assert.equal(await pendingOf(application), []);
  assert.equal(application.changes, [`core1 ${LIST}`, `core2 ${LIST}`]);
  assert.equal(
    application.sent.map(({ messageId }) => messageId.replace(/_[^_]*-[^_]*_/, '_<id>_')),
    ['msg_<id>_failed', 'msg_<id>_success'],
  );
  await processes.stop();
});

test('a silent router fails its commit after its time, and delays no other region', async ({ application }) => {
  await application.addRouter('core1');
  application.behave('core1', 'silent');
  await application.log.append('region-2', { type: 'RegionCreated', data: { regionId: 2, name: 'fra' } });
  await application.log.append('customer-7', assigned(2, '198.51.100.0/24', 2));
  const processes = await application.start();
  await application.ask(disable(one('192.0.2.9')));
  await application.ask(disable(one('198.51.100.9')));
  await application.ask(requestCommit('c1', 1));
  await application.ask(requestCommit('c2', 2));
  await processes.settle();
  const settledRegions = async () =>
    (await application.log.events('customer-7')).flatMap(({ type, data }) =>
      type === 'CommitCompleted' || type === 'CommitFailed' ? [`${type} ${JSON.stringify(Object(data).regionId)}`] : [],
    );
  assert.equal(await settledRegions(), ['CommitCompleted 2']);
  await processes.pass(30);
  assert.equal(await settledRegions(), ['CommitCompleted 2', 'CommitFailed 1']);
  await processes.stop();
});

test('what changes during a deployment goes with the next one', async ({ application }) => {
  await application.addRouter('core1');
  application.behave('core1', 'silent');
  const processes = await application.start();
  await application.ask(disable(one('192.0.2.1')));
  await application.ask(requestCommit('c1'));
  await processes.settle();
  await application.ask(disable(one('192.0.2.2')));
  await application.ask(requestCommit('c2'));
  await processes.pass(30);
  application.behave('core1', 'fine');
  await processes.pass(90);
  assert.equal(application.held('core1'), { [LIST]: ['192.0.2.1/32', '192.0.2.2/32'] });
  assert.equal(await pendingOf(application), []);
  await processes.stop();
});

test('a deployment that was broken off is finished by the next process, as the same attempt', async ({
  application,
}) => {
  await application.addRouter('core1');
  application.behave('core1', 'silent');
  const first = await application.start();
  await application.ask(disable(one('192.0.2.9')));
  await application.ask(requestCommit('c1'));
  await first.settle();
  await first.stop(false);
  assert.equal(await changesOf(application), ['AddressesDisabled', 'CommitRequested'], 'a shutdown is no failure');
  application.behave('core1', 'fine');
  const second = await application.start();
  await second.settle();
  assert.equal(await changesOf(application), ['AddressesDisabled', 'CommitRequested', 'CommitCompleted']);
  assert.equal(application.held('core1'), { [LIST]: ['192.0.2.9/32'] });
  await second.stop();
});

test('a process that starts late finds what became due meanwhile', async ({ application }) => {
  await application.addRouter('core1');
  await application.ask(disable(one('192.0.2.9')));
  await application.log.clock.advance({ hours: 5 });
  const processes = await application.start();
  await processes.settle();
  assert.equal(application.held('core1'), { [LIST]: ['192.0.2.9/32'] });
  await processes.stop();
});

test('a region without routers completes, with a warning', async ({ application }) => {
  const processes = await application.start();
  await application.ask(disable(one('192.0.2.9')));
  await application.ask(requestCommit('c1'));
  await processes.settle();
  assert.equal(await changesOf(application), ['AddressesDisabled', 'CommitRequested', 'CommitCompleted']);
  assert.ok(application.log.lines.some(({ level, message }) => level === 'warn' && message.includes('no routers')));
  await processes.stop();
});

test('a router that can not be opened fails the commit and says why', async ({ application }) => {
  await application.addRouter('core1');
  await application.addRouter('odd', 'carrier-pigeon');
  const processes = await application.start();
  await application.ask(disable(one('192.0.2.9')));
  await application.ask(requestCommit('c1'));
  await processes.settle();
  const [failed] = (await application.log.events('customer-7')).filter(({ type }) => type === 'CommitFailed');
  assert.match(JSON.stringify(failed?.data), 'router odd: driver \\"carrier-pigeon\\" is unknown');
  assert.equal(application.held('core1'), { [LIST]: ['192.0.2.9/32'] });
  await processes.stop();
});

test('a released subnet leaves the routers two minutes later', async ({ application }) => {
  await application.addRouter('core1');
  const processes = await application.start();
  await application.ask(disable(one('192.0.2.9')));
  await application.ask(requestCommit('c1'));
  await processes.settle();
  await application.log.append('customer-7', released(1, '192.0.2.0/24', ['192.0.2.9']));
  await processes.pass(120);
  assert.equal(Object.values(application.held('core1')).flat(), []);
  await processes.stop();
});

test('a commit that was settled elsewhere meanwhile is not deployed', async ({ application }) => {
  await application.addRouter('core1');
  await application.ask(disable(one('192.0.2.9')));
  await application.ask(requestCommit('c1'));
  const commit = { commitSetId: 'c1', regionId: 1, list: 'BLACKHOLE', attempt: 1 } as const;
  const result = { outcomes: [], content: { prefixes: 0, sha256: '' }, completedAt: '2026-11-27T20:50:00.000+00:00' };
  await application.ask({ type: 'RecordCommitCompleted', data: { ...commit, ...result } });
  const processes = await application.start();
  await processes.settle();
  assert.equal(application.held('core1'), {});
  await processes.stop();
});

// Webhooks

test('a webhook is tried four times in all, 30 seconds apart, then given up; the next one is not held up for ever', async ({
  application,
}) => {
  application.answers.push(...Array.from({ length: 4 }, () => ({ delivered: false, because: 'status 500' }) as const));
  const processes = await application.start();
  await application.ask(disable(one('192.0.2.1')));
  await application.ask(requestCommit('c1'));
  await processes.settle();
  await application.ask(disable(one('192.0.2.2')));
  await application.ask(requestCommit('c2'));
  await processes.pass(29);
  assert.equal(
    application.sent.map(({ messageId }) => messageId),
    ['msg_c1_success'],
  );
  await processes.pass(1);
  assert.is(application.sent.length, 2);
  await processes.pass(60);
  assert.equal(
    application.sent.map(({ messageId }) => messageId),
    ['msg_c1_success', 'msg_c1_success', 'msg_c1_success', 'msg_c1_success', 'msg_c2_success'],
  );
  assert.equal(await application.history('webhookDelivery-c1'), [
    'WebhookAttemptFailed',
    'WebhookAttemptFailed',
    'WebhookAttemptFailed',
    'WebhookAbandoned',
  ]);
  assert.equal(new Set(application.sent.slice(0, 4).map(({ body }) => body)).size, 1, 'every try says the same');
  await processes.stop();
});

test('a try is signed with its own time', async ({ application }) => {
  application.answers.push({ delivered: false, because: 'status 503' });
  const processes = await application.start();
  await application.ask(disable(one('192.0.2.1')));
  await application.ask(requestCommit('c1'));
  await processes.pass(30);
  const [first, second] = application.sent.map(({ timestampSeconds }) => timestampSeconds());
  assert.is((second ?? 0) - (first ?? 0), 30);
  await processes.stop();
});

test('deliveries survive a restart', async ({ application }) => {
  application.answers.push({ delivered: false, because: 'status 503' });
  const first = await application.start();
  await application.ask(disable(one('192.0.2.1')));
  await application.ask(requestCommit('c1'));
  await first.settle();
  await first.stop();
  await application.log.clock.advance({ seconds: 30 });
  const second = await application.start();
  await second.settle();
  assert.equal(await application.history('webhookDelivery-c1'), ['WebhookAttemptFailed', 'WebhookDelivered']);
  await second.stop();
});

test('a customer that wants no webhooks any more gets none', async ({ application }) => {
  application.answers.push({ delivered: false, because: 'status 503' });
  const processes = await application.start();
  await application.ask(disable(one('192.0.2.1')));
  await application.ask(requestCommit('c1'));
  await processes.settle();
  await application.ask({ type: 'ChangeCustomerSettings', data: { changes: { webhookUrl: null } } });
  await processes.pass(30);
  assert.is(application.sent.length, 1);
  assert.equal(await application.history('webhookDelivery-c1'), ['WebhookAttemptFailed', 'WebhookAbandoned']);
  await processes.stop();
});

test('without its secret nothing is sent', async ({ application }) => {
  await application.secrets.remove('webhook-7');
  const processes = await application.start();
  await application.ask(disable(one('192.0.2.1')));
  await application.ask(requestCommit('c1'));
  await processes.settle();
  assert.equal(application.sent, []);
  const [abandoned] = await application.log.events('webhookDelivery-c1');
  assert.match(JSON.stringify(abandoned?.data), 'the webhook secret is missing; rotate it');
  await processes.stop();
});

test('for a day after a rotation both secrets sign; then the one before is gone', async ({ application }) => {
  const [old = '', other] = [
    await application.secrets.get('webhook-7'),
    `whsec_${Buffer.alloc(32, 9).toString('base64')}`,
  ];
  const processes = await application.start();
  const deliver = async (address: string, commitSetId: string) => {
    await application.ask(disable(one(address)));
    await application.ask(requestCommit(commitSetId));
    await processes.settle();
    const { secret, earlierSecrets } = application.sent.at(-1) ?? {};
    return [secret, earlierSecrets];
  };
  assert.equal(await deliver('192.0.2.1', 'c1'), [old, []]);
  await application.secrets.put('webhook-8', other);
  await application.ask({ type: 'RotateWebhookSecret', data: { secretId: 'webhook-8', keepsPrevious: true } });
  assert.equal(await deliver('192.0.2.2', 'c2'), [other, [old]]);
  await application.log.clock.advance({ hours: 23, minutes: 59, seconds: 50 });
  assert.equal(await deliver('192.0.2.3', 'c3'), [other, [old]]);
  await processes.pass(11);
  assert.is(await application.secrets.get('webhook-7'), undefined);
  assert.is(await application.secrets.get('webhook-8'), other);
  const last = (await application.log.events('customer-7')).at(-1);
  assert.is(last?.type, 'WebhookSecretRetired');
  assert.is(last?.metadata.actor, 'system:retire-webhook-secrets');
  assert.equal(await deliver('192.0.2.4', 'c4'), [other, []]);
  await processes.stop();
});

test('a day after a customer was removed its secret is gone from the store, and nothing uses it', async ({
  application,
}) => {
  const processes = await application.start();
  await application.ask({ type: 'RemoveCustomer', data: { force: true } });
  await processes.settle();
  await application.log.clock.advance({ hours: 23, minutes: 59, seconds: 50 });
  await processes.settle();
  assert.ok(await application.secrets.get('webhook-7'));
  await processes.pass(11);
  assert.is(await application.secrets.get('webhook-7'), undefined);
  const ended = (await application.log.events('customer-7')).filter(({ type }) => type === 'WebhookSecretRetired');
  assert.equal(
    ended.map(({ data, metadata }) => [data, metadata.actor]),
    [[{ secretId: 'webhook-7' }, 'system:retire-webhook-secrets']],
  );
  await processes.stop();
});

test('a day that passes while no server runs is over at the start', async ({ application }) => {
  await application.secrets.put('webhook-8', `whsec_${Buffer.alloc(32, 9).toString('base64')}`);
  await application.ask({ type: 'RotateWebhookSecret', data: { secretId: 'webhook-8', keepsPrevious: true } });
  await application.log.clock.advance({ hours: 25 });
  const processes = await application.start();
  await processes.settle();
  assert.is(await application.secrets.get('webhook-7'), undefined);
  await processes.stop();
});

test('a rotation that says so ends the one before at once', async ({ application }) => {
  const other = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
  const processes = await application.start();
  await application.secrets.put('webhook-8', other);
  await application.ask({ type: 'RotateWebhookSecret', data: { secretId: 'webhook-8', keepsPrevious: false } });
  await application.ask(disable(one('192.0.2.1')));
  await application.ask(requestCommit('c1'));
  await processes.settle();
  assert.equal([application.sent[0]?.secret, application.sent[0]?.earlierSecrets], [other, []]);
  await processes.stop();
});

// Reservations

/** Who began it is left to finish it, under the own name. */
const RESERVATION_GRACE_SECONDS = 3;

test('what a command began in the directory is finished at the start of the processes', async ({ application }) => {
  const { settings } = await registeredSettings(application);
  await application.log.append(
    'directory-main',
    { type: 'CustomerNameReserved', data: { customerId: 8, name: 'Globex', listName: 'GLOBEX', settings } },
    { type: 'RegionNameReserved', data: { regionId: 2, name: 'fra' } },
    {
      type: 'SubnetReserved',
      data: { subnetId: 9, customerId: 8, cidr: '203.0.113.0/24', regionId: 2, asn: 64_500, metro: 'FRA' },
    },
  );
  const processes = await application.start();
  await processes.pass(RESERVATION_GRACE_SECONDS);
  assert.equal((await application.history('customer-8')).toSorted(), ['CustomerRegistered', 'SubnetAssigned']);
  assert.equal(await application.history('region-2'), ['RegionCreated']);
  await processes.stop();
});

test('so is a release', async ({ application }) => {
  await application.log.append('directory-main', {
    type: 'CustomerNameReserved',
    data: {
      customerId: 7,
      name: 'Acme Corp.',
      listName: 'ACME-CORP',
      settings: (await registeredSettings(application)).settings,
    },
  });
  await application.log.append('directory-main', {
    type: 'SubnetReserved',
    data: { subnetId: 1, customerId: 7, cidr: '192.0.2.0/24', regionId: 1, asn: 64_500, metro: 'AMS' },
  });
  await application.log.append('customer-7', released(1, '192.0.2.0/24'));
  const processes = await application.start();
  await processes.pass(RESERVATION_GRACE_SECONDS);
  assert.is((await application.history('directory-main')).at(-1), 'SubnetReservationReleased');
  assert.equal((await application.history('customer-7')).filter((type) => type === 'SubnetAssigned').length, 1);
  await processes.stop();
});

async function registeredSettings(application: DeploymentApplication) {
  const { state } = await application.customers.state(7);
  if (state.phase === 'unregistered') throw new Error('the customer is registered');
  return state;
}

test.run();
