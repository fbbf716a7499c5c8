import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../src/adapters/clock.ts';
import { createWebhookSender } from '../../../src/adapters/webhooks/webhook-sender.ts';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import {
  assigned,
  commitCompleted,
  commitRequested,
  disabled,
  registered,
} from '../../commands/ip-control/customer-examples.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { type DeploymentApplication, openDeploymentApplication } from './deployment-application.ts';

const SLOW = 1_000;
const GOOD_ID = 5_000;
const SECRET = 'whsec_MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=';

/** A receiver on every loopback address that answers `/good` at once, and whatever else in five seconds. */
async function startReceiver() {
  const waiting = new Set<ServerResponse>();
  let goodAt: number | undefined;
  let answered = 0;
  const server = createServer((request, response) => {
    request.resume();
    const answer = (): void => {
      waiting.delete(response);
      answered += 1;
      response.writeHead(204).end();
    };
    if (request.url === '/good') {
      goodAt = performance.now();
      return answer();
    }
    waiting.add(response);
    const timer = setTimeout(answer, 5_000);
    response.on('close', () => clearTimeout(timer));
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    port: address.port,
    waiting: () => waiting.size,
    answered: () => answered,
    goodAt: () => goodAt,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Customers whose commits are over, each with a receiver that has not been told. */
async function commitsOver(
  application: DeploymentApplication,
  customers: readonly Readonly<{ id: number; url: string }>[],
): Promise<void> {
  for (const { id, url } of customers) {
    const rotated: CustomerEvent = { type: 'WebhookSecretRotated', data: { secretId: 'webhook' } };
    const customer = registered({ webhookUrl: url });
    const over = commitCompleted({ commitSetId: `c${id}` }, true);
    await application.log.append(`customer-${id}`, customer, rotated, over);
  }
}

for (const [what, hostOf, underWay] of [
  ['each at an origin of its own', (nth: number) => `127.1.${nth >> 8}.${nth & 255}`, SLOW],
  ['all at one origin', () => '127.1.0.1', 64],
] as const) {
  test(`a thousand customers whose receivers take five seconds, ${what}, delay the good one by nothing`, async () => {
    const receiver = await startReceiver();
    const sender = createWebhookSender({ clock: systemClock, timeoutMilliseconds: 60_000, allowPrivate: true });
    const application = await openDeploymentApplication({}, sender);
    try {
      await application.secrets.put('webhook', SECRET);
      await application.log.append('region-1', { type: 'RegionCreated', data: { regionId: 1, name: 'ams' } });
      const slow = Array.from({ length: SLOW }, (_, nth) => ({
        id: 1_000 + nth,
        url: `http://${hostOf(nth)}:${receiver.port}/slow/${nth}`,
      }));
      await commitsOver(application, slow);
      await application.start();
      await waitUntil('the slow ones are being told', () => receiver.waiting() >= underWay);
      const begun = performance.now();
      await commitsOver(application, [{ id: GOOD_ID, url: `http://127.0.0.1:${receiver.port}/good` }]);
      const goodAt = await waitUntil('the good one is told', receiver.goodAt);
      assert.ok(goodAt - begun <= 2_000, `told after ${goodAt - begun} ms`);
      if (underWay === SLOW) await waitUntil('all are told', () => receiver.answered() === SLOW + 1);
    } finally {
      await application.close();
      await sender.close();
      await receiver.close();
    }
  });
}

test('four regions whose routers hang leave places to the fifth', async () => {
  const application = await openDeploymentApplication();
  try {
    for (let regionId = 1; regionId <= 5; regionId += 1) {
      const name = `region${regionId}`;
      await application.log.append(`region-${regionId}`, { type: 'RegionCreated', data: { regionId, name } });
      await application.addRouter(`core${regionId}`, 'file', regionId);
      if (regionId < 5) application.behave(`core${regionId}`, 'silent');
    }
    const commit = async (customerId: number, regionId: number): Promise<void> => {
      const setting = registered();
      if (setting.type !== 'CustomerRegistered') throw new Error('a customer is registered first');
      await application.log.append(
        `customer-${customerId}`,
        { ...setting, data: { ...setting.data, customerId, listName: `C${customerId}` } },
        assigned(customerId, '192.0.2.0/24', regionId),
        disabled(['192.0.2.1'], regionId),
        commitRequested({ commitSetId: `c${customerId}`, regionId }),
      );
    };
    for (let nth = 0; nth < 4 * 15; nth += 1) await commit(100 + nth, 1 + (nth % 4));
    const processes = await application.start();
    await processes.settle();
    await commit(GOOD_ID, 5);
    await processes.settle();
    assert.equal(application.held('core5'), { [`Svc-C${GOOD_ID}-BLACKHOLE`]: ['192.0.2.1/32'] });
  } finally {
    await application.close();
  }
});

test.run();
