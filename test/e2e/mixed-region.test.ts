// Customers change addresses at random in a region that has a router of every kind, while routers are killed, restarted with an
// old saved configuration, edited by hand and disabled, and the server is killed; in the end every list on every router is what a
// naive model says.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { never } from '../contracts/router-driver.ts';
import { openApiClient } from '../support/http/api-client.ts';
import {
  addCustomer,
  type Edgeward,
  type EdgewardProcess,
  openEdgeward,
  type TestCustomer,
} from '../support/servers/edgeward-server.ts';
import { missingForMixedRegion, type MixedRouter, startMixedRegion } from '../support/routers/mixed-region.ts';
import { randomFrom } from '../support/random.ts';
import { waitUntil } from '../support/wait-until.ts';

const SEED = Number(process.env['E2E_SEED'] ?? Date.now() % 1_000_000);
const ROUNDS = Number(process.env['E2E_ROUNDS'] ?? 4);
const CHANGES = 6;
const HOSTS = 16;
const SETTLED_SECONDS = 60;

const SETTINGS = {
  QUIET_PERIOD: 'PT0.3S',
  SCHEDULER_INTERVAL: 'PT0.1S',
  COMMIT_RETRY_DELAYS: 'PT0.5S,PT1S',
  DRIFT_INTERVAL: 'PT1.5S',
  DEPLOY_TIMEOUT: 'PT20S',
};

/** A customer, its addresses, and which of them it has disabled. */
type Actor = Readonly<{ customer: TestCustomer; list: string; addresses: readonly string[]; disabled: Set<string> }>;

type Random = () => number;

const missing = missingForMixedRegion();

if (missing === undefined) {
  test(`a region of all kinds of routers (seed ${SEED})`, async () => {
    const random = randomFrom(SEED);
    const edgeward = await openEdgeward(SETTINGS);
    const routers = await startMixedRegion(edgeward.folder);
    let server: EdgewardProcess | undefined;
    try {
      await edgeward.json('region', 'create', 'mixed');
      for (const router of routers) await addRouter(edgeward, router);
      const actors = [await actorOf(edgeward, 1), await actorOf(edgeward, 2)];
      for (let round = 0; round < ROUNDS; round += 1) {
        const policy = round % 2 === 0 ? 'each' : 'all-or-nothing';
        await edgeward.json('region', 'update', 'mixed', '--deploy-policy', policy);
        server = await edgeward.spawn(['serve'], { LOG_LEVEL: 'info' });
        const base = await server.listening();
        await allOver([
          ...actors.map((actor) => changeAtRandom(actor, base, random)),
          ...routers.map((router) => happenTo(router, edgeward, actors, random)),
        ]);
        if (round + 1 < ROUNDS) await killed(server);
      }
      await settle(routers, actors, edgeward);
      assert.ok(server !== undefined);
      server.child.kill('SIGTERM');
      assert.is(await server.ended, 0);
    } finally {
      if (server !== undefined) await killed(server);
      await allOver(routers.map((router) => router.stop()));
      await edgeward.remove();
    }
  });
} else {
  console.log(`skipped: a region of all kinds of routers, as this machine has no ${missing}`);
  test.skip('a region of all kinds of routers');
}

async function addRouter(edgeward: Edgeward, { name, driver, options }: MixedRouter): Promise<void> {
  const given = Object.entries(options).flatMap(([key, value]) => ['--option', `${key}=${value}`]);
  await edgeward.json('router', 'add', 'mixed', name, '--driver', driver, ...given);
  await edgeward.json('router', 'test', name);
}

async function actorOf(edgeward: Edgeward, number: number): Promise<Actor> {
  const subnets = [
    [`192.0.2.${number * HOSTS}/28`, 'mixed'],
    [`2001:db8:${number}::/124`, 'mixed'],
  ] as const;
  const customer = await addCustomer(edgeward, `actor ${number}`, subnets);
  const hosts = Array.from({ length: HOSTS }, (_, host) => host);
  const addresses = [
    ...hosts.map((host) => `192.0.2.${number * HOSTS + host}`),
    ...hosts.map((host) => `2001:db8:${number}::${host === 0 ? '' : host.toString(16)}`),
  ];
  return { customer, list: `Svc-ACTOR-${number}-BLACKHOLE`, addresses, disabled: new Set() };
}

async function changeAtRandom({ customer, addresses, disabled }: Actor, base: string, random: Random): Promise<void> {
  const api = openApiClient(base, customer.token);
  for (let change = 0; change < CHANGES; change += 1) {
    const action = random() < 0.65 ? 'disable' : 'enable';
    const ips = addresses.filter(() => random() < 0.2);
    if (ips.length === 0) continue;
    const { status, text } = await api.post('/ips/bulk', { action, ips });
    assert.is(status, 200, text);
    for (const address of ips) {
      if (action === 'disable') disabled.add(address);
      else disabled.delete(address);
    }
    await pause(random() * 700);
  }
  await api.close();
}

/** What happens to routers: mostly one thing in a round. */
async function happenTo(
  router: MixedRouter,
  edgeward: Edgeward,
  actors: readonly Actor[],
  random: Random,
): Promise<void> {
  await pause(random() * 1500);
  const lists = [...actors.map(({ list }) => list), 'Svc-STRAY'];
  const list = lists[Math.floor(random() * lists.length)] ?? 'Svc-STRAY';
  const chance = random();
  if (chance < 0.3) {
    await router.kill();
    await pause(random() * 1500);
    await router.start();
  } else if (chance < 0.5) {
    await router.backUp();
    await pause(random() * 1500);
    await router.restore();
  } else if (chance < 0.8) {
    // edgeward may hold the router at this moment; so would an operator try again.
    await waitUntil(`${router.name} is edited by hand`, () => router.editByHand(list).then(() => true, noted));
  } else if (chance < 0.9) {
    await edgeward.json('router', 'disable', router.name);
    await pause(random() * 1500);
    await edgeward.command('router', 'enable', router.name);
  }
}

/** Waits for all of them, also when one has failed: what goes on would meet what is removed after it. */
async function allOver(works: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(works);
  await Promise.all(works);
}

function noted(): false {
  return false;
}

async function killed({ child, ended }: EdgewardProcess): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}

/** Waits until every router holds what the model says, list by list, and nobody has anything to say against it. */
async function settle(routers: readonly MixedRouter[], actors: readonly Actor[], edgeward: Edgeward): Promise<void> {
  await Promise.all(
    routers.map(async (router) => {
      const driver = router.open();
      try {
        for (const actor of actors) {
          await waitUntil(
            `${actor.list} on ${router.name} is what the model says`,
            () => driver.read(actor.list, never).then((held) => isModel(held, actor), noted),
            SETTLED_SECONDS,
          );
        }
      } finally {
        await driver.close();
      }
    }),
  );
  const commits = z.array(z.object({ customer: z.string(), status: z.string() }));
  await waitUntil('no commit is left', async () => {
    const newest = new Map<string, string>();
    for (const { customer, status } of commits.parse(await edgeward.json('commit', 'list')).toReversed())
      newest.set(customer, status);
    return [...newest.values()].every((status) => status === 'success');
  });
  await waitUntil('every router counts', async () => {
    const rows = z.array(z.object({ state: z.string() })).parse(await edgeward.json('router', 'list'));
    return rows.every(({ state }) => state === 'enabled');
  });
  const due = z.object({ lists_count: z.number() }).parse(await edgeward.json('commit', 'diff', '--due'));
  assert.is(due.lists_count, 0);
  const all = z.object({ added_count: z.number(), removed_count: z.number() });
  assert.equal(all.parse(await edgeward.json('commit', 'diff', '--all')), { added_count: 0, removed_count: 0 });
  await edgeward.json('router', 'check', '--all');
  for (const { name } of routers) await edgeward.json('router', 'prune', name);
  const checks = z.object({
    routers: z.array(z.object({ drifted: z.array(z.string()), unowned: z.array(z.string()) })),
  });
  for (const check of checks.parse(await edgeward.json('router', 'check', '--all')).routers)
    assert.equal(check, { drifted: [], unowned: [] });
  const verified = z.object({ problems: z.array(z.string()) }).parse(await edgeward.json('verify'));
  assert.equal(verified.problems, []);
}

/** Spells the list out address by address: the model knows nothing of aggregation. */
function isModel(held: readonly string[] | 'absent', { addresses, disabled }: Actor): boolean {
  const blocks = held === 'absent' ? [] : held;
  const spelt = addresses.filter((address) => blocks.some((block) => covers(block, address)));
  const size = blocks.reduce((sum, block) => sum + 2 ** ((block.includes(':') ? 128 : 32) - lengthOf(block)), 0);
  return size === disabled.size && spelt.length === size && spelt.every((address) => disabled.has(address));
}

/** All addresses of one actor and version differ in their last number only. */
function covers(block: string, address: string): boolean {
  const [network = ''] = block.split('/');
  if (network.includes(':') !== address.includes(':')) return false;
  const size = 2 ** ((network.includes(':') ? 128 : 32) - lengthOf(block));
  const [first, host] = [lastNumber(network), lastNumber(address)];
  return frontOf(network) === frontOf(address) && host >= first && host < first + size;
}

function lengthOf(block: string): number {
  return Number(block.split('/')[1]);
}

function frontOf(address: string): string {
  return address.slice(0, Math.max(address.lastIndexOf(':'), address.lastIndexOf('.')));
}

function lastNumber(address: string): number {
  const text = address.slice(frontOf(address).length + 1);
  return address.includes(':') ? Number.parseInt(text || '0', 16) : Number(text);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

test.run();
