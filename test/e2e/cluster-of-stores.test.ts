// Three servers over a cluster of three event stores, which dies at both sides under load: servers are killed in turn, and so is whichever
// store leads, also between writing and answering. Nothing that was answered is lost, and views, log and routers agree in the end.
// ROUNDS: how many deaths there are (default 4; the first is a server's, the second a store's, and so on). Twenty, in some ten minutes:
// ROUNDS=20 FILE_TIMEOUT_SECONDS=1800 npm test -- e2e/cluster-of-stores
import { randomUUID } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { randomFrom } from '../support/random.ts';
import {
  addLoadedCustomer,
  checkRouters,
  FAILOVER_SECONDS,
  type Load,
  type Model,
  type RunningServer,
  settled,
  startLoad,
} from '../support/servers/customers-under-load.ts';
import { addRegion, type Edgeward, openEdgeward } from '../support/servers/edgeward-server.ts';
import { type EventStoreCluster, startEventStoreCluster } from '../support/stores/eventstoredb-stand-in/cluster.ts';
import { startMongoServer } from '../support/stores/ferretdb.ts';
import { waitUntil } from '../support/wait-until.ts';

const SEED = Number(process.env['E2E_SEED'] ?? Date.now() % 1_000_000);
const DEATHS = Number(process.env['ROUNDS'] ?? 4);
/** Between one blow and the next. */
const ANSWERS = 8;
const CUSTOMERS = ['ann', 'bob', 'cid'];

const mongo = await startMongoServer();
const test = suite('a cluster of event stores');

if (mongo === undefined) test.skip('there is no server that speaks the protocol of MongoDB');
else
  test(`${DEATHS} deaths of servers and of leading stores under load lose nothing that was answered (seed ${SEED})`, async () => {
    const cluster = await startEventStoreCluster();
    const readModelUrl = mongo.freshUrl();
    const edgeward = await openEdgeward({
      EVENT_STORE_URL: cluster.url,
      READ_MODEL_URL: readModelUrl,
      QUIET_PERIOD: 'PT0.3S',
      SCHEDULER_INTERVAL: 'PT0.1S',
      COMMIT_RETRY_DELAYS: 'PT0.3S,PT0.5S',
    });
    const servers: RunningServer[] = [];
    try {
      const region = `region-${randomUUID().slice(0, 8)}`;
      await addRegion(edgeward, region, 2);
      while (servers.length < 3) servers.push(await start(edgeward));
      const models: Model[] = [];
      for (const name of CUSTOMERS) {
        const customer = await addLoadedCustomer(edgeward, name, region);
        models.push({ customer, disabled: new Set(), uncertain: new Set() });
      }
      const random = randomFrom(SEED);
      const load = startLoad(models, servers, random);
      for (let death = 0; death < DEATHS; death += 1) {
        await load.answered(ANSWERS);
        if (death % 2 === 0) await killServer(edgeward, servers, (death / 2) % servers.length, load);
        else await killLeader(cluster, random() < 0.5, load);
      }
      await load.answered(ANSWERS);
      await load.stop();

      for (const model of models) await settled(model, servers);
      for (const { customer, disabled } of models) checkRouters(edgeward, customer, region, disabled);
      for (const { process } of servers) process.child.kill('SIGTERM');
      for (const { process } of servers) assert.is(await process.ended, 0, process.err());
      assert.equal(await problems(edgeward), []);
    } catch (error) {
      for (const { process } of servers) console.log(process.out().slice(-3_000), process.err());
      throw error;
    } finally {
      await edgeward.remove();
      await cluster.stop();
      await mongo.drop(readModelUrl);
    }
  });

async function start(edgeward: Edgeward): Promise<RunningServer> {
  const process = await edgeward.spawn(['serve']);
  const url = await process.listening();
  await waitUntil('it is ready', async () => (await fetch(`${url}/readyz`)).ok, FAILOVER_SECONDS);
  return { url, process };
}

/** The others answer meanwhile. */
async function killServer(edgeward: Edgeward, servers: RunningServer[], at: number, load: Load): Promise<void> {
  servers[at]?.process.child.kill('SIGKILL');
  await load.answered(ANSWERS);
  servers[at] = await start(edgeward);
}

/** The leading store dies, at once or with the next append that it has written and not answered; another one is elected and goes on. */
async function killLeader(cluster: EventStoreCluster, isWriting: boolean, load: Load): Promise<void> {
  const leader = cluster.leader();
  assert.ok(leader !== undefined, 'a store leads');
  if (isWriting) leader.faults.appends.push('dies-after-append');
  else await cluster.killLeader();
  await waitUntil(
    'another store leads',
    () => cluster.leader() !== undefined && cluster.leader() !== leader,
    FAILOVER_SECONDS,
  );
  await load.answered(ANSWERS);
  await cluster.restart(leader);
}

/** What an audit finds in the log, and in the views beside it. */
async function problems(edgeward: Edgeward): Promise<readonly string[]> {
  return z.object({ problems: z.array(z.string()) }).parse(await edgeward.json('verify', '--views')).problems;
}

test.run();
