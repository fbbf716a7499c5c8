import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { RegionCommand } from '../../../src/commands/ip-control/region.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import {
  assigned,
  disable,
  one,
  ranges,
  registered,
  requestCommit,
} from '../../commands/ip-control/customer-examples.ts';
import { type DeploymentApplication, foundRegion, openDeploymentApplication } from './deployment-application.ts';

const test = suite<{ application: DeploymentApplication }>('routers beside commits');
const LIST = 'Svc-ACME-CORP-BLACKHOLE';
const MINUTES = 60;

test.before.each(async (state) => {
  const application = await openDeploymentApplication();
  state.application = application;
  await foundRegion(application);
});
test.after.each((state) => state.application.close());

async function askRegion(application: DeploymentApplication, command: RegionCommand): Promise<void> {
  const answer = await application.regions.handle(1, command, { actor: 'admin:test', requestId: 'test' });
  if (isRefusal(answer)) throw new Error(answer.because);
}

async function deploy(application: DeploymentApplication, commit: string, address: string) {
  await application.ask(disable(one(address)));
  await application.ask(requestCommit(commit, 1, 'operator'));
}

/** Customer 8 with 198.51.100.0/24 in the region. */
async function addOther(application: DeploymentApplication): Promise<void> {
  const data = { ...registered().data, customerId: 8, name: 'Other', listName: 'OTHER' };
  await application.log.append('directory-main', { type: 'CustomerNameReserved', data });
  await application.log.append('customer-8', { type: 'CustomerRegistered', data }, assigned(2, '198.51.100.0/24'));
}

/** What happened in the region after its setting up. */
const happened = (application: DeploymentApplication): Promise<readonly string[]> => application.history('region-1', 3);

async function outcomesOf(application: DeploymentApplication, at = -1): Promise<readonly unknown[]> {
  const settled = (await application.log.events('customer-7')).filter(({ type }) =>
    /^Commit(Completed|Failed)$/.test(type),
  );
  const { outcomes } = Object(settled.at(at)?.data);
  return [...outcomes].map((outcome) => Object(outcome));
}

function edit(application: DeploymentApplication, router: string, list: string, text: string): void {
  writeFileSync(join(application.log.folder, router, list), text);
}

// Maintenance

test('a disabled router is passed over, and the commit is complete without it', async ({ application }) => {
  const processes = await application.start();
  await askRegion(application, { type: 'DisableRouter', data: { router: 'core2' } });
  await deploy(application, 'c1', '192.0.2.1');
  await processes.settle();
  assert.equal(application.held('core1'), { [LIST]: ['192.0.2.1/32'] });
  assert.equal(application.held('core2'), {});
  assert.equal(await outcomesOf(application), [
    { router: 'core1', result: 'confirmed', untouched: false, milliseconds: 0 },
    { router: 'core2', result: 'skipped', untouched: true, because: 'the router is disabled', milliseconds: 0 },
  ]);
  assert.is((await application.history()).at(-1), 'CommitCompleted');
  await processes.stop();
});

for (const [what, command] of [
  ['disabled', { type: 'DisableRouter', data: { router: 'core2' } }],
  ['removed', { type: 'RemoveRouter', data: { router: 'core2' } }],
] as const) {
  test(`a commit that waits for a router which is ${what} meanwhile is complete without it`, async ({
    application,
  }) => {
    application.behave('core2', 'silent');
    const processes = await application.start();
    await deploy(application, 'c1', '192.0.2.1');
    await processes.pass(5);
    await askRegion(application, command);
    await processes.pass(70);
    const types = (await application.history()).filter((type) => /^Commit(Completed|Failed)$/.test(type));
    assert.equal(types, ['CommitCompleted']);
    const [, outcome] = await outcomesOf(application);
    const { milliseconds, because, ...kept } = Object(outcome);
    assert.equal(kept, { router: 'core2', result: 'failed', untouched: true, counts: false });
    assert.ok(milliseconds > 0, 'it is told how long it was waited for');
    assert.match(because, 'timed-out');
    await processes.stop();
  });
}

test('a commit is not over before its push to a router that was disabled meanwhile is: lists that are taken off then stay off', async ({
  application,
}) => {
  application.behave('core2', 'late');
  const processes = await application.start();
  await deploy(application, 'c1', '192.0.2.1');
  await processes.settle();
  await askRegion(application, { type: 'DisableRouter', data: { router: 'core2' } });
  for (let second = 0; second < 60 && (await application.history()).at(-1) !== 'CommitCompleted'; second += 1)
    await processes.pass(1);
  assert.is((await application.history()).at(-1), 'CommitCompleted');
  rmSync(join(application.log.folder, 'core2', LIST), { force: true });
  await processes.pass(60);
  assert.equal(application.held('core2'), {});
  await processes.stop();
});

test('what a push has done to a router that is disabled meanwhile is told, though the commit is complete without it', async ({
  application,
}) => {
  application.behave('core1', 'late');
  application.behave('core2', 'late');
  const processes = await application.start();
  await deploy(application, 'c1', '192.0.2.1');
  await processes.pass(15);
  application.behave('core2', 'refusing');
  await processes.pass(10);
  await askRegion(application, { type: 'DisableRouter', data: { router: 'core2' } });
  await processes.pass(60);
  await processes.stop();
  assert.equal(
    application.changes.filter((change) => change.startsWith('core2')),
    [`core2 ${LIST}`],
  );
  assert.is((await application.history()).at(-1), 'CommitCompleted');
  const [, outcome] = await outcomesOf(application);
  const { router, result, untouched, counts } = Object(outcome);
  assert.equal(
    { router, result, untouched, counts },
    { router: 'core2', result: 'unknown', untouched: false, counts: false },
  );
});

test('a router that hangs and is disabled holds up no newer change while its push is waited for', async ({
  application,
}) => {
  application.behave('core2', 'silent');
  const processes = await application.start();
  await deploy(application, 'c1', '192.0.2.1');
  await processes.settle();
  await askRegion(application, { type: 'DisableRouter', data: { router: 'core2' } });
  await processes.pass(5);
  await deploy(application, 'c2', '192.0.2.2');
  await processes.pass(5);
  const held = application.held('core1');
  await processes.pass(120);
  await processes.stop();
  assert.equal(held, { [LIST]: ['192.0.2.1/32', '192.0.2.2/32'] });
  const commits = (await application.history()).filter((type) => type.startsWith('Commit'));
  const attempt = ['CommitRequested', 'CommitHeldUp'];
  assert.equal(commits, [...attempt, ...attempt, 'CommitCompleted']);
});

test('a list that a commit brings to a router which is drained while it is brought up to date does not stay there', async ({
  application,
}) => {
  const processes = await application.start();
  await askRegion(application, { type: 'DisableRouter', data: { router: 'core2' } });
  application.behave('core2', 'late');
  await askRegion(application, { type: 'EnableRouter', data: { router: 'core2' } });
  await processes.pass(1);
  await deploy(application, 'c1', '192.0.2.1');
  await processes.pass(5);
  assert.is((await application.history()).at(-1), 'CommitCompleted', 'it does not wait for this router');
  await askRegion(application, { type: 'RequestRouterDrain', data: { router: 'core2' } });
  await askRegion(application, { type: 'RecordRouterDrained', data: { router: 'core2', removed: [], problems: [] } });
  await processes.pass(120);
  await processes.stop();
  assert.ok(application.changes.includes(`core2 ${LIST}`), 'the list came after all were taken off');
  assert.equal(application.held('core2'), {});
});

test('enabled, it is brought up to date at once, without waiting for a commit', async ({ application }) => {
  const processes = await application.start();
  await askRegion(application, { type: 'DisableRouter', data: { router: 'core2' } });
  await deploy(application, 'c1', '192.0.2.1');
  await processes.settle();
  await askRegion(application, { type: 'EnableRouter', data: { router: 'core2' } });
  await processes.settle();
  assert.equal(application.held('core2'), { [LIST]: ['192.0.2.1/32'] });
  assert.equal(await happened(application), ['RouterDisabled', 'RouterEnabled', 'RouterCaughtUp']);
  await processes.stop();
});

test('as long as it is not up to date, commits are pushed to it and do not wait for it', async ({ application }) => {
  const processes = await application.start();
  await askRegion(application, { type: 'DisableRouter', data: { router: 'core2' } });
  await deploy(application, 'c1', '192.0.2.1');
  await processes.settle();
  application.behave('core2', 'refusing');
  await askRegion(application, { type: 'EnableRouter', data: { router: 'core2' } });
  await processes.settle();
  await deploy(application, 'c2', '192.0.2.2');
  await processes.settle();
  assert.is((await application.history()).at(-1), 'CommitCompleted');
  assert.equal((await outcomesOf(application))[1], {
    router: 'core2',
    result: 'failed',
    untouched: true,
    because: 'unreachable: core2 is down',
    milliseconds: 0,
    counts: false,
  });
  application.behave('core2', 'fine');
  await processes.pass(2 * MINUTES);
  assert.equal(application.held('core2'), { [LIST]: ['192.0.2.1/32', '192.0.2.2/32'] });
  assert.equal((await happened(application)).at(-1), 'RouterCaughtUp');
  application.behave('core2', 'refusing');
  await deploy(application, 'c3', '192.0.2.3');
  await processes.settle();
  assert.is((await application.history()).at(-1), 'CommitFailed', 'now it counts');
  await processes.stop();
});

test('a router that is enabled while a commit which has passed it over is under way has its list when the commit is complete', async ({
  application,
}) => {
  const processes = await application.start();
  await askRegion(application, { type: 'DisableRouter', data: { router: 'core2' } });
  application.behave('core1', 'late');
  await deploy(application, 'c1', '192.0.2.1');
  await processes.settle();
  await askRegion(application, { type: 'EnableRouter', data: { router: 'core2' } });
  await processes.settle();
  await processes.pass(60);
  assert.is((await application.history()).at(-1), 'CommitCompleted');
  assert.equal(application.held('core2'), { [LIST]: ['192.0.2.1/32'] });
  await processes.stop();
});

test('a router that is added while a commit is under way has its list when the commit is complete', async ({
  application,
}) => {
  const processes = await application.start();
  for (const router of ['core1', 'core2']) application.behave(router, 'late');
  await deploy(application, 'c1', '192.0.2.1');
  await processes.settle();
  await application.addRouter('core3');
  await processes.pass(60);
  assert.is((await application.history()).at(-1), 'CommitCompleted');
  assert.equal(application.held('core3'), { [LIST]: ['192.0.2.1/32'] });
  await processes.stop();
});

test('what changed since the last commit is not pushed by bringing a router up to date', async ({ application }) => {
  const processes = await application.start();
  await deploy(application, 'c1', '192.0.2.1');
  await processes.settle();
  await askRegion(application, { type: 'DisableRouter', data: { router: 'core2' } });
  await application.ask(disable(one('192.0.2.9')));
  edit(application, 'core2', LIST, '');
  await askRegion(application, { type: 'EnableRouter', data: { router: 'core2' } });
  await processes.settle();
  assert.equal(application.held('core2'), { [LIST]: ['192.0.2.1/32'] });
  await processes.stop();
});

const SCATTERED = Array.from({ length: 90 }, (_, at) => `192.0.2.${at * 2}`);

test('a list that a router takes in slices alone comes to it in slices, and it is up to date then', async ({
  application,
}) => {
  const processes = await application.start();
  await askRegion(application, { type: 'DisableRouter', data: { router: 'core2' } });
  await application.ask(disable(ranges(...SCATTERED)));
  await application.ask(requestCommit('c1', 1, 'operator'));
  await processes.settle();
  application.behave('core2', 'narrow');
  await askRegion(application, { type: 'EnableRouter', data: { router: 'core2' } });
  await processes.settle();
  assert.equal(application.held('core2'), application.held('core1'));
  assert.is(application.held('core2')[LIST]?.length, 90);
  assert.ok(application.changes.filter((change) => change.startsWith('core2')).length >= 9, 'ten at a time');
  assert.equal(await happened(application), ['RouterDisabled', 'RouterEnabled', 'RouterCaughtUp']);
  await processes.stop();
});

test('drift that a router takes in slices alone is put right in slices, and told once', async ({ application }) => {
  const processes = await application.start();
  await application.ask(disable(ranges(...SCATTERED)));
  await application.ask(requestCommit('c1', 1, 'operator'));
  await processes.settle();
  application.behave('core2', 'narrow');
  rmSync(join(application.log.folder, 'core2', LIST));
  await askRegion(application, { type: 'RequestRouterCheck', data: { router: 'core2', checkId: 'k1', prune: false } });
  await processes.settle();
  assert.is(application.held('core2')[LIST]?.length, 90);
  assert.equal(await happened(application), [
    'RouterCheckRequested',
    'DriftDetected',
    'DriftRepaired',
    'RouterChecked',
  ]);
  await processes.stop();
});

test('stopped between two slices, bringing a router up to date goes on after the start with what it holds', async ({
  application,
}) => {
  const killedSoon = await application.start();
  await askRegion(application, { type: 'DisableRouter', data: { router: 'core2' } });
  await application.ask(disable(ranges(...SCATTERED)));
  await application.ask(requestCommit('c1', 1, 'operator'));
  await killedSoon.settle();
  application.behave('core2', 'narrow thrice');
  await askRegion(application, { type: 'EnableRouter', data: { router: 'core2' } });
  await killedSoon.settle();
  await killedSoon.stop(false);
  const before = application.held('core2')[LIST]?.length ?? 0;
  assert.ok(before > 0 && before < 90, `${before}`);
  application.behave('core2', 'narrow');
  const processes = await application.start();
  await processes.settle();
  assert.is(application.held('core2')[LIST]?.length, 90);
  assert.is((await happened(application)).at(-1), 'RouterCaughtUp');
  await processes.stop();
});

for (const [what, isMoved] of [
  ['has its lists taken off and is enabled again', false],
  ['is spoken to at another place', true],
] as const) {
  test(`a router that ${what} while it is brought up to date is so only when it has been looked at anew`, async ({
    application,
  }) => {
    const processes = await application.start();
    await addOther(application);
    await deploy(application, 'c1', '192.0.2.1');
    await application.ask(disable(one('198.51.100.1')), 8);
    await application.ask(requestCommit('c2', 1, 'operator'), 8);
    await processes.settle();
    const expected = application.held('core1');
    await askRegion(application, { type: 'DisableRouter', data: { router: 'core2' } });
    application.behave('core2', 'late');
    await askRegion(application, { type: 'EnableRouter', data: { router: 'core2' } });
    // Which lists there are has been asked, and the first one read.
    await processes.pass(25);
    const path = join(application.log.folder, isMoved ? 'core3' : 'core2');
    if (isMoved) {
      mkdirSync(path);
      await askRegion(application, { type: 'ReconfigureRouter', data: { router: 'core2', options: { path } } });
    } else {
      await askRegion(application, { type: 'DisableRouter', data: { router: 'core2' } });
      rmSync(join(path, LIST));
      await askRegion(application, { type: 'EnableRouter', data: { router: 'core2' } });
    }
    for (let second = 0; second < 300 && (await happened(application)).at(-1) !== 'RouterCaughtUp'; second += 1)
      await processes.pass(1);
    const [last, held] = [(await happened(application)).at(-1), application.held(isMoved ? 'core3' : 'core2')];
    application.behave('core2', 'fine');
    await processes.pass(60);
    await processes.stop();
    assert.is(last, 'RouterCaughtUp');
    assert.equal(held, expected);
  });
}

// Drift

test('what others change is found within the interval, told once, and put right', async ({ application }) => {
  const processes = await application.start();
  await deploy(application, 'c1', '192.0.2.1');
  await processes.settle();
  edit(application, 'core2', LIST, '192.0.2.1/32\n198.51.100.0/24\n');
  await processes.pass(19 * MINUTES);
  assert.equal(application.held('core2'), { [LIST]: ['192.0.2.1/32'] });
  assert.equal(await happened(application), ['DriftDetected', 'DriftRepaired']);
  const [drift] = (await application.log.events('region-1')).filter(({ type }) => type === 'DriftDetected');
  const { missing, extra, router, list, difference } = Object(drift?.data);
  assert.equal({ missing, extra, router, list }, { missing: 0, extra: 1, router: 'core2', list: LIST });
  assert.equal(difference, { missing: [], extra: ['198.51.100.0/24'], more: 0 });
  assert.is(drift?.metadata.actor, 'system:drift');
  await processes.stop();
});

test('a router whose drift is not put right is told of once, and again when it is right', async ({ application }) => {
  const processes = await application.start();
  await deploy(application, 'c1', '192.0.2.1');
  await askRegion(application, { type: 'ChooseRouterRepair', data: { router: 'core2', repair: false } });
  await processes.settle();
  edit(application, 'core2', LIST, '');
  await processes.pass(60 * MINUTES);
  assert.equal(application.held('core2'), { [LIST]: [] });
  assert.equal(await happened(application), ['RouterRepairChosen', 'DriftDetected']);
  edit(application, 'core2', LIST, '192.0.2.1/32\n');
  await processes.pass(20 * MINUTES);
  assert.equal(await happened(application), ['RouterRepairChosen', 'DriftDetected', 'DriftRepaired']);
  await processes.stop();
});

test('a list that a commit has failed to bring is left to that commit: no old content comes over a newer one', async ({
  application,
}) => {
  const processes = await application.start();
  await deploy(application, 'c1', '192.0.2.1');
  await processes.settle();
  application.behave('core1', 'refusing');
  await deploy(application, 'c2', '192.0.2.2');
  await processes.pass(30 * MINUTES);
  assert.equal(application.held('core2'), { [LIST]: ['192.0.2.1/32', '192.0.2.2/32'] }, 'it has the newer list');
  assert.equal(await happened(application), []);
  await processes.stop();
});

test('with an interval of zero nobody looks', async () => {
  const application = await openDeploymentApplication({ DRIFT_INTERVAL: 'PT0S' });
  try {
    await application.log.append('directory-main', {
      type: 'RegionNameReserved',
      data: { regionId: 1, name: 'ams' },
    });
    await application.log.append('region-1', { type: 'RegionCreated', data: { regionId: 1, name: 'ams' } });
    await application.addRouter('core1');
    edit(application, 'core1', 'Svc-STRAY', '192.0.2.0/24\n');
    const processes = await application.start();
    await processes.pass(60 * MINUTES);
    assert.equal(await application.history('region-1', 2), []);
    await processes.stop();
  } finally {
    await application.close();
  }
});

// Checks that are asked for, and lists that belong to nobody

test('a router that is disabled, and has its lists taken off, in the middle of a look gets none of them back', async ({
  application,
}) => {
  const processes = await application.start();
  await deploy(application, 'c1', '192.0.2.1');
  await processes.settle();
  application.behave('core2', 'late');
  const check = { type: 'RequestRouterCheck', data: { router: 'core2', checkId: 'k1', prune: false } } as const;
  await askRegion(application, check);
  await processes.pass(15);
  await askRegion(application, { type: 'DisableRouter', data: { router: 'core2' } });
  rmSync(join(application.log.folder, 'core2', LIST));
  await processes.pass(120);
  assert.equal(application.held('core2'), {});
  assert.equal(await happened(application), ['RouterCheckRequested', 'RouterDisabled', 'RouterChecked']);
  await processes.stop();
});

test('a list that is on its way to a router while that is drained does not stay there', async ({ application }) => {
  const processes = await application.start();
  await deploy(application, 'c1', '192.0.2.1');
  await processes.settle();
  edit(application, 'core2', LIST, '192.0.2.9/32\n');
  application.behave('core2', 'late');
  const check = { type: 'RequestRouterCheck', data: { router: 'core2', checkId: 'k1', prune: false } } as const;
  await askRegion(application, check);
  for (let second = 0; second < 60 && (await happened(application)).at(-1) !== 'DriftDetected'; second += 1)
    await processes.pass(1);
  await processes.pass(15);
  const before = application.changes.length;
  await askRegion(application, { type: 'RequestRouterDrain', data: { router: 'core2' } });
  rmSync(join(application.log.folder, 'core2', LIST));
  await askRegion(application, {
    type: 'RecordRouterDrained',
    data: { router: 'core2', removed: [LIST], problems: [] },
  });
  await processes.pass(60);
  assert.equal(application.changes.slice(before), [`core2 ${LIST}`], 'the list came after all were taken off');
  assert.equal(application.held('core2'), {});
  assert.is((await happened(application)).at(-1), 'RouterChecked');
  await processes.stop();
});

test('a check that is asked for is made at once, and lists of nobody are told and left', async ({ application }) => {
  const processes = await application.start();
  await deploy(application, 'c1', '192.0.2.1');
  await processes.settle();
  rmSync(join(application.log.folder, 'core1', LIST));
  edit(application, 'core1', 'Svc-STRAY', '192.0.2.0/24\n');
  edit(application, 'core1', 'another-file', 'not ours\n');
  await askRegion(application, { type: 'RequestRouterCheck', data: { router: 'core1', checkId: 'k1', prune: false } });
  await processes.settle();
  assert.equal(await happened(application), [
    'RouterCheckRequested',
    'DriftDetected',
    'DriftRepaired',
    'UnownedListsSeen',
    'RouterChecked',
  ]);
  const checked = (await application.log.events('region-1')).at(-1);
  assert.equal(checked?.data, {
    regionId: 1,
    router: 'core1',
    checkId: 'k1',
    lists: 1,
    underWay: 0,
    drifted: [LIST],
    repaired: [LIST],
    unowned: ['Svc-STRAY'],
    removed: [],
    problems: [],
  });
  assert.equal(application.held('core1'), { [LIST]: ['192.0.2.1/32'], 'Svc-STRAY': ['192.0.2.0/24'] });
  await processes.stop();
});

test('a router that is added gets the lists that are on the others when it is looked at', async ({ application }) => {
  const processes = await application.start();
  await deploy(application, 'c1', '192.0.2.1');
  await processes.settle();
  await application.addRouter('core3');
  await processes.settle();
  assert.equal(application.held('core3'), {});
  const check = { type: 'RequestRouterCheck', data: { router: 'core3', checkId: 'k1', prune: false } } as const;
  await askRegion(application, check);
  await processes.settle();
  assert.equal(application.held('core3'), { [LIST]: ['192.0.2.1/32'] });
  await processes.stop();
});

test('pruned, lists of nobody are gone, and only they', async ({ application }) => {
  const processes = await application.start();
  await deploy(application, 'c1', '192.0.2.1');
  await processes.settle();
  edit(application, 'core1', 'Svc-STRAY', '192.0.2.0/24\n');
  await askRegion(application, { type: 'RequestRouterCheck', data: { router: 'core1', checkId: 'k1', prune: true } });
  await processes.settle();
  assert.equal(application.held('core1'), { [LIST]: ['192.0.2.1/32'] });
  const checked = (await application.log.events('region-1')).at(-1);
  assert.equal(Object(checked?.data).removed, ['Svc-STRAY']);
  await processes.stop();
});

test('what a router could not save is told with the commit, and tried again with each look until it is saved', async ({
  application,
}) => {
  const processes = await application.start();
  application.behave('core1', 'forgetful');
  await deploy(application, 'c1', '192.0.2.1');
  await processes.settle();
  assert.is((await application.history()).at(-1), 'CommitCompleted');
  const because = 'not-saved: was not saved: permission denied';
  const held = { router: 'core1', result: 'confirmed', untouched: false, milliseconds: 0 };
  assert.equal((await outcomesOf(application))[0], { ...held, because, saved: false });
  assert.equal(await happened(application), ['RouterNotSaved']);
  assert.ok(
    application.log.lines.some(({ level, message }) => level === 'warn' && message.includes('could not save it')),
  );
  await processes.pass(40 * MINUTES);
  assert.equal(await happened(application), ['RouterNotSaved'], 'said once');
  application.behave('core1', 'fine');
  await processes.pass(40 * MINUTES);
  assert.equal(await happened(application), ['RouterNotSaved', 'RouterSaved']);
  await processes.stop();
});

test('a change that a router saves ends what it could not save before', async ({ application }) => {
  const processes = await application.start();
  application.behave('core1', 'forgetful');
  await deploy(application, 'c1', '192.0.2.1');
  await processes.settle();
  application.behave('core1', 'fine');
  await deploy(application, 'c2', '192.0.2.2');
  await processes.settle();
  assert.equal(await happened(application), ['RouterNotSaved', 'RouterSaved']);
  await processes.stop();
});

test('pruned where nothing can be saved, lists are gone, and what is not saved is said', async ({ application }) => {
  const processes = await application.start();
  edit(application, 'core1', 'Svc-STRAY', '192.0.2.0/24\n');
  application.behave('core1', 'forgetful');
  await askRegion(application, { type: 'RequestRouterCheck', data: { router: 'core1', checkId: 'k1', prune: true } });
  await processes.settle();
  assert.equal(application.held('core1'), {});
  const { removed, unowned, problems } = Object((await application.log.events('region-1')).at(-1)?.data);
  assert.equal(
    { removed, unowned, problems },
    {
      removed: ['Svc-STRAY'],
      unowned: ['Svc-STRAY'],
      problems: ['not-saved: was not saved: permission denied'],
    },
  );
  assert.equal(await happened(application), ['RouterCheckRequested', 'RouterNotSaved', 'RouterChecked']);
  await processes.stop();
});

test('a router that can not be reached is no drift', async ({ application }) => {
  const processes = await application.start();
  await deploy(application, 'c1', '192.0.2.1');
  await processes.settle();
  application.behave('core1', 'refusing');
  await askRegion(application, { type: 'RequestRouterCheck', data: { router: 'core1', checkId: 'k1', prune: false } });
  await processes.settle();
  assert.equal(await happened(application), ['RouterCheckRequested', 'RouterChecked']);
  assert.equal(Object((await application.log.events('region-1')).at(-1)?.data).problems, [
    'unreachable: core1 is down',
  ]);
  await processes.stop();
});

test('a server that dies in the middle of a check makes it after its restart', async ({ application }) => {
  const first = await application.start();
  await deploy(application, 'c1', '192.0.2.1');
  await first.settle();
  application.behave('core1', 'silent');
  await askRegion(application, { type: 'RequestRouterCheck', data: { router: 'core1', checkId: 'k1', prune: false } });
  await first.stop(false);
  application.behave('core1', 'fine');
  edit(application, 'core1', LIST, '');
  const second = await application.start();
  await second.settle();
  assert.equal((await happened(application)).at(-1), 'RouterChecked');
  assert.equal(application.held('core1'), { [LIST]: ['192.0.2.1/32'] });
  await second.stop();
});

// All or nothing

test('where all routers take a list together, one that is down keeps the others as they were', async ({
  application,
}) => {
  await askRegion(application, { type: 'ChooseDeployPolicy', data: { deployPolicy: 'all-or-nothing' } });
  const processes = await application.start();
  await deploy(application, 'c1', '192.0.2.1');
  await processes.settle();
  application.behave('core2', 'refusing');
  await deploy(application, 'c2', '192.0.2.2');
  await processes.settle();
  assert.is((await application.history()).at(-1), 'CommitFailed');
  for (const router of ['core1', 'core2']) assert.equal(application.held(router), { [LIST]: ['192.0.2.1/32'] });
  application.behave('core2', 'fine');
  await processes.pass(2 * MINUTES);
  assert.is((await application.history()).at(-1), 'CommitCompleted');
  for (const router of ['core1', 'core2'])
    assert.equal(application.held(router), { [LIST]: ['192.0.2.1/32', '192.0.2.2/32'] });
  await processes.stop();
});

test.run();
