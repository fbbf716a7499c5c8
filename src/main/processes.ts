import { createKeyedMutex } from '../concurrency/keyed-mutex.ts';
import type { Config } from '../config.ts';
import type { Event } from '../kernel/event.ts';
import type { Duty, Perform, Process } from '../kernel/process.ts';
import type { Clock } from '../ports/clock.ts';
import type { OpenCloud } from '../ports/clouds.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Ids } from '../ports/ids.ts';
import type { Log } from '../ports/log.ts';
import type { ReadModels } from '../ports/read-models.ts';
import type { Secrets } from '../ports/secrets.ts';
import type { WebhookSender } from '../ports/webhooks.ts';
import { deliverWebhook, performDeliverWebhook } from '../processes/ip-control/deliver-webhook.ts';
import { deployCommit, type DeployCommitDuty, performDeployCommit } from '../processes/ip-control/deploy-commit.ts';
import { runDriftScans } from '../processes/ip-control/drift-scan.ts';
import { finishReservations, performFinishReservation } from '../processes/ip-control/finish-reservations.ts';
import type { ReconcileDependencies } from '../processes/ip-control/pushing/reconcile-router.ts';
import { performRequestCommit, quietPeriod } from '../processes/ip-control/quiet-period.ts';
import { performRetireWebhookSecret, retireWebhookSecrets } from '../processes/ip-control/retire-webhook-secrets.ts';
import { routerMaintenance, performKeepRouter } from '../processes/ip-control/router-maintenance.ts';
import { openProcess, type ProcessDependencies, type RunningProcess, statesOf } from '../processes/process-manager.ts';
import { finishMemberships, performFinishMembership } from '../processes/worker-pools/finish-memberships.ts';
import { instanceLifecycle, performInstanceLifecycle } from '../processes/worker-pools/instance-lifecycle.ts';
import type { ProjectionTarget, Projector } from '../projections/engine/projector.ts';
import { type ViewCache, viewCacheOf } from '../projections/engine/view-cache.ts';
import type { Aggregates } from './contexts.ts';
import type { RouterDrivers } from './router-drivers.ts';

export type ProcessTools = Readonly<{
  config: Config;
  aggregates: Aggregates;
  routerDrivers: RouterDrivers;
  sender: WebhookSender;
  openCloud: OpenCloud;
  store: EventStore;
  secrets: Secrets;
  clock: Clock;
  ids: Ids;
  log: Log;
}>;

/** One process manager with the shelf of its states; it runs once there is a projector to feed it. */
export type WiredProcess = Readonly<{
  viewCache: ProjectionTarget;
  start: (projector: Pick<Projector, 'reached'>) => RunningProcess;
}>;

/*
 * What may hang outside has places of its own: a region, a customer's receiver, a pool's provider. The bounds in all keep memory and
 * sockets finite, and are so high that some dozens that hang leave places to the others.
 */

/** Deployments at the same moment; `REGION_CONCURRENCY` of them in one region, and each router takes one change at a time. */
const DEPLOYMENTS_MAX = 1_024;
/** Routers that are compared at the same moment because somebody has asked for it. */
const LOOKS_MAX = 1_024;
const LOOKS_IN_REGION_MAX = 8;
/** Regions whose routers are compared at the same moment in a round over all of them, and routers in each. */
const DRIFT_REGIONS_MAX = 64;
const DRIFT_LOOKS_IN_REGION_MAX = 4;
/** Deliveries under way, those that wait for a connection included; each is a request of a few hundred bytes. */
const WEBHOOKS_MAX = 16_384;
const WEBHOOKS_TO_CUSTOMER_MAX = 8;
/** Of commands on our own streams; nothing outside is asked. */
const REQUESTS_MAX = 32;
const INSTANCES_MAX = 1_024;
const INSTANCES_OF_POOL_MAX = 8;
/** How long a launch with an uncertain outcome is tried again before the provider's list decides. */
const LAUNCH_PATIENCE_MILLISECONDS = 600_000;

/** The process managers that a configuration stands for. Their names, for rebuilds, need no tools. */
export function processDefinitions(config: Config) {
  return {
    quietPeriod: quietPeriod({
      quietMilliseconds: config.quietPeriodMilliseconds,
      quietMillisecondsMax: config.quietPeriodMillisecondsMax,
      retryMilliseconds: config.commitRetryMilliseconds,
    }),
    deployCommit,
    routerMaintenance,
    deliverWebhook: deliverWebhook(config.webhookRetryDelayMilliseconds),
    retireWebhookSecrets,
    finishReservations,
    finishMemberships,
    instanceLifecycle,
  };
}

/** Shelves of the processes' states. */
export function processViewCaches(config: Config, readModels: ReadModels): readonly ProjectionTarget[] {
  const {
    quietPeriod: quiet,
    deployCommit: deploy,
    deliverWebhook: deliver,
    finishReservations: finish,
  } = processDefinitions(config);
  return [
    viewCacheOf(statesOf(quiet), readModels),
    viewCacheOf(statesOf(deploy), readModels),
    viewCacheOf(statesOf(routerMaintenance), readModels),
    viewCacheOf(statesOf(deliver), readModels),
    viewCacheOf(statesOf(retireWebhookSecrets), readModels),
    viewCacheOf(statesOf(finish), readModels),
    viewCacheOf(statesOf(finishMemberships), readModels),
    viewCacheOf(statesOf(instanceLifecycle), readModels),
  ];
}

function deploymentLane({ data }: DeployCommitDuty): string {
  return data.step === 0 ? String(data.regionId) : `${data.regionId}/slow`;
}

/** Connects each process manager with what performs its duties. */
export function wireProcesses(readModels: ReadModels, tools: ProcessTools): readonly WiredProcess[] {
  const { config, aggregates, routerDrivers, store, clock, ids, log } = tools;
  const definitions = processDefinitions(config);
  const turns = createKeyedMutex();
  const timeoutMilliseconds = config.deployTimeoutMilliseconds;
  const { driverOf } = routerDrivers;
  return [
    wire(
      definitions.finishReservations,
      performFinishReservation(aggregates),
      { concurrency: REQUESTS_MAX },
      readModels,
      tools,
    ),
    wire(
      definitions.quietPeriod,
      performRequestCommit(aggregates.customers, ids),
      { concurrency: REQUESTS_MAX, everyMilliseconds: config.schedulerIntervalMilliseconds },
      readModels,
      tools,
    ),
    wire(
      definitions.deployCommit,
      performDeployCommit({
        ...aggregates,
        store,
        driverOf,
        turns,
        clock,
        log,
        timeoutMilliseconds,
      }),
      // Routers that hang in one region leave places to the others, and what is slow in a region leaves them to what is not.
      {
        concurrency: DEPLOYMENTS_MAX,
        lanes: { of: deploymentLane, concurrency: config.regionConcurrency },
      },
      readModels,
      tools,
    ),
    wireRouterUpkeep(readModels, tools, {
      ...aggregates,
      store,
      driverOf,
      turns,
      clock,
      ids,
      log,
      timeoutMilliseconds,
    }),
    wire(
      definitions.deliverWebhook,
      performDeliverWebhook({ ...aggregates, ...tools, retries: config.webhookRetries }),
      // So does a slow receiver.
      {
        concurrency: WEBHOOKS_MAX,
        lanes: { of: ({ data }) => String(data.customerId), concurrency: WEBHOOKS_TO_CUSTOMER_MAX },
      },
      readModels,
      tools,
    ),
    wire(
      retireWebhookSecrets,
      performRetireWebhookSecret({ ...aggregates, ...tools }),
      { concurrency: REQUESTS_MAX },
      readModels,
      tools,
    ),
    ...wireWorkerPools(readModels, tools),
  ];
}

/** What operators ask for is done at once; all routers are compared, round after round, beside it. */
function wireRouterUpkeep(readModels: ReadModels, tools: ProcessTools, look: ReconcileDependencies): WiredProcess {
  const wired = wire(
    routerMaintenance,
    performKeepRouter(look),
    { concurrency: LOOKS_MAX, lanes: { of: ({ data }) => String(data.regionId), concurrency: LOOKS_IN_REGION_MAX } },
    readModels,
    tools,
  );
  const everyMilliseconds = tools.config.driftIntervalMilliseconds;
  const rounds = {
    ...look,
    everyMilliseconds,
    regionsAtOnce: DRIFT_REGIONS_MAX,
    routersAtOnce: DRIFT_LOOKS_IN_REGION_MAX,
    random: Math.random,
  };
  return {
    viewCache: wired.viewCache,
    start: (projector) => {
      const running = wired.start(projector);
      return {
        touched: running.touched,
        run: async (stop, abort) => {
          await Promise.all([running.run(stop, abort), runDriftScans(rounds, stop, abort)]);
        },
      };
    },
  };
}

function wireWorkerPools(readModels: ReadModels, tools: ProcessTools): readonly WiredProcess[] {
  const { aggregates, config } = tools;
  const performLifecycle = performInstanceLifecycle({
    ...aggregates,
    ...tools,
    serverUrl: `http://${config.host}:${config.port}`,
    launchPatienceMilliseconds: LAUNCH_PATIENCE_MILLISECONDS,
  });
  return [
    wire(finishMemberships, performFinishMembership(aggregates), { concurrency: REQUESTS_MAX }, readModels, tools),
    wire(
      instanceLifecycle,
      performLifecycle,
      // A provider that hangs leaves places to the pools of others.
      { concurrency: INSTANCES_MAX, lanes: { of: ({ data }) => data.pool, concurrency: INSTANCES_OF_POOL_MAX } },
      readModels,
      tools,
    ),
  ];
}

function wire<E extends Event, S extends object, D extends Duty>(
  process: Process<E, S, D>,
  perform: Perform<D>,
  bounds: Pick<ProcessDependencies<S, D>, 'concurrency' | 'lanes' | 'everyMilliseconds'>,
  readModels: ReadModels,
  { store, clock, log }: ProcessTools,
): WiredProcess {
  const viewCache: ViewCache<S> = viewCacheOf(statesOf(process), readModels);
  return {
    viewCache,
    start: (projector) =>
      openProcess(process, perform, {
        states: viewCache,
        store,
        clock,
        log,
        reached: (position, timeoutMilliseconds) => projector.reached(position, timeoutMilliseconds),
        ...bounds,
      }),
  };
}
