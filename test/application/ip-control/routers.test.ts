import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { RouterChecks } from '../../../src/application/application.ts';
import { everyDifference, listDifference } from '../../../src/application/ip-control/commit-difference.ts';
import { createCustomer } from '../../../src/application/ip-control/customers.ts';
import { createRegion } from '../../../src/application/ip-control/regions.ts';
import { acceptRestore, beginRestore, restoreStatus } from '../../../src/application/ip-control/restore.ts';
import {
  checkRouters,
  chooseRouterRepair,
  disableRouter,
  enableRouter,
  pruneRouter,
} from '../../../src/application/ip-control/router-maintenance.ts';
import { addRouter, listRouters, removeRouter, testRouter } from '../../../src/application/ip-control/routers.ts';
import { addSubnet } from '../../../src/application/ip-control/subnets.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { type RouterDriver, RouterFailure, type RouterSettings } from '../../../src/ports/routers.ts';
import { disable, one } from '../../commands/ip-control/customer-examples.ts';
import { openTestApplication } from '../../support/test-application.ts';

const context = { actor: 'admin:ada', requestId: 'request-1' };
const CHECKED = { lists: 2, underWay: 0, drifted: [], repaired: [], unowned: [], removed: [], problems: [] };

function never(): never {
  throw new Error('looking changes nothing');
}

/** Routers by name with the lists that they hold; one that is `away` can't be reached. */
function openRouters() {
  const lists = new Map<string, ReadonlyMap<string, readonly string[]>>();
  const away = new Set<string>();
  const reach = (name: string): ReadonlyMap<string, readonly string[]> => {
    if (away.has(name)) throw new RouterFailure('unreachable', 'no way there.');
    return lists.get(name) ?? new Map();
  };
  const open = ({ name, driver, options: { path } }: RouterSettings): RouterDriver => {
    if (driver !== 'file') throw new RouterFailure('bad-option', `router ${name}: driver ${driver} is unknown`);
    return {
      read: async (list) => reach(name).get(list) ?? 'absent',
      lists: async () => [...reach(name).keys()],
      check: async () => void reach(name),
      replace: never,
      remove: never,
      close: async () => undefined,
      ...(path === undefined ? {} : { folder: path }),
    };
  };
  return { lists, away, open };
}

async function openApplication() {
  const opened = await openTestApplication();
  const routers = openRouters();
  const folders: string[] = [];
  const checks: unknown[] = [];
  let answers: Partial<RouterChecks> = {};
  const routerChecks: RouterChecks = {
    check: async (...asked) => {
      checks.push(asked);
      return answers.check === undefined ? asked[0].map(() => CHECKED) : answers.check(...asked);
    },
    enable: async (...asked) => answers.enable?.(...asked),
  };
  const makeFolder = async (path: string) => folders.push(path);
  const application = { ...opened, openRouter: routers.open, makeFolder, routerChecks };
  for (const name of ['eu-west', 'us-east']) await createRegion({ name }, context, application);
  const add = (region: string, router: string, repair = true) =>
    addRouter({ region, router, driver: 'file', options: { path: `/${router}` }, repair }, context, application);
  return { application, routers, folders, checks, add, answer: (given: typeof answers) => void (answers = given) };
}

const test = suite<{ at: Awaited<ReturnType<typeof openApplication>> }>('use cases of routers');

test.before.each(async (world) => {
  world.at = await openApplication();
});
test.after.each(({ at }) => at.application.close());

function refused(answer: object): string {
  assert.ok(isRefusal(answer), JSON.stringify(answer));
  return answer.refused;
}

test('a router is added once its driver takes its options, and its folder is there first', async ({ at }) => {
  const { application, folders, add } = at;
  assert.equal(await add('1', 'edge1', false), { region: 'eu-west', router: 'edge1' });
  assert.equal(folders, ['/edge1']);
  const strange = { region: 'eu-west', router: 'edge2', driver: 'carrier-pigeon', options: {}, repair: true };
  assert.is(refused(await addRouter(strange, context, application)), 'bad-option');
  assert.equal(await listRouters('eu-west', application), [
    {
      region: 'eu-west',
      router: 'edge1',
      driver: 'file',
      options: { path: '/edge1' },
      phase: 'enabled',
      repair: false,
      unowned: [],
      drifted: [],
    },
  ]);
  assert.equal(await listRouters('us-east', application), []);
});

test('a router goes by its name alone until two regions have one of that name', async ({ at }) => {
  const { application, add } = at;
  await add('eu-west', 'edge1');
  assert.equal(await testRouter({ router: 'edge1' }, application), { region: 'eu-west', router: 'edge1' });
  await add('us-east', 'edge1');
  assert.is(refused(await testRouter({ router: 'edge1' }, application)), 'ambiguous-router');
  const removed = await removeRouter({ region: 'us-east', router: 'edge1' }, context, application);
  assert.equal(removed, { region: 'us-east', router: 'edge1' });
  assert.is(refused(await removeRouter({ router: 'edge2' }, context, application)), 'not-found');
});

test('a router that can not be reached is told with the reason', async ({ at }) => {
  const { application, routers, add } = at;
  await add('eu-west', 'edge1');
  routers.away.add('edge1');
  assert.equal(await testRouter({ router: 'edge1' }, application), {
    region: 'eu-west',
    router: 'edge1',
    problem: { code: 'unreachable', because: 'no way there.' },
  });
});

test('a disabled router is enabled when it is up to date, or goes on catching up', async ({ at }) => {
  const { application, add, answer } = at;
  await add('eu-west', 'edge1');
  const [name, named] = [{ router: 'edge1' }, { region: 'eu-west', router: 'edge1' }];
  assert.equal(await enableRouter(name, context, application), { ...named, phase: 'enabled' });
  assert.equal(await disableRouter(name, context, application), named);
  assert.equal(await enableRouter(name, context, application), { ...named, phase: 'catching-up' });
  answer({ enable: async () => ({ lists: 3, changed: 1 }) });
  const caughtUp = { lists: 3, changed: 1 };
  assert.equal(await enableRouter(name, context, application), { ...named, phase: 'enabled', caughtUp });
  assert.equal(await chooseRouterRepair({ ...name, repair: false }, context, application), named);
});

test('all routers but the disabled ones are checked, and a check that takes too long is told', async ({ at }) => {
  const { application, checks, add, answer } = at;
  for (const router of ['edge1', 'edge2']) await add('eu-west', router);
  await disableRouter({ router: 'edge2' }, context, application);
  const edge1 = { region: 'eu-west', router: 'edge1' };
  assert.equal(await checkRouters('all', context, application), [{ ...edge1, ...CHECKED }]);
  assert.equal(checks, [[[{ regionId: 1, ...edge1 }], false, context]]);
  assert.equal(await pruneRouter({ router: 'edge1' }, context, application), { ...edge1, ...CHECKED });
  answer({ check: async () => [undefined] });
  assert.is(refused(await checkRouters({ router: 'edge1' }, context, application)), 'in-progress');
});

test('a difference is what a commit would change on each router, from what it holds', async ({ at }) => {
  const { application, routers, add } = at;
  for (const router of ['edge1', 'edge2', 'edge3']) await add('eu-west', router);
  await disableRouter({ router: 'edge3' }, context, application);
  await createCustomer({ name: 'acme', settings: {} }, context, application);
  const subnet = { customer: 'acme', region: 'eu-west', cidr: '192.0.2.0/24', asn: 64500, metro: 'AMS' };
  await addSubnet(subnet, context, application);
  assert.equal(await everyDifference({ lists: ['BLACKHOLE'], which: 'due' }, application), []);
  await application.customers.handle(1, disable(one('192.0.2.7')), context);
  routers.lists.set('edge1', new Map([['Svc-ACME-BLACKHOLE', ['198.51.100.1/32']]]));
  routers.away.add('edge2');
  const of = { customer: 'acme', region: 'eu-west', list: 'BLACKHOLE' } as const;
  const difference = {
    customer: 'acme',
    region: 'eu-west',
    list: 'Svc-ACME-BLACKHOLE',
    prefixes: 1,
    routers: [
      { router: 'edge1', added: ['192.0.2.7/32'], removed: ['198.51.100.1/32'] },
      { router: 'edge2', added: [], removed: [], problem: 'unreachable: no way there.' },
      { router: 'edge3', added: [], removed: [], disabled: true },
    ],
  };
  assert.equal(await listDifference(of, application), difference);
  assert.equal(await everyDifference({ lists: ['BLACKHOLE'], which: 'due' }, application), [difference]);
  assert.is(refused(await listDifference({ ...of, region: 'nowhere' }, application)), 'not-found');
});

test('a restored log shows what routers hold beyond it, until that is accepted region by region', async ({ at }) => {
  const { application, routers, add } = at;
  await add('eu-west', 'edge1');
  await createCustomer({ name: 'acme', settings: {} }, context, application);
  routers.lists.set('edge1', new Map([['Svc-ACME-BLACKHOLE', ['192.0.2.7/32']]]));
  assert.equal(await restoreStatus(application), { restored: false });
  await beginRestore('operator', context, application);
  const beyond = { list: 'Svc-ACME-BLACKHOLE', customer: 'acme', prefixes: ['192.0.2.7/32'] };
  assert.equal(await restoreStatus(application), {
    restored: true,
    because: 'operator',
    since: '2026-11-27T20:50:00.123+00:00',
    by: 'admin:ada',
    regions: [
      { region: 'eu-west', restored: true, routers: [{ router: 'edge1', lists: [beyond] }] },
      { region: 'us-east', restored: true, routers: [] },
    ],
  });
  const first = await acceptRestore('eu-west', context, application);
  assert.equal(first, { isNew: true, restored: true, accepted: ['eu-west'], left: ['us-east'] });
  const rest = await acceptRestore(undefined, context, application);
  assert.equal(rest, { isNew: true, restored: false, accepted: ['us-east'], left: [] });
  const again = await acceptRestore(undefined, context, application);
  assert.equal(again, { isNew: false, restored: false, accepted: [], left: [] });
});

test.run();
