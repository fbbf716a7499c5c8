// A server that dies while a list comes to FRR 8.4 in slices.
import { createServer } from 'node:http';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { held, live, MANY, newestCommit, post, scattered, WHOLE_SECONDS_MAX } from '../support/routers/slices-lab.ts';
import { waitUntil } from '../support/wait-until.ts';

const REGION = { routers: 1, deploySeconds: 3 };

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
      await waitUntil('some of it is there', async () => (await held(lab)).size > 40, 240);
      killed.child.kill('SIGKILL');
      assert.is(await killed.ended, 'SIGKILL');
      const before = (await held(lab)).size;
      console.log(`killed with ${before} of ${MANY} on the router`);
      assert.ok(before < MANY, `${before}`);
      const next = await edgeward.spawn(['serve']);
      await next.listening();
      await waitUntil('all of it is there', async () => (await held(lab)).size === MANY, WHOLE_SECONDS_MAX);
      await waitUntil('the commit is complete', async () => (await newestCommit(lab))?.status === 'success', 120);
      await waitUntil('its end is told', async () => receiver.told.length > 0, 120);
      const types = (await edgeward.events()).map(({ type }) => type);
      assert.is(types.filter((type) => type === 'CommitCompleted').length, 1);
      assert.equal(receiver.told, ['success']);
    } finally {
      await receiver.close();
    }
  },
);

test.run();
