import type { Server } from 'node:http';
import { systemClock } from '../adapters/clock.ts';
import { systemIds } from '../adapters/ids.ts';
import { commitRegionsNow } from '../application/ip-control/commit-now.ts';
import { rememberedRegionLimits } from '../application/ip-control/regions.ts';
import { openTokenUse } from '../application/ip-control/token-use.ts';
import type { CommandContext } from '../commands/aggregate.ts';
import type { Config } from '../config.ts';
import { createHttpServer, type Outage } from '../http/app.ts';
import { sharedCounts } from '../http/middleware/shared-counts.ts';
import type { Readiness } from '../http/operations/health.ts';
import { createInstruments } from '../http/operations/instruments.ts';
import { createMetricsServer } from '../http/operations/metrics.ts';
import { AppendInDoubt, AppendTooLarge, StoreUnavailable, ViewsBehind } from '../ports/event-store.ts';
import type { Lease } from '../ports/leases.ts';
import type { Log } from '../ports/log.ts';
import { openAdministration } from './administration.ts';
import { type EvidenceRecovery, startEvidenceRecovery } from './evidence-recovery.ts';
import { collectorsOf } from './collectors.ts';
import { keepServedBy, lastServedBy } from './data-directory.ts';
import { listen, requireFreePorts } from './listen.ts';
import { LEADERS_LEASE } from './leadership.ts';
import { readiness } from './readiness.ts';
import { startRunners } from './runners.ts';
import { openStores, type Stores } from './stores.ts';
import { VERSION } from './version.ts';

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

/** `restored`: an operator says that the log was put back from an older copy. */
export type ServeOptions = Readonly<{ restored?: CommandContext | undefined }>;

/** Starts everything, in the order in which data flows; resolves when HTTP is listening. */
export async function startServer(config: Config, log: Log, options: ServeOptions = {}): Promise<RunningServer> {
  const stores = await openStores(config, log, { label: 'serve', serves: true });
  try {
    const own = await takeOwnLeases(stores, config, log);
    if (lastServedBy(config.dataDir) !== VERSION) keepServedBy(config.dataDir, VERSION);
    await requireFreePorts(config);
    return await startParts(config, log, stores, own, options);
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

/** What the settings say of the customers' server, and where its counts are shared. */
function httpSettings({ corsOrigins, trustProxy }: Config, { rateLimits }: Stores, log: Log) {
  const shared =
    rateLimits === undefined ? {} : { rateLimitStore: sharedCounts(rateLimits, { clock: systemClock, log }) };
  return { corsOrigins, trustProxy, ...shared };
}

/** What leads by then would go on without its stores. */
async function openedOrStopped<T>(opening: Promise<T>, runners: Readonly<{ stop: () => Promise<void> }>): Promise<T> {
  try {
    return await opening;
  } catch (error) {
    await runners.stop();
    throw error;
  }
}

async function startParts(
  config: Config,
  log: Log,
  stores: Stores,
  own: OwnLeases,
  options: ServeOptions,
): Promise<RunningServer> {
  const [clock, ids, timeoutMilliseconds] = [systemClock, systemIds, config.synchronousTimeoutMilliseconds] as const;
  if (own.first !== undefined) await stores.readModels.mend();
  const startedAt = await stores.store.end();
  const instruments = createInstruments({ version: VERSION, node: process.versions.node });
  const runners = await startRunners(config, log, stores, own.first, { ...options, instruments });
  const { views, reading, watch, restoring, ended, workerApi, aggregates } = runners;
  const opening = openAdministration(config, log, stores, { ...runners, instruments }, outageOf);
  const administration = await openedOrStopped(opening, runners);
  const isReady: Readiness = async () => ({
    ...(await readiness(stores, reading, restoring, { clock, log })),
    version: VERSION,
  });
  const { server: http, connections } = createHttpServer({
    ...aggregates,
    views,
    regionLimits: rememberedRegionLimits(views.regions, clock),
    evidence: stores.evidence,
    ids,
    commitNow: (customerId, regionIds, context) =>
      commitRegionsNow({ customerId, regionIds, timeoutMilliseconds }, context, { ...aggregates, watch, clock, ids }),
    ...reading,
    noteUse: openTokenUse(aggregates.tokenUses, { clock, log }),
    readiness: isReady,
    workerApi,
    isCaughtUp: reading.isReadable,
    outageOf,
    log,
    clock,
    ...httpSettings(config, stores, log),
    instruments,
    ...(administration.beside === undefined ? {} : { administration: administration.beside }),
  });
  const collectors = collectorsOf(config, stores, runners, isReady, clock, instruments);
  const metrics = createMetricsServer(instruments.registry, collectors, { clock, log });
  let evidenceRecovery: EvidenceRecovery | undefined;
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= stopParts());
  try {
    evidenceRecovery = await startEvidenceRecovery(stores, { clock, log });
    // A client that calls at once after a restart finds what it was answered before; after the bound it gets 503 until then.
    await Promise.race([ended, reading.reached(startedAt, CAUGHT_UP_MILLISECONDS)]);
    await serveMetrics(metrics, config, log);
    await administration.listen();
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
    await administration.stop();
    await connections.close(REQUESTS_END_MILLISECONDS);
    await evidenceRecovery?.stop();
    await runners.stop();
    await administration.close();
    await own.server?.release();
    await stores.close();
    log.info({}, 'stopped');
  }
}

function outageOf(error: unknown): Outage | undefined {
  if (error instanceof AppendInDoubt) return 'unconfirmed';
  if (error instanceof AppendTooLarge) return 'changeTooLarge';
  if (error instanceof ViewsBehind) return 'behind';
  return error instanceof StoreUnavailable ? 'unavailable' : undefined;
}

async function serveMetrics(metrics: Server, { host, metricsPort }: Config, log: Log): Promise<void> {
  if (metricsPort !== undefined) log.info({ url: await listen(metrics, host, metricsPort) }, 'metrics are served');
}
