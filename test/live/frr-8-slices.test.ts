// A list that FRR 8.4 can't load in one push comes to it in slices: what is changed meanwhile does not wait for the rest.
import { createServer } from 'node:http';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { addCustomer, type Edgeward, openEdgeward, type TestCustomer } from '../support/servers/edgeward-server.ts';
import { FRR_OF_THIS_MACHINE, type LabRouter, missingForFrr, startFrr } from '../support/routers/frr.ts';
import { randomFrom } from '../support/random.ts';
import { waitUntil } from '../support/wait-until.ts';

const missing = missingForFrr();
const LIST = 'Svc-ACME-BLACKHOLE';
const DEPLOY_SECONDS = 3;
const QUIET_SECONDS = 1;
/** The rest of the slice under way, the router's own work with the next one, and a machine that does other things too. */
const ARRIVES_SECONDS_MAX = QUIET_SECONDS + DEPLOY_SECONDS + 5;
const WHOLE_SECONDS_MAX = 240;
/** More than the router takes in one slice, on a fast machine as well. */
const MANY = 700;
const SETTINGS = {
  QUIET_PERIOD: `PT${QUIET_SECONDS}S`,
  SCHEDULER_INTERVAL: 'PT0.2S',
  DEPLOY_TIMEOUT: `PT${DEPLOY_SECONDS}S`,
  COMMIT_RETRY_DELAYS: 'PT1S',
  LOG_LEVEL: 'info',
};

type Lab = Readonly<{ edgeward: Edgeward; router: LabRouter; customer: TestCustomer }>;

function live(name: string, scenario: (lab: Lab) => Promise<void>): void {
  if (missing !== undefined) {
    console.log(`skipped: ${name}, as this machine has no ${missing}`);
    return test.skip(name);
  }
  test(name, async () => {
    const router = await startFrr(FRR_OF_THIS_MACHINE);
    const edgeward = await openEdgeward(SETTINGS);
    try {
      await edgeward.json('region', 'create', 'eu-west');
      const options = Object.entries({ transport: 'local', write_memory: 'false', ...router.options });
      const words = options.flatMap(([option, value]) => ['--option', `${option}=${value}`]);
      await edgeward.json('router', 'add', 'eu-west', 'core1', '--driver', 'frr', ...words);
      const customer = await addCustomer(edgeward, 'Acme', [
        ['198.18.0.0/15', 'eu-west'],
        ['203.0.113.0/24', 'eu-west'],
      ]);
      await scenario({ edgeward, router, customer });
    } finally {
      await edgeward.remove();
      await router.stop();
    }
  });
}

async function post(url: string, { token }: TestCustomer, path: string, body: object): Promise<void> {
  const response = await fetch(`${url}/api/v1${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  assert.is(response.status, 200, await response.text());
}

const LISTS = z.record(
  z.string(),
  z.record(z.string(), z.object({ entries: z.array(z.object({ prefix: z.string() })) })),
);

/** The blocks that bgpd holds. */
async function held({ router }: Lab): Promise<ReadonlySet<string>> {
  const text = (await router.vtysh('-d', 'bgpd', '-c', `show ip prefix-list ${LIST} json`)).trim();
  if (text === '') return new Set();
  const [lists = {}] = Object.values(LISTS.parse(JSON.parse(text)));
  return new Set(lists[LIST]?.entries.map(({ prefix }) => prefix));
}

/** 198.18.0.0, .2, .4 and so on: no two of them share a block. */
function scattered(from: number, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => (from + at) * 2).map(
    (offset) => `198.${18 + Math.floor(offset / 65_536)}.${Math.floor(offset / 256) % 256}.${offset % 256}`,
  );
}

const commits = z.array(
  z.object({
    status: z.string(),
    attempt: z.number(),
    prefixes_done: z.number().optional(),
    prefixes_total: z.number().optional(),
  }),
);

async function newestCommit({ edgeward }: Lab) {
  const [newest] = commits.parse(await edgeward.json('commit', 'list'));
  return newest;
}

async function secondsUntil(what: string, condition: () => Promise<boolean>, seconds: number): Promise<number> {
  const began = performance.now();
  await waitUntil(what, condition, seconds);
  return (performance.now() - began) / 1000;
}

live('one address is on the router within its quiet period and one slice, however many came before it', async (lab) => {
  const { edgeward, customer } = lab;
  const url = await edgeward.serve();
  await post(url, customer, '/ips/bulk', { action: 'disable', ips: scattered(0, MANY) });
  await waitUntil('some of it is there', async () => (await held(lab)).size > 40, 60);
  assert.ok((await held(lab)).size < MANY);
  const { status, prefixes_done: done, prefixes_total: total } = (await newestCommit(lab)) ?? {};
  assert.equal({ status, total }, { status: 'deploying', total: MANY });
  assert.ok(done !== undefined && done < MANY);
  await post(url, customer, '/ips/disable', { ip: '203.0.113.66' });
  const there = async (): Promise<boolean> => (await held(lab)).has('203.0.113.66/32');
  const seconds = await secondsUntil('the one address is there', there, 60);
  const before = (await held(lab)).size;
  console.log(`the one address was there after ${seconds.toFixed(1)} s, with ${before} others`);
  assert.ok(seconds <= ARRIVES_SECONDS_MAX, `${seconds} s`);
  assert.ok(before < MANY, 'before the rest');
  await post(url, customer, '/ips/enable', { ip: scattered(0, 1)[0] });
  const gone = async (): Promise<boolean> => !(await held(lab)).has('198.18.0.0/32');
  assert.ok((await secondsUntil('what was enabled is gone', gone, 60)) <= ARRIVES_SECONDS_MAX);
  await waitUntil('all of it is there', async () => (await held(lab)).size === MANY, WHOLE_SECONDS_MAX);
  await waitUntil('the commit is complete', async () => (await newestCommit(lab))?.status === 'success', 30);
  const types = (await edgeward.events()).map(({ type }) => type);
  assert.is(types.filter((type) => type === 'CommitCompleted').length, 1);
  assert.not.ok(types.includes('CommitFailed'), 'a slice is no failure');
});

/** A receiver of webhooks that takes all, and what it was told. */
async function openReceiver() {
  const told: string[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => (text += part));
    request.on('end', () => {
      told.push(z.object({ status: z.string() }).parse(JSON.parse(text)).status);
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the receiver listens on no port');
  return {
    url: `http://127.0.0.1:${address.port}/`,
    told,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

live('a server that is killed between two slices goes on where the router is, and tells the end once', async (lab) => {
  const { edgeward, customer } = lab;
  const receiver = await openReceiver();
  try {
    await edgeward.json('customer', 'update', customer.name, '--webhook-url', receiver.url);
    const killed = await edgeward.spawn(['serve']);
    await post(await killed.listening(), customer, '/ips/bulk', { action: 'disable', ips: scattered(0, MANY) });
    await waitUntil('some of it is there', async () => (await held(lab)).size > 40, 60);
    killed.child.kill('SIGKILL');
    assert.is(await killed.ended, 'SIGKILL');
    const before = (await held(lab)).size;
    console.log(`killed with ${before} of ${MANY} on the router`);
    assert.ok(before < MANY, `${before}`);
    const next = await edgeward.spawn(['serve']);
    await next.listening();
    await waitUntil('all of it is there', async () => (await held(lab)).size === MANY, WHOLE_SECONDS_MAX);
    await waitUntil('the commit is complete', async () => (await newestCommit(lab))?.status === 'success', 30);
    await waitUntil('its end is told', async () => receiver.told.length > 0, 30);
    const types = (await edgeward.events()).map(({ type }) => type);
    assert.is(types.filter((type) => type === 'CommitCompleted').length, 1);
    assert.equal(receiver.told, ['success']);
  } finally {
    await receiver.close();
  }
});

const MIX_SECONDS = 75;
const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1_000_000));

live(`huge and small changes as they come: each small one is there within its time (seed ${SEED})`, async (lab) => {
  const { edgeward, customer } = lab;
  const random = randomFrom(SEED);
  const below = (most: number): number => Math.floor(random() * most);
  const url = await edgeward.serve();
  const wanted = new Set<string>();
  const change = async (path: string, body: object, action: 'enable' | 'disable', ips: readonly string[]) => {
    await post(url, customer, path, body);
    for (const ip of ips) wanted[action === 'disable' ? 'add' : 'delete'](`${ip}/32`);
  };
  const arrivals: number[] = [];
  const until = performance.now() + MIX_SECONDS * 1000;
  while (performance.now() < until) {
    if (random() < 0.4) {
      const action = random() < 0.7 ? 'disable' : 'enable';
      const ips = scattered(below(200), 50 + below(100));
      await change('/ips/bulk', { action, ips }, action, ips);
      await new Promise((resolve) => void setTimeout(resolve, below(1500)));
    }
    // No two of these share a block.
    const ip = `203.0.113.${below(128) * 2}`;
    const action = wanted.has(`${ip}/32`) ? 'enable' : 'disable';
    await change(`/ips/${action}`, { ip }, action, [ip]);
    const isThere = async (): Promise<boolean> => (await held(lab)).has(`${ip}/32`) === (action === 'disable');
    arrivals.push(await secondsUntil(`${action} ${ip} is on the router`, isThere, 60));
  }
  const slowest = Math.max(...arrivals);
  console.log(`${arrivals.length} small changes, the slowest after ${slowest.toFixed(1)} s`);
  assert.ok(slowest <= ARRIVES_SECONDS_MAX, `${slowest} s`);
  const isAllThere = async (): Promise<boolean> => {
    const there = await held(lab);
    return there.size === wanted.size && [...wanted].every((prefix) => there.has(prefix));
  };
  await waitUntil('the router holds exactly what is disabled', isAllThere, WHOLE_SECONDS_MAX);
  assert.not.ok(
    (await edgeward.events()).some(({ type }) => type === 'CommitFailed'),
    'a slice is no failure',
  );
});

test.run();
