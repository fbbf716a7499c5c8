// One server on a cluster of EventStoreDB that loses its majority: what is answered meanwhile is not belied by what comes into effect later.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openApiClient } from '../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../support/servers/edgeward-server.ts';
import { startEventStoreStandIn } from '../support/stores/eventstoredb-stand-in/stand-in.ts';
import { waitUntil } from '../support/wait-until.ts';

const UNCONFIRMED = 'the change could not be confirmed: it may still come into effect. Repeat the request.';

const test = suite('changes in doubt');

test('a change that may still come into effect is said to, and so is what it could belie, until it is known', async () => {
  const events = await startEventStoreStandIn({ commitMilliseconds: 300 });
  const edgeward = await openEdgeward({ EVENT_STORE_URL: `esdb://127.0.0.1:${events.port}?tls=false` });
  await addRegion(edgeward, 'north');
  const { token } = await addCustomer(edgeward, 'Acme', [['198.18.0.0/24', 'north']]);
  const api = openApiClient(await edgeward.serve(), token);
  const change = (action: string, host: number) => api.post(`/ips/${action}`, { ip: `198.18.0.${host}` });
  assert.is((await change('disable', 1)).status, 200);

  events.log.loseQuorum();
  const doubtful = await change('enable', 1);
  assert.is(doubtful.status, 503);
  assert.match(doubtful.text, UNCONFIRMED);
  assert.ok(Number(doubtful.headers['retry-after']) > 0);
  const nothingToChange = await change('disable', 1);
  assert.is(nothingToChange.status, 503, 'the change in doubt could belie it');
  events.log.regainQuorum();
  await waitUntil('it is known', async () => (await change('enable', 1)).status === 200);
  const made = events.log.all().filter(({ type }) => type === 'AddressesEnabled');
  assert.is(made.length, 1, 'the one that was in doubt, and no second one');
  assert.is((await change('disable', 1)).status, 200);
  assert.match(JSON.stringify(await edgeward.json('verify')), '"problems":[]');
  await api.close();
  await edgeward.remove();
  await events.stop();
});

test.run();
