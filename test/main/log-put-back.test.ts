// A log that is older than the views that were saved from it: on every pair of stores the views are made again, and nothing is answered from the old ones.
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '../../src/adapters/sqlite/sqlite-library.ts';
import { request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { disableHost, pendingHosts } from '../support/http/disabled-hosts.ts';
import { addCustomer, addRegion, type Edgeward, openEdgeward } from '../support/servers/edgeward-server.ts';
import { createEventLog, type EventLog } from '../support/stores/eventstoredb-stand-in/event-log.ts';
import { type EventStoreStandIn, startEventStoreStandIn } from '../support/stores/eventstoredb-stand-in/stand-in.ts';
import { startMongoServer } from '../support/stores/ferretdb.ts';
import { waitUntil } from '../support/wait-until.ts';

const test = suite('a log that is older than its views');
const mongo = await startMongoServer();

/** A log that can be copied, and put back from the copy. */
type Events = Readonly<{
  settings: () => Readonly<Record<string, string>>;
  copy: (edgeward: Edgeward) => Promise<void>;
  putBack: (edgeward: Edgeward) => Promise<void>;
  stop: () => Promise<void>;
}>;

function inSqlite(): Events {
  return {
    settings: () => ({}),
    copy: async ({ folder, dataDir }) => {
      const log = openSqlite(join(dataDir, 'events.db'), { readonly: true });
      await log.backup(join(folder, 'copy.db'));
      log.close();
    },
    putBack: async ({ folder, dataDir }) => {
      for (const end of ['', '-wal', '-shm']) rmSync(join(dataDir, `events.db${end}`), { force: true });
      copyFileSync(join(folder, 'copy.db'), join(dataDir, 'events.db'));
    },
    stop: async () => undefined,
  };
}

async function inEventStoreDb(): Promise<Events> {
  const started: EventStoreStandIn[] = [await startEventStoreStandIn()];
  let kept: EventLog | undefined;
  const current = (): EventStoreStandIn | undefined => started.at(-1);
  return {
    settings: () => ({ EVENT_STORE_URL: `esdb://127.0.0.1:${current()?.port}?tls=false` }),
    copy: async () => {
      kept = createEventLog();
      for (const event of current()?.log.all() ?? []) kept.append(event.stream, 'any', [event]);
    },
    putBack: async () => void started.push(await startEventStoreStandIn(kept === undefined ? {} : { log: kept })),
    stop: async () => {
      for (const server of started) await server.stop();
    },
  };
}

const setUps: readonly (readonly [name: string, events: () => Events | Promise<Events>, views: () => object])[] = [
  ['SQLite and SQLite', inSqlite, () => ({})],
  ['EventStoreDB and SQLite', inEventStoreDb, () => ({})],
  ...(mongo === undefined
    ? []
    : ([
        ['SQLite and MongoDB', inSqlite, () => ({ READ_MODEL_URL: mongo.freshUrl() })],
        ['EventStoreDB and MongoDB', inEventStoreDb, () => ({ READ_MODEL_URL: mongo.freshUrl() })],
      ] as const)),
];

for (const [name, openEvents, viewSettings] of setUps) {
  test(`${name}: what is shown is what the log holds, and what is changed then is shown too`, async () => {
    const events = await openEvents();
    const views = viewSettings();
    const edgeward = await openEdgeward({ ...events.settings(), ...views });
    await addRegion(edgeward, 'ams');
    const customer = await addCustomer(edgeward, 'Acme Corp.', [['203.0.113.0/24', 'ams']]);
    const before = await edgeward.serve();
    await disableHost(before, customer, 7);
    await events.copy(edgeward);
    for (const host of [70, 71, 72]) await disableHost(before, customer, host);
    await edgeward.stop();
    await events.putBack(edgeward);

    const url = await edgeward.serve(events.settings());
    await waitUntil('the server is ready', async () => (await request(`${url}/readyz`)).statusCode === 200);
    assert.equal(await pendingHosts(url, customer), [7]);
    const errors = edgeward
      .logged()
      .filter(({ level, msg }) => level === 'error' && String(msg).includes('does not hold'));
    assert.is(errors.length, 1, JSON.stringify(errors));
    const { position, end } = errors[0] ?? {};
    assert.ok(BigInt(String(position)) > BigInt(String(end)), 'the log ends before what was applied');
    // New events take the positions of those that are lost.
    for (const host of [8, 9]) await disableHost(url, customer, host);
    assert.equal(await pendingHosts(url, customer), [7, 8, 9]);
    if (name === 'EventStoreDB and MongoDB') {
      const other = await openEdgeward({ ...events.settings(), ...views });
      assert.equal(await pendingHosts(await other.serve(), customer), [7, 8, 9]);
      await other.remove();
    }
    await edgeward.stop();

    // Once more, without anything lost: nothing is made again.
    assert.equal(await pendingHosts(await edgeward.serve(events.settings()), customer), [7, 8, 9]);
    assert.is(edgeward.logged().filter(({ msg }) => String(msg).includes('does not hold')).length, 1);
    await edgeward.remove();
    await events.stop();
  });
}

test.run();
