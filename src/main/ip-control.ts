import { createKeyedMutex } from '../concurrency/keyed-mutex.ts';
import type { Config } from '../config.ts';
import type { CommitTimes } from '../domain/ip-control/commit-due.ts';
import { deliverWebhook, performDeliverWebhook } from '../processes/ip-control/deliver-webhook.ts';
import { deployCommit, type DeployCommitDuty, performDeployCommit } from '../processes/ip-control/deploy-commit.ts';
import { runDriftScans } from '../processes/ip-control/drift-scan.ts';
import { expiry, performEndDisabledTerm } from '../processes/ip-control/expiry.ts';
import { finishReservations, performFinishReservation } from '../processes/ip-control/finish-reservations.ts';
import { performRequestCommit, quietPeriod } from '../processes/ip-control/quiet-period.ts';
import { performRetireWebhookSecret, retireWebhookSecrets } from '../processes/ip-control/retire-webhook-secrets.ts';
import { performKeepRouter, routerMaintenance } from '../processes/ip-control/router-maintenance.ts';
import { type ProcessTools, type RegisteredProcess, registerProcess } from './process-wiring.ts';

/*
 * What may hang outside has places of its own: a region, a customer's receiver. The bounds in all keep memory and sockets finite, and are
 * so high that some dozens that hang leave places to the others.
 */

/** Deployments at the same moment; `REGION_CONCURRENCY` of them in one region, and each router takes one change at a time. */
const DEPLOYMENTS_MAX = 1_024;
/** Routers that are compared at the same moment because an operator has asked for it. */
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

/** When commits are asked for. */
export function commitTimes(config: Config): CommitTimes {
  return {
    quietMilliseconds: config.quietPeriodMilliseconds,
    quietMillisecondsMax: config.quietPeriodMillisecondsMax,
    retryMilliseconds: config.commitRetryDelaysMilliseconds,
  };
}

/** The process managers of IP control. */
export function ipControlProcesses(config: Config): readonly RegisteredProcess[] {
  const { commits, maintenance } = routerProcesses(config);
  return [
    registerProcess(
      quietPeriod(commitTimes(config)),
      ({ aggregates, ids }: ProcessTools) => performRequestCommit(aggregates.customers, ids),
      { concurrency: REQUESTS_MAX, everyMilliseconds: config.schedulerIntervalMilliseconds },
    ),
    commits,
    maintenance,
    registerProcess(
      deliverWebhook(config.webhookRetryDelayMilliseconds),
      (tools: ProcessTools) => performDeliverWebhook({ ...tools.aggregates, ...tools, retries: config.webhookRetries }),
      // A slow receiver leaves places to the others.
      {
        concurrency: WEBHOOKS_MAX,
        partitions: { of: ({ data }) => String(data.customerId), concurrency: WEBHOOKS_TO_CUSTOMER_MAX },
      },
    ),
    registerProcess(
      retireWebhookSecrets,
      (tools: ProcessTools) => performRetireWebhookSecret({ ...tools.aggregates, ...tools }),
      { concurrency: REQUESTS_MAX },
    ),
    registerProcess(expiry, ({ aggregates }: ProcessTools) => performEndDisabledTerm(aggregates), {
      concurrency: REQUESTS_MAX,
    }),
    registerProcess(finishReservations, ({ aggregates }: ProcessTools) => performFinishReservation(aggregates), {
      concurrency: REQUESTS_MAX,
    }),
  ];
}

/** What is needed to change routers. */
export type RouterTools = Pick<
  ProcessTools,
  'config' | 'aggregates' | 'routerDrivers' | 'store' | 'clock' | 'ids' | 'log'
>;

/**
 * The process managers that change routers; a list on a router has one turn among both. Where no server runs, a command settles with
 * them what it has asked for.
 */
export function routerProcesses(config: Config) {
  const turns = createKeyedMutex();
  const performersNeed = ({ aggregates, routerDrivers: { driverOf }, store, clock, ids, log }: RouterTools) => ({
    ...aggregates,
    store,
    driverOf,
    turns,
    clock,
    ids,
    log,
    timeoutMilliseconds: config.deployTimeoutMilliseconds,
  });
  return {
    commits: registerProcess(
      deployCommit,
      (tools: RouterTools) => performDeployCommit(performersNeed(tools)),
      // Routers that hang in one region leave places to the others, and what is slow in a region leaves them to what is not.
      { concurrency: DEPLOYMENTS_MAX, partitions: { of: deploymentPartition, concurrency: config.regionConcurrency } },
    ),
    // What operators ask for is done at once; all routers are compared, round after round, beside it.
    maintenance: registerProcess(
      routerMaintenance,
      (tools: RouterTools) => performKeepRouter(performersNeed(tools)),
      {
        concurrency: LOOKS_MAX,
        partitions: { of: ({ data }) => String(data.regionId), concurrency: LOOKS_IN_REGION_MAX },
      },
      (tools) => {
        const rounds = {
          ...performersNeed(tools),
          everyMilliseconds: config.driftIntervalMilliseconds,
          regionsAtOnce: DRIFT_REGIONS_MAX,
          routersAtOnce: DRIFT_LOOKS_IN_REGION_MAX,
          random: Math.random,
        };
        return (stop, abort) => runDriftScans(rounds, stop, abort);
      },
    ),
  };
}

function deploymentPartition({ data }: DeployCommitDuty): string {
  return data.step === 0 ? String(data.regionId) : `${data.regionId}/slow`;
}
