import { readRouterSightings } from '../application/ip-control/router-sightings.ts';
import { mkdir } from 'node:fs/promises';
import { CLOUD_DRIVERS, createOpenCloud } from '../adapters/clouds/open-cloud.ts';
import { systemClock } from '../adapters/clock.ts';
import { systemIds } from '../adapters/ids.ts';
import { createOpenRouter, ROUTER_DRIVERS } from '../adapters/routers/open-router.ts';
import type { ServedApplication } from '../application/application.ts';
import { commitNow } from '../application/ip-control/commit-now.ts';
import { rehearsalLog, rehearsalSecrets, rehearsalSnapshots } from '../application/operations/rehearsal.ts';
import type { Config } from '../config.ts';
import { workersUrlOf } from '../domain/worker-pools/workers-url.ts';
import { asStored } from '../events/codec.ts';
import { isCustomerEvent } from '../events/ip-control/customer.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Log } from '../ports/log.ts';
import { projectionsOf, projectionStatus } from './application.ts';
import { EVENT_CATALOGUE, openAggregates } from './contexts.ts';
import type { Reading } from './reading.ts';
import { viewsShow } from './views-show.ts';
import { openRouterChecks } from './router-checks.ts';
import type { Runners } from './runners.ts';
import { codec, openEventStore, type Stores } from './stores.ts';

/** What a server serves administrators with, and what that leaves open. */
export type OpenedApplication = Readonly<{
  application: ServedApplication;
  rehearse: () => ServedApplication;
  close: () => Promise<void>;
}>;

type Served = Pick<Runners, 'aggregates' | 'views' | 'watch' | 'sender'> &
  Readonly<{ reading: Pick<Reading, 'shown'> }>;

/** Puts together what use cases work with from the parts of a running server: nothing is opened twice that the server has already. */
export function openServedApplication(
  config: Config,
  stores: Stores,
  { aggregates, views, watch, sender, reading }: Served,
  log: Log,
): OpenedApplication {
  const { store, secrets, evidence, snapshots } = stores;
  const [clock, ids] = [systemClock, systemIds];
  const projections = projectionsOf(config, views, stores.readModels);
  const names = projections.map(({ name }) => name);
  let stored: Promise<EventStore> | undefined;
  const application: ServedApplication = {
    ...aggregates,
    store,
    clock,
    ids,
    secrets,
    evidence,
    views,
    openRouter: createOpenRouter({ secrets, clock, ids }),
    cloudDrivers: CLOUD_DRIVERS,
    openCloud: createOpenCloud(),
    workersUrl: workersUrlOf(config),
    eventTypes: EVENT_CATALOGUE.map(({ type }) => type),
    isCustomerEvent,
    projections: {
      names,
      status: () => projectionStatus(stores, projections, log),
      rebuild: () => Promise.reject(new Error('a server rebuilds no views while it serves them')),
    },
    routerSightings: () => readRouterSightings(stores.readModels),
    routerChecks: openRouterChecks(
      { config, aggregates, stores, beforePushing: () => Promise.resolve(), log },
      { isCommand: false },
    ),
    commitNow: (customerId, regionId, list, context) => {
      const timeoutMilliseconds = config.synchronousTimeoutMilliseconds;
      const commit = { customerId, regionId, list, reason: 'operator', timeoutMilliseconds } as const;
      return commitNow(commit, context, { customers: aggregates.customers, watch, clock, ids });
    },
    // What may be deleted, and what is used, is decided by views: older ones than the log would decide wrongly.
    catchUp: () => viewsShow({ store }, reading.shown),
    close: () => Promise.resolve(),
    sender,
    storeAsStored: () => {
      // A log that can't be opened now may be later.
      stored ??= openEventStore(config, asStored(codec), log).catch((error: unknown) => {
        stored = undefined;
        throw error;
      });
      return stored;
    },
    routerReach: { drivers: ROUTER_DRIVERS, root: config.routerFilesRoot },
    makeFolder: (path) => mkdir(path, { recursive: true }),
  };
  return {
    application,
    rehearse: () => {
      const rehearsal = rehearsalLog(store);
      const rehearsed = openAggregates({
        store: rehearsal,
        codec,
        snapshots: rehearsalSnapshots(snapshots),
        clock,
        ids,
        log,
      });
      return { ...application, ...rehearsed, store: rehearsal, secrets: rehearsalSecrets(secrets) };
    },
    close: async () => (await stored?.catch(() => undefined))?.close(),
  };
}
