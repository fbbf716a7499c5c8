import { CLOUD_DRIVERS } from '../../../src/adapters/clouds/open-cloud.ts';
import { setMaxListeners } from 'node:events';
import { readConfig } from '../../../src/config.ts';
import { type openAggregates, openViews } from '../../../src/main/contexts.ts';
import { workerPoolsProcesses } from '../../../src/main/worker-pools.ts';
import type { OpenCloud } from '../../../src/ports/clouds.ts';
import type { Secrets } from '../../../src/ports/secrets.ts';
import { openProjector } from '../../../src/projections/engine/projector.ts';
import { openRouterDrivers } from '../../../src/main/router-drivers.ts';
import type { TestApplication } from '../test-application.ts';

/** What of a server runs the pools, in this process and by the application's clock. */
export type PoolServer = Readonly<{
  /** Lets time pass in steps of so many seconds, and everything happen that follows from it. */
  pass: (seconds: number, step?: number) => Promise<void>;
  /** Something goes on that takes real time: none passes meanwhile. */
  isBusy: () => boolean;
  /** Waits until nothing happens any more without time passing. */
  settle: () => Promise<void>;
  aggregates: ReturnType<typeof openAggregates>;
  views: ReturnType<typeof openViews>;
  /** Breaks off all that is under way; what is under way at a provider may still be carried out there. */
  kill: () => Promise<void>;
}>;

const QUIET_TURNS = 12;

/** Starts it over the application's stores. `isBusy`: a provider works on a call. */
export async function startPoolServer(
  application: TestApplication,
  openCloud: OpenCloud,
  isBusy: () => boolean = () => false,
  lastHeard: (worker: string) => number | undefined = () => undefined,
): Promise<PoolServer> {
  const { store, readModels, clock, ids, log, anotherProcess } = application;
  const { secrets, isReading } = watched(application.secrets);
  const isWorking = (): boolean => isBusy() || isReading();
  const config = readConfig({ PUBLIC_URL: 'https://edgeward.example', SCHEDULER_INTERVAL: 'PT1M' });
  const aggregates = anotherProcess();
  const views = openViews({ store, readModels, clock, log });
  const routerDrivers = openRouterDrivers(() => {
    throw new Error('no routers here');
  });
  const sender = { send: () => Promise.reject(new Error('no webhooks here')), close: async () => undefined };
  const cloudDrivers = CLOUD_DRIVERS;
  const tools = {
    config,
    aggregates,
    routerDrivers,
    openCloud,
    cloudDrivers,
    sender,
    store,
    secrets,
    clock,
    ids,
    log,
    views,
    isLogWhole: () => Promise.resolve(true),
    lastHeard,
    areShared: false,
  };
  const wired = workerPoolsProcesses(config).map((process) => process.wire(readModels, tools));
  const feeds = Object.values(views).map((view) => view.newViewCache());
  for (const view of Object.values(views)) view.readViewCache();
  const projector = openProjector([...feeds, ...wired.map(({ viewCache }) => viewCache)], {
    store,
    readModels,
    clock,
    log,
    writes: true,
  });
  await projector.open();
  const running = new Map(wired.map(({ viewCache, start }) => [viewCache.name, start(projector)]));
  projector.onTouched((touched, position) => {
    for (const { viewCache, keys } of touched) running.get(viewCache)?.touched(keys, position);
  });
  const [stop, abort, stopProjector] = [new AbortController(), new AbortController(), new AbortController()];
  setMaxListeners(0, stop.signal, abort.signal, stopProjector.signal);
  const following = projector.run(stopProjector.signal);
  const processing = Promise.all([...running.values()].map((process) => process.run(stop.signal, abort.signal)));

  const settle = async (): Promise<void> => {
    let last = -2n;
    for (let quietTurns = 0; quietTurns < QUIET_TURNS; quietTurns += 1) {
      await new Promise((resolve) => void setImmediate(resolve));
      const end = await store.end();
      if (end !== last || projector.position() < end || isWorking()) quietTurns = 0;
      last = end;
    }
  };
  return {
    aggregates,
    views,
    isBusy: isWorking,
    settle,
    pass: async (seconds, step = 1) => {
      for (let passed = 0; passed < seconds; passed += step) {
        await settle();
        await clock.advance({ seconds: step });
      }
      await settle();
    },
    kill: async () => {
      abort.abort(new Error('killed'));
      stop.abort();
      await processing;
      stopProjector.abort();
      await following;
    },
  };
}

/** Files are read and written by real time: no time passes meanwhile. */
function watched({
  get,
  put,
  putIfAbsent,
  remove,
  list,
}: Secrets): Readonly<{ secrets: Secrets; isReading: () => boolean }> {
  let underWay = 0;
  const during = async <T>(work: Promise<T>): Promise<T> => {
    underWay += 1;
    try {
      return await work;
    } finally {
      underWay -= 1;
    }
  };
  const secrets: Secrets = {
    get: (id) => during(get(id)),
    put: (id, value) => during(put(id, value)),
    putIfAbsent: (id, value) => during(putIfAbsent(id, value)),
    remove: (id) => during(remove(id)),
    list: () => during(list()),
  };
  return { secrets, isReading: () => underWay > 0 };
}
