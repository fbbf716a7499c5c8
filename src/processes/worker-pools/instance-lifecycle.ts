import { createHash } from 'node:crypto';
import type { CommandContext } from '../../commands/aggregate.ts';
import { activationSecretId } from '../../commands/worker-pools/activation-secret.ts';
import type { Assets, WorkerPools, Workers } from '../../commands/worker-pools/aggregates.ts';
import { endForDeletion } from '../../commands/worker-pools/end-for-deletion.ts';
import type { Instance } from '../../commands/worker-pools/worker-state.ts';
import { type AptRepository, firstBootUserData } from '../../domain/worker-pools/first-boot.ts';
import type { PoolRecord } from '../../events/worker-pools/pool-record.ts';
import type { WorkerPoolEvent } from '../../events/worker-pools/worker-pool.ts';
import type { WorkerEvent } from '../../events/worker-pools/worker.ts';
import { BoundedMap } from '../../kernel/bounded-map.ts';
import { isRefusal, type Refusal } from '../../kernel/decider.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import type { Duty, Perform, Process } from '../../kernel/process.ts';
import type { Clock } from '../../ports/clock.ts';
import {
  type Cloud,
  type CloudAccount,
  CloudFailure,
  type CloudInstance,
  type OpenCloud,
  UNCERTAIN,
} from '../../ports/clouds.ts';
import type { Ids } from '../../ports/ids.ts';
import type { Secrets } from '../../ports/secrets.ts';

type Watched =
  | Extract<WorkerPoolEvent, { type: 'InstanceReserved' | 'InstanceReleased' | 'WorkerPoolDeleted' }>
  | Exclude<WorkerEvent, { type: 'WorkerRegistered' | 'WorkerConnected' }>;

/** One run of one worker, from its reserved place until the place is free again. */
export type RunState = Readonly<{
  worker: string;
  pool: string;
  run: string;
  because: string;
  step: 'reserved' | 'launching' | 'running' | 'terminated' | 'launch-failed';
  hasTask: boolean;
  /** Somebody wants it ended: when its task has ended, or (`forced`) at once. */
  ending: Readonly<{ because: string; forced: boolean }> | null;
  poolDeleted: boolean;
}>;

type RunData = Readonly<{ worker: string; pool: string; run: string }>;

export type InstanceDuty =
  /** Register the worker and ask for its instance. */
  | Duty<'RequestLaunch', RunData & Readonly<{ because: string }>>
  /** Have the provider create it. */
  | Duty<'CreateInstance', RunData>
  /** Its pool was deleted by force: ask for its end. */
  | Duty<'EndForDeletion', RunData>
  /** Have the provider end it. */
  | Duty<'TerminateInstance', RunData & Readonly<{ because: string }>>
  /** Give the place back to the pool. */
  | Duty<'ReleaseInstance', RunData & Readonly<{ outcome: 'terminated' | 'launch-failed' }>>;

/** Takes every reserved place through its instance to its release, one step at a time, whatever crashes in between. */
export const instanceLifecycle: Process<Watched, RunState, InstanceDuty> = {
  name: 'instance-lifecycle',
  version: 1,
  handles: [
    'InstanceReserved',
    'InstanceReleased',
    'WorkerPoolDeleted',
    'InstanceLaunchRequested',
    'InstanceCreated',
    'InstanceLaunchFailed',
    'TaskStarted',
    'TaskFinished',
    'InstanceTerminationRequested',
    'InstanceTerminated',
  ],
  keysOf: (event) => (event.type === 'WorkerPoolDeleted' ? event.data.running : [event.data.worker]),
  evolve,
  owed,
  wakesIn: () => undefined,
};

function evolve(state: RunState | undefined, event: RecordedEvent<Watched>): RunState | undefined {
  if (event.type === 'InstanceReserved') {
    const { worker, pool, run, because } = event.data;
    return { worker, pool, run, because, step: 'reserved', hasTask: false, ending: null, poolDeleted: false };
  }
  if (state === undefined) return undefined;
  if (event.type === 'WorkerPoolDeleted') return { ...state, poolDeleted: true };
  if (event.data.run !== state.run) return state;
  switch (event.type) {
    case 'InstanceReleased':
      return undefined;
    case 'InstanceLaunchRequested':
      return { ...state, step: 'launching' };
    case 'InstanceCreated':
      return { ...state, step: 'running' };
    case 'InstanceLaunchFailed':
      return { ...state, step: 'launch-failed' };
    case 'TaskStarted':
      return { ...state, hasTask: true };
    case 'TaskFinished':
      return { ...state, hasTask: false };
    case 'InstanceTerminationRequested':
      return { ...state, ending: { because: event.data.because, forced: event.data.forced } };
    case 'InstanceTerminated':
      return { ...state, step: 'terminated' };
  }
}

function owed(state: RunState): readonly InstanceDuty[] {
  const { worker, pool, run, because, step, ending, hasTask, poolDeleted } = state;
  const data = { worker, pool, run };
  switch (step) {
    case 'reserved':
      return poolDeleted
        ? [{ type: 'ReleaseInstance', id: `release/${run}`, data: { ...data, outcome: 'launch-failed' } }]
        : [{ type: 'RequestLaunch', id: `request/${run}`, data: { ...data, because } }];
    case 'launching':
      return [{ type: 'CreateInstance', id: `create/${run}`, data }];
    case 'running':
      if (poolDeleted && ending?.forced !== true) return [{ type: 'EndForDeletion', id: `end/${run}`, data }];
      if (ending === null || (hasTask && !ending.forced)) return [];
      return [{ type: 'TerminateInstance', id: `terminate/${run}`, data: { ...data, because: ending.because } }];
    case 'terminated':
    case 'launch-failed':
      return [{ type: 'ReleaseInstance', id: `release/${run}`, data: { ...data, outcome: step } }];
  }
}

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
  const request = { run, providerAccount, architectures, activationSha256, because, at: clock.nowText() };
  accept(await workers.handle(worker, { type: 'RequestLaunch', data: request }, context));
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

/** A provider account with its credentials, or what is wrong with it. */
export async function accountOf(
  name: string,
  assets: Assets,
  secrets: Secrets,
): Promise<CloudAccount | Readonly<{ problem: string }>> {
  const { record, secretId } = (await assets.state(name)).state;
  if (record?.category !== 'cloud-provider-account') return { problem: `provider account ${name} does not exist` };
  const credentials = await credentialsOf(secretId, secrets);
  if (credentials === undefined)
    return { problem: `the credentials of provider account ${name} are not in the secret store` };
  return { name, providerType: record.provider_type, configuration: record.configuration, credentials };
}

/** The repository of an apt-authentication asset with its credentials, or what is wrong with it. */
export async function repositoryOf(
  name: string | null,
  assets: Assets,
  secrets: Secrets,
): Promise<AptRepository | null | Readonly<{ problem: string }>> {
  if (name === null) return null;
  const { record, secretId } = (await assets.state(name)).state;
  if (record?.category !== 'apt-authentication') return { problem: `apt authentication ${name} does not exist` };
  const { configuration } = record;
  if (secretId === null || secretId === undefined) return { configuration, credentials: null };
  const { username, password } = (await credentialsOf(secretId, secrets)) ?? {};
  if (username === undefined || password === undefined) {
    return { problem: `the credentials of apt authentication ${name} are not in the secret store` };
  }
  return { configuration, credentials: { username, password } };
}

async function credentialsOf(
  secretId: string | null | undefined,
  secrets: Secrets,
): Promise<Readonly<Record<string, string>> | undefined> {
  if (secretId === null || secretId === undefined) return {};
  const text = await secrets.get(secretId);
  // It was checked to be texts by name before it was stored.
  return text === undefined ? undefined : (JSON.parse(text) as Readonly<Record<string, string>>);
}
