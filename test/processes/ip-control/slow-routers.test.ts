import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assigned, disable, enable, one, ranges, registered } from '../../commands/ip-control/customer-examples.ts';
import { type DeploymentHouse, openDeploymentHouse } from './deployment-application.ts';

const test = suite<{ house: DeploymentHouse }>('a router that is slow holds up nobody else');
const LIST = 'Svc-ACME-CORP-BLACKHOLE';
const WEBHOOK = 'https://hooks.example/';

test.before.each(async (state) => {
  // Quiet for less time than a router that hangs is waited for.
  const house = await openDeploymentHouse({ QUIET_PERIOD: 'PT5S', SCHEDULER_INTERVAL: 'PT1S' });
  state.house = house;
  await house.log.append('region-1', { type: 'RegionCreated', data: { regionId: 1, name: 'ams' } });
  await house.log.append('customer-7', registered({ webhookUrl: WEBHOOK }), assigned(1, '192.0.2.0/24'), {
    type: 'WebhookSecretRotated',
    data: { secretId: 'webhook-7' },
  });
  await house.secrets.put('webhook-7', 'whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=');
  for (const router of ['core1', 'core2', 'core3']) await house.addRouter(router);
});
test.after.each((state) => state.house.close());

test('the others get each change as if the one that hangs were not there', async ({ house }) => {
  house.behave('core3', 'silent');
  const processes = await house.start();
  for (const [at, held] of [
    [1, ['192.0.2.1/32']],
    [3, ['192.0.2.1/32', '192.0.2.3/32']],
    [5, ['192.0.2.1/32', '192.0.2.3/32', '192.0.2.5/32']],
  ] as const) {
    await house.ask(disable(one(`192.0.2.${at}`)));
    await processes.pass(8);
    assert.equal(house.held('core1'), { [LIST]: held }, 'at most the quiet period and a moment after its change');
    assert.equal(house.held('core2'), { [LIST]: held });
  }
  assert.not.ok((await house.history()).includes('CommitFailed'), 'it is still waited for');
  assert.equal(house.sent, []);
  // What it was waited for in vain counts for the newest attempt.
  await processes.pass(20);
  const failed = (await house.log.events('customer-7')).filter(({ type }) => type === 'CommitFailed');
  assert.is(failed.length, 1);
  assert.match(JSON.stringify(failed[0]?.data), /"router":"core3","result":"failed".*timed-out/);
  assert.is(house.sent.length, 1, 'told once');
  house.behave('core3', 'fine');
  await processes.pass(120);
  assert.equal(house.held('core3'), { [LIST]: ['192.0.2.1/32', '192.0.2.3/32', '192.0.2.5/32'] });
  assert.is((await house.history()).filter((type) => type === 'CommitCompleted').length, 1);
  const sets = (await house.log.events('customer-7')).flatMap(({ data }) =>
    'commitSetId' in data ? [String(data.commitSetId)] : [],
  );
  assert.is(new Set(sets).size, 1, 'one commit set from the first change to the last router');
  await processes.stop();
});

const SCATTERED = Array.from({ length: 90 }, (_, at) => `192.0.2.${at * 2}`);

test('what a router takes in slices is gone on with after a kill, and is told once, at its end', async ({ house }) => {
  house.behave('core1', 'narrow thrice');
  const killedSoon = await house.start();
  await house.ask(disable(ranges(...SCATTERED)));
  await killedSoon.pass(5);
  await killedSoon.stop(false);
  house.behave('core1', 'narrow');
  assert.is(house.held('core2')[LIST]?.length, 90, 'fast routers have everything at once');
  const before = house.held('core1')[LIST]?.length ?? 0;
  assert.ok(before >= 20 && before < 90, `${before}`);
  const processes = await house.start();
  await processes.pass(60);
  assert.is(house.held('core1')[LIST]?.length, 90);
  const types = await house.history();
  assert.is(types.filter((type) => type === 'CommitCompleted').length, 1);
  assert.ok(types.includes('CommitSliceDeployed'));
  assert.not.ok(types.includes('CommitFailed'), 'a slice is no failure');
  assert.equal(
    house.sent.map(({ body }) => JSON.parse(body).status),
    ['success'],
    'told once, at the end',
  );
  await processes.stop();
});

test('where all routers answer in time nothing but the request and the outcome is recorded', async ({ house }) => {
  const processes = await house.start();
  await house.ask(disable(ranges('192.0.2.0-192.0.2.3')));
  await processes.pass(8);
  await house.ask(enable(one('192.0.2.0')));
  await processes.pass(8);
  const commits = ['CommitRequested', 'CommitCompleted'];
  assert.equal(
    (await house.history()).filter((type) => type.startsWith('Commit')),
    [...commits, ...commits],
  );
  await processes.stop();
});

test.run();
