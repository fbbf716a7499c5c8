import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { systemClock } from '../adapters/clock.ts';
import { systemIds } from '../adapters/ids.ts';
import { commitRegionsNow } from '../application/ip-control/commit-now.ts';
import type { CommandContext } from '../commands/aggregate.ts';
import type { Config } from '../config.ts';
import { rememberedRegionLimits } from '../application/ip-control/region-limits.ts';
import { createHttpServer } from '../http/app.ts';
import { createMetricsServer } from '../http/operations/metrics.ts';
import { sharedCounts } from '../http/middleware/shared-counts.ts';
import { StoreUnavailable } from '../ports/event-store.ts';
import type { Lease } from '../ports/leases.ts';
import type { Log } from '../ports/log.ts';
import { type EvidenceRecovery, startEvidenceRecovery } from './evidence-recovery.ts';
import { LEADERS_LEASE } from './leadership.ts';
import { readiness } from './readiness.ts';
import { startRunners } from './runners.ts';
import { openStores, type Stores } from './stores.ts';

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
