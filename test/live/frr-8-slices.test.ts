// A list that FRR 8.4 can't load in one push comes to it in slices: what is changed meanwhile does not wait for the rest.
import { createServer } from 'node:http';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { randomFrom } from '../support/random.ts';
import {
  held,
  live,
  MANY,
  newestCommit,
  post,
  scattered,
  secondsUntil,
  WHOLE_SECONDS_MAX,
} from '../support/routers/slices-lab.ts';
import { waitUntil } from '../support/wait-until.ts';

const REGION = { routers: 1, deploySeconds: 3 };

live(
  'one address is on the router within its quiet period and one slice, however many came before it',
  REGION,
  async (lab) => {
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
    assert.ok(seconds <= lab.arrivesSecondsMax, `${seconds} s`);
    assert.ok(before < MANY, 'before the rest');
    await post(url, customer, '/ips/enable', { ip: scattered(0, 1)[0] });
    const gone = async (): Promise<boolean> => !(await held(lab)).has('198.18.0.0/32');
    assert.ok((await secondsUntil('what was enabled is gone', gone, 60)) <= lab.arrivesSecondsMax);
    await waitUntil('all of it is there', async () => (await held(lab)).size === MANY, WHOLE_SECONDS_MAX);
    await waitUntil('the commit is complete', async () => (await newestCommit(lab))?.status === 'success', 30);
    const types = (await edgeward.events()).map(({ type }) => type);
    assert.is(types.filter((type) => type === 'CommitCompleted').length, 1);
    assert.not.ok(types.includes('CommitFailed'), 'a slice is no failure');
  },
);

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

live(
  'a server that is killed between two slices goes on where the router is, and tells the end once',
  REGION,
  async (lab) => {
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
  },
);

const MIX_SECONDS = 75;
const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1_000_000));

live(
  `huge and small changes as they come: each small one is there within its time (seed ${SEED})`,
  REGION,
  async (lab) => {
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
    assert.ok(slowest <= lab.arrivesSecondsMax, `${slowest} s`);
    const isAllThere = async (): Promise<boolean> => {
      const there = await held(lab);
      return there.size === wanted.size && [...wanted].every((prefix) => there.has(prefix));
    };
    await waitUntil('the router holds exactly what is disabled', isAllThere, WHOLE_SECONDS_MAX);
    assert.not.ok(
      (await edgeward.events()).some(({ type }) => type === 'CommitFailed'),
      'a slice is no failure',
    );
  },
);

test.run();
