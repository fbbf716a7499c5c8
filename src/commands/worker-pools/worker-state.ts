import type { Architecture } from '../../events/worker-pools/architectures.ts';
import type { WorkerEvent } from '../../events/worker-pools/worker.ts';

/** What the provider's driver needs to find the instance again. */
export type WorkerPoolData = Extract<WorkerEvent, { type: 'InstanceCreated' }>['data']['workerPoolData'];

/** Why an instance is to be ended. `forced`: at once, whatever it runs. */
export type TerminationRequest = Readonly<{ code: string; because: string; forced: boolean; requestedAt: string }>;

export type RunningTask = Readonly<{ task: string; scope: string; startedAt: string; expectedSeconds: number }>;

/** A run of an instance, from the request to the provider until it is known to be gone. */
export type Instance = Readonly<{
  run: string;
  providerAccount: string;
  architectures: readonly Architecture[];
  requestedAt: string;
  /** The SHA-256 of the token that its user data hold. */
  activationSha256: string;
  accountConfiguration?: Readonly<Record<string, unknown>>;
  ephemeral?: true;
  /** The SHA-256 of the worker's own token, once it was activated. */
  tokenSha256?: string;
  /** The provider has been asked: an instance may exist. */
  creationStarted?: true;
  /** What the provider refused at last, or did not answer. */
  callFailed?: Readonly<{ call: 'create' | 'terminate'; code: string; because: string }>;
  /** Absent while the provider has not answered. */
  created?: Readonly<{ instanceCreatedAt: string; workerPoolData: WorkerPoolData }>;
  /** Absent while it boots. */
  connected?: Readonly<{ connectedAt: string; dynamicMetadata: Readonly<Record<string, unknown>> }>;
  idleSince?: string;
  tasksRun: number;
  termination?: TerminationRequest;
}>;

/** Plain JSON, so that it is its own snapshot. */
export type WorkerState = Readonly<{
  worker?: string;
  pool: string | null;
  architectures: readonly Architecture[];
  registeredAt: string;
  /** The newest run, over or not. */
  lastRun?: string;
  instance?: Instance;
  task?: RunningTask;
  /** Of a worker without a pool: what may activate it, until it has; and its own token. */
  activationSha256?: string;
  tokenSha256?: string;
  /** Nothing has been heard of it for a while. */
  isSilent?: true;
  /** What a worker without a pool said about itself. */
  connected?: Readonly<Record<string, unknown>>;
}>;

export const NO_WORKER: WorkerState = { pool: null, architectures: [], registeredAt: '' };

export function evolveWorker(state: WorkerState, event: WorkerEvent): WorkerState {
  switch (event.type) {
    case 'WorkerRegistered': {
      const { worker, pool, architectures, registeredAt } = event.data;
      return { ...state, worker, pool, architectures, registeredAt };
    }
    case 'InstanceLaunchRequested': {
      const { run, providerAccount, architectures, requestedAt, activationSha256, accountConfiguration } = event.data;
      const asked = { run, providerAccount, architectures, requestedAt, activationSha256, tasksRun: 0 };
      const configured = accountConfiguration === undefined ? asked : { ...asked, accountConfiguration };
      const instance = event.data.ephemeral === true ? { ...configured, ephemeral: true as const } : configured;
      return { ...heardOf(state), lastRun: run, architectures, instance };
    }
    case 'InstanceCreationStarted':
      return onInstance(state, (instance) => ({ ...instance, creationStarted: true }));
    case 'ProviderCallFailed': {
      const { call, code, because } = event.data;
      return onInstance(state, (instance) => ({ ...instance, callFailed: { call, code, because } }));
    }
    case 'InstanceCreated': {
      const { instanceCreatedAt, workerPoolData } = event.data;
      return onInstance(state, ({ callFailed: _over, ...instance }) => ({
        ...instance,
        created: { instanceCreatedAt, workerPoolData },
      }));
    }
    case 'WorkerActivationIssued':
      return { ...state, activationSha256: event.data.activationSha256 };
    case 'WorkerActivated': {
      const { tokenSha256, pool } = event.data;
      if (pool !== null) return onInstance(state, (instance) => ({ ...instance, tokenSha256 }));
      const { activationSha256: _used, ...rest } = state;
      return { ...rest, tokenSha256 };
    }
    case 'WorkerFellSilent':
      return { ...state, isSilent: true };
    case 'WorkerHeardAgain':
      return heardOf(state);
    case 'WorkerConnected': {
      const { connectedAt, dynamicMetadata } = event.data;
      if (event.data.pool === null) return { ...state, connected: dynamicMetadata };
      return onInstance(state, (instance) => ({
        ...instance,
        connected: { connectedAt: instance.connected?.connectedAt ?? connectedAt, dynamicMetadata },
        idleSince: instance.idleSince ?? connectedAt,
      }));
    }
    case 'TaskStarted': {
      const { task, scope, startedAt, expectedSeconds } = event.data;
      return { ...state, task: { task, scope, startedAt, expectedSeconds } };
    }
    case 'TaskFinished': {
      const { task: _over, ...rest } = state;
      const idleSince = event.data.finishedAt;
      return onInstance(rest, (instance) => ({ ...instance, idleSince, tasksRun: instance.tasksRun + 1 }));
    }
    case 'InstanceTerminationRequested': {
      const { code, because, forced, requestedAt } = event.data;
      return onInstance(state, (instance) => ({ ...instance, termination: { code, because, forced, requestedAt } }));
    }
    case 'InstanceLaunchFailed':
    case 'InstanceTerminated': {
      if (state.instance?.run !== event.data.run) return state;
      const { instance: _gone, ...rest } = state;
      return rest;
    }
  }
}

function heardOf({ isSilent: _over, ...state }: WorkerState): WorkerState {
  return state;
}

function onInstance(state: WorkerState, change: (instance: Instance) => Instance): WorkerState {
  return state.instance === undefined ? state : { ...state, instance: change(state.instance) };
}
