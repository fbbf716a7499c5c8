import { addScopeWorkerPool, createScope } from '../../src/application/worker-pools/scopes.ts';
import { ensureAsset } from '../../src/application/worker-pools/assets.ts';
import { ensurePool } from '../../src/application/worker-pools/pools.ts';
import { openWorkDispatcher, type TakenWork } from '../../src/application/worker-pools/work-dispatcher.ts';
import { submitWork } from '../../src/application/worker-pools/work-requests.ts';
import { finishWork } from '../../src/application/worker-pools/worker-sessions.ts';
import { epochMilliseconds } from '../../src/domain/instants.ts';
import type { AssetRecord } from '../../src/events/worker-pools/asset-records.ts';
import type { Cloud, OpenCloud } from '../../src/ports/clouds.ts';
import { CloudFailure, type CloudFailureCode } from '../../src/ports/clouds.ts';
import { setMaxListeners } from 'node:events';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { failingStore } from '../support/stores/failing-store.ts';
import { openTestApplication, type TestApplication } from '../support/test-application.ts';
import { createDummyCloud, type DummyCloud } from '../support/worker-pools/dummy-cloud.ts';
import { type PoolServer, startPoolServer } from '../support/worker-pools/pool-server.ts';
import { accepted } from '../support/worker-pools/records.ts';
import { randomFrom } from '../support/random.ts';

export type EngineRun = Readonly<{ seed: number; hours: number; pools: number; tasksPerHour: number }>;

/** What came of it. Seconds are the provider's own. */
export type EngineReport = Readonly<{
  launched: number;
  /** Instances that the provider still has when all is ended. */
  leaked: number;
  paidSeconds: number;
  accountedSeconds: number;
  /** Moments at which a pool had more instances at its provider than its bound. */
  boundsPassed: number;
  kills: number;
  /** Records of the engine that failed. */
  failedRecords: number;
  finished: number;
  failed: number;
  unfinished: number;
}>;

const ACCOUNTS = ['north', 'east', 'west'];
const MAX_ACTIVE = 4;
const STEP_SECONDS = 60;
/** Whose records fail: those of the workers and of people are told again by who they are from. */
const OF_THE_ENGINE = /^system:(?!work-dispatcher)/;

/** What a worker runs, in seconds that are left; or that it asks for work. */
type Busy = 'asks' | { work: TakenWork; left: number };

/** Runs pools for some hours: faults of every kind, and a server that is killed each hour. Everything is real but the providers and the time. */
export async function runEngine({ seed, hours, pools, tasksPerHour }: EngineRun): Promise<EngineReport> {
  const random = randomFrom(seed);
  const records = failingStore(randomFrom(seed + 1), OF_THE_ENGINE);
  const application = await openTestApplication(createManualClock(), records.between);
  const clouds = new Map(ACCOUNTS.map((name) => [name, createDummyCloud(application.clock)]));
  const openCloud = faulty(clouds, random, application.clock);
  try {
    await found(application, pools);
    const names = Array.from({ length: pools }, (_, index) => `pool-${index}`);
    let server = await startPoolServer(application, openCloud);
    records.isOn = true;
    const busy = new Map<string, Busy>();
    let [boundsPassed, kills, submitted] = [0, 0, 0];
    const dispatching = new AbortController();
    setMaxListeners(0, dispatching.signal);
    const dispatcher = openWorkDispatcher({ ...application, store: application.store });
    await application.catchUp();
    const following = dispatcher.run(dispatching.signal);
    const step = async (isQuiet: boolean): Promise<void> => {
      await server.settle();
      await application.catchUp();
      await work(application, clouds, dispatcher, busy, random, isQuiet, dispatching.signal);
      boundsPassed += names.filter((pool) => countOf(clouds, pool) > MAX_ACTIVE).length;
      await application.clock.advance({ seconds: STEP_SECONDS });
    };
    for (let hour = 0; hour < hours; hour += 1) {
      for (let minute = 0; minute < 60; minute += 1) {
        for (let due = tasksPerHour / 60; random() < due; due -= 1) {
          const scope = `scope-${Math.floor(random() * 3)}`;
          const expectedSeconds = 120 + Math.floor(random() * 1_200);
          const wanted = { scope, architecture: 'amd64', pool: null, payload: null, expectedSeconds } as const;
          accepted(await submitWork(wanted, application.context, application));
          submitted += 1;
        }
        await step(false);
      }
      records.isOn = false;
      await server.kill();
      kills += 1;
      server = await startPoolServer(application, openCloud);
      await editEverything(application, names, hour);
      records.isOn = true;
    }
    // Nothing more is submitted: everything comes to its end.
    for (let minute = 0; minute < 240; minute += 1) await step(true);
    records.isOn = false;
    await server.settle();
    const report = await sum(application, clouds, server, names);
    await server.kill();
    dispatching.abort();
    await following;
    const unfinished = submitted - report.finished - report.failed;
    return { ...report, boundsPassed, kills, failedRecords: records.failed(), unfinished };
  } finally {
    await application.close();
  }
}

/** What an administrator does against a refused login and against specifications that the provider does not take. */
async function editEverything(application: TestApplication, pools: readonly string[], hour: number): Promise<void> {
  const { context } = application;
  for (const name of ACCOUNTS) {
    const asset = { record: accountOf(name), credentials: { api_token: `${name}-${hour}` } };
    accepted(await ensureAsset(asset, context, application));
  }
  for (const pool of pools) {
    accepted(await ensurePool(pool, { static_metadata: { hour } }, { dryRun: false }, context, application));
  }
}

function accountOf(name: string): AssetRecord {
  return {
    category: 'cloud-provider-account',
    name,
    provider_type: 'hetzner',
    configuration: {},
    credential_names: ['api_token'],
  };
}

async function found(application: TestApplication, pools: number): Promise<void> {
  for (const name of ACCOUNTS) {
    const asset = { record: accountOf(name), credentials: { api_token: name } };
    accepted(await ensureAsset(asset, application.context, application));
  }
  for (const scope of [0, 1, 2]) accepted(await createScope(`scope-${scope}`, application.context, application));
  for (let index = 0; index < pools; index += 1) {
    const given = {
      provider_account: ACCOUNTS[index % ACCOUNTS.length] ?? '',
      architectures: ['amd64' as const],
      ephemeral: index % 5 === 4,
      limits: { max_active_instances: MAX_ACTIVE, target_max_seconds_per_month: null, max_idle_seconds: 600 },
      specifications: {
        provider_type: 'hetzner' as const,
        server_type: 'cx32',
        image_name: 'debian-13',
        enable_ipv4: true,
        enable_ipv6: true,
        worker_install_source: 'release' as const,
      },
    };
    accepted(await ensurePool(`pool-${index}`, given, { dryRun: false }, application.context, application));
    const membership = { scope: `scope-${index % 3}`, pool: `pool-${index}` };
    accepted(await addScopeWorkerPool(membership, { priority: index }, application.context, application));
  }
}

const REFUSED: readonly CloudFailureCode[] = [
  'no-capacity',
  'quota-exceeded',
  'rejected',
  'throttled',
  'not-permitted',
];
const REFUSED_UNTIL_EDITED: readonly CloudFailureCode[] = ['login-refused', 'bad-specifications'];
const UNCERTAIN: readonly CloudFailureCode[] = ['unreachable', 'timed-out', 'outcome-unknown', 'unreadable-answer'];

/** So long a call is waited for that is not answered. */
const HANG_MILLISECONDS = 120_000;
/** So long some listings do not show what was just created. */
const HIDDEN_MILLISECONDS = 240_000;

/** A provider of which one call in five fails: refused, hanging, lost before it was carried out, or after. Its listings lag behind. */
function faulty(clouds: ReadonlyMap<string, DummyCloud>, random: () => number, clock: ManualClock): OpenCloud {
  const call = async <T>(signal: AbortSignal, carryOut: () => Promise<T>): Promise<T> => {
    const chance = random();
    const pick = (codes: readonly CloudFailureCode[]): CloudFailure =>
      new CloudFailure(codes[Math.floor(random() * codes.length)] ?? 'rejected', 'a fault was played');
    if (chance < 0.002) throw pick(REFUSED_UNTIL_EDITED);
    if (chance < 0.05) throw pick(REFUSED);
    if (chance < 0.06) {
      await clock.wait(HANG_MILLISECONDS, signal);
      throw new CloudFailure('timed-out', 'a fault was played');
    }
    if (chance < 0.12) throw pick(UNCERTAIN);
    const done = await carryOut();
    if (chance < 0.2) throw pick(UNCERTAIN);
    return done;
  };
  return (account) => {
    const cloud = clouds.get(account.name)?.openCloud(account);
    if (cloud === undefined) throw new CloudFailure('bad-account', 'no such account');
    const faultyCloud: Cloud = {
      ...cloud,
      create: (request, signal) => call(signal, () => cloud.create(request, signal)),
      terminate: (data, signal) => call(signal, () => cloud.terminate(data, signal)),
      list: (installation, signal) =>
        call(signal, async () => {
          const all = await cloud.list(installation, signal);
          if (random() >= 0.2) return all;
          const shownUntil = clock.now().epochMilliseconds - HIDDEN_MILLISECONDS;
          return all.filter(({ createdAt }) => epochMilliseconds(createdAt) < shownUntil);
        }),
    };
    return faultyCloud;
  };
}

/** The instances' own side: they boot, take work, finish it; one in a hundred never gets ready, and some are taken away. */
async function work(
  application: TestApplication,
  clouds: ReadonlyMap<string, DummyCloud>,
  dispatcher: ReturnType<typeof openWorkDispatcher>,
  busy: Map<string, Busy>,
  random: () => number,
  isQuiet: boolean,
  ended: AbortSignal,
): Promise<void> {
  const { workers, clock, context } = application;
  const now = clock.now().epochMilliseconds;
  for (const cloud of clouds.values()) {
    for (const { worker, run, createdAt } of cloud.instances()) {
      if (!isQuiet && random() < 0.0005) cloud.interrupt(run, 'spot capacity was reclaimed');
      const { instance } = (await workers.state(worker)).state;
      if (instance?.run !== run || instance.created === undefined) continue;
      // By its run: whether an instance ever boots is its own.
      if (now - epochMilliseconds(createdAt) < 90_000 || run.startsWith('0')) continue;
      if (instance.connected === undefined) {
        const data = { run, dynamicMetadata: {}, at: clock.nowText() };
        await workers.handle(worker, { type: 'RecordWorkerConnected', data }, context);
      }
      const has = busy.get(run);
      if (has === undefined) {
        busy.set(run, 'asks');
        // Until there is some, or the worker is wanted no more: then it asks again.
        void askForWork({ worker, run }, dispatcher, busy, ended);
      } else if (has !== 'asks') {
        has.left -= STEP_SECONDS;
        if (has.left > 0) continue;
        busy.delete(run);
        await finishWork(worker, { id: has.work.id, outcome: 'succeeded', because: null }, context, application);
      }
    }
  }
}

async function askForWork(
  { worker, run }: Readonly<{ worker: string; run: string }>,
  dispatcher: ReturnType<typeof openWorkDispatcher>,
  busy: Map<string, Busy>,
  ended: AbortSignal,
): Promise<void> {
  const taken = await dispatcher.take({ worker, run }, ended);
  if (taken === undefined) busy.delete(run);
  else busy.set(run, { work: taken, left: taken.expectedSeconds ?? 60 });
}

function countOf(clouds: ReadonlyMap<string, DummyCloud>, pool: string): number {
  return [...clouds.values()].flatMap((cloud) => cloud.instances()).filter((instance) => instance.pool === pool).length;
}

async function sum(
  application: TestApplication,
  clouds: ReadonlyMap<string, DummyCloud>,
  { views }: PoolServer,
  pools: readonly string[],
): Promise<Omit<EngineReport, 'boundsPassed' | 'kills' | 'failedRecords' | 'unfinished'>> {
  const all = [...clouds.values()].flatMap((cloud) => cloud.everyInstance());
  const paid = all.map(({ createdAt, endedAt }) =>
    endedAt === null ? 0 : epochMilliseconds(endedAt) - epochMilliseconds(createdAt),
  );
  let accounted = 0;
  for (const pool of pools) {
    const months = (await views.poolUsage.get(pool))?.months ?? {};
    for (const milliseconds of Object.values(months)) accounted += milliseconds;
  }
  await application.catchUp();
  const states = (await application.views.workRequests.list()).map(({ view }) => view.state);
  return {
    launched: all.length,
    leaked: all.filter(({ state }) => state !== 'ended').length,
    paidSeconds: paid.reduce((a, b) => a + b, 0) / 1000,
    accountedSeconds: accounted / 1000,
    finished: states.filter((state) => state === 'succeeded').length,
    failed: states.filter((state) => state === 'failed').length,
  };
}
