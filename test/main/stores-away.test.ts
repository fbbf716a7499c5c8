// One server on EventStoreDB and MongoDB, of which one after the other goes away and comes back.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { openApiClient } from '../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../support/servers/edgeward-server.ts';
import { startEventStoreStandIn } from '../support/stores/eventstoredb-stand-in/stand-in.ts';
import { startMongoServer } from '../support/stores/ferretdb.ts';
import { waitUntil } from '../support/wait-until.ts';

const test = suite('stores that go away');
const mongo = await startMongoServer();

if (mongo === undefined || !mongo.own) test.skip('there is no server of MongoDB that may be stopped');
else {
  test('what needs the store that is away is 503 and says when to come again, the rest goes on; later all is as if nothing had been', async () => {
    const events = await startEventStoreStandIn();
    const edgeward = await openEdgeward({
      EVENT_STORE_URL: `esdb://127.0.0.1:${events.port}?tls=false`,
      READ_MODEL_URL: mongo.freshUrl(),
    });
    await addRegion(edgeward, 'north');
    const { token } = await addCustomer(edgeward, 'Acme', [['198.18.0.0/24', 'north']]);
    const url = await edgeward.serve();
    const api = openApiClient(url, token);
    const checks = async (): Promise<unknown> => {
      const response = await fetch(`${url}/readyz`);
      const body = z.object({ checks: z.unknown() }).parse(await response.json());
      return [response.status, body.checks];
    };
    const disable = (host: number) => api.post('/ips/disable', { ip: `198.18.0.${host}` });
    const pending = async (): Promise<string> => (await api.get('/subnets/1/pending')).text;
    const ok = { event_store: 'ok', read_models: 'ok', projections: 'ok' };
    assert.is((await disable(1)).status, 200);
    assert.equal(await checks(), [200, ok]);

    await events.stop();
    const [changed, shown, ready] = await Promise.all([disable(2), api.get('/subnets'), checks()]);
    assert.is(changed.status, 503);
    assert.ok(Number(changed.headers['retry-after']) > 0);
    assert.is(shown.status, 200, 'what is known can be read');
    assert.equal(ready, [503, { ...ok, event_store: 'unreachable', projections: 'catching up' }]);
    await events.start();
    await waitUntil('changes are taken again', async () => (await disable(3)).status === 200);
    assert.match(await pending(), '198.18.0.3');

    await mongo.kill();
    const recorded = await disable(4);
    assert.is(recorded.status, 200, 'made, though it can not be read yet');
    const [read, down] = await Promise.all([api.get('/subnets'), checks()]);
    assert.is(read.status, 503);
    assert.ok(Number(read.headers['retry-after']) > 0);
    assert.equal(down, [503, { ...ok, read_models: 'unreachable', projections: 'catching up' }]);
    await mongo.start();
    await waitUntil('it leads again', async () => (await disable(5)).status === 200, 60);
    const seen = await pending();
    for (const host of [1, 3, 4, 5]) assert.match(seen, `198.18.0.${host}`, 'recorded, and shown in the end');
    assert.equal(await checks(), [200, ok]);
    assert.match(JSON.stringify(await edgeward.json('verify')), /"problems":\[\]/);
    await api.close();
    await edgeward.remove();
    await events.stop();
  });
}

test.run();
