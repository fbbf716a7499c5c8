import { createHash } from 'node:crypto';
import { activationSecretId } from '../../commands/worker-pools/activation-secret.ts';
import type { Assets, Workers, WorkerPools } from '../../commands/worker-pools/aggregates.ts';
import { endForDeletion } from '../../commands/worker-pools/delete-worker-pool.ts';
import type { CommandContext } from '../../commands/handle.ts';
import { BoundedMap } from '../../kernel/bounded-map.ts';
import { isRefusal, type Refusal } from '../../kernel/decider.ts';
import type { Perform } from '../../kernel/process.ts';
import type { Clock } from '../../ports/clock.ts';
import { type Cloud, CloudFailure, type OpenCloud } from '../../ports/clouds.ts';
import type { Ids } from '../../ports/ids.ts';
import type { Secrets } from '../../ports/secrets.ts';
import { createInstance } from './create-instance.ts';
import type { InstanceDuty } from './instance-lifecycle.ts';
import { accountOf } from './provider-account.ts';

export type InstanceLifecycleDependencies = Readonly<{
  workerPools: WorkerPools;
  workers: Workers;
  assets: Assets;
  secrets: Secrets;
  openCloud: OpenCloud;
  clock: Clock;
  ids: Ids;
  /** Where new workers find this service, unless their account's configuration says `server_url`. */
  serverUrl: string;
  /** How long a launch is tried again while its outcome is uncertain, from the first try of this process on. */
  launchPatienceMilliseconds: number;
}>;

type DutyOf<Type extends InstanceDuty['type']> = Extract<InstanceDuty, { type: Type }>;

const TOKEN_BYTES = 32;
/** Whose first try is remembered. */
const RUNS_MAX = 10_000;

/** Takes one step of a run. Each re-reads its streams first and may be taken twice. */
export function performInstanceLifecycle(dependencies: InstanceLifecycleDependencies): Perform<InstanceDuty> {
  const isOverdue = launchPatience(dependencies);
  return async (duty, signal) => {
    const context = { actor: 'system:instance-lifecycle', requestId: duty.id };
    switch (duty.type) {
      case 'RequestLaunch':
        return requestLaunch(duty, context, dependencies);
      case 'CreateInstance':
        return createInstance(duty.data, context, signal, { ...dependencies, isOverdue });
      case 'EndForDeletion': {
        const { worker, pool } = duty.data;
        return endForDeletion(worker, pool, dependencies.clock.nowText(), context, dependencies.workers);
      }
      case 'TerminateInstance':
        return terminate(duty, context, signal, dependencies);
      case 'ReleaseInstance':
        return release(duty, context, dependencies);
    }
  };
}

/**
 * By the monotonic clock: a clock that was set forward must not have an instance given up that may have been created. A process that takes
 * over begins anew, which costs time alone.
 */
function launchPatience({
  clock,
  launchPatienceMilliseconds,
}: Pick<InstanceLifecycleDependencies, 'clock' | 'launchPatienceMilliseconds'>): (run: string) => boolean {
  const firstTries = new BoundedMap<string, number>(RUNS_MAX);
  return (run) => {
    const now = clock.monotonicMilliseconds();
    const first = firstTries.get(run) ?? now;
    firstTries.set(run, first);
    return now - first >= launchPatienceMilliseconds;
  };
}

/** The token is stored before the event knows its hash: what a crash leaves is a token for nobody. */
async function requestLaunch(
  { data }: DutyOf<'RequestLaunch'>,
  context: CommandContext,
  { workerPools, workers, secrets, clock, ids }: InstanceLifecycleDependencies,
): Promise<void> {
  const { worker, pool, run, because } = data;
  const { record } = (await workerPools.state(pool)).state;
  // Deleted by force in between: the next state owes the release.
  if (record === undefined) return;
  if ((await workers.state(worker)).state.lastRun === run) return;
  const { architectures, provider_account: providerAccount } = record;
  const registration = { worker, pool, architectures, at: clock.nowText() };
  accept(await workers.handle(worker, { type: 'RegisterWorker', data: registration }, context));
  const token = Buffer.from(ids.random(TOKEN_BYTES)).toString('base64url');
  const activationSha256 = createHash('sha256').update(token).digest('hex');
  await secrets.put(activationSecretId(run), token);
  const launch = { run, providerAccount, architectures, activationSha256, because, at: clock.nowText() };
  accept(await workers.handle(worker, { type: 'RequestLaunch', data: launch }, context));
}

/** However often this is tried, the end of a run is recorded once. */
async function terminate(
  { data }: DutyOf<'TerminateInstance'>,
  context: CommandContext,
  signal: AbortSignal,
  { workers, assets, secrets, openCloud, clock }: InstanceLifecycleDependencies,
): Promise<void> {
  const { worker, run, because } = data;
  const { instance, task } = (await workers.state(worker)).state;
  if (instance?.run !== run || instance.created === undefined || instance.termination === undefined) return;
  if (task !== undefined && !instance.termination.forced) return;
  const account = await accountOf(instance.providerAccount, assets, secrets);
  if ('problem' in account) throw new CloudFailure('bad-account', account.problem);
  await withCloud(openCloud(account), (cloud) => cloud.terminate(instance.created?.workerPoolData ?? {}, signal));
  const end = { run, because, at: clock.nowText() };
  accept(await workers.handle(worker, { type: 'RecordInstanceTerminated', data: end }, context));
}

async function release(
  { data }: DutyOf<'ReleaseInstance'>,
  context: CommandContext,
  { workerPools, secrets, clock }: InstanceLifecycleDependencies,
): Promise<void> {
  const { pool, run, outcome } = data;
  await secrets.remove(activationSecretId(run));
  const given = { run, outcome, at: clock.nowText() };
  accept(await workerPools.handle(pool, { type: 'ReleaseInstance', data: given }, context));
}

async function withCloud<T>(cloud: Cloud, work: (cloud: Cloud) => Promise<T>): Promise<T> {
  try {
    return await work(cloud);
  } finally {
    await cloud.close();
  }
}

function accept(answer: Refusal | object): void {
  if ('refused' in answer && isRefusal(answer)) throw new Error(answer.because);
}
