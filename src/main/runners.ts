import { createOpenCloud } from '../adapters/clouds/open-cloud.ts';
import { systemClock } from '../adapters/clock.ts';
import { systemIds } from '../adapters/ids.ts';
import { createOpenRouter } from '../adapters/routers/open-router.ts';
import { createWebhookSender } from '../adapters/webhooks/webhook-sender.ts';
import { type CommitWatch, openCommitWatch } from '../application/ip-control/commit-watch.ts';
import type { CommandContext } from '../commands/aggregate.ts';
import type { Config } from '../config.ts';
import { StoreUnavailable } from '../ports/event-store.ts';
import type { Lease } from '../ports/leases.ts';
import type { Log } from '../ports/log.ts';
import { type Aggregates, openAggregates, openViews, wireProcesses } from './contexts.ts';
import { fencedTools } from './fencing.ts';
import { compete } from './leadership.ts';
import { type Reading, readingAlone, readingAmongOthers } from './reading.ts';
import { openRestoring, type Restoring } from './restoring.ts';
import { openRouterDrivers } from './router-drivers.ts';
import { type SeenRouters, seeRouters } from './seen-routers.ts';
import { codec, type Stores } from './stores.ts';
import { startTerm, type Term } from './term.ts';

/** What follows the log: views, process managers, and who waits for commits. */
export type Runners = Readonly<{
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

const WATCH_AGAIN_MILLISECONDS = 1_000;

/** Starts them: whoever leads keeps the views and runs the process managers. `first` is the lease of the first term, where it is held. */
export async function startRunners(
  config: Config,
  log: Log,
  stores: Stores,
  first: Lease | undefined,
  options: Readonly<{ restored?: CommandContext | undefined }>,
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
