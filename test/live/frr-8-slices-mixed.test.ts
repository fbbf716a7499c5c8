// Huge and small changes at random on FRR 8.4, which takes the huge ones in slices.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { randomFrom } from '../support/random.ts';
import {
  failures,
  held,
  live,
  post,
  scattered,
  secondsOfOneSlice,
  WHOLE_SECONDS_MAX,
} from '../support/routers/slices-lab.ts';
import { waitUntil } from '../support/wait-until.ts';

const REGION = { routers: 1, deploySeconds: 3 };

const MIX_SECONDS = 75;
/** So many addresses at a time are told apart from what is changed after them. */
const HUGE = 250;
const HUGE_CHANGES = 3;
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
        const ips = scattered(below(HUGE_CHANGES) * HUGE, HUGE);
        const action = wanted.has(`${ips[0]}/32`) ? 'enable' : 'disable';
        await change('/ips/bulk', { action, ips }, action, ips);
        await new Promise((resolve) => void setTimeout(resolve, below(1500)));
      }
      // No two of these share a block.
      const ip = `203.0.113.${below(128) * 2}`;
      const action = wanted.has(`${ip}/32`) ? 'enable' : 'disable';
      const small = () => change(`/ips/${action}`, { ip }, action, [ip]);
      const isThere = async (): Promise<boolean> => (await held(lab)).has(`${ip}/32`) === (action === 'disable');
      arrivals.push(await secondsOfOneSlice(lab, small, isThere));
    }
    const slowest = Math.max(...arrivals);
    console.log(`${arrivals.length} small changes, the slowest after ${slowest.toFixed(1)} s`);
    const isAllThere = async (): Promise<boolean> => {
      const there = await held(lab);
      return there.size === wanted.size && [...wanted].every((prefix) => there.has(prefix));
    };
    await waitUntil('the router holds exactly what is disabled', isAllThere, WHOLE_SECONDS_MAX);
    assert.equal(await failures(lab), [], 'a slice is no failure');
  },
);

test.run();
