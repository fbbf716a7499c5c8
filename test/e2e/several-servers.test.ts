// Several servers over one EventStoreDB and one MongoDB. Customers change addresses on all of them while servers are killed and stores
// stop; in the end nothing that was answered is lost, all servers show the same, which is what a rebuild makes, routers hold it, and
// nothing was deployed twice at once or left untold.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { systemClock } from '../../src/adapters/clock.ts';
import { createLog } from '../../src/adapters/log.ts';
import { openMongoDb } from '../../src/adapters/mongodb/mongodb.ts';
import { openApiClient } from '../support/http/api-client.ts';
import {
  addLoadedCustomer,
  addressOf,
  checkRouters,
  FAILOVER_SECONDS,
  type Model,
  routerList,
  type RunningServer,
  settled,
  startLoad,
} from '../support/servers/customers-under-load.ts';
import { addRegion, type Edgeward, type EdgewardProcess, openEdgeward } from '../support/servers/edgeward-server.ts';
import { startEventStoreStandIn } from '../support/stores/eventstoredb-stand-in/stand-in.ts';
import { type MongoServer, startMongoServer } from '../support/stores/ferretdb.ts';
import { givenEventStoreUrl } from '../support/stores/given-event-store.ts';
import { waitUntil } from '../support/wait-until.ts';
import { randomFrom } from '../support/random.ts';

const SEED = Number(process.env['E2E_SEED'] ?? Date.now() % 1_000_000);
/** Between one blow and the next. */
const ANSWERS = 8;

const mongo = await startMongoServer();
const test = suite('several servers');

if (mongo === undefined) test.skip('there is no server that speaks the protocol of MongoDB');
else {
  test('each shows at once what another was told, deploys what another asks for, counts what all are asked', () =>
    withPlace(mongo, async ({ edgeward, start, hooks }) => {
      const [one, two] = await Promise.all([start(), start()]);
      const customer = await addLoadedCustomer(edgeward, 'ann', region, hooks.url);
      const apis = [one, two].map(({ url }) => openApiClient(url, customer.token));
      for (let host = 0; host < 12; host += 1) {
        const [writer, reader] = host % 2 === 0 ? apis : apis.toReversed();
        const address = addressOf(customer, host);
        const written = await writer?.post('/ips/disable', { ip: address, synchronous: host % 3 === 2 });
        assert.is(written?.status, 200, written?.text);
        if (host % 3 === 2) assert.match(written?.text ?? '', '"commit_status":"success"');
        const shown = await reader?.get(`/subnets/${customer.subnetIds[0]}`);
        assert.match(
          shown?.text ?? '',
          new RegExp(`"address":"${address}","status":"disabled"`),
          'the other server shows it',
        );
      }
      assert.ok(routerList(edgeward, customer, region).length > 0);
      const left: number[] = [];
      for (let at = 0; at < 10; at += 1) {
        const answer = await apis[at % 2]?.get('/subnets');
        left.push(Number(answer?.headers['x-ratelimit-remaining']) + at);
      }
      assert.is(new Set(left).size, 1, `one count: ${left.join()}`);
      await completed(edgeward, hooks, [customer.name]);
      assert.equal(duplicates(hooks.received.map(({ commit_set_id: id, status }) => `${id} ${status}`)), []);
      // Whoever leads hands over at once.
      for (const server of [one, two]) {
        server.process.child.kill('SIGTERM');
        assert.is(await server.process.ended, 0, server.process.err());
        if (server === two) continue;
        const enabled = await apis[1]?.post('/ips/enable', { ip: addressOf(customer, 0), synchronous: true });
        assert.match(enabled?.text ?? '', '"commit_status":"success"');
      }
      for (const api of apis) await api.close();
    }));

  test(`load on three, each killed in turn, a leader that sleeps, stores that stop (seed ${SEED})`, () =>
    withPlace(mongo, async (place) => {
      const { edgeward, start, hooks } = place;
      const random = randomFrom(SEED);
      const servers = await Promise.all([start(), start(), start()]);
      const models: Model[] = [];
      for (const name of ['ann', 'bob', 'cid']) {
        models.push({
          customer: await addLoadedCustomer(edgeward, name, region, hooks.url),
          disabled: new Set(),
          uncertain: new Set(),
        });
      }
      const load = startLoad(models, servers, random);
      for (let at = 0; at < servers.length; at += 1) {
        await load.answered(ANSWERS);
        servers[at]?.process.child.kill('SIGKILL');
        await load.answered(ANSWERS);
        servers[at] = await start();
      }
      await load.answered(ANSWERS);
      await place.interruptStores(() => load.answered(ANSWERS));
      await load.answered(ANSWERS);
      await sleepingLeader(servers, () => load.answered(ANSWERS));
      await load.stop();

      for (const model of models) await settled(model, servers);
      for (const { customer, disabled } of models) checkRouters(edgeward, customer, region, disabled);
      await completed(
        edgeward,
        hooks,
        models.map(({ customer }) => customer.name),
      );
      checkDeployments(place.deployments());
      for (const { process } of servers) process.child.kill('SIGTERM');
      for (const { process } of servers) assert.is(await process.ended, 0, process.err());
      const kept = await place.documents();
      await edgeward.json('projections', 'rebuild', '--all');
      assert.equal(await place.documents(), kept, 'all views equal a fresh rebuild');
      const verified = z.object({ problems: z.array(z.string()) }).parse(await edgeward.json('verify'));
      assert.equal(verified.problems, []);
    }));
}

type Deployment = Readonly<{ list: string; from: number; to: number }>;

type Place = Readonly<{
  edgeward: Edgeward;
  start: () => Promise<RunningServer>;
  hooks: Hooks;
  /** Stops one store after the other for a moment, where they are the test's own; `meanwhile` passes in between. */
  interruptStores: (meanwhile: () => Promise<void>) => Promise<void>;
  /** When which list was being deployed, after the logs of all servers, in milliseconds. */
  deployments: () => readonly Deployment[];
  /** Every document of the active generations: `<projection>/<key>` → JSON. */
  documents: () => Promise<Readonly<Record<string, string>>>;
}>;

/** Empty stores, and no server yet. */
async function withPlace(server: MongoServer, work: (place: Place) => Promise<void>): Promise<void> {
  const standIn = givenEventStoreUrl === undefined ? await startEventStoreStandIn() : undefined;
  const readModelUrl = server.freshUrl();
  const hooks = await openHooks();
  const started: EdgewardProcess[] = [];
  const edgeward = await openEdgeward({
    EVENT_STORE_URL: givenEventStoreUrl ?? `esdb://127.0.0.1:${standIn?.port}?tls=false`,
    READ_MODEL_URL: readModelUrl,
    QUIET_PERIOD: 'PT0.3S',
    SCHEDULER_INTERVAL: 'PT0.1S',
    COMMIT_RETRY_DELAYS: 'PT0.3S,PT0.5S',
    WEBHOOK_RETRY_DELAY: 'PT0.2S',
  });
  try {
    await addRegion(edgeward, region, 2);
    await work({
      edgeward,
      hooks,
      start: async () => {
        const serving = await edgeward.spawn(['serve']);
        started.push(serving);
        const url = await serving.listening();
        await waitUntil('it is ready', async () => (await fetch(`${url}/readyz`)).ok, FAILOVER_SECONDS);
        return { url, process: serving };
      },
      interruptStores: async (meanwhile) => {
        if (standIn !== undefined) {
          await standIn.stop();
          await standIn.start();
          await meanwhile();
        }
        if (!server.own) return;
        await server.kill();
        await server.start();
        await meanwhile();
      },
      deployments: () => started.flatMap(deploymentsOf),
      documents: () => documentsIn(readModelUrl, edgeward),
    });
  } catch (error) {
    for (const serving of started) console.log(tail(`${serving.out()}${serving.err()}`));
    throw error;
  } finally {
    await edgeward.remove();
    await standIn?.stop();
    await server.drop(readModelUrl);
    hooks.server.closeAllConnections();
    hooks.server.close();
  }
}

const region = `region-${randomUUID().slice(0, 8)}`;

/** The one that leads stops in its tracks for longer than its lease, and goes on as if nothing had been. */
async function sleepingLeader(servers: readonly RunningServer[], meanwhile: () => Promise<void>): Promise<void> {
  const leader = servers.find(({ process: { out } }) => leads(out()));
  if (leader === undefined) throw new Error('nobody leads');
  leader.process.child.kill('SIGSTOP');
  await waitUntil(
    'another one leads',
    () => servers.some((server) => server !== leader && leads(server.process.out())),
    FAILOVER_SECONDS,
  );
  leader.process.child.kill('SIGCONT');
  await waitUntil('it follows', () => !leads(leader.process.out()));
  await meanwhile();
}

/** Whether the last that a server said of it is that it leads. */
function leads(out: string): boolean {
  return (
    out.lastIndexOf('this server leads: ') >
    Math.max(out.lastIndexOf('a lease was lost'), out.lastIndexOf('leads no more'))
  );
}

const commits = z.array(z.object({ id: z.string(), status: z.string(), customer: z.string() }));

/** Waits until every completed commit of this test's customers was told. */
async function completed(edgeward: Edgeward, hooks: Hooks, names: readonly string[]): Promise<void> {
  await waitUntil(
    'every completed commit was told',
    async () => {
      const all = commits.parse(await edgeward.json('commit', 'list'));
      const done = all.filter(({ customer, status }) => status === 'success' && names.includes(customer));
      return (
        done.length > 0 &&
        done.every(({ id }) => hooks.received.some((hook) => hook.commit_set_id === id && hook.status === 'success'))
      );
    },
    FAILOVER_SECONDS,
  );
}

const deployed = z.object({
  time: z.iso.datetime(),
  customerId: z.number(),
  regionId: z.number(),
  list: z.string(),
  outcomes: z.array(z.object({ milliseconds: z.number() })),
});

function deploymentsOf(serving: EdgewardProcess): readonly Deployment[] {
  const lines = serving
    .out()
    .split('\n')
    .filter((line) => /"msg":"commit (completed|failed)"/.test(line));
  return lines.map((line) => {
    const { time, customerId, regionId, list, outcomes } = deployed.parse(JSON.parse(line));
    const milliseconds = Math.max(0, ...outcomes.map((outcome) => outcome.milliseconds));
    const to = Date.parse(time);
    return { list: `${customerId}/${regionId}/${list}`, from: to - milliseconds, to };
  });
}

/** No list was being deployed twice at the same time, by whichever servers. */
function checkDeployments(deployments: readonly Deployment[]): void {
  assert.ok(deployments.length > 0);
  const sorted = deployments.toSorted((a, b) => a.from - b.from);
  for (const [at, { list, from }] of sorted.entries()) {
    const overlapping = sorted.slice(0, at).find((earlier) => earlier.list === list && earlier.to > from + 1);
    assert.is(overlapping, undefined, JSON.stringify({ list, from, overlapping }));
  }
}

async function documentsIn(url: string, edgeward: Edgeward): Promise<Readonly<Record<string, string>>> {
  const log = createLog({ level: 'silent' });
  const { readModels, close } = await openMongoDb({ url, clock: systemClock, log, label: 'test' });
  const projections = z.array(z.object({ name: z.string() })).parse(await edgeward.json('projections', 'list'));
  const documents: Record<string, string> = {};
  for (const { name } of projections) {
    const active = await readModels.active(name);
    if (active === undefined) continue;
    for (const { key, json } of await readModels.list(active, { prefix: '', limit: 100_000 })) {
      documents[`${name}/${key}`] = json;
    }
  }
  await close();
  return documents;
}

const hook = z.looseObject({ commit_set_id: z.string(), status: z.enum(['success', 'failed']) });

type Hooks = Readonly<{ server: Server; url: string; received: z.infer<typeof hook>[] }>;

async function openHooks(): Promise<Hooks> {
  const received: z.infer<typeof hook>[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      received.push(hook.parse(JSON.parse(body)));
      response.writeHead(204).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { server, received, url: `http://127.0.0.1:${port}/hook` };
}

function duplicates(texts: readonly string[]): readonly string[] {
  return texts.filter((text, at) => texts.indexOf(text) < at);
}

function tail(text: string): string {
  const lines = text.split('\n').filter((line) => !/"msg":"(request|webhook|commit completed)"/.test(line));
  return lines
    .slice(-20)
    .map((line) => line.slice(0, 400))
    .join('\n');
}

test.run();
