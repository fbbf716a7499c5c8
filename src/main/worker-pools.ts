import { INSTALLATION_SECRET_ID } from '../commands/worker-pools/activation-secret.ts';
import type { Config } from '../config.ts';
import { workersUrlOf } from '../domain/worker-pools/workers-url.ts';
import { finishMemberships, performFinishMembership } from '../processes/worker-pools/finish-memberships.ts';
import { instanceLifecycle, laneOf, performInstanceLifecycle } from '../processes/worker-pools/instance-lifecycle.ts';
import { performReturnWork, returnWork } from '../processes/worker-pools/return-work.ts';
import { openProviderAccounts } from '../processes/worker-pools/provider-accounts.ts';
import { openSweep } from '../processes/worker-pools/sweep.ts';
import { runPoolEngine } from './pool-engine.ts';
import { type RegisteredProcess, registerProcess, type ServerTools } from './process-wiring.ts';

/** Of commands on our own streams; nothing outside is asked. */
const REQUESTS_MAX = 32;
/** Duties at the same moment, and those of them that ask one account. */
const INSTANCES_MAX = 1_024;
const CALLS_OF_ACCOUNT_MAX = 4;
/** How long a launch with an uncertain outcome is tried again before the provider's list decides. */
const LAUNCH_PATIENCE_MILLISECONDS = 600_000;

/** A UUID, made at its first use and kept with the secrets: whatever the log and its copies do, it goes where the data directory goes. */
function installationOf({ secrets, ids }: Pick<ServerTools, 'secrets' | 'ids'>): () => Promise<string> {
  let known: Promise<string> | undefined;
  const find = async (): Promise<string> => {
    const kept = await secrets.get(INSTALLATION_SECRET_ID);
    if (kept !== undefined) return kept;
    // Of several servers that start together each makes one; all go by the first.
    await secrets.putIfAbsent(INSTALLATION_SECRET_ID, ids.uuid());
    const first = await secrets.get(INSTALLATION_SECRET_ID);
    if (first === undefined) throw new Error(`secret ${INSTALLATION_SECRET_ID} is gone as soon as it was made`);
    return first;
  };
  return async () => {
    known ??= find();
    try {
      return await known;
    } catch (error) {
      known = undefined;
      throw error;
    }
  };
}

/** The process managers of the worker pools, and what runs the pools beside them. */
export function workerPoolsProcesses(config: Config): readonly RegisteredProcess<ServerTools>[] {
  return [
    registerProcess(finishMemberships, ({ aggregates }: ServerTools) => performFinishMembership(aggregates), {
      concurrency: REQUESTS_MAX,
    }),
    registerProcess(returnWork, ({ aggregates, clock }: ServerTools) => performReturnWork({ ...aggregates, clock }), {
      concurrency: REQUESTS_MAX,
    }),
    instanceProcess(config),
  ];
}

function instanceProcess(config: Config): RegisteredProcess<ServerTools> {
  const workersUrl = workersUrlOf(config);
  const providers = (tools: ServerTools) => ({
    ...tools.aggregates,
    ...tools,
    installation: installationOf(tools),
    withAccount: openProviderAccounts({ ...tools.aggregates, ...tools }),
    workersUrl,
  });
  return registerProcess(
    instanceLifecycle,
    (tools: ServerTools) =>
      performInstanceLifecycle({
        ...providers(tools),
        launchPatienceMilliseconds: LAUNCH_PATIENCE_MILLISECONDS,
      }),
    // A provider that hangs leaves places to the accounts of others.
    { concurrency: INSTANCES_MAX, partitions: { of: laneOf, concurrency: CALLS_OF_ACCOUNT_MAX } },
    (tools, reached) => {
      const sweepAccount = openSweep({
        ...providers(tools),
        activeRuns: async () => {
          const pools = await tools.views.workerPools.list();
          return new Set(pools.flatMap(({ view: { active } }) => active.map(({ run }) => run)));
        },
        isLogWhole: tools.isLogWhole,
      });
      const decideEveryMilliseconds = config.schedulerIntervalMilliseconds;
      const options = { sweepAccount, workersUrl, decideEveryMilliseconds, reached };
      return (stop, abort) => runPoolEngine(tools, options, stop, abort);
    },
  );
}
