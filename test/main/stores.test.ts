// The event store and the read models are chosen apart from one another. What is wrong with either is said in one line at the start.
import { randomInt, randomUUID } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openApiClient } from '../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../support/servers/edgeward-server.ts';
import { startEventStoreStandIn } from '../support/stores/eventstoredb-stand-in/stand-in.ts';
import { startMongoServer } from '../support/stores/ferretdb.ts';
import { givenEventStoreUrl } from '../support/stores/given-event-store.ts';

const test = suite('choosing the stores');
const events = givenEventStoreUrl === undefined ? await startEventStoreStandIn() : undefined;
const mongo = await startMongoServer();
const esdb = givenEventStoreUrl ?? `esdb://127.0.0.1:${events?.port}?tls=false`;

const setUps: readonly (readonly [name: string, settings: () => Readonly<Record<string, string>>])[] = [
  ['EventStoreDB and SQLite', () => ({ EVENT_STORE_URL: esdb })],
  ...(mongo === undefined
    ? []
    : ([
        ['SQLite and MongoDB', () => ({ READ_MODEL_URL: mongo.freshUrl() })],
        ['EventStoreDB and MongoDB', () => ({ EVENT_STORE_URL: esdb, READ_MODEL_URL: mongo.freshUrl() })],
      ] as const)),
];

for (const [name, settings] of setUps) {
  test(`${name}: commands and a server work on them, also after a restart`, async () => {
    const edgeward = await openEdgeward(settings());
    // The log goes on from one set-up to the next: names and networks must be new.
    const block = `10.${randomInt(256)}.${randomInt(256)}`;
    const [region, customer] = [`region-${randomUUID()}`, `customer ${randomUUID()}`];
    await addRegion(edgeward, region);
    const { token } = await addCustomer(edgeward, customer, [[`${block}.0/28`, region]]);
    const before = openApiClient(await edgeward.serve(), token);
    const disabled = await before.post('/ips/disable', { ip: `${block}.1` });
    assert.is(disabled.status, 200, disabled.text);
    await before.close();
    await edgeward.stop();
    const after = openApiClient(await edgeward.serve(), token);
    assert.match((await after.get('/subnets')).text, /"pending":1\b/);
    await after.close();
    assert.match(JSON.stringify(await edgeward.json('verify')), /"problems":\[\]/);
    await edgeward.remove();
  });
}

test('what is wrong with a store is said in one line, to commands and by the server, with an exit code that tells what it is', async () => {
  await Promise.all(
    (
      [
        [
          { DATA_DIR: '/proc/none/data' },
          78,
          /DATA_DIR.* (must be a directory that can be written to: |there is no data directory at )\/proc\/none\/data/,
        ],
        [{ DATA_DIR: '/dev/null' }, 78, /DATA_DIR must be a directory that can be written to: \/dev\/null is none/],
        [{ EVENT_STORE_URL: 'esdb://host:port' }, 78, /EVENT_STORE_URL/],
        [{ READ_MODEL_URL: 'mongodb://host/?nonsense=1' }, 78, /READ_MODEL_URL/],
        [{ EVENT_STORE_URL: 'esdb://127.0.0.1:1?tls=false' }, 69, /127\.0\.0\.1:1/],
        [{ READ_MODEL_URL: 'mongodb://127.0.0.1:1/x' }, 69, /127\.0\.0\.1:1/],
      ] as const
    ).map(async ([settings, code, line]) => {
      const edgeward = await openEdgeward(settings);
      const server = await edgeward.spawn(['serve']);
      const command = await edgeward.command('region', 'list');
      for (const [exitCode, said] of [
        [command.exitCode, command.err],
        [await server.ended, server.err()],
      ] as const) {
        assert.is(exitCode, code, said);
        assert.match(said, line);
        assert.match(said, /^edgeward: [^\n]+\n$/, 'one line');
      }
      await edgeward.remove();
    }),
  );
});

test.after(() => events?.stop());
test.run();
