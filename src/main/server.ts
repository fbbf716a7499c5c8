import type { AddressInfo } from 'node:net';
import { once, setMaxListeners } from 'node:events';
import type { Server } from 'node:http';
import { systemClock } from '../adapters/clock.ts';
import { systemIds } from '../adapters/ids.ts';
import { createOpenCloud } from '../adapters/clouds/open-cloud.ts';
import { createOpenRouter } from '../adapters/routers/open-router.ts';
import { createWebhookSender } from '../adapters/webhooks/webhook-sender.ts';
import { commitNow } from '../commands/ip-control/commit-now.ts';
import { type CommitWatch, openCommitWatch } from '../commands/ip-control/commit-watch.ts';
import type { Config } from '../config.ts';
import { createHttpServer } from '../http/app.ts';
import { watchConnections } from '../http/connections.ts';
import type { Lease } from '../ports/leases.ts';
import type { Log } from '../ports/log.ts';
import { type Feed, openProjector, type Projector } from '../projections/projector.ts';
import { openAggregates } from './aggregates.ts';
import { type EvidenceRecovery, startEvidenceRecovery } from './evidence-recovery.ts';
import { type WiredProcess, wireProcesses } from './processes.ts';
import { openRouterDrivers } from './router-drivers.ts';
import { codec, openStores, type Stores } from './stores.ts';
import { openViews } from './views.ts';

/** A server that accepts requests. */
export type RunningServer = Readonly<{
  url: string;
  /** Whether what the log holds up to a position can be read, as soon as it can. */
  shows: (position: bigint) => Promise<boolean>;
  /** Rejects when a part of the server can't go on; resolves after `stop`. */
  ended: Promise<void>;
  /** Stops accepting, finishes requests and deployments under way (bounded), saves, closes. */
  stop: () => Promise<void>;
}>;

/** Another server has this data directory. */
export class AlreadyServed extends Error {
  override readonly name = 'AlreadyServed';
}

const LEASE_WAIT_MILLISECONDS = 15_000;
const REQUESTS_END_MILLISECONDS = 10_000;
const SHOWN_MILLISECONDS = 5_000;
const CAUGHT_UP_MILLISECONDS = 10_000;

/** Starts everything, in the order in which data flows; resolves when HTTP is listening. */
export async function startServer(config: Config, log: Log): Promise<RunningServer> {
  const stores = await openStores(config, log, 'serve');
  try {
    const leases = await takeLeases(stores, config);
    return await startParts(config, log, stores, leases);
  } catch (error) {
    await stores.close();
    throw error;
  }
}

/** What follows the log: views, process managers, and who waits for commits. */
type Runners = Readonly<{
  projector: Projector;
  watch: CommitWatch;
  ended: Promise<void>;
  /** Lets duties under way end, for a while; then breaks them off. Views are saved. */
  stop: (patienceMilliseconds: number) => Promise<void>;
}>;

async function startParts(config: Config, log: Log, stores: Stores, leases: readonly Lease[]): Promise<RunningServer> {
  const { store, readModels, snapshots, secrets, evidence } = stores;
  const [clock, ids] = [systemClock, systemIds];
  const aggregates = openAggregates({ store, codec, snapshots, clock, ids, log });
  const routerDrivers = openRouterDrivers(createOpenRouter({ secrets, clock, ids }));
  const sender = createWebhookSender({
    clock,
    timeoutMilliseconds: config.webhookTimeoutMilliseconds,
    allowPrivate: config.webhookAllowPrivate,
  });
  const views = openViews(readModels);
  const openCloud = createOpenCloud({});
  const tools = { config, aggregates, routerDrivers, openCloud, sender, store, secrets, clock, ids, log };
  const startedAt = await store.end();
  const runners = await startRunners(stores, Object.values(views), wireProcesses(readModels, tools), log);
  const http = createHttpServer({
    customers: aggregates.customers,
    views,
    evidence,
    ids,
    commitNow: (customerId, regionId, context) =>
      commitNow(
        {
          customerId,
          regionId,
          list: 'BLACKHOLE',
          reason: 'synchronous',
          timeoutMilliseconds: config.synchronousTimeoutMilliseconds,
        },
        context,
        { customers: aggregates.customers, watch: runners.watch, clock, ids },
      ),
    shown: (position) => runners.projector.reached(position, SHOWN_MILLISECONDS),
    readiness: () => readiness(stores, runners.projector, startedAt),
    isCaughtUp: () => runners.projector.position() >= startedAt,
    log,
    trustProxy: config.trustProxy,
  });
  const connections = watchConnections(http);
  let evidenceRecovery: EvidenceRecovery | undefined;
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= stopParts());
  try {
    evidenceRecovery = await startEvidenceRecovery(stores, { clock, log });
    // Whoever calls at once after a restart finds what he was told before; after the bound he hears 503 until then.
    await Promise.race([runners.projector.reached(startedAt, CAUGHT_UP_MILLISECONDS), runners.ended]);
    const url = await listen(http, config);
    log.info({ url, pid: process.pid }, 'edgeward is listening');
    const shows = (position: bigint): Promise<boolean> => runners.projector.reached(position, SHOWN_MILLISECONDS);
    return { url, shows, ended: runners.ended, stop };
  } catch (error) {
    await stop();
    throw error;
  }

  async function stopParts(): Promise<void> {
    log.info({}, 'stopping');
    await connections.close(REQUESTS_END_MILLISECONDS);
    await evidenceRecovery?.stop();
    await runners.stop(config.deployTimeoutMilliseconds);
    await Promise.all([routerDrivers.close(), sender.close()]);
    for (const lease of leases) await lease.release();
    await stores.close();
    log.info({}, 'stopped');
  }
}

async function startRunners(
  { store, readModels }: Stores,
  views: readonly Feed[],
  wired: readonly WiredProcess[],
  log: Log,
): Promise<Runners> {
  const clock = systemClock;
  const feeds = [...views, ...wired.map(({ shelf }) => shelf)];
  const projector = openProjector(feeds, { store, readModels, clock, log, writes: true });
  await projector.open();
  const running = new Map(wired.map(({ shelf, start }) => [shelf.name, start(projector)]));
  projector.onTouched((touched) => {
    for (const { shelf, keys } of touched) running.get(shelf)?.touched(keys);
  });
  const watch = await openCommitWatch(store);
  const [stopDuties, abortDuties, stopFollowing] = [
    new AbortController(),
    new AbortController(),
    new AbortController(),
  ];
  // As many as there are duties under way: each has its own end, none is a leak.
  setMaxListeners(0, abortDuties.signal, stopFollowing.signal);
  const following = projector.run(stopFollowing.signal);
  const watching = watch.run(stopFollowing.signal);
  const processes = [...running.values()].map((process) => process.run(stopDuties.signal, abortDuties.signal));
  const processing = Promise.all(processes);
  return {
    projector,
    watch,
    ended: Promise.all([following, watching, processing]).then(() => undefined),
    stop: async (patienceMilliseconds) => {
      stopDuties.abort();
      const patience = clock.wait(patienceMilliseconds, stopFollowing.signal).then(
        () => abortDuties.abort(),
        () => undefined,
      );
      await processing.catch(() => undefined);
      stopFollowing.abort();
      await Promise.allSettled([following, watching, patience]);
    },
  };
}

async function takeLeases({ leases, areShared }: Stores, config: Config): Promise<readonly Lease[]> {
  // A command may hold this for a moment, to bring views up to date.
  const projections = (): Promise<Lease> => leases.acquire('projections', AbortSignal.timeout(LEASE_WAIT_MILLISECONDS));
  if (areShared) return [await projections()];
  const server = await leases.tryAcquire('server');
  if ('heldBy' in server) throw new AlreadyServed(`another server runs on ${config.dataDir}: ${server.heldBy}`);
  return [server, await projections()];
}

async function readiness(
  { store }: Stores,
  projector: Projector,
  startedAt: bigint,
): Promise<Record<string, string | undefined>> {
  const isReachable = await store.end().then(
    () => true,
    () => false,
  );
  return {
    event_store: isReachable ? undefined : 'unreachable',
    projections: projector.position() >= startedAt ? undefined : 'catching up',
  };
}

async function listen(http: Server, { host, port }: Config): Promise<string> {
  http.listen(port, host);
  await once(http, 'listening');
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return urlOf(address);
}

function urlOf({ address, port, family }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
