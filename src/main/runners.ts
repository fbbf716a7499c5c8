import { CLOUD_DRIVERS, createOpenCloud } from '../adapters/clouds/open-cloud.ts';
import { systemClock } from '../adapters/clock.ts';
import { systemIds } from '../adapters/ids.ts';
import { createOpenRouter } from '../adapters/routers/open-router.ts';
import { createWebhookSender } from '../adapters/webhooks/webhook-sender.ts';
import { type CommitWatch, openCommitWatch } from '../application/ip-control/commit-watch.ts';
import type { CommandContext } from '../commands/aggregate.ts';
import { readLargeCustomers } from '../application/ip-control/large-customers.ts';
import { keepSnapshots, SNAPSHOT_EVERY } from '../commands/snapshotting.ts';
import { aborted } from '../concurrency/deadline.ts';
import type { Config } from '../config.ts';
import { StoreUnavailable } from '../ports/event-store.ts';
import type { Lease } from '../ports/leases.ts';
import type { Log } from '../ports/log.ts';
import type { ReadModels } from '../ports/read-models.ts';
import type { WebhookSender } from '../ports/webhooks.ts';
import { type Aggregates, openAggregates, openViews, wireProcesses } from './contexts.ts';
import type { Instruments } from '../http/operations/instruments.ts';
import { eventMetrics, measurePushes, namesOfRegions, withMeasuredAppends } from './event-metrics.ts';
import { fencedTools } from './fencing.ts';
import { compete } from './leadership.ts';
import { type Reading, readingAlone, readingAmongOthers } from './reading.ts';
import type { Reached } from './process-wiring.ts';
import { openRestoring, type Restoring } from './restoring.ts';
import { openRouterDrivers } from './router-drivers.ts';
import { type SeenRouters, seeRouters } from './seen-routers.ts';
import { codec, type Stores } from './stores.ts';
import { startTerm, type Term } from './term.ts';
import { openWorkerService, type WorkerService } from './worker-service.ts';

/** What follows the log: views, process managers, and who waits for commits. */
export type Runners = Readonly<{
  aggregates: Aggregates;
  views: ReturnType<typeof openViews>;
  reading: Reading;
  watch: CommitWatch;
  restoring: Restoring;
  sender: WebhookSender;
  /** What this server has seen of routers since it leads, and which could not be reached before; nothing while it does not, as it asks them nothing then. */
  seenRouters: SeenRouters['seen'];
  /** Whether this server leads at this moment. */
  leads: () => boolean;
  workerApi: WorkerService['workerApi'];
  /** Rejects when one of them can't go on; resolves after `stop`. */
  ended: Promise<void>;
  /** Lets duties under way end, for a while; then breaks them off. Views are saved. */
  stop: () => Promise<void>;
}>;

const WATCH_AGAIN_MILLISECONDS = 1_000;

/** Starts them: the leader keeps the views and runs the process managers. `first` is the lease of the first term, where it is held. */
export async function startRunners(
  config: Config,
  log: Log,
  stores: Stores,
  first: Lease | undefined,
  { restored, instruments }: Readonly<{ restored?: CommandContext | undefined; instruments: Instruments }>,
): Promise<Runners> {
  const { store, readModels, snapshots, secrets, leases, areShared } = stores;
  const [clock, ids] = [systemClock, systemIds];
  const measured = withMeasuredAppends(store, instruments, clock);
  const aggregates = openAggregates({ store: measured, codec, snapshots, clock, ids, log });
  const restoring = openRestoring(aggregates, { store, ids, log });
  if (restored !== undefined) await restoring.begin('operator', restored);
  const regionName = namesOfRegions(aggregates);
  const opened = openRouterDrivers(createOpenRouter({ secrets, clock, ids }));
  const pushed = measurePushes(instruments, regionName, log);
  const { drivers: routerDrivers, ...seeing } = seeRouters(opened, pushed, { readModels, clock, log });
  const sender = createWebhookSender({
    clock,
    timeoutMilliseconds: config.webhookTimeoutMilliseconds,
    allowPrivate: config.webhookAllowPrivate,
  });
  const [openCloud, cloudDrivers] = [createOpenCloud(), CLOUD_DRIVERS];
  const tools = { config, aggregates, routerDrivers, openCloud, cloudDrivers, sender, store, secrets, clock, ids, log };
  const views = openViews({ store, readModels, clock, log });
  const allViews = Object.values(views);
  const reached: Reached = (position, milliseconds) => reading.reached(position, milliseconds);
  const workerService = openWorkerService(aggregates, views, stores, { clock, ids, log, reached });
  const start = async (lease: Lease): Promise<Term> => {
    await seeing.takeOver();
    const feeds = allViews.map((view) => view.newViewCache());
    const wired = wireProcesses(readModels, { ...fencedTools(tools, lease), ...workerService.forEngine });
    const { whenAhead } = restoring;
    const term = await startTerm({ feeds, wired, store, readModels, log, lease, areShared, whenAhead });
    await warned(restoring, term);
    void readAhead({ aggregates, views, readModels }, term, log);
    return term;
  };
  const readMemory = (isHeld: () => boolean): void => allViews.forEach((view) => view.readViewCache(isHeld));
  const readStores = (): void => allViews.forEach((view) => view.readStoredViews());
  const watch = await openCommitWatch(store, log, eventMetrics(instruments, regionName));
  const stopWatching = new AbortController();
  const leadership = compete({ leases, first, start, readMemory, readStores, clock, log });
  const reading = areShared
    ? readingAmongOthers(allViews, { readModels, store, clock })
    : readingAlone(leadership, clock);
  const watching = Promise.all([
    watchOnAndOn(watch.run, 'the ends of commits', stopWatching.signal, log),
    watchOnAndOn(workerService.run, 'the work that waits', stopWatching.signal, log),
  ]);
  const ended = Promise.all([leadership.ended, watching]).then(() => undefined);
  ended.catch(() => undefined);
  return {
    aggregates,
    views,
    reading,
    watch,
    restoring,
    sender,
    seenRouters: (...router) => (leadership.leads() ? seeing.seen(...router) : undefined),
    leads: leadership.leads,
    workerApi: workerService.workerApi,
    ended,
    stop: async () => {
      await leadership.stop(config.deployTimeoutMilliseconds);
      stopWatching.abort();
      await Promise.allSettled([watching, seeing.stop(), routerDrivers.close(), sender.close()]);
    },
  };
}

/** A term that can't be warned of a restored log is none. */
async function warned(restoring: Restoring, term: Term): Promise<void> {
  try {
    await restoring.warn();
  } catch (error) {
    await term.breakOff(error instanceof Error ? error : new Error('the term could not be begun'));
    throw error;
  }
}

/** What had to be read again from the log, as after a copy of it, is long for the first command as well; so is what is large. It is done beside the first requests. */
async function readAhead(
  {
    aggregates,
    views,
    readModels,
  }: Readonly<{ aggregates: Aggregates; views: ReturnType<typeof openViews>; readModels: ReadModels }>,
  { caughtUp, projector }: Pick<Term, 'caughtUp' | 'projector'>,
  log: Log,
): Promise<void> {
  try {
    await caughtUp;
    await keepSnapshots(aggregates, projector.longStreams(SNAPSHOT_EVERY));
    await readLargeCustomers({ customers: aggregates.customers, addresses: views.addresses, readModels, log });
  } catch (error) {
    log.debug({ error }, 'not all that is long or large was read at the start; the first request on each reads it');
  }
}

/** A log that is away for a while is watched again when it is back. */
async function watchOnAndOn(
  run: (signal: AbortSignal) => Promise<void>,
  what: string,
  signal: AbortSignal,
  log: Log,
): Promise<void> {
  while (!signal.aborted) {
    try {
      // It only reads: a read that waits for views which will never be there must not hold up the end.
      await Promise.race([run(signal), aborted(signal)]);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      log.debug({ error }, `${what} can not be seen; trying again`);
      await systemClock.wait(WATCH_AGAIN_MILLISECONDS, signal).catch(() => undefined);
    }
  }
}
