import type { Architecture } from '../../events/worker-pools/architectures.ts';
import { type WorkerEvent, workerEvents } from '../../events/worker-pools/worker.ts';
import type { Projection } from '../../kernel/projection.ts';

type Json = Extract<WorkerEvent, { type: 'InstanceCreated' }>['data']['workerPoolData'];

export type RunningTaskView = Readonly<{ task: string; scope: string; startedAt: string; expectedSeconds: number }>;

/** A worker as administrators read it: what lasts, and its newest instance. */
export type WorkerView = Readonly<{
  worker: string;
  pool: string | null;
  architectures: readonly Architecture[];
  registeredAt: string;
  /** `null` while the worker has no instance. */
  instanceCreatedAt: string | null;
  workerPoolData: Json | null;
  run: string | null;
  /** Of the newest instance. */
  providerAccount: string | null;
  /** What happens to its instance: nothing there, asked for, starting, ready. */
  phase: 'stopped' | 'launching' | 'booting' | 'ready';
  idleSince: string | null;
  /** The instance has run a task. */
  hasRunTask: boolean;
  /** The instance was launched to run one task. */
  ephemeral: boolean;
  task: RunningTaskView | null;
  ending: Readonly<{ code: string; because: string; forced: boolean }> | null;
  /** Why the newest launch came to nothing, until the next one. */
  failure: Readonly<{ code: string; because: string; at: string }> | null;
  /** Since when nothing has been heard of it; null while it is heard. */
  silentSince: string | null;
  /** What the provider refuses or does not answer while it is asked again and again; null once it has done it. */
  callFailed: Readonly<{ call: 'create' | 'terminate'; code: string; because: string; at: string }> | null;
}>;

const STOPPED = {
  instanceCreatedAt: null,
  workerPoolData: null,
  run: null,
  providerAccount: null,
  callFailed: null,
  silentSince: null,
  phase: 'stopped',
  idleSince: null,
  hasRunTask: false,
  ephemeral: false,
  ending: null,
} as const;

/** Workers by name. */
export const workerProjection: Projection<WorkerEvent, WorkerView> = {
  name: 'workers',
  version: 3,
  handles: workerEvents.map(({ type }) => type),
  keysOf: ({ data }) => [data.worker],
  evolve: (view, event) => {
    if (event.type === 'WorkerRegistered') {
      const { worker, pool, architectures, registeredAt } = event.data;
      const phase = pool === null ? 'ready' : 'stopped';
      return { ...STOPPED, worker, pool, architectures, registeredAt, phase, task: null, failure: null };
    }
    return view === undefined ? undefined : changed(view, event);
  },
};

function changed(view: WorkerView, event: Exclude<WorkerEvent, { type: 'WorkerRegistered' }>): WorkerView {
  switch (event.type) {
    case 'InstanceLaunchRequested': {
      const { run, architectures, providerAccount, ephemeral = false } = event.data;
      const asked = { run, providerAccount, architectures, ephemeral };
      return { ...view, ...STOPPED, ...asked, phase: 'launching', failure: null };
    }
    case 'WorkerActivationIssued':
      // It is ready when it has reported in.
      return { ...view, phase: 'stopped' };
    case 'WorkerFellSilent':
      return { ...view, silentSince: event.data.at };
    case 'WorkerHeardAgain':
      return { ...view, silentSince: null };
    case 'InstanceCreationStarted':
    case 'WorkerActivated':
      return view;
    case 'ProviderCallFailed': {
      const { call, code, because, failedAt: at } = event.data;
      return { ...view, callFailed: { call, code, because, at } };
    }
    case 'InstanceCreated': {
      const { run, instanceCreatedAt, workerPoolData } = event.data;
      return { ...view, callFailed: null, run, instanceCreatedAt, workerPoolData, phase: 'booting' };
    }
    case 'InstanceLaunchFailed': {
      const { code, because, failedAt: at } = event.data;
      return { ...view, ...STOPPED, failure: { code, because, at } };
    }
    case 'WorkerConnected':
      return { ...view, phase: 'ready', idleSince: view.idleSince ?? event.data.connectedAt };
    case 'TaskStarted': {
      const { task, scope, startedAt, expectedSeconds } = event.data;
      return { ...view, idleSince: null, task: { task, scope, startedAt, expectedSeconds } };
    }
    case 'TaskFinished':
      return { ...view, task: null, idleSince: event.data.finishedAt, hasRunTask: view.run !== null };
    case 'InstanceTerminationRequested': {
      const { code, because, forced } = event.data;
      return { ...view, ending: { code, because, forced } };
    }
    case 'InstanceTerminated':
      return view.run === null || view.run === event.data.run ? { ...view, ...STOPPED } : view;
  }
}
