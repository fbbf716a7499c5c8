import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../src/adapters/clock.ts';
import { systemIds } from '../../../src/adapters/ids.ts';
import { createOpenRouter } from '../../../src/adapters/routers/open-router.ts';
import { parseRangeTexts } from '../../../src/addresses/range-text.ts';
import { openAggregate } from '../../../src/commands/aggregate.ts';
import { beginRestore } from '../../../src/application/ip-control/restore.ts';
import { customerDecider } from '../../../src/commands/ip-control/customer.ts';
import type { RegionCommand } from '../../../src/commands/ip-control/region.ts';
import { keptIn } from '../../../src/commands/ip-control/kept-addresses.ts';
import { createKeyedMutex } from '../../../src/concurrency/keyed-mutex.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { AppendTooLarge, type EventStore } from '../../../src/ports/event-store.ts';
import { reconcileRouter } from '../../../src/processes/ip-control/pushing/reconcile-router.ts';
import { disable, enable, one, requestCommit, SETTINGS } from '../../commands/ip-control/customer-examples.ts';
import { type DeploymentApplication, foundRegion, openDeploymentApplication } from './deployment-application.ts';

const test = suite<{ application: DeploymentApplication }>('routers under a restored log');
const LIST = 'Svc-ACME-CORP-BLACKHOLE';
const UNKNOWN = 'Svc-LATER-BLACKHOLE';
const context = { actor: 'admin:test', requestId: 'test' };

/** .7 is disabled and deployed; then come the events that are lost: of them the routers know .77, and a list of another customer. */
test.before.each(async (state) => {
  const application = await openDeploymentApplication({ DRIFT_INTERVAL: 'PT1M' });
  state.application = application;
  await foundRegion(application);
  const processes = await application.start();
  await commit(application, 'c1', disable(one('192.0.2.7')));
  await processes.settle();
  await processes.stop();
  lose(application, LIST, '192.0.2.7/32\n192.0.2.77/32\n');
  lose(application, UNKNOWN, '198.51.100.1/32\n');
});
test.after.each((state) => state.application.close());

/** What a router holds of the part of the log that is lost. */
function lose(application: DeploymentApplication, list: string, text: string, router = 'core1'): void {
  writeFileSync(join(application.log.folder, router, list), text);
}

async function restored(application: DeploymentApplication): Promise<void> {
  assert.ok(
    await beginRestore('operator', context, { directory: application.directory, store: application.log.store }),
  );
}

async function accept(application: DeploymentApplication): Promise<void> {
  await application.directory.handle('main', { type: 'AcceptRestore', data: { regionId: undefined } }, context);
}

async function commit(
  application: DeploymentApplication,
  name: string,
  ...changes: Parameters<DeploymentApplication['ask']>[0][]
) {
  for (const change of changes) await application.ask(change);
  await application.ask(requestCommit(name, 1, 'operator'));
}

async function askRegion(application: DeploymentApplication, command: RegionCommand): Promise<void> {
  const answer = await application.regions.handle(1, command, context);
  if (isRefusal(answer)) throw new Error(answer.because);
}

async function outcomes(application: DeploymentApplication): Promise<readonly unknown[]> {
  const settled = (await application.log.events('customer-7')).filter(({ type }) =>
    /^Commit(Completed|Failed)$/.test(type),
  );
  return [...Object(settled.at(-1)?.data).outcomes].map((outcome) => Object(outcome));
}

const lists = (application: DeploymentApplication) => [
  application.held('core1')[LIST],
  application.held('core2')[LIST],
];
const held = (...hosts: number[]) => hosts.map((host) => `192.0.2.${host}/32`);

test('without the state an address that was disabled after the backup comes back: this is what it is for', async ({
  application,
}) => {
  const processes = await application.start();
  await processes.pass(120);
  assert.equal(lists(application), [held(7), held(7)]);
});

test('a look at the routers removes nothing that the log does not explain, and says that it stays', async ({
  application,
}) => {
  await restored(application);
  const processes = await application.start();
  await processes.pass(180);
  assert.equal(lists(application), [held(7, 77), held(7)]);
  assert.equal(await application.history('region-1', 3), ['UnownedListsSeen'], 'it is no drift');
  const said = application.log.lines.filter(({ message }) => message.includes('keeps what it does not explain'));
  assert.ok(said.length > 0);
  assert.equal(said[0]?.fields, { regionId: 1, router: 'core1', list: LIST, kept: 1 });
});

test('what is missing is put back beside what is kept', async ({ application }) => {
  await restored(application);
  lose(application, LIST, '192.0.2.77/32\n');
  const processes = await application.start();
  await processes.pass(120);
  assert.equal(lists(application), [held(7, 77), held(7)]);
});

test('a commit adds, and keeps on each router what that one has; it completes, and says how much was kept', async ({
  application,
}) => {
  await restored(application);
  const processes = await application.start();
  await commit(application, 'c2', disable(one('192.0.2.1')));
  await processes.settle();
  assert.equal(lists(application), [held(1, 7, 77), held(1, 7)]);
  assert.is((await application.history()).at(-1), 'CommitCompleted');
  assert.equal(await outcomes(application), [
    { router: 'core1', result: 'confirmed', untouched: false, kept: 1, milliseconds: 0 },
    { router: 'core2', result: 'confirmed', untouched: false, milliseconds: 0 },
  ]);
});

test('what a customer enables after the restore leaves the routers', async ({ application }) => {
  await restored(application);
  const processes = await application.start();
  await commit(application, 'c2', enable(one('192.0.2.7')));
  await processes.settle();
  assert.equal(lists(application), [held(77), []]);
  await commit(application, 'c3', disable(one('192.0.2.77')), enable(one('192.0.2.77')));
  await processes.settle();
  assert.equal(lists(application), [[], []]);
});

test('what the log has as enabled can be enabled once a look has seen it on a router, and leaves', async ({
  application,
}) => {
  await restored(application);
  const processes = await application.start();
  await processes.settle();
  assert.is((await application.history()).at(-1), 'AddressesKept', 'the first look comes at once');
  await commit(application, 'c2', enable(one('192.0.2.77')));
  await processes.settle();
  assert.equal(lists(application), [held(7), held(7)]);
  await processes.pass(180);
  assert.is((await application.history()).filter((type) => type === 'AddressesKept').length, 1);
});

test('what is more than the store takes at once is told in parts, and the look goes on', async ({ application }) => {
  await restored(application);
  const hosts = Array.from({ length: 120 }, (_, at) => at * 2);
  lose(application, LIST, `${held(...hosts).join('\n')}\n`);
  const { store } = application.log;
  const append: EventStore['append'] = (stream, expected, events) => {
    const bytes = JSON.stringify(events.map(({ data }) => data)).length;
    return bytes > 600
      ? Promise.reject(new AppendTooLarge(stream, bytes, 600))
      : store.append(stream, expected, events);
  };
  const customers = openAggregate(customerDecider, application.log.dependencies({ store: { ...store, append } }));
  const openRouter = createOpenRouter({ secrets: application.secrets, clock: systemClock, ids: systemIds });
  const look = await reconcileRouter(
    1,
    'core1',
    'drift',
    {
      ...application,
      customers,
      store,
      driverOf: (_region, router) => openRouter(router),
      turns: createKeyedMutex(),
      clock: application.log.clock,
      ids: systemIds,
      log: application.log.log,
      timeoutMilliseconds: 30_000,
    },
    new AbortController().signal,
  );
  assert.equal(look?.problems, []);
  assert.ok(look?.isComplete);
  const { state } = await customers.state(7);
  assert.ok(state.phase === 'registered');
  const unexplained = hosts.filter((host) => host !== 7).map((host) => `192.0.2.${host}`);
  assert.ok(keptIn(state.kept, 1).equals(parseRangeTexts(unexplained)));
});

test('an enable from before the backup explains nothing: the address may have been disabled again', async ({
  application,
}) => {
  await application.ask(enable(one('192.0.2.7')));
  await restored(application);
  const processes = await application.start();
  await commit(application, 'c2');
  await processes.settle();
  assert.equal(lists(application), [held(7, 77), held(7)]);
  assert.is((await application.history()).at(-1), 'CommitCompleted');
});

function minutes(count: number) {
  return { until: `2026-11-27T21:${count}:00.000+00:00`, milliseconds: count * 60_000 };
}

test('a time that was said before the backup is over and explains nothing: it may have been made longer; one that was said after it does', async ({
  application,
}) => {
  const before = await application.start();
  await commit(application, 'c2', disable(one('192.0.2.17'), false, minutes(10)));
  await before.settle();
  await before.stop();
  lose(application, LIST, '192.0.2.7/32\n192.0.2.17/32\n192.0.2.77/32\n');
  await restored(application);
  const processes = await application.start();
  await commit(application, 'c3', disable(one('192.0.2.19'), false, minutes(11)));
  await processes.settle();
  assert.equal(lists(application), [held(7, 17, 19, 77), held(7, 17, 19)]);
  await processes.pass(20 * 60);
  assert.equal(lists(application), [held(7, 17, 77), held(7, 17)]);
  await commit(application, 'c4', enable(one('192.0.2.17')));
  await processes.settle();
  assert.equal(lists(application), [held(7, 77), held(7)], 'its customer can still enable it');
});

test('an address that is disabled once more stays all the time, and is explained from then on', async ({
  application,
}) => {
  await restored(application);
  const processes = await application.start();
  await application.ask(disable(one('192.0.2.77')));
  await processes.pass(120);
  assert.equal(lists(application)[0], held(7, 77), 'before its commit');
  await commit(application, 'c2');
  await processes.settle();
  assert.equal(lists(application), [held(7, 77), held(7, 77)]);
  await accept(application);
  await processes.pass(120);
  assert.equal(lists(application), [held(7, 77), held(7, 77)]);
});

test('a router that was disabled is brought up to date and keeps it too', async ({ application }) => {
  await restored(application);
  const processes = await application.start();
  await askRegion(application, { type: 'DisableRouter', data: { router: 'core1' } });
  await commit(application, 'c2', disable(one('192.0.2.1')));
  await processes.settle();
  await askRegion(application, { type: 'EnableRouter', data: { router: 'core1' } });
  await processes.settle();
  assert.equal(lists(application), [held(1, 7, 77), held(1, 7)]);
  assert.ok((await application.history('region-1')).includes('RouterCaughtUp'));
});

test('nothing is pruned, and the check says why; after it was accepted it can be', async ({ application }) => {
  await restored(application);
  const processes = await application.start();
  const prune = async (checkId: string) => {
    await askRegion(application, { type: 'RequestRouterCheck', data: { router: 'core1', checkId, prune: true } });
    await processes.settle();
    return Object((await application.log.events('region-1')).findLast(({ type }) => type === 'RouterChecked')?.data);
  };
  const { unowned, removed, problems } = await prune('k1');
  assert.equal([unowned, removed], [[UNKNOWN], []]);
  assert.match(problems[0], 'edgeward restore accept');
  assert.equal(application.held('core1')[UNKNOWN], ['198.51.100.1/32']);
  await accept(application);
  assert.equal((await prune('k2')).removed, [UNKNOWN]);
});

test('accepted, the next look takes away what is not wanted', async ({ application }) => {
  await restored(application);
  const processes = await application.start();
  await processes.pass(120);
  await accept(application);
  await processes.pass(120);
  assert.equal(lists(application), [held(7), held(7)]);
});

for (const [what, text] of [
  ['an entry that is no plain block', '192.0.2.7/32\n192.0.2.8/32 le 32\n'],
  ['something else in its place', '<html>\n'],
] as const) {
  test(`a list with ${what} is left as it is, and the commit fails and says why`, async ({ application }) => {
    await restored(application);
    lose(application, LIST, text, 'core2');
    const processes = await application.start();
    await commit(application, 'c2', disable(one('192.0.2.1')));
    await processes.settle();
    assert.is((await application.history()).at(-1), 'CommitFailed');
    const [, { result, untouched, because }] = (await outcomes(application)).map((outcome) => Object(outcome));
    assert.equal([result, untouched], ['failed', true]);
    assert.match(because, 'edgeward restore accept');
    assert.equal(lists(application)[0], held(1, 7, 77), 'the other router has it');
    await accept(application);
    await processes.pass(120);
    assert.equal(lists(application), [held(1, 7), held(1, 7)]);
  });
}

test('all routers or none: each keeps its own', async ({ application }) => {
  await askRegion(application, { type: 'ChooseDeployPolicy', data: { deployPolicy: 'all-or-nothing' } });
  await restored(application);
  const processes = await application.start();
  await commit(application, 'c2', disable(one('192.0.2.1')));
  await processes.settle();
  assert.equal(lists(application), [held(1, 7, 77), held(1, 7)]);
  const [{ kept, together }] = (await outcomes(application)).map((outcome) => Object(outcome));
  assert.equal([kept, together], [1, 'compensated']);
  await commit(application, 'c3', enable(one('192.0.2.1')));
  await processes.settle();
  assert.equal(lists(application), [held(7, 77), held(7)]);
});

test('a customer who is made after the restore, and has the name of one who is lost, keeps the list of that one', async ({
  application,
}) => {
  await restored(application);
  const later = { customerId: 8, name: 'later', listName: 'LATER', settings: SETTINGS };
  await application.log.append('directory-main', { type: 'CustomerNameReserved', data: later });
  await application.log.append('customer-8', { type: 'CustomerRegistered', data: later });
  const processes = await application.start();
  await processes.pass(120);
  assert.equal(application.held('core1')[UNKNOWN], ['198.51.100.1/32']);
});

test.run();
