import type { Config } from '../config.ts';
import { finishMemberships, performFinishMembership } from '../processes/worker-pools/finish-memberships.ts';
import { instanceLifecycle, performInstanceLifecycle } from '../processes/worker-pools/instance-lifecycle.ts';
import { type ProcessTools, type RegisteredProcess, registerProcess } from './process-wiring.ts';

/** Of commands on our own streams; nothing outside is asked. */
const REQUESTS_MAX = 32;
/** Duties at the same moment that ask a provider, and those of one pool. */
const INSTANCES_MAX = 1_024;
const INSTANCES_OF_POOL_MAX = 8;
/** How long a launch with an uncertain outcome is tried again before the provider's list decides. */
const LAUNCH_PATIENCE_MILLISECONDS = 600_000;

/** The process managers of the worker pools. */
export function workerPoolsProcesses(config: Config): readonly RegisteredProcess[] {
  return [
    registerProcess(finishMemberships, ({ aggregates }: ProcessTools) => performFinishMembership(aggregates), {
      concurrency: REQUESTS_MAX,
    }),
    registerProcess(
      instanceLifecycle,
      (tools: ProcessTools) =>
        performInstanceLifecycle({
          ...tools.aggregates,
          ...tools,
          serverUrl: `http://${config.host}:${config.port}`,
          launchPatienceMilliseconds: LAUNCH_PATIENCE_MILLISECONDS,
        }),
      // A provider that hangs leaves places to the pools of others.
      { concurrency: INSTANCES_MAX, partitions: { of: ({ data }) => data.pool, concurrency: INSTANCES_OF_POOL_MAX } },
    ),
  ];
}
