// A list that FRR 8.4 can't load in one push comes to it in slices: what is changed meanwhile does not wait for the rest.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  failures,
  held,
  live,
  MANY,
  newestCommit,
  post,
  scattered,
  secondsOfOneSlice,
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
    await waitUntil('some of it is there', async () => (await held(lab)).size > 40, 240);
    assert.ok((await held(lab)).size < MANY);
    const { status, prefixes_done: done, prefixes_total: total } = (await newestCommit(lab)) ?? {};
    assert.equal({ status, total }, { status: 'deploying', total: MANY });
    assert.ok(done !== undefined && done < MANY);
    const disable = () => post(url, customer, '/ips/disable', { ip: '203.0.113.66' });
    const there = async (): Promise<boolean> => (await held(lab)).has('203.0.113.66/32');
    const seconds = await secondsOfOneSlice(lab, disable, there);
    const before = (await held(lab)).size;
    console.log(`the one address was there after ${seconds.toFixed(1)} s, with ${before} others`);
    assert.ok(before < MANY, 'before the rest');
    const enable = () => post(url, customer, '/ips/enable', { ip: scattered(0, 1)[0] });
    const gone = async (): Promise<boolean> => !(await held(lab)).has('198.18.0.0/32');
    await secondsOfOneSlice(lab, enable, gone);
    await waitUntil('all of it is there', async () => (await held(lab)).size === MANY, WHOLE_SECONDS_MAX);
    await waitUntil('the commit is complete', async () => (await newestCommit(lab))?.status === 'success', 120);
    const types = (await edgeward.events()).map(({ type }) => type);
    assert.is(types.filter((type) => type === 'CommitCompleted').length, 1);
    assert.equal(await failures(lab), [], 'a slice is no failure');
  },
);

test.run();
