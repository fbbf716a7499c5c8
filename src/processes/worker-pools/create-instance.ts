import type { CommandContext } from '../../commands/handle.ts';
import { activationSecretId } from '../../commands/worker-pools/activation-secret.ts';
import type { Assets, Workers, WorkerPools } from '../../commands/worker-pools/aggregates.ts';
import type { Instance } from '../../commands/worker-pools/worker-state.ts';
import type { PoolRecord } from '../../events/worker-pools/pool-record.ts';
import { isRefusal } from '../../kernel/decider.ts';
import type { Clock } from '../../ports/clock.ts';
import {
  type Cloud,
  type CloudAccount,
  CloudFailure,
  type CloudInstance,
  type OpenCloud,
  UNCERTAIN,
} from '../../ports/clouds.ts';
import type { Secrets } from '../../ports/secrets.ts';
import { firstBootUserData } from './first-boot.ts';
import { accountOf, repositoryOf } from './provider-account.ts';

export type CreateInstanceDependencies = Readonly<{
  workerPools: WorkerPools;
  workers: Workers;
  assets: Assets;
  secrets: Secrets;
  openCloud: OpenCloud;
  clock: Clock;
  serverUrl: string;
  /** Whether a launch whose outcome is uncertain has been tried for long enough. */
  isOverdue: (run: string) => boolean;
}>;

type Run = Readonly<{ worker: string; pool: string; run: string }>;

type Failure = Readonly<{ code: string; because: string }>;

/**
 * Has the provider create the instance of a run and records it, or why there will be none. While the outcome is uncertain it
 * throws, so that it is asked again under the same run; after the patience only what the provider lists counts.
 */
export async function createInstance(
  { worker, pool, run }: Run,
  context: CommandContext,
  signal: AbortSignal,
  dependencies: CreateInstanceDependencies,
): Promise<void> {
  const { workerPools, workers, clock } = dependencies;
  const { instance } = (await workers.state(worker)).state;
  if (instance?.run !== run || instance.created !== undefined) return;
  const { record } = (await workerPools.state(pool)).state;
  const outcome =
    record === undefined
      ? { code: 'pool-deleted', because: `worker pool ${pool} was deleted` }
      : await launch({ worker, pool, run }, instance, record, signal, dependencies);
  const command =
    'data' in outcome
      ? ({
          type: 'RecordInstanceCreated',
          data: { run, instanceCreatedAt: outcome.createdAt, workerPoolData: { ...outcome.data } },
        } as const)
      : ({ type: 'RecordLaunchFailed', data: { run, ...outcome, at: clock.nowText() } } as const);
  const answer = await workers.handle(worker, command, context);
  if (isRefusal(answer)) throw new Error(answer.because);
}

async function launch(
  { worker, pool, run }: Run,
  instance: Instance,
  record: PoolRecord,
  signal: AbortSignal,
  dependencies: CreateInstanceDependencies,
): Promise<CloudInstance | Failure> {
  const { assets, secrets, openCloud, isOverdue } = dependencies;
  const account = await accountOf(instance.providerAccount, assets, secrets);
  if ('problem' in account) return { code: 'bad-account', because: account.problem };
  const userData = await userDataOf(worker, run, record, account, dependencies);
  if ('code' in userData) return { code: userData.code, because: userData.because };
  const isImpatient = isOverdue(run);
  let cloud: Cloud | undefined;
  try {
    cloud = openCloud(account);
    return await cloud.create(
      { run, worker, pool, instances: record.specifications, userData: userData.texts },
      signal,
    );
  } catch (error) {
    if (!(error instanceof CloudFailure)) throw error;
    const failure = { code: error.code, because: error.message };
    if (!UNCERTAIN.has(error.code)) return failure;
    if (!isImpatient || cloud === undefined) throw error;
    const known = await cloud.list(pool, signal);
    return known.find((other) => other.run === run) ?? failure;
  } finally {
    await cloud?.close();
  }
}

async function userDataOf(
  worker: string,
  run: string,
  record: PoolRecord,
  account: CloudAccount,
  { assets, secrets, serverUrl }: CreateInstanceDependencies,
): Promise<Readonly<{ texts: readonly string[] }> | Failure> {
  const activationToken = await secrets.get(activationSecretId(run));
  if (activationToken === undefined)
    return { code: 'no-activation-token', because: `the activation token of ${worker} is gone` };
  const apt = await repositoryOf(record.apt_authentication, assets, secrets);
  if (apt !== null && 'problem' in apt) return { code: 'bad-apt-authentication', because: apt.problem };
  const { server_url: ownUrl } = account.configuration;
  const { ephemeral, specifications } = record;
  return firstBootUserData({
    worker,
    serverUrl: typeof ownUrl === 'string' ? ownUrl : serverUrl,
    activationToken,
    ephemeral,
    specifications,
    apt,
  });
}
