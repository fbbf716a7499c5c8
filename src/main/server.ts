import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { systemClock } from '../adapters/clock.ts';
import { systemIds } from '../adapters/ids.ts';
import { createOpenCloud } from '../adapters/clouds/open-cloud.ts';
import { createOpenRouter } from '../adapters/routers/open-router.ts';
import { createWebhookSender } from '../adapters/webhooks/webhook-sender.ts';
import { commitRegionsNow } from '../application/ip-control/commit-now.ts';
import { type CommitWatch, openCommitWatch } from '../application/ip-control/commit-watch.ts';
import type { CommandContext } from '../commands/aggregate.ts';
import type { Config } from '../config.ts';
import { rememberedRegionLimits } from '../application/ip-control/region-limits.ts';
import { createHttpServer } from '../http/app.ts';
import { createMetricsServer } from '../http/operations/metrics.ts';
import { sharedCounts } from '../http/middleware/shared-counts.ts';
import { StoreUnavailable } from '../ports/event-store.ts';
import type { Lease } from '../ports/leases.ts';
import type { Log } from '../ports/log.ts';
import { type Aggregates, openAggregates, openViews, wireProcesses } from './contexts.ts';
import { type EvidenceRecovery, startEvidenceRecovery } from './evidence-recovery.ts';
import { fencedTools } from './fencing.ts';
import { compete, LEADERS_LEASE } from './leadership.ts';
import { readiness } from './readiness.ts';
import { type Reading, readingAlone, readingAmongOthers } from './reading.ts';
import { openRestoring, type Restoring } from './restoring.ts';
import { openRouterDrivers } from './router-drivers.ts';
import { type SeenRouters, seeRouters } from './seen-routers.ts';
import { codec, openStores, type Stores } from './stores.ts';
import { startTerm, type Term } from './term.ts';

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
const CAUGHT_UP_MILLISECONDS = 10_000;
const SHOWS_MILLISECONDS = 5_000;
const WATCH_AGAIN_MILLISECONDS = 1_000;

/** `restored`: an operator says that the log was put back from an older copy. */
export type ServeOptions = Readonly<{ restored?: CommandContext | undefined }>;

/** Starts everything, in the order in which data flows; resolves when HTTP is listening. */
export async function startServer(config: Config, log: Log, options: ServeOptions = {}): Promise<RunningServer> {
  const stores = await openStores(config, log, { label: 'serve', serves: true });
  try {
    return await startParts(config, log, stores, await takeOwnLeases(stores, config, log), options);
  } catch (error) {
    await stores.close();
    throw error;
  }
}

/** What a server that is alone on its stores holds from the start; among others, who leads is found out beside the work. */
type OwnLeases = Readonly<{ server: Lease | undefined; first: Lease | undefined }>;

async function takeOwnLeases({ leases, areShared }: Stores, config: Config, log: Log): Promise<OwnLeases> {
  if (areShared) return { server: undefined, first: undefined };
  const server = await leases.tryAcquire('server');
  if ('heldBy' in server) throw new AlreadyServed(`another server runs on ${config.dataDir}: ${server.heldBy}`);
  if (!config.eventStoreUrl.startsWith('sqlite:')) {
    log.warn({}, 'with read models in SQLite this must be the only server that uses this event store');
  }
  // A command may hold this for a moment, to bring views up to date.
  const first = await leases.acquire(LEADERS_LEASE, AbortSignal.timeout(LEASE_WAIT_MILLISECONDS));
  return { server, first };
}

/** What follows the log: views, process managers, and who waits for commits. */
type Runners = Readonly<{
  aggregates: Aggregates;
  views: ReturnType<typeof openViews>;
  reading: Reading;
  watch: CommitWatch;
  restoring: Restoring;
  lastSeen: SeenRouters['lastSeen'];
  /** Rejects when one of them can't go on; resolves after `stop`. */
  ended: Promise<void>;
  /** Lets duties under way end, for a while; then breaks them off. Views are saved. */
  stop: () => Promise<void>;
}>;

async function startParts(
  config: Config,
  log: Log,
  stores: Stores,
  own: OwnLeases,
  options: ServeOptions,
): Promise<RunningServer> {
  const [clock, ids] = [systemClock, systemIds];
  if (own.first !== undefined) await stores.readModels.mend();
  const startedAt = await stores.store.end();
  const runners = await startRunners(config, log, stores, own.first, options);
  const { aggregates, views, reading, watch, restoring, ended } = runners;
  const { customers } = aggregates;
  const { synchronousTimeoutMilliseconds: timeoutMilliseconds } = config;
  const { server: http, connections } = createHttpServer({
    customers,
    views,
    regionLimits: rememberedRegionLimits(views.regions, clock),
    evidence: stores.evidence,
    ids,
    commitNow: (customerId, regionIds, context) =>
      commitRegionsNow({ customerId, regionIds, timeoutMilliseconds }, context, { customers, watch, clock, ids }),
    shown: reading.shown,
    readiness: () => readiness(stores, reading, restoring, startedAt, { clock, log }),
    isCaughtUp: reading.isReadable,
    isOutage: (error) => error instanceof StoreUnavailable,
    log,
    clock,
    trustProxy: config.trustProxy,
    ...(stores.rateLimits === undefined ? {} : { rateLimitStore: sharedCounts(stores.rateLimits, { clock, log }) }),
  });
  const metrics = createMetricsServer(views, restoring.byRegion, {
    clock,
    log,
    lastSeen: runners.lastSeen,
    endedCommits: watch.ended,
  });
  let evidenceRecovery: EvidenceRecovery | undefined;
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= stopParts());
  try {
    evidenceRecovery = await startEvidenceRecovery(stores, { clock, log });
    // Whoever calls at once after a restart finds what he was told before; after the bound he hears 503 until then.
    await Promise.race([reading.reached(startedAt, CAUGHT_UP_MILLISECONDS), ended]);
    if (config.metricsPort !== undefined) {
      log.info({ url: await listen(metrics, config.host, config.metricsPort) }, 'metrics are served');
    }
    const url = await listen(http, config.host, config.port);
    log.info({ url, pid: process.pid }, 'edgeward is listening');
    return { url, shows: (position) => reading.reached(position, SHOWS_MILLISECONDS), ended, stop };
  } catch (error) {
    await stop();
    throw error;
  }

  async function stopParts(): Promise<void> {
    log.info({}, 'stopping');
    metrics.close();
    metrics.closeAllConnections();
    await connections.close(REQUESTS_END_MILLISECONDS);
    await evidenceRecovery?.stop();
    await runners.stop();
    await own.server?.release();
    await stores.close();
    log.info({}, 'stopped');
  }
}

async function startRunners(
  config: Config,
  log: Log,
  stores: Stores,
  first: Lease | undefined,
  options: ServeOptions,
): Promise<Runners> {
  const { store, readModels, snapshots, secrets, leases, areShared } = stores;
  const [clock, ids] = [systemClock, systemIds];
  const aggregates = openAggregates({ store, codec, snapshots, clock, ids, log });
  const restoring = openRestoring(aggregates, { store, ids, log });
  if (options.restored !== undefined) await restoring.begin('operator', options.restored);
  const opened = openRouterDrivers(createOpenRouter({ secrets, clock, ids }));
  const { drivers: routerDrivers, lastSeen } = seeRouters(opened, clock);
  const sender = createWebhookSender({
    clock,
    timeoutMilliseconds: config.webhookTimeoutMilliseconds,
    allowPrivate: config.webhookAllowPrivate,
  });
  const openCloud = createOpenCloud({});
  const tools = { config, aggregates, routerDrivers, openCloud, sender, store, secrets, clock, ids, log };
  const views = openViews({ store, readModels, clock });
  const allViews = Object.values(views);
  const start = async (lease: Lease): Promise<Term> => {
    const feeds = allViews.map((view) => view.newViewCache());
    const wired = wireProcesses(readModels, fencedTools(tools, lease));
    const { whenAhead } = restoring;
    const term = await startTerm({ feeds, wired, store, readModels, log, lease, areShared, whenAhead });
    await restoring.warn();
    return term;
  };
  const readMemory = (isHeld: () => boolean): void => allViews.forEach((view) => view.readViewCache(isHeld));
  const readStores = (): void => allViews.forEach((view) => view.readDirectly());
  const watch = await openCommitWatch(store);
  const stopWatching = new AbortController();
  const watching = watchCommits(watch, stopWatching.signal, log);
  const leadership = compete({ leases, first, start, readMemory, readStores, clock, log });
  const ended = Promise.all([leadership.ended, watching]).then(() => undefined);
  ended.catch(() => undefined);
  return {
    aggregates,
    views,
    reading: areShared ? readingAmongOthers(allViews, { readModels, store, clock }) : readingAlone(leadership, clock),
    watch,
    restoring,
    lastSeen,
    ended,
    stop: async () => {
      await leadership.stop(config.deployTimeoutMilliseconds);
      stopWatching.abort();
      await Promise.allSettled([watching, routerDrivers.close(), sender.close()]);
    },
  };
}

/** A log that is away for a while is watched again when it is back. */
async function watchCommits(watch: CommitWatch, signal: AbortSignal, log: Log): Promise<void> {
  while (!signal.aborted) {
    try {
      await watch.run(signal);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      log.debug({ error }, 'the ends of commits can not be seen; trying again');
      await systemClock.wait(WATCH_AGAIN_MILLISECONDS, signal).catch(() => undefined);
    }
  }
}

async function listen(http: Server, host: string, port: number): Promise<string> {
  http.listen(port, host);
  await once(http, 'listening');
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return urlOf(address);
}

function urlOf({ address, port, family }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
