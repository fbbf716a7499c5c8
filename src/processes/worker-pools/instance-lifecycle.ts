import type { CommandContext } from '../../commands/aggregate.ts';
import { Ages } from '../../concurrency/ages.ts';
import { activationSecretId } from '../../commands/worker-pools/activation-secret.ts';
import { endForDeletion } from '../../commands/worker-pools/end-for-deletion.ts';
import { epochMilliseconds } from '../../domain/instants.ts';
import type { WorkerPoolEvent } from '../../events/worker-pools/worker-pool.ts';
import type { WorkerEvent } from '../../events/worker-pools/worker.ts';
import { isRefusal, type Refusal } from '../../kernel/decider.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import type { Duty, Perform, Process } from '../../kernel/process.ts';
import { CloudFailure } from '../../ports/clouds.ts';
import { type CreateInstanceDependencies, openCreateInstance, VISIBLE_AFTER_MILLISECONDS } from './create-instance.ts';
import { requestLaunch, type RequestLaunchDependencies } from './request-launch.ts';

type Watched =
  | Extract<WorkerPoolEvent, { type: 'InstanceReserved' | 'InstanceReleased' | 'WorkerPoolDeleted' }>
  | Extract<
      WorkerEvent,
      {
        type:
          | 'InstanceLaunchRequested'
          | 'InstanceCreated'
          | 'InstanceLaunchFailed'
          | 'TaskStarted'
          | 'TaskFinished'
          | 'InstanceTerminationRequested'
          | 'InstanceTerminated';
      }
    >;

/** `accountRevision`: how far the account's stream was when the provider was asked, where it was. */
type Failure = Readonly<{ code: string; because: string; accountRevision?: string }>;

/** One run of one worker, from its reserved place until the place is free again. */
export type RunState = Readonly<{
  worker: string;
  pool: string;
  run: string;
  /** Null for a place that was reserved before it was kept there, until the launch is requested. */
  account: string | null;
  because: string;
  step: 'reserved' | 'launching' | 'running' | 'terminated' | 'launch-failed';
  hasTask: boolean;
  /** It is wanted ended: when its task has ended, or (`forced`) at once. */
  ending: Readonly<{ code: string; because: string; forced: boolean }> | null;
  /** Why the launch came to nothing. */
  failure: Failure | null;
  poolDeleted: boolean;
}>;

type RunData = Readonly<{ worker: string; pool: string; run: string; account: string | null }>;

export type InstanceDuty =
  /** Register the worker and ask for its instance. */
  | Duty<'RequestLaunch', RunData & Readonly<{ because: string }>>
  /** Have the provider create it, or find out that there is none. */
  | Duty<'CreateInstance', RunData>
  /** Its pool was deleted by force: ask for its end. */
  | Duty<'EndForDeletion', RunData>
  /** Have the provider end it. */
  | Duty<'TerminateInstance', RunData & Readonly<{ because: string }>>
  /** Give the place back to the pool. */
  | Duty<'ReleaseInstance', RunData & Readonly<{ outcome: 'terminated' | 'launch-failed'; failure: Failure | null }>>;

/** Takes every reserved place through its instance to its release, one step at a time, whatever crashes in between. */
export const instanceLifecycle: Process<Watched, RunState, InstanceDuty> = {
  name: 'instance-lifecycle',
  version: 2,
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

/** Duties that ask a provider: the lane of its account. What is done here alone holds up no other. */
export function laneOf({ type, data: { account, pool, run } }: InstanceDuty): string {
  const asksProvider = type === 'CreateInstance' || type === 'TerminateInstance';
  return asksProvider ? `account/${account ?? pool}` : `run/${run}`;
}

function evolve(state: RunState | undefined, event: RecordedEvent<Watched>): RunState | undefined {
  if (event.type === 'InstanceReserved') {
    const { worker, pool, run, because, request } = event.data;
    const account = request?.provider_account ?? null;
    const nothingYet = { hasTask: false, ending: null, failure: null, poolDeleted: false };
    return { worker, pool, run, account, because, step: 'reserved', ...nothingYet };
  }
  if (state === undefined) return undefined;
  if (event.type === 'WorkerPoolDeleted') return { ...state, poolDeleted: true };
  if (event.data.run !== state.run) return state;
  switch (event.type) {
    case 'InstanceReleased':
      return undefined;
    case 'InstanceLaunchRequested':
      return { ...state, step: 'launching', account: event.data.providerAccount };
    case 'InstanceCreated':
      return { ...state, step: 'running' };
    case 'InstanceLaunchFailed': {
      const { code, because, accountRevision } = event.data;
      const failure = accountRevision === undefined ? { code, because } : { code, because, accountRevision };
      return { ...state, step: 'launch-failed', failure };
    }
    case 'TaskStarted':
      return { ...state, hasTask: true };
    case 'TaskFinished':
      return { ...state, hasTask: false };
    case 'InstanceTerminationRequested': {
      const { code, because, forced } = event.data;
      return { ...state, ending: { code, because, forced } };
    }
    case 'InstanceTerminated':
      return { ...state, step: 'terminated' };
  }
}

function owed(state: RunState): readonly InstanceDuty[] {
  const { worker, pool, run, account, because, step, ending, hasTask, poolDeleted, failure } = state;
  const data = { worker, pool, run, account };
  switch (step) {
    case 'reserved': {
      const nothing = { ...data, outcome: 'launch-failed', failure: POOL_DELETED } as const;
      // Of the same name: a launch that is being requested is waited for, and then is one that has begun.
      return poolDeleted
        ? [{ type: 'ReleaseInstance', id: `request/${run}`, data: nothing }]
        : [{ type: 'RequestLaunch', id: `request/${run}`, data: { ...data, because } }];
    }
    case 'launching':
      return [{ type: 'CreateInstance', id: `create/${run}`, data }];
    case 'running':
      if (poolDeleted && ending?.forced !== true) return [{ type: 'EndForDeletion', id: `end/${run}`, data }];
      if (ending === null || (hasTask && !ending.forced)) return [];
      return [{ type: 'TerminateInstance', id: `terminate/${run}`, data: { ...data, because: ending.because } }];
    case 'terminated': {
      const neverReady = ending?.code === 'boot-timed-out' ? { code: ending.code, because: ending.because } : null;
      const over = { ...data, outcome: 'terminated', failure: neverReady } as const;
      return [{ type: 'ReleaseInstance', id: `release/${run}`, data: over }];
    }
    case 'launch-failed':
      return [{ type: 'ReleaseInstance', id: `release/${run}`, data: { ...data, outcome: step, failure } }];
  }
}

const POOL_DELETED: Failure = { code: 'pool-deleted', because: 'the worker pool was deleted' };

export type InstanceLifecycleDependencies = RequestLaunchDependencies &
  CreateInstanceDependencies &
  Readonly<{
    /** When this server last heard of a worker, in monotonic milliseconds. */
    lastHeard: (worker: string) => number | undefined;
  }>;

/** A worker that was heard of within this time is there. */
export const REPORTS_MILLISECONDS = 60_000;

type DutyOf<Type extends InstanceDuty['type']> = Extract<InstanceDuty, { type: Type }>;

/** Takes one step of a run. Each re-reads its streams first and may be taken twice. */
export function performInstanceLifecycle(dependencies: InstanceLifecycleDependencies): Perform<InstanceDuty> {
  const createInstance = openCreateInstance(dependencies);
  const ages = new Ages(dependencies.clock);
  return async (duty, signal) => {
    const context = { actor: 'system:instance-lifecycle', requestId: duty.id };
    switch (duty.type) {
      case 'RequestLaunch':
        return requestLaunch(duty.data, context, dependencies);
      case 'CreateInstance': {
        const { worker, pool, run } = duty.data;
        await createInstance({ worker, pool, run }, context, signal);
        const { instance } = (await dependencies.workers.state(worker)).state;
        if (instance?.created !== undefined) instanceAge(ages, instance.run, instance.created);
        return;
      }
      case 'EndForDeletion': {
        const { worker, pool } = duty.data;
        return endForDeletion(worker, pool, dependencies.clock.nowText(), context, dependencies.workers);
      }
      case 'TerminateInstance':
        return terminate(duty, ages, context, signal, dependencies);
      case 'ReleaseInstance':
        return release(duty, context, dependencies);
    }
  };
}

/** However often this is tried, the end of a run is recorded once. What the provider refuses is said on the worker, and asked for again. */
async function terminate(
  { data }: DutyOf<'TerminateInstance'>,
  ages: Ages,
  context: CommandContext,
  signal: AbortSignal,
  { workers, withAccount, lastHeard, clock }: InstanceLifecycleDependencies,
): Promise<void> {
  const { worker, run, because } = data;
  const { instance, task } = (await workers.state(worker)).state;
  if (instance?.run !== run || instance.created === undefined || instance.termination === undefined) return;
  if (task !== undefined && !instance.termination.forced) return;
  const { created } = instance;
  try {
    const { outcome, endedAt } = await withAccount(instance, (cloud) =>
      cloud.terminate(created.workerPoolData, signal),
    );
    const isNew = instanceAge(ages, run, created) < VISIBLE_AFTER_MILLISECONDS;
    if (outcome === 'unknown-to-provider' && isNew) {
      throw new CloudFailure('outcome-unknown', 'the provider does not show the new instance yet, and can not end it');
    }
    const heard = lastHeard(worker) ?? Number.NEGATIVE_INFINITY;
    if (outcome === 'unknown-to-provider' && clock.monotonicMilliseconds() - heard < REPORTS_MILLISECONDS) {
      const reports = 'the provider knows no such instance, which reports all the same';
      throw new CloudFailure('outcome-unknown', `${reports}: are the credentials those of another account?`);
    }
    const end = { run, because, at: endedAt ?? clock.nowText() };
    accept(await workers.handle(worker, { type: 'RecordInstanceTerminated', data: end }, context));
  } catch (error) {
    if (!(error instanceof CloudFailure)) throw error;
    const failed = { run, call: 'terminate', code: error.code, because: error.message, at: clock.nowText() } as const;
    accept(await workers.handle(worker, { type: 'RecordCallFailed', data: failed }, context));
    throw error;
  }
}

function instanceAge(ages: Ages, run: string, { instanceCreatedAt }: Readonly<{ instanceCreatedAt: string }>): number {
  return ages.of(run, epochMilliseconds(instanceCreatedAt));
}

async function release(
  { data }: DutyOf<'ReleaseInstance'>,
  context: CommandContext,
  { workerPools, assets, secrets, clock }: InstanceLifecycleDependencies,
): Promise<void> {
  const { pool, run, outcome, account, failure } = data;
  await secrets.remove(activationSecretId(run));
  const given = { run, outcome, at: clock.nowText() };
  const accountRevision = account === null ? {} : { accountRevision: String((await assets.state(account)).revision) };
  // An account that was edited since it was refused is no longer the one that was.
  const released = failure === null ? given : { ...given, failure: { ...accountRevision, ...failure } };
  accept(await workerPools.handle(pool, { type: 'ReleaseInstance', data: released }, context));
}

function accept(answer: Refusal | object): void {
  if (isRefusal(answer)) throw new Error(answer.because);
}
