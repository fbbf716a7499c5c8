import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { beginRestore } from '../../../src/commands/ip-control/begin-restore.ts';
import type { RegionCommand } from '../../../src/commands/ip-control/region.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import {
  assigned,
  disable,
  enable,
  one,
  registered,
  requestCommit,
  SETTINGS,
} from '../../commands/ip-control/customer-examples.ts';
import { type DeploymentHouse, openDeploymentHouse } from './deployment-application.ts';

const test = suite<{ house: DeploymentHouse }>('routers under a restored log');
const LIST = 'Svc-ACME-CORP-BLACKHOLE';
const UNKNOWN = 'Svc-LATER-BLACKHOLE';
const context = { actor: 'admin:test', requestId: 'test' };

/** .7 is disabled and deployed; then come the events that are lost: of them the routers know .77, and a list of another customer. */
test.before.each(async (state) => {
  const house = await openDeploymentHouse({ DRIFT_INTERVAL: 'PT1M' });
  state.house = house;
  const customer = registered();
  await house.log.append(
    'directory-main',
    { type: 'RegionNameReserved', data: { regionId: 1, name: 'ams' } },
    { type: 'CustomerNameReserved', data: customer.data },
  );
  await house.log.append('region-1', { type: 'RegionCreated', data: { regionId: 1, name: 'ams' } });
  await house.log.append('customer-7', customer, assigned(1, '192.0.2.0/24'));
  await house.addRouter('core1');
  await house.addRouter('core2');
  const processes = await house.start();
  await commit(house, 'c1', disable(one('192.0.2.7')));
  await processes.settle();
  await processes.stop();
  lose(house, LIST, '192.0.2.7/32\n192.0.2.77/32\n');
  lose(house, UNKNOWN, '198.51.100.1/32\n');
});
test.after.each((state) => state.house.close());

/** What a router holds of the part of the log that is lost. */
function lose(house: DeploymentHouse, list: string, text: string, router = 'core1'): void {
  writeFileSync(join(house.log.folder, router, list), text);
}

async function restored(house: DeploymentHouse): Promise<void> {
  assert.ok(await beginRestore('operator', context, { directory: house.directory, store: house.log.store }));
}

async function accept(house: DeploymentHouse): Promise<void> {
  await house.directory.handle('main', { type: 'AcceptRestore', data: { regionId: undefined } }, context);
}

async function commit(house: DeploymentHouse, name: string, ...changes: Parameters<DeploymentHouse['ask']>[0][]) {
  for (const change of changes) await house.ask(change);
  await house.ask(requestCommit(name, 1, 'operator'));
}

async function askRegion(house: DeploymentHouse, command: RegionCommand): Promise<void> {
  const answer = await house.regions.handle(1, command, context);
  if (isRefusal(answer)) throw new Error(answer.because);
}

async function outcomes(house: DeploymentHouse): Promise<readonly unknown[]> {
  const settled = (await house.log.events('customer-7')).filter(({ type }) => /^Commit(Completed|Failed)$/.test(type));
  return [...Object(settled.at(-1)?.data).outcomes].map((outcome) => Object(outcome));
}

const lists = (house: DeploymentHouse) => [house.held('core1')[LIST], house.held('core2')[LIST]];
const held = (...hosts: number[]) => hosts.map((host) => `192.0.2.${host}/32`);

test('without the state an address that was disabled after the backup comes back: this is what it is for', async ({
  house,
}) => {
  const processes = await house.start();
  await processes.pass(120);
  assert.equal(lists(house), [held(7), held(7)]);
});

test('a look at the routers removes nothing that the log does not explain, and says that it stays', async ({
  house,
}) => {
  await restored(house);
  const processes = await house.start();
  await processes.pass(180);
  assert.equal(lists(house), [held(7, 77), held(7)]);
  assert.equal(await house.history('region-1', 3), ['UnownedListsSeen'], 'it is no drift');
  const said = house.log.lines.filter(({ message }) => message.includes('keeps what it does not explain'));
  assert.ok(said.length > 0);
  assert.equal(said[0]?.fields, { regionId: 1, router: 'core1', list: LIST, kept: 1 });
});

test('what is missing is put back beside what is kept', async ({ house }) => {
  await restored(house);
  lose(house, LIST, '192.0.2.77/32\n');
  const processes = await house.start();
  await processes.pass(120);
  assert.equal(lists(house), [held(7, 77), held(7)]);
});

test('a commit adds, and keeps on each router what that one has; it completes, and says how much was kept', async ({
  house,
}) => {
  await restored(house);
  const processes = await house.start();
  await commit(house, 'c2', disable(one('192.0.2.1')));
  await processes.settle();
  assert.equal(lists(house), [held(1, 7, 77), held(1, 7)]);
  assert.is((await house.history()).at(-1), 'CommitCompleted');
  assert.equal(await outcomes(house), [
    { router: 'core1', result: 'confirmed', untouched: false, kept: 1, milliseconds: 0 },
    { router: 'core2', result: 'confirmed', untouched: false, milliseconds: 0 },
  ]);
});

test('what a customer enables after the restore leaves the routers', async ({ house }) => {
  await restored(house);
  const processes = await house.start();
  await commit(house, 'c2', enable(one('192.0.2.7')));
  await processes.settle();
  assert.equal(lists(house), [held(77), []]);
  await commit(house, 'c3', disable(one('192.0.2.77')), enable(one('192.0.2.77')));
  await processes.settle();
  assert.equal(lists(house), [[], []]);
});

test('what the log has as enabled can be enabled once a look has seen it on a router, and leaves', async ({
  house,
}) => {
  await restored(house);
  const processes = await house.start();
  await processes.settle();
  assert.is((await house.history()).at(-1), 'AddressesKept', 'the first look comes at once');
  await commit(house, 'c2', enable(one('192.0.2.77')));
  await processes.settle();
  assert.equal(lists(house), [held(7), held(7)]);
  await processes.pass(180);
  assert.is((await house.history()).filter((type) => type === 'AddressesKept').length, 1);
});

test('an enable from before the backup explains nothing: the address may have been disabled again', async ({
  house,
}) => {
  await house.ask(enable(one('192.0.2.7')));
  await restored(house);
  const processes = await house.start();
  await commit(house, 'c2');
  await processes.settle();
  assert.equal(lists(house), [held(7, 77), held(7)]);
  assert.is((await house.history()).at(-1), 'CommitCompleted');
});

test('an address that is disabled once more stays all the time, and is explained from then on', async ({ house }) => {
  await restored(house);
  const processes = await house.start();
  await house.ask(disable(one('192.0.2.77')));
  await processes.pass(120);
  assert.equal(lists(house)[0], held(7, 77), 'before its commit');
  await commit(house, 'c2');
  await processes.settle();
  assert.equal(lists(house), [held(7, 77), held(7, 77)]);
  await accept(house);
  await processes.pass(120);
  assert.equal(lists(house), [held(7, 77), held(7, 77)]);
});

test('a router that was disabled is brought up to date and keeps it too', async ({ house }) => {
  await restored(house);
  const processes = await house.start();
  await askRegion(house, { type: 'DisableRouter', data: { router: 'core1' } });
  await commit(house, 'c2', disable(one('192.0.2.1')));
  await processes.settle();
  await askRegion(house, { type: 'EnableRouter', data: { router: 'core1' } });
  await processes.settle();
  assert.equal(lists(house), [held(1, 7, 77), held(1, 7)]);
  assert.ok((await house.history('region-1')).includes('RouterCaughtUp'));
});

test('nothing is pruned, and the check says why; after it was accepted it can be', async ({ house }) => {
  await restored(house);
  const processes = await house.start();
  const prune = async (checkId: string) => {
    await askRegion(house, { type: 'RequestRouterCheck', data: { router: 'core1', checkId, prune: true } });
    await processes.settle();
    return Object((await house.log.events('region-1')).findLast(({ type }) => type === 'RouterChecked')?.data);
  };
  const { unowned, removed, problems } = await prune('k1');
  assert.equal([unowned, removed], [[UNKNOWN], []]);
  assert.match(problems[0], 'edgeward restore accept');
  assert.equal(house.held('core1')[UNKNOWN], ['198.51.100.1/32']);
  await accept(house);
  assert.equal((await prune('k2')).removed, [UNKNOWN]);
});

test('accepted, the next look takes away what is not wanted', async ({ house }) => {
  await restored(house);
  const processes = await house.start();
  await processes.pass(120);
  await accept(house);
  await processes.pass(120);
  assert.equal(lists(house), [held(7), held(7)]);
});

for (const [what, text] of [
  ['an entry that is no plain block', '192.0.2.7/32\n192.0.2.8/32 le 32\n'],
  ['something else in its place', '<html>\n'],
] as const) {
  test(`a list with ${what} is left as it is, and the commit fails and says why`, async ({ house }) => {
    await restored(house);
    lose(house, LIST, text, 'core2');
    const processes = await house.start();
    await commit(house, 'c2', disable(one('192.0.2.1')));
    await processes.settle();
    assert.is((await house.history()).at(-1), 'CommitFailed');
    const [, { result, untouched, because }] = (await outcomes(house)).map((outcome) => Object(outcome));
    assert.equal([result, untouched], ['failed', true]);
    assert.match(because, 'edgeward restore accept');
    assert.equal(lists(house)[0], held(1, 7, 77), 'the other router has it');
    await accept(house);
    await processes.pass(120);
    assert.equal(lists(house), [held(1, 7), held(1, 7)]);
  });
}

test('all routers or none: each keeps its own', async ({ house }) => {
  await askRegion(house, { type: 'ChooseDeployPolicy', data: { deployPolicy: 'all-or-nothing' } });
  await restored(house);
  const processes = await house.start();
  await commit(house, 'c2', disable(one('192.0.2.1')));
  await processes.settle();
  assert.equal(lists(house), [held(1, 7, 77), held(1, 7)]);
  const [{ kept, together }] = (await outcomes(house)).map((outcome) => Object(outcome));
  assert.equal([kept, together], [1, 'compensated']);
  await commit(house, 'c3', enable(one('192.0.2.1')));
  await processes.settle();
  assert.equal(lists(house), [held(7, 77), held(7)]);
});

test('a customer who is made after the restore, and has the name of one who is lost, keeps the list of that one', async ({
  house,
}) => {
  await restored(house);
  const later = { customerId: 8, name: 'later', listName: 'LATER', settings: SETTINGS };
  await house.log.append('directory-main', { type: 'CustomerNameReserved', data: later });
  await house.log.append('customer-8', { type: 'CustomerRegistered', data: later });
  const processes = await house.start();
  await processes.pass(120);
  assert.equal(house.held('core1')[UNKNOWN], ['198.51.100.1/32']);
});

test.run();
