// Slices where a region has two FRR 8.4: of an all-or-nothing region both take each slice, and a router that was away catches up in slices.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TestCustomer } from '../support/servers/edgeward-server.ts';
import {
  failures,
  heldBy,
  live,
  newestCommit,
  post,
  scattered,
  secondsUntil,
  type SlicesLab,
  WHOLE_SECONDS_MAX,
} from '../support/routers/slices-lab.ts';
import { waitUntil } from '../support/wait-until.ts';

/** What all routers prepare, take and confirm together needs several turns of each router's shell. */
const REGION = { routers: 2, deploySeconds: 5 };
const ONE = { routers: 1, deploySeconds: 5 };
/** More than FRR takes in that time, on a fast machine as well: it needs the square of it. */
const MANY = 1_000;

const sizes = ({ routers }: SlicesLab): Promise<readonly number[]> =>
  Promise.all(routers.map(async (router) => (await heldBy(router)).size));

/** How long it takes until every router holds the address, or holds it no longer. */
async function secondsToAll({ routers }: SlicesLab, ip: string, isHeld: boolean): Promise<number> {
  const everywhere = async (): Promise<boolean> =>
    (await Promise.all(routers.map(async (router) => (await heldBy(router)).has(`${ip}/32`) === isHeld))).every(
      Boolean,
    );
  return secondsUntil(`${ip} is ${isHeld ? 'on' : 'off'} every router`, everywhere, 240);
}

async function smallChangesArrive(lab: SlicesLab, url: string, customer: TestCustomer): Promise<void> {
  await post(url, customer, '/ips/disable', { ip: '203.0.113.66' });
  const seconds = await secondsToAll(lab, '203.0.113.66', true);
  const before = await sizes(lab);
  console.log(`the one address was there after ${seconds.toFixed(1)} s, with ${before.join(' and ')} blocks`);
  assert.ok(Math.min(...before) < MANY, 'before the rest');
}

live(
  'both routers of an all-or-nothing region take slice after slice, and a small change before the rest',
  REGION,
  async (lab) => {
    const { edgeward, customer } = lab;
    await edgeward.json('region', 'update', 'eu-west', '--deploy-policy', 'all-or-nothing');
    const url = await edgeward.serve();
    await post(url, customer, '/ips/bulk', { action: 'disable', ips: scattered(0, MANY) });
    await waitUntil('some of it is there', async () => Math.min(...(await sizes(lab))) > 20, 240);
    assert.ok(Math.max(...(await sizes(lab))) < MANY);
    await smallChangesArrive(lab, url, customer);
    await waitUntil('all of it is there', async () => Math.min(...(await sizes(lab))) === MANY + 1, WHOLE_SECONDS_MAX);
    await waitUntil('the commit is complete', async () => (await newestCommit(lab))?.status === 'success', 120);
    assert.equal(await failures(lab), [], 'a slice is no failure');
  },
);

live('a router that was passed over catches up in slices, with what has changed meanwhile', ONE, async (lab) => {
  const { edgeward, customer, routers } = lab;
  const pulled = join(edgeward.folder, 'pulled');
  await mkdir(pulled);
  await edgeward.json('router', 'add', 'eu-west', 'pull', '--driver', 'file', '--option', `path=${pulled}`);
  const url = await edgeward.serve();
  await edgeward.json('router', 'disable', 'eu-west', 'core1');
  await post(url, customer, '/ips/bulk', { action: 'disable', ips: scattered(0, MANY) });
  const complete = async (): Promise<boolean> => (await newestCommit(lab))?.status === 'success';
  await waitUntil('the commit is complete without it', complete, WHOLE_SECONDS_MAX);
  assert.equal(await sizes(lab), [0]);
  // It waits for the router, and may say that it is still being brought up to date.
  const enabling = edgeward.command('router', 'enable', 'eu-west', 'core1');
  await waitUntil('some of it is there', async () => Math.max(...(await sizes(lab))) > 20, 240);
  assert.ok(Math.max(...(await sizes(lab))) < MANY);
  await post(url, customer, '/ips/disable', { ip: '203.0.113.66' });
  const wanted = new Set([...scattered(0, MANY).map((ip) => `${ip}/32`), '203.0.113.66/32']);
  for (const router of routers) {
    const isExact = async (): Promise<boolean> => {
      const there = await heldBy(router);
      return there.size === wanted.size && [...wanted].every((prefix) => there.has(prefix));
    };
    await waitUntil('the router holds exactly what is disabled', isExact, WHOLE_SECONDS_MAX);
  }
  await enabling;
});

test.run();
