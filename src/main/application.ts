import { readRouterSightings } from '../application/ip-control/router-sightings.ts';
import { setFlagsFromString } from 'node:v8';
import { systemClock } from '../adapters/clock.ts';
import { systemIds } from '../adapters/ids.ts';
import { CLOUD_DRIVERS, createOpenCloud } from '../adapters/clouds/open-cloud.ts';
import { createOpenRouter } from '../adapters/routers/open-router.ts';
import type { Application, WithApplication } from '../application/application.ts';
import type { Config } from '../config.ts';
import { workersUrlOf } from '../domain/worker-pools/workers-url.ts';
import { isCustomerEvent } from '../events/ip-control/customer.ts';
import { BEGINNING } from '../ports/event-store.ts';
import type { Log } from '../ports/log.ts';
import type { ReadModels } from '../ports/read-models.ts';
import { findAheadOfLog, isAmong } from '../projections/engine/ahead-of-log.ts';
import type { ProjectionTarget } from '../projections/engine/fed-views.ts';
import { openProjector } from '../projections/engine/projector.ts';
import { rebuildProjections } from '../projections/engine/rebuild.ts';
import type { ViewReader } from '../projections/engine/view-reader.ts';
import { commitHereOrThere } from './command-commit.ts';
import { EVENT_CATALOGUE, openAggregates, openViews, processesOf } from './contexts.ts';
import { holding, LEADERS_LEASE } from './leadership.ts';
import { keepSnapshots, SNAPSHOT_EVERY } from '../commands/snapshotting.ts';
import { openRestoring, type Restoring } from './restoring.ts';
import { openRouterChecks } from './router-checks.ts';
import { codec, openStores, type Stores } from './stores.ts';

/** Opens the application for one command over the stores that the settings name. */
export function commandApplication(readConfig: () => Config, log: Log): WithApplication {
  return async (work) => {
    const config = readConfig();
    const stores = await openStores(config, log, { label: 'command', serves: false });
    try {
      return await work(applicationOf(config, log, stores));
    } finally {
      await stores.close();
    }
  };
}

/** The application over stores that are open; who has opened them closes them. */
export function applicationOf(config: Config, log: Log, stores: Stores): Application {
  const { store, snapshots, secrets, readModels } = stores;
  const [clock, ids] = [systemClock, systemIds];
  const aggregates = openAggregates({ store, codec, snapshots, clock, ids, log });
  const openRouter = createOpenRouter({ secrets, clock: systemClock, ids: systemIds });
  const views = openViews({ store, readModels, clock, log });
  const viewCaches = (): readonly ProjectionTarget[] => [
    ...Object.values(views).map((view) => view.newViewCache()),
    ...processesOf(config).map((process) => process.statesIn(readModels)),
  ];
  const projections = projectionsOf(config, views, readModels);
  const { whenAhead } = openRestoring(aggregates, { store, ids, log });
  const everyName = projections.map(({ name }) => name);
  /** What this command does itself may be the first that is done with a log that was put back. */
  const beforePushing = async (): Promise<void> => {
    await mendAlone(stores);
    const ahead = await findAheadOfLog(everyName, { store, readModels, log });
    if (ahead !== undefined) await whenAhead(ahead);
  };
  const routerWork = { config, aggregates, stores, beforePushing, log };
  return {
    ...aggregates,
    store,
    clock,
    ids,
    secrets,
    evidence: stores.evidence,
    views,
    openRouter,
    cloudDrivers: CLOUD_DRIVERS,
    openCloud: createOpenCloud(),
    eventTypes: EVENT_CATALOGUE.map(({ type }) => type),
    isCustomerEvent,
    catchUp: () => catchUp(stores, Object.values(views), whenAhead, log),
    projections: {
      names: everyName,
      status: async () => {
        await mendAlone(stores);
        return projectionStatus(stores, projections, log);
      },
      rebuild: async (names, progress) => {
        keepHeapSmall();
        await mendAlone(stores);
        const wanted = viewCaches().filter(({ name }) => names.includes(name));
        const dependencies = { store, readModels, clock, log, whenAhead };
        const longStreams = await rebuildProjections(wanted, dependencies, progress, SNAPSHOT_EVERY);
        await keepSnapshots(aggregates, longStreams);
      },
    },
    routerSightings: () => readRouterSightings(readModels),
    routerChecks: openRouterChecks(routerWork, { isCommand: true }),
    workersUrl: workersUrlOf(config),
    commitNow: (customerId, regionId, list, context) =>
      commitHereOrThere({ customerId, regionId, list, context }, routerWork),
    close: stores.close,
  };
}

/** Beside a running server the views are brought up to date in memory only: the server saves them. */
async function catchUp(
  { store, readModels, leases }: Stores,
  views: readonly Pick<ViewReader<object>, 'newViewCache' | 'readViewCache'>[],
  whenAhead: Restoring['whenAhead'],
  log: Log,
): Promise<void> {
  const lease = await leases.tryAcquire(LEADERS_LEASE);
  const writes = !('heldBy' in lease);
  try {
    const viewCaches = views.map((view) => view.newViewCache());
    const projector = openProjector(viewCaches, { store, readModels, clock: systemClock, log, writes, whenAhead });
    await projector.open();
    await projector.catchUp();
    for (const view of views) view.readViewCache();
  } finally {
    if (!('heldBy' in lease)) await lease.release();
  }
}

/** The only process that may write the views puts damaged ones aside: beside a running server that is the server. */
async function mendAlone({ readModels, leases, areShared }: Stores): Promise<void> {
  if (areShared) return;
  const lease = await leases.tryAcquire(LEADERS_LEASE);
  if (!('heldBy' in lease)) await holding(lease, () => readModels.mend());
}

/** Every projection that a configuration stands for: the views, and the states of the process managers. */
export function projectionsOf(
  config: Config,
  views: Readonly<Record<string, Readonly<{ name: string; version: number }>>>,
  readModels: ReadModels,
): readonly Readonly<{ name: string; version: number }>[] {
  const states = processesOf(config).map((process) => process.statesIn(readModels));
  return [...Object.values(views), ...states].map(({ name, version }) => ({ name, version }));
}

/** How far the saved views of these projections are. */
export async function projectionStatus(
  { store, readModels }: Stores,
  projections: readonly Readonly<{ name: string; version: number }>[],
  log: Log,
) {
  const end = await store.end();
  const names = projections.map(({ name }) => name);
  const standing = await readModels.standing(names);
  const ahead = await findAheadOfLog(names, { store, readModels, log });
  return projections.map(({ name, version }) => {
    const { collection, position: saved = BEGINNING } = standing.get(name) ?? {};
    // What is ahead of the log is built again as soon as the views are opened.
    const position = collection !== undefined && isAmong(ahead, collection) ? BEGINNING : saved;
    return { name, version: collection?.version ?? version, position, behind: end - position };
  });
}

/**
 * Lets the heap of this process grow by half of what is alive between two full collections, where V8 lets it grow to a multiple,
 * and its part for young objects no more: a long run over the log leaves old views behind at every step, and pages of events
 * that nothing else holds. Keeping either for longer takes a third more memory and is no faster.
 */
function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=50');
  setFlagsFromString('--semi-space-growth-factor=1');
}
