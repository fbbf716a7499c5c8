// A list that FRR 8.4 can't load in one push comes to it in slices: what is changed meanwhile does not wait for the rest.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { addCustomer, type Edgeward, openEdgeward, type TestCustomer } from '../support/servers/edgeward-server.ts';
import { FRR_OF_THIS_MACHINE, type LabRouter, missingForFrr, startFrr } from '../support/routers/frr.ts';
import { waitUntil } from '../support/wait-until.ts';

const missing = missingForFrr();
const LIST = 'Svc-ACME-BLACKHOLE';
const DEPLOY_SECONDS = 3;
const QUIET_SECONDS = 1;
/** The rest of the slice under way, the router's own work with the next one, and a machine that does other things too. */
const ARRIVES_SECONDS_MAX = QUIET_SECONDS + DEPLOY_SECONDS + 5;
const WHOLE_SECONDS_MAX = 240;
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
  await waitUntil(what, condition, seconds * 1000);
  return (performance.now() - began) / 1000;
}

live('one address is on the router within its quiet period and one slice, however many came before it', async (lab) => {
  const { edgeward, customer } = lab;
  const url = await edgeward.serve();
  await post(url, customer, '/ips/bulk', { action: 'disable', ips: scattered(0, 450) });
  await waitUntil('some of it is there', async () => (await held(lab)).size > 40, 60_000);
  assert.ok((await held(lab)).size < 400);
  const { status, prefixes_done: done, prefixes_total: total } = (await newestCommit(lab)) ?? {};
  assert.equal({ status, total }, { status: 'deploying', total: 450 });
  assert.ok(done !== undefined && done < 450);
  await post(url, customer, '/ips/disable', { ip: '203.0.113.66' });
  const there = async (): Promise<boolean> => (await held(lab)).has('203.0.113.66/32');
  const seconds = await secondsUntil('the one address is there', there, 60);
  const before = (await held(lab)).size;
  console.log(`the one address was there after ${seconds.toFixed(1)} s, with ${before} others`);
  assert.ok(seconds <= ARRIVES_SECONDS_MAX, `${seconds} s`);
  assert.ok(before < 450, 'before the rest');
  await post(url, customer, '/ips/enable', { ip: scattered(0, 1)[0] });
  const gone = async (): Promise<boolean> => !(await held(lab)).has('198.18.0.0/32');
  assert.ok((await secondsUntil('what was enabled is gone', gone, 60)) <= ARRIVES_SECONDS_MAX);
  await waitUntil('all of it is there', async () => (await held(lab)).size === 450, WHOLE_SECONDS_MAX * 1000);
  await waitUntil('the commit is complete', async () => (await newestCommit(lab))?.status === 'success', 30_000);
  const types = (await edgeward.events()).map(({ type }) => type);
  assert.is(types.filter((type) => type === 'CommitCompleted').length, 1);
  assert.not.ok(types.includes('CommitFailed'), 'a slice is no failure');
});

test.run();
