import { epochMilliseconds } from '../../domain/instants.ts';
import type { Architecture } from '../../events/worker-pools/architectures.ts';
import { type WorkerEvent, workerEvents } from '../../events/worker-pools/worker.ts';
import { type Command, type Decider, type Decision, type Refusal, refuse } from '../../kernel/decider.ts';
import { sameJson } from './same-json.ts';
import { evolveWorker, type Instance, NO_WORKER, type WorkerPoolData, type WorkerState } from './worker-state.ts';

type Json = Extract<WorkerEvent, { type: 'WorkerConnected' }>['data']['dynamicMetadata'];

export type WorkerCommand =
  | Command<
      /** `activationSha256`: of a worker without a pool, what may activate it. */
      'RegisterWorker',
      {
        worker: string;
        pool: string | null;
        architectures: readonly Architecture[];
        at: string;
        activationSha256?: string;
      }
    >
  | Command<
      'RequestLaunch',
      {
        run: string;
        providerAccount: string;
        architectures: readonly Architecture[];
        activationSha256: string;
        accountConfiguration?: Json;
        ephemeral?: boolean;
        because: string;
        at: string;
      }
    >
  /** Before the provider is asked for the first time. */
  | Command<'StartCreation', { run: string; at: string }>
  | Command<
      'RecordCallFailed',
      { run: string; call: 'create' | 'terminate'; code: string; because: string; at: string }
    >
  | Command<'RecordInstanceCreated', { run: string; instanceCreatedAt: string; workerPoolData: WorkerPoolData }>
  /** `accountRevision`: how far the stream of the account was when the provider was asked, where it was. */
  | Command<'RecordLaunchFailed', { run: string; code: string; because: string; at: string; accountRevision?: string }>
  /** `run` is null for a worker without a pool. */
  | Command<'RecordWorkerConnected', { run: string | null; dynamicMetadata: Json; at: string }>
  | Command<'StartTask', { task: string; scope: string; expectedSeconds: number; at: string }>
  | Command<'FinishTask', { task: string; at: string }>
  /** Without `forced` a running task is waited for. */
  | Command<'RequestTermination', { code: string; because: string; forced: boolean; at: string }>
  | Command<'ActivateWorker', { activationSha256: string; tokenSha256: string; at: string }>
  | Command<'RecordSilence', { at: string }>
  | Command<'RecordHeard', { at: string }>
  /** Its worker was lost, and has no instance that ends. */
  | Command<'LoseTask', { task: string; because: string; at: string }>
  | Command<'RecordInstanceTerminated', { run: string; because: string; at: string }>;

type Registered = WorkerState & Readonly<{ worker: string }>;

/** The rules of one worker. What the provider reports is recorded once per run, however often it is told. */
export const workerDecider = {
  category: 'worker',
  handles: workerEvents.map(({ type }) => type),
  initial: NO_WORKER,
  evolve: evolveWorker,
  decide,
  snapshot: {
    version: 2,
    encode: (state: WorkerState): unknown => state,
    decode: (stored: unknown) => stored as WorkerState,
  },
} as const satisfies Decider<WorkerCommand, WorkerState, WorkerEvent> &
  Readonly<{ handles: readonly WorkerEvent['type'][] }>;

function decide(command: WorkerCommand, state: WorkerState): Decision<WorkerEvent> {
  if (command.type === 'RegisterWorker') {
    const { worker, pool, architectures, at, activationSha256 } = command.data;
    if (state.worker !== undefined) return [];
    const registered = { worker, pool, architectures: [...architectures], registeredAt: at };
    const known: WorkerEvent = { type: 'WorkerRegistered', data: registered };
    if (activationSha256 === undefined) return [known];
    return [known, { type: 'WorkerActivationIssued', data: { worker, activationSha256, issuedAt: at } }];
  }
  if (!isRegistered(state)) return refuse('worker-not-found', 'worker not found.', 'worker');
  switch (command.type) {
    case 'RequestLaunch':
      return requestLaunch(command.data, state);
    case 'StartCreation':
      return startCreation(command.data, state);
    case 'RecordCallFailed':
      return recordCallFailed(command.data, state);
    case 'RecordInstanceCreated':
      return recordCreated(command.data, state);
    case 'RecordLaunchFailed':
      return recordLaunchFailed(command.data, state);
    case 'RecordWorkerConnected':
      return recordConnected(command.data, state);
    case 'StartTask':
      return startTask(command.data, state);
    case 'FinishTask':
      return state.task?.task === command.data.task ? [taskFinished(state, 'finished', command.data.at)] : [];
    case 'ActivateWorker':
      return activate(command.data, state);
    case 'RecordSilence':
      if (state.isSilent === true || (state.pool !== null && state.instance === undefined)) return [];
      return [{ type: 'WorkerFellSilent', data: { ...idsOf(state), at: command.data.at } }];
    case 'RecordHeard':
      return state.isSilent === true
        ? [{ type: 'WorkerHeardAgain', data: { ...idsOf(state), at: command.data.at } }]
        : [];
    case 'LoseTask': {
      const { task, because, at } = command.data;
      return state.task?.task === task ? [taskFinished(state, 'lost', at, because)] : [];
    }
    case 'RequestTermination':
      return requestTermination(command.data, state);
    case 'RecordInstanceTerminated':
      return recordTerminated(command.data, state);
  }
}

type DataOf<Type extends WorkerCommand['type']> = Extract<WorkerCommand, { type: Type }>['data'];

function requestLaunch(data: DataOf<'RequestLaunch'>, state: Registered): Decision<WorkerEvent> {
  const { run, providerAccount, activationSha256, because, at, accountConfiguration, ephemeral = false } = data;
  if (state.lastRun === run) return [];
  if (state.pool === null) return refuse('worker-without-pool', `${state.worker} has no pool to launch instances.`);
  if (state.instance !== undefined) return refuse('instance-exists', `${state.worker} has an instance already.`);
  const { worker, pool } = state;
  const ids = { worker, pool, run };
  const request = { ...ids, providerAccount, architectures: [...data.architectures], activationSha256, because };
  const asked = { ...request, ...(ephemeral ? { ephemeral } : {}), requestedAt: at };
  return [
    {
      type: 'InstanceLaunchRequested',
      data: accountConfiguration === undefined ? asked : { ...asked, accountConfiguration },
    },
  ];
}

function startCreation({ run, at }: DataOf<'StartCreation'>, state: Registered): Decision<WorkerEvent> {
  const found = instanceOf(run, state);
  if ('refused' in found) return state.lastRun === run ? [] : found;
  if (found.instance.creationStarted !== undefined || found.instance.created !== undefined) return [];
  return [{ type: 'InstanceCreationStarted', data: { ...found.ids, startedAt: at } }];
}

function recordCallFailed(data: DataOf<'RecordCallFailed'>, state: Registered): Decision<WorkerEvent> {
  const { run, call, code, because, at } = data;
  const found = instanceOf(run, state);
  if ('refused' in found) return state.lastRun === run ? [] : found;
  const known = found.instance.callFailed;
  if (known?.call === call && known.code === code && known.because === because) return [];
  return [{ type: 'ProviderCallFailed', data: { ...found.ids, call, code, because, failedAt: at } }];
}

function recordCreated(data: DataOf<'RecordInstanceCreated'>, state: Registered): Decision<WorkerEvent> {
  const { run, instanceCreatedAt, workerPoolData } = data;
  const found = instanceOf(run, state);
  if ('refused' in found) return state.lastRun === run ? [] : found;
  if (found.instance.created !== undefined) return [];
  return [{ type: 'InstanceCreated', data: { ...found.ids, instanceCreatedAt, workerPoolData } }];
}

function recordLaunchFailed(data: DataOf<'RecordLaunchFailed'>, state: Registered): Decision<WorkerEvent> {
  const { run, code, because, at, accountRevision } = data;
  const found = instanceOf(run, state);
  if ('refused' in found) return state.lastRun === run ? [] : found;
  if (found.instance.created !== undefined) {
    return refuse('instance-exists', `the instance of ${state.worker} was created: its launch can not fail any more.`);
  }
  const failed = { ...found.ids, code, because, failedAt: at };
  return [
    { type: 'InstanceLaunchFailed', data: accountRevision === undefined ? failed : { ...failed, accountRevision } },
  ];
}

function recordConnected(data: DataOf<'RecordWorkerConnected'>, state: Registered): Decision<WorkerEvent> {
  const { run, dynamicMetadata, at } = data;
  const { worker, pool, instance } = state;
  if (pool !== null) {
    if (run === null || instance === undefined || instance.run !== run || instance.created === undefined) {
      return refuse('run-not-found', `${worker} has no instance of run ${run ?? 'none'}.`, 'run');
    }
    if (instance.connected !== undefined && sameJson(instance.connected.dynamicMetadata, dynamicMetadata)) return [];
  } else if (state.connected !== undefined && sameJson(state.connected, dynamicMetadata)) return [];
  return [{ type: 'WorkerConnected', data: { worker, pool, run, dynamicMetadata, connectedAt: at } }];
}

function startTask(data: DataOf<'StartTask'>, state: Registered): Decision<WorkerEvent> {
  const { task, scope, expectedSeconds, at } = data;
  const { worker, pool, instance } = state;
  if (state.task?.task === task) return [];
  if (state.task !== undefined) return refuse('worker-busy', `${worker} runs task ${state.task.task}.`);
  const refusal = refusesTasks(state);
  if (refusal !== undefined) return refusal;
  const run = instance?.run ?? null;
  return [{ type: 'TaskStarted', data: { worker, pool, run, task, scope, expectedSeconds, startedAt: at } }];
}

/** Why a worker takes no task, whether it runs one or not; undefined: it takes them. */
export function refusesTasks({ worker = 'worker', pool, instance }: WorkerState): Refusal | undefined {
  if (pool !== null && instance?.connected === undefined) return refuse('worker-not-ready', `${worker} is not ready.`);
  if (instance?.termination !== undefined)
    return refuse('worker-ending', `${worker} is being ended: it takes no task.`);
  if (instance?.ephemeral === true && instance.tasksRun > 0)
    return refuse('worker-ending', `${worker} is ephemeral and has run its one task.`);
  return undefined;
}

function requestTermination(data: DataOf<'RequestTermination'>, state: Registered): Decision<WorkerEvent> {
  const { code, because, forced, at } = data;
  const { worker, pool, instance } = state;
  if (pool === null) return refuse('worker-without-pool', `${worker} has no pool: it is not ours to end.`, 'worker');
  if (instance === undefined) return refuse('instance-not-found', `${worker} has no instance.`, 'worker');
  if (instance.termination !== undefined && (instance.termination.forced || !forced)) return [];
  const { run } = instance;
  return [
    { type: 'InstanceTerminationRequested', data: { worker, pool, run, code, because, forced, requestedAt: at } },
  ];
}

function recordTerminated(data: DataOf<'RecordInstanceTerminated'>, state: Registered): Decision<WorkerEvent> {
  const { run, because, at } = data;
  const found = instanceOf(run, state);
  if ('refused' in found) return state.lastRun === run ? [] : found;
  const { instance, ids } = found;
  if (instance.created === undefined) {
    return refuse('instance-not-found', `the instance of ${state.worker} was never created: its launch failed.`);
  }
  const { instanceCreatedAt } = instance.created;
  // A clock that was set back gives no negative run.
  const terminatedAt = later(instanceCreatedAt, at);
  const lost: readonly WorkerEvent[] =
    state.task === undefined ? [] : [taskFinished(state, 'lost', at, `${state.worker}: ${because}`)];
  return [...lost, { type: 'InstanceTerminated', data: { ...ids, instanceCreatedAt, terminatedAt, because } }];
}

function activate(data: DataOf<'ActivateWorker'>, state: Registered): Decision<WorkerEvent> {
  const { activationSha256, tokenSha256, at } = data;
  const { pool, instance } = state;
  const expected = pool === null ? state.activationSha256 : instance?.activationSha256;
  const isUsed = pool !== null && instance?.tokenSha256 !== undefined;
  if (expected !== activationSha256 || isUsed) {
    return refuse('activation-token-ended', 'the activation token is unknown, or has been used.');
  }
  return [{ type: 'WorkerActivated', data: { ...idsOf(state), tokenSha256, activatedAt: at } }];
}

function idsOf({ worker, pool, instance }: Registered) {
  return { worker, pool, run: instance?.run ?? null };
}

function taskFinished(state: Registered, outcome: 'finished' | 'lost', at: string, because?: string): WorkerEvent {
  const { worker, pool, instance, task } = state;
  const { startedAt = at, scope = '', task: name = '' } = task ?? {};
  const run = instance?.run ?? null;
  const finishedAt = later(startedAt, at);
  const data = { worker, pool, run, task: name, scope, outcome, startedAt, finishedAt };
  return { type: 'TaskFinished', data: because === undefined ? data : { ...data, because } };
}

type FoundInstance = Readonly<{ instance: Instance; ids: Readonly<{ worker: string; pool: string; run: string }> }>;

function instanceOf(run: string, { worker, pool, instance }: Registered): FoundInstance | Refusal {
  if (instance?.run !== run || pool === null)
    return refuse('run-not-found', `${worker} has no instance of run ${run}.`, 'run');
  return { instance, ids: { worker, pool, run } };
}

function isRegistered(state: WorkerState): state is Registered {
  return state.worker !== undefined;
}

function later(a: string, b: string): string {
  return epochMilliseconds(b) < epochMilliseconds(a) ? a : b;
}
