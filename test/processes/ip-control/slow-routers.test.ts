import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../src/adapters/clock.ts';
import { systemIds } from '../../../src/adapters/ids.ts';
import { createOpenRouter } from '../../../src/adapters/routers/open-router.ts';
import { drainRouter } from '../../../src/application/ip-control/router-changes.ts';
import type { RegionCommand } from '../../../src/commands/ip-control/region.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { assigned, disable, enable, one, ranges, registered } from '../../commands/ip-control/customer-examples.ts';
import { type DeploymentApplication, openDeploymentApplication } from './deployment-application.ts';

const test = suite<{ application: DeploymentApplication }>('a router that is slow holds up nobody else');
const LIST = 'Svc-ACME-CORP-BLACKHOLE';
const WEBHOOK = 'https://hooks.example/';

test.before.each(async (state) => {
  // Quiet for less time than a router that hangs is waited for.
  const application = await openDeploymentApplication({ QUIET_PERIOD: 'PT5S', SCHEDULER_INTERVAL: 'PT1S' });
  state.application = application;
  await application.log.append('region-1', { type: 'RegionCreated', data: { regionId: 1, name: 'ams' } });
  await application.log.append('customer-7', registered({ webhookUrl: WEBHOOK }), assigned(1, '192.0.2.0/24'), {
    type: 'WebhookSecretRotated',
    data: { secretId: 'webhook-7' },
  });
  await application.secrets.put('webhook-7', 'whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=');
  for (const router of ['core1', 'core2', 'core3']) await application.addRouter(router);
});
test.after.each((state) => state.application.close());

test('the others get each change as if the one that hangs were not there', async ({ application }) => {
  application.behave('core3', 'silent');
  const processes = await application.start();
  for (const [at, held] of [
    [1, ['192.0.2.1/32']],
    [3, ['192.0.2.1/32', '192.0.2.3/32']],
    [5, ['192.0.2.1/32', '192.0.2.3/32', '192.0.2.5/32']],
  ] as const) {
    await application.ask(disable(one(`192.0.2.${at}`)));
    await processes.pass(8);
    assert.equal(application.held('core1'), { [LIST]: held }, 'at most the quiet period and a moment after its change');
    assert.equal(application.held('core2'), { [LIST]: held });
  }
  assert.not.ok((await application.history()).includes('CommitFailed'), 'it is still waited for');
  assert.equal(application.sent, []);
  // What it was waited for in vain counts for the newest attempt.
  await processes.pass(20);
  const failed = (await application.log.events('customer-7')).filter(({ type }) => type === 'CommitFailed');
  assert.is(failed.length, 1);
  assert.match(JSON.stringify(failed[0]?.data), /"router":"core3","result":"failed".*timed-out/);
  assert.is(application.sent.length, 1, 'told once');
  application.behave('core3', 'fine');
  await processes.pass(120);
  assert.equal(application.held('core3'), { [LIST]: ['192.0.2.1/32', '192.0.2.3/32', '192.0.2.5/32'] });
  assert.is((await application.history()).filter((type) => type === 'CommitCompleted').length, 1);
  const sets = (await application.log.events('customer-7')).flatMap(({ data }) =>
    'commitSetId' in data ? [String(data.commitSetId)] : [],
  );
  assert.is(new Set(sets).size, 1, 'one commit set from the first change to the last router');
  await processes.stop();
});

const SCATTERED = Array.from({ length: 90 }, (_, at) => `192.0.2.${at * 2}`);

test('what a router takes in slices is gone on with after a kill, and is told once, at its end', async ({
  application,
}) => {
  application.behave('core1', 'narrow thrice');
  const killedSoon = await application.start();
  await application.ask(disable(ranges(...SCATTERED)));
  await killedSoon.pass(5);
  await killedSoon.stop(false);
  application.behave('core1', 'narrow');
  assert.is(application.held('core2')[LIST]?.length, 90, 'fast routers have everything at once');
  const before = application.held('core1')[LIST]?.length ?? 0;
  assert.ok(before >= 20 && before < 90, `${before}`);
  const processes = await application.start();
  await processes.pass(60);
  assert.is(application.held('core1')[LIST]?.length, 90);
  const types = await application.history();
  assert.is(types.filter((type) => type === 'CommitCompleted').length, 1);
  assert.ok(types.includes('CommitSliceDeployed'));
  assert.not.ok(types.includes('CommitFailed'), 'a slice is no failure');
  assert.equal(
    application.sent.map(({ body }) => JSON.parse(body).status),
    ['success'],
    'told once, at the end',
  );
  await processes.stop();
});

test('where all routers take a list or none, they take each slice or none', async ({ application }) => {
  const chosen = await application.regions.handle(
    1,
    { type: 'ChooseDeployPolicy', data: { deployPolicy: 'all-or-nothing' } },
    { actor: 'admin:test', requestId: 'test' },
  );
  assert.not.ok(isRefusal(chosen));
  application.behave('core2', 'narrow');
  const processes = await application.start();
  await application.ask(disable(ranges(...SCATTERED)));
  await processes.pass(6);
  const perRouter = ['core1', 'core2', 'core3'].map(
    (router) => application.changes.filter((change) => change.startsWith(router)).length,
  );
  assert.is(new Set(perRouter).size, 1, 'nothing is sent to one that is not sent to all');
  assert.ok((perRouter[0] ?? 0) >= 9, 'ten at a time');
  await processes.pass(60);
  for (const router of ['core1', 'core2', 'core3']) assert.is(application.held(router)[LIST]?.length, 90);
  const types = await application.history();
  assert.is(types.filter((type) => type === 'CommitCompleted').length, 1);
  assert.ok(types.includes('CommitSliceDeployed'));
  assert.not.ok(types.includes('CommitFailed'), 'a slice is no failure');
  const done = (await application.log.events('customer-7')).flatMap(({ type, data }) =>
    type === 'CommitSliceDeployed' ? [Number(Object(data).done)] : [],
  );
  assert.equal(
    done,
    [...done].sort((a, b) => a - b),
    'it goes forward only',
  );
  await processes.stop();
});

test('where one of them does not take a slice, the others go back to what they had before it', async ({
  application,
}) => {
  await application.regions.handle(
    1,
    { type: 'ChooseDeployPolicy', data: { deployPolicy: 'all-or-nothing' } },
    { actor: 'admin:test', requestId: 'test' },
  );
  application.behave('core2', 'narrow thrice');
  const processes = await application.start();
  await application.ask(disable(ranges(...SCATTERED)));
  await processes.pass(240);
  assert.ok((await application.history()).includes('CommitFailed'));
  const held = application.held('core1')[LIST]?.length ?? 0;
  assert.ok(held > 0 && held < 90, `${held}`);
  assert.equal(application.held('core1'), application.held('core2'));
  assert.equal(application.held('core1'), application.held('core3'));
  application.behave('core2', 'narrow');
  await processes.pass(900);
  for (const router of ['core1', 'core2', 'core3']) assert.is(application.held(router)[LIST]?.length, 90);
  await processes.stop();
});

test('where all routers answer in time nothing but the request and the outcome is recorded', async ({
  application,
}) => {
  const processes = await application.start();
  await application.ask(disable(ranges('192.0.2.0-192.0.2.3')));
  await processes.pass(8);
  await application.ask(enable(one('192.0.2.0')));
  await processes.pass(8);
  const commits = ['CommitRequested', 'CommitCompleted'];
  assert.equal(
    (await application.history()).filter((type) => type.startsWith('Commit')),
    [...commits, ...commits],
  );
  await processes.stop();
});

test('a change that comes while slices of its list wait for those of another goes on with them', async ({
  application,
}) => {
  const other = registered();
  if (other.type !== 'CustomerRegistered') throw new Error('a customer is registered first');
  await application.log.append(
    'customer-8',
    { ...other, data: { ...other.data, customerId: 8, listName: 'OTHER' } },
    assigned(2, '198.51.100.0/24'),
  );
  // The fourth slice of the other one hangs.
  application.behave('core1', 'narrow thrice');
  const processes = await application.start();
  await application.ask(disable(ranges(...SCATTERED.map((text) => text.replace('192.0.2', '198.51.100')))), 8);
  await processes.pass(6);
  await application.ask(disable(ranges(...SCATTERED)));
  await processes.pass(8);
  assert.ok((await application.history()).includes('CommitSliceDeployed'), 'it waits for its first slice');
  await application.ask(enable(one('192.0.2.0')));
  await processes.pass(8);
  assert.is((await application.history()).filter((type) => type === 'CommitRequested').length, 2);
  application.behave('core1', 'narrow');
  await processes.pass(120);
  assert.is(application.held('core1')['Svc-OTHER-BLACKHOLE']?.length, 90);
  assert.is(application.held('core1')[LIST]?.length, 89);
  assert.is((await application.history()).at(-1), 'CommitCompleted');
  await processes.stop();
});

test('a router that was found to hold an older list, though it did not answer, has not taken the newer one', async ({
  application,
}) => {
  const processes = await application.start();
  application.behave('core3', 'narrow thrice');
  for (const last of [1, 3, 5]) {
    await application.ask(disable(one(`192.0.2.${last}`)));
    await processes.pass(8);
  }
  // From now on it does not answer to changes.
  await application.ask(disable(one('192.0.2.7')));
  await processes.pass(8);
  await application.ask(disable(one('192.0.2.9')));
  await processes.pass(8);
  const older = ['192.0.2.1/32', '192.0.2.3/32', '192.0.2.5/32', '192.0.2.7/32'];
  assert.equal(application.held('core1'), { [LIST]: [...older, '192.0.2.9/32'] });
  writeFileSync(join(application.log.folder, 'core3', LIST), older.map((prefix) => `${prefix}\n`).join(''));
  application.behave('core3', 'fine');
  await processes.pass(25);
  assert.is((await application.history()).at(-1), 'CommitCompleted');
  assert.equal(application.held('core3'), application.held('core1'));
  await processes.stop();
});

test('a router that is disabled, set up anew and enabled between two slices of another is asked again', async ({
  application,
}) => {
  const region = async (command: RegionCommand): Promise<void> => {
    assert.not.ok(isRefusal(await application.regions.handle(1, command, { actor: 'admin:test', requestId: 'test' })));
  };
  application.behave('core1', 'narrow thrice');
  const processes = await application.start();
  await application.ask(disable(ranges(...SCATTERED)));
  await processes.pass(6);
  assert.is(application.held('core2')[LIST]?.length, 90);
  await region({ type: 'DisableRouter', data: { router: 'core2' } });
  await processes.settle();
  rmSync(join(application.log.folder, 'core2', LIST));
  await region({ type: 'EnableRouter', data: { router: 'core2' } });
  await processes.settle();
  assert.is((await application.history('region-1')).at(-1), 'RouterCaughtUp');
  application.behave('core1', 'narrow');
  await processes.pass(60);
  assert.is((await application.history()).at(-1), 'CommitCompleted');
  assert.is(application.held('core2')[LIST]?.length, 90);
  await processes.stop();
});

test('a router is drained once all pushes to it are over, also those of an attempt that a newer one goes on with', async ({
  application,
}) => {
  await application.log.append('directory-main', { type: 'RegionNameReserved', data: { regionId: 1, name: 'ams' } });
  await application.log.append('directory-main', { type: 'CustomerNameReserved', data: registered().data });
  application.behave('core3', 'late');
  const processes = await application.start();
  await application.ask(disable(one('192.0.2.1')));
  await processes.pass(10);
  assert.is((await application.history()).at(-1), 'CommitHeldUp');
  const openRouter = createOpenRouter({ secrets: application.secrets, clock: systemClock, ids: systemIds });
  const tools = { ...application, openRouter, clock: application.log.clock };
  const draining = drainRouter({ router: 'core3' }, { actor: 'admin:test', requestId: 'test' }, tools).then(
    (drained) => ({ drained, changes: [...application.changes] }),
  );
  await processes.settle();
  await application.ask(disable(one('192.0.2.3')));
  await processes.pass(60);
  const { drained, changes } = await draining;
  assert.not.ok(isRefusal(drained));
  assert.ok(changes.includes(`core3 ${LIST}`), 'its last change was made by then');
  assert.equal(application.held('core3'), {});
  const asked = (await application.history()).filter((type) => type === 'CommitRequested');
  assert.is(asked.length, 2, 'a newer attempt has gone on with it');
  assert.is((await application.history()).at(-1), 'CommitCompleted');
  await processes.stop();
});

test.run();
