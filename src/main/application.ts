import { systemClock } from '../adapters/clock.ts';
import { systemIds } from '../adapters/ids.ts';
import { createOpenRouter } from '../adapters/routers/open-router.ts';
import type { Application, WithApplication } from '../application/application.ts';
import type { CommandContext } from '../commands/handle.ts';
import { commitNow, type CommitStatus } from '../application/ip-control/commit-now.ts';
import { openCommitWatch } from '../application/ip-control/commit-watch.ts';
import { commitKey } from '../commands/ip-control/customer-state.ts';
import { createKeyedMutex } from '../concurrency/keyed-mutex.ts';
import type { Config } from '../config.ts';
import type { ListKind } from '../events/ip-control/vocabulary.ts';
import { isRefusal } from '../kernel/decider.ts';
import { BEGINNING } from '../ports/event-store.ts';
import type { Lease, Leases } from '../ports/leases.ts';
import type { Log } from '../ports/log.ts';
import { performDeployCommit } from '../processes/ip-control/deploy-commit.ts';
import { carriedBy } from '../processes/ip-control/pushing/push-to-region.ts';
import { findAheadOfLog, isAmong } from '../projections/engine/ahead-of-log.ts';
import { type ProjectionTarget, openProjector } from '../projections/engine/projector.ts';
import { rebuildProjections } from '../projections/engine/rebuild.ts';
import type { ServedView } from '../projections/engine/view-reader.ts';
import {
  type Aggregates,
  EVENT_CATALOGUE,
  isCustomerEvent,
  openAggregates,
  openViews,
  processesOf,
} from './contexts.ts';
import { LEADERS_LEASE, processesLease } from './leadership.ts';
import { openRestoring, type Restoring } from './restoring.ts';
import { openRouterChecks } from './router-checks.ts';
import { openRouterDrivers } from './router-drivers.ts';
import { keepHeapSmall } from './small-heap.ts';
import { codec, openStores, type Stores } from './stores.ts';

/** Opens the house for one command over the stores that the settings name. */
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

function applicationOf(config: Config, log: Log, stores: Stores): Application {
  const { store, snapshots, secrets, readModels } = stores;
  const [clock, ids] = [systemClock, systemIds];
  const aggregates = openAggregates({ store, codec, snapshots, clock, ids, log });
  const openRouter = createOpenRouter({ secrets, clock: systemClock, ids: systemIds });
  const views = openViews({ store, readModels, clock });
  const viewCaches = (): readonly ProjectionTarget[] => [
    ...Object.values(views).map((view) => view.newViewCache()),
    ...processesOf(config).map((process) => process.statesIn(readModels)),
  ];
  const projections = viewCaches().map(({ name, version }) => ({ name, version }));
  const { whenAhead } = openRestoring(aggregates, { store, ids, log });
  const everyName = projections.map(({ name }) => name);
  /** What this command does itself may be the first that is done with a log that was put back. */
  const beforePushing = async (): Promise<void> => {
    await mendAlone(stores);
    const ahead = await findAheadOfLog(everyName, { store, readModels, log });
    if (ahead !== undefined) await whenAhead(ahead);
  };
  return {
    ...aggregates,
    store,
    clock,
    ids,
    secrets,
    evidence: stores.evidence,
    views,
    openRouter,
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
        return rebuildProjections(wanted, { store, readModels, clock, log, whenAhead }, progress);
      },
    },
    routerChecks: openRouterChecks(aggregates, stores, config, beforePushing, log),
    commitNow: (customerId, regionId, list, context) =>
      commitHereOrThere({ customerId, regionId, list, context }, aggregates, stores, config, beforePushing, log),
    close: stores.close,
  };
}

/** Beside a running server the views are brought up to date in memory only: the server saves them. */
async function catchUp(
  { store, readModels, leases }: Stores,
  views: readonly Pick<ServedView<object>, 'newViewCache' | 'readViewCache'>[],
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

/** What is damaged is put aside by whoever alone may write it: beside a running server it is the server's. */
async function mendAlone({ readModels, leases, areShared }: Stores): Promise<void> {
  if (areShared) return;
  const lease = await leases.tryAcquire(LEADERS_LEASE);
  if (!('heldBy' in lease)) await holding(lease, () => readModels.mend());
}

async function projectionStatus(
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
    // What is ahead of the log begins anew as soon as the views are opened.
    const position = collection !== undefined && isAmong(ahead, collection) ? BEGINNING : saved;
    return { name, version: collection?.version ?? version, position, behind: end - position };
  });
}

/** `context` tells who asks for it. */
type Commit = Readonly<{ customerId: number; regionId: number; list: ListKind; context: CommandContext }>;

/** A running server deploys what is requested; without one this process does, and keeps servers from doing so meanwhile. */
async function commitHereOrThere(
  commit: Commit,
  aggregates: Aggregates,
  stores: Stores,
  config: Config,
  beforePushing: () => Promise<void>,
  log: Log,
): Promise<CommitStatus> {
  const here = async (): Promise<CommitStatus> => {
    await beforePushing();
    return commitHere(commit, aggregates, stores, config, log);
  };
  const { leases, areShared } = stores;
  const lease = await leases.tryAcquire(processesLease(stores));
  if (!('heldBy' in lease)) return holding(lease, here);
  const done = new AbortController();
  // The one that leads may be a command, or die while we wait, and there may be no other.
  const instead = areShared ? insteadOfOthers(leases, done.signal, here, log) : undefined;
  try {
    return await commitThere(commit, aggregates, stores, config);
  } finally {
    done.abort();
    await instead;
  }
}

async function insteadOfOthers(
  leases: Leases,
  done: AbortSignal,
  here: () => Promise<CommitStatus>,
  log: Log,
): Promise<void> {
  try {
    await holding(await leases.acquire(LEADERS_LEASE, done), here);
  } catch (error) {
    if (!done.aborted) log.warn({ error }, 'the commit could not be deployed by this command');
  }
}

async function holding<T>(lease: Lease, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await lease.release();
  }
}

/** Requests the commit, and waits until whoever leads has deployed it. */
async function commitThere(
  { context, ...commit }: Commit,
  { customers }: Aggregates,
  { store }: Stores,
  config: Config,
): Promise<CommitStatus> {
  const watch = await openCommitWatch(store);
  const done = new AbortController();
  const watching = watch.run(done.signal);
  try {
    const timeoutMilliseconds = config.synchronousTimeoutMilliseconds;
    return await commitNow({ ...commit, reason: 'operator', timeoutMilliseconds }, context, {
      customers,
      watch,
      clock: systemClock,
      ids: systemIds,
    });
  } finally {
    done.abort();
    await watching;
  }
}

async function commitHere(
  { customerId, regionId, list, context }: Commit,
  { customers, regions, directory }: Aggregates,
  { secrets, store }: Stores,
  config: Config,
  log: Log,
): Promise<CommitStatus> {
  const drivers = openRouterDrivers(createOpenRouter({ secrets, clock: systemClock, ids: systemIds }));
  const deploy = performDeployCommit({
    customers,
    regions,
    directory,
    store,
    driverOf: drivers.driverOf,
    turns: createKeyedMutex(),
    clock: systemClock,
    // The command itself says what has failed.
    log: { ...log, error: log.info },
    timeoutMilliseconds: config.deployTimeoutMilliseconds,
  });
  try {
    const { revision: asked } = await customers.state(customerId);
    for (;;) {
      const request = { regionId, list, reason: 'operator', commitSetId: systemIds.uuid() } as const;
      const answer = await customers.handle(customerId, { type: 'RequestCommit', data: request }, context);
      if (isRefusal(answer) || answer.state.phase === 'unregistered') return 'success';
      const open = answer.state.commits.get(commitKey(regionId, list));
      if (open === undefined) return 'success';
      const { commitSetId, attempt, revision } = open;
      // A list that comes in slices takes as many steps.
      for (let step = 0; await isUnderWay(customers, customerId, { regionId, list, commitSetId, attempt }); step += 1) {
        const data = { customerId, regionId, list, commitSetId, attempt, step };
        await deploy({ type: 'DeployCommit', id: `${commitSetId}#${attempt}`, data }, new AbortController().signal);
      }
      // What a server has left unfinished says nothing of what came after it was requested.
      if (revision >= asked) break;
    }
  } finally {
    await drivers.close();
  }
  const { state } = await customers.state(customerId);
  return state.phase === 'registered' && state.commits.has(commitKey(regionId, list)) ? 'failed' : 'success';
}

async function isUnderWay(
  customers: Aggregates['customers'],
  customerId: number,
  attempt: Parameters<typeof carriedBy>[1],
): Promise<boolean> {
  return carriedBy((await customers.state(customerId)).state, attempt) !== undefined;
}
