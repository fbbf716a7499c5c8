// The log of several servers is put back from an older copy on the store's server, while their views stay on theirs: whichever of them leads
// takes no address off a router that the log does not explain, until it is accepted.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openApiClient } from '../support/http/api-client.ts';
import {
  addCustomer,
  addRegion,
  type Edgeward,
  type EdgewardProcess,
  openEdgeward,
  type TestCustomer,
} from '../support/servers/edgeward-server.ts';
import { createEventLog, type EventLog } from '../support/stores/eventstoredb-stand-in/event-log.ts';
import { startEventStoreStandIn } from '../support/stores/eventstoredb-stand-in/stand-in.ts';
import { startMongoServer } from '../support/stores/ferretdb.ts';
import { waitUntil } from '../support/wait-until.ts';

const LIST = 'Svc-ACME-CORP-BLACKHOLE';
const KEEPS = 'the log was restored: the router keeps what it does not explain';
const FAILOVER_SECONDS = 60;

const mongo = await startMongoServer();
const test = suite('a log that was put back under several servers');

if (mongo === undefined) test.skip('there is no server that speaks the protocol of MongoDB');
else
  test('neither of them, nor the one that is left when the other dies, takes away what the log does not explain', async () => {
    const { log, copy, putBack } = replaceableLog();
    const store = await startEventStoreStandIn({ log });
    const readModelUrl = mongo.freshUrl();
    const edgeward = await openEdgeward({
      EVENT_STORE_URL: `esdb://127.0.0.1:${store.port}?tls=false`,
      READ_MODEL_URL: readModelUrl,
      DRIFT_INTERVAL: 'PT0.3S',
    });
    try {
      await addRegion(edgeward, 'ams', 2);
      const customer = await addCustomer(edgeward, 'Acme Corp.', [['203.0.113.0/24', 'ams']]);
      const before = [await start(edgeward), await start(edgeward)] as const;
      await disable(edgeward, before[0], customer, 7);
      copy();
      await disable(edgeward, before[1], customer, 77);
      for (const { process } of before) process.child.kill('SIGTERM');
      for (const { process } of before) assert.is(await process.ended, 0, process.err());
      assert.equal(lists(edgeward), [hosts(7, 77), hosts(7, 77)]);
      await store.stop();
      putBack();
      await store.start();

      const servers = [await start(edgeward), await start(edgeward)] as const;
      for (const server of servers) assert.is((await readiness(server)).restored, true);
      await looked(servers);
      assert.equal(lists(edgeward), [hosts(7, 77), hosts(7, 77)]);
      await disable(edgeward, servers[1], customer, 8);
      assert.equal(lists(edgeward), [hosts(7, 8, 77), hosts(7, 8, 77)], 'what is deployed is beside it');

      const [leading, left] = leads(servers[0]) ? servers : [servers[1], servers[0]];
      leading.process.child.kill('SIGKILL');
      await leading.process.ended;
      await looked([left]);
      assert.equal(lists(edgeward), [hosts(7, 8, 77), hosts(7, 8, 77)], 'the other one keeps it too');
      const { restored, because, regions } = Object(await edgeward.json('restore', 'status'));
      assert.equal([restored, because], [true, 'log-older-than-views']);
      const unexplained = [{ list: LIST, customer: 'Acme Corp.', prefixes: ['203.0.113.77/32'] }];
      assert.equal(
        regions[0].routers.map((router: object) => Object(router).lists),
        [unexplained, unexplained],
      );

      await edgeward.json('restore', 'accept');
      await waitUntil(
        'what is not wanted is taken away once it is accepted',
        () => lists(edgeward).every((held) => held === hosts(7, 8)),
        FAILOVER_SECONDS,
      );
      assert.is((await readiness(left)).restored, undefined);
      left.process.child.kill('SIGTERM');
      assert.is(await left.process.ended, 0, left.process.err());
    } finally {
      await edgeward.remove();
      await store.stop();
      await mongo.drop(readModelUrl);
    }
  });

/** A log of a store, which may become the copy that was made of it, as when a server's files are put back. */
function replaceableLog(): Readonly<{ log: EventLog; copy: () => void; putBack: () => void }> {
  let current = createEventLog();
  let kept = createEventLog();
  return {
    log: {
      append: (stream, expected, events) => current.append(stream, expected, events),
      all: () => current.all(),
      stream: (name) => current.stream(name),
      isPlace: (from) => current.isPlace(from),
      grown: () => current.grown(),
      hasQuorum: () => current.hasQuorum(),
      loseQuorum: () => current.loseQuorum(),
      regainQuorum: () => current.regainQuorum(),
      goOnWithout: () => current.goOnWithout(),
    },
    copy: () => {
      kept = createEventLog();
      for (const event of current.all()) kept.append(event.stream, 'any', [event]);
    },
    putBack: () => void (current = kept),
  };
}

type Server = Readonly<{ url: string; process: EdgewardProcess }>;

async function start(edgeward: Edgeward): Promise<Server> {
  const process = await edgeward.spawn(['serve']);
  const url = await process.listening();
  await waitUntil('it is ready', async () => (await fetch(`${url}/readyz`)).ok, FAILOVER_SECONDS);
  return { url, process };
}

async function readiness({ url }: Server) {
  const answer: unknown = await (await fetch(`${url}/readyz`)).json();
  return Object(answer);
}

/** Over the API of this server, and deployed. */
async function disable(edgeward: Edgeward, { url }: Server, { token }: TestCustomer, host: number): Promise<void> {
  const client = openApiClient(url, token);
  const { status, text } = await client.post('/ips/disable', { ip: `203.0.113.${host}` });
  assert.is(status, 200, text);
  await client.close();
  await edgeward.json('commit', 'run', 'Acme Corp.', 'ams');
}

/** Until each router was looked at twice more, by one of them. */
async function looked(servers: readonly Server[]): Promise<void> {
  const count = (router: string) =>
    servers
      .flatMap(({ process }) => process.out().split('\n'))
      .filter((line) => line.includes(KEEPS) && line.includes(`"router":"${router}"`)).length;
  const before = ['ams-edge1', 'ams-edge2'].map((router) => [router, count(router)] as const);
  await waitUntil(
    'the routers are looked at',
    () => before.every(([router, earlier]) => count(router) >= earlier + 2),
    FAILOVER_SECONDS,
  );
}

function leads({ process }: Server): boolean {
  return process.out().includes('this server leads: ');
}

function lists({ folder }: Edgeward): readonly string[] {
  return ['ams', 'ams-2'].map((router) => readFileSync(join(folder, router, LIST), 'utf8'));
}

function hosts(...numbers: readonly number[]): string {
  return numbers.map((host) => `203.0.113.${host}/32\n`).join('');
}

test.run();
