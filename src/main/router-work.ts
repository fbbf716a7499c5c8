import { systemClock } from '../adapters/clock.ts';
import { systemIds } from '../adapters/ids.ts';
import { createOpenRouter } from '../adapters/routers/open-router.ts';
import type { Config } from '../config.ts';
import type { Lease } from '../ports/leases.ts';
import type { Log } from '../ports/log.ts';
import type { DeployCommitDuty } from '../processes/ip-control/deploy-commit.ts';
import type { KeepRouterDuty } from '../processes/ip-control/router-maintenance.ts';
import { openProjector } from '../projections/engine/projector.ts';
import type { Aggregates } from './contexts.ts';
import { fencedRouterTools } from './fencing.ts';
import { routerProcesses } from './ip-control.ts';
import { holding, processesLease } from './leadership.ts';
import { openRouterDrivers } from './router-drivers.ts';
import type { Stores } from './stores.ts';

/** What a command that wants routers to be changed works with. */
export type RouterWork = Readonly<{
  config: Config;
  aggregates: Aggregates;
  stores: Stores;
  /** What must be known of the log and the stores before anything is pushed. */
  beforePushing: () => Promise<void>;
  log: Log;
}>;

/** The process managers that change routers: each pays the duties that are meant, until none is owed. */
export type RouterRunners = Readonly<{
  deploy: (isMeant: (duty: DeployCommitDuty) => boolean) => Promise<void>;
  maintain: (isMeant: (duty: KeepRouterDuty) => boolean) => Promise<void>;
}>;

/**
 * Opens in this process what a server would run, for a command that holds the `lease` of the processes, and closes it after the work.
 * Their states are brought up to date in memory only, as they may be another one's to save.
 */
export async function withRouterRunners<T>(
  {
    config,
    aggregates,
    stores,
    beforePushing,
    log,
  }: Omit<RouterWork, 'stores'> & Readonly<{ stores: Pick<Stores, 'store' | 'readModels' | 'secrets'> }>,
  lease: Pick<Lease, 'name' | 'isHeld'>,
  work: (runners: RouterRunners) => Promise<T>,
): Promise<T> {
  await beforePushing();
  const { store, readModels, secrets } = stores;
  const [clock, ids] = [systemClock, systemIds];
  // The command itself says what has failed.
  const quiet: Log = { ...log, error: log.info };
  const routerDrivers = openRouterDrivers(createOpenRouter({ secrets, clock, ids }));
  // A command that is suspended may go on when a server has long taken over.
  const tools = fencedRouterTools({ config, aggregates, routerDrivers, store, clock, ids }, lease);
  const { commits, maintenance } = routerProcesses(config);
  const deploying = commits.wire(readModels, { ...tools, log: quiet });
  const maintaining = maintenance.wire(readModels, { ...tools, log });
  const projector = openProjector([deploying.viewCache, maintaining.viewCache], {
    store,
    readModels,
    clock,
    log: quiet,
    writes: false,
  });
  try {
    await projector.open();
    return await work({
      deploy: (isMeant) => deploying.settle(projector, isMeant),
      maintain: (isMeant) => maintaining.settle(projector, isMeant),
    });
  } finally {
    await routerDrivers.close();
  }
}

/**
 * Does here what others were asked for, as soon as they have the lease of the processes no more: who has it may be a command, or die meanwhile, and
 * there may be no other. Until `done` aborts.
 */
export async function insteadOfOthers(
  { stores, log }: RouterWork,
  done: AbortSignal,
  here: (lease: Lease) => Promise<unknown>,
): Promise<void> {
  try {
    const lease = await stores.leases.acquire(processesLease(stores), done);
    await holding(lease, () => here(lease));
  } catch (error) {
    if (!done.aborted) log.warn({ error }, 'what was asked for could not be done by this command');
  }
}
