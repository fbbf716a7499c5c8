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
      const { run, providerAccount, architectures, requestedAt } = event.data;
      return {
        ...state,
        lastRun: run,
        architectures,
        instance: { run, providerAccount, architectures, requestedAt, tasksRun: 0 },
      };
    }
    case 'InstanceCreated': {
      const { instanceCreatedAt, workerPoolData } = event.data;
      return onInstance(state, (instance) => ({ ...instance, created: { instanceCreatedAt, workerPoolData } }));
    }
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

function onInstance(state: WorkerState, change: (instance: Instance) => Instance): WorkerState {
  return state.instance === undefined ? state : { ...state, instance: change(state.instance) };
}
