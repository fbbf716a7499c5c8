import type { WorkerEvent } from '../../events/worker-pools/worker.ts';
import type { WorkerPoolEvent } from '../../events/worker-pools/worker-pool.ts';
import type { Told } from '../../kernel/event.ts';
import type { Duty, Process } from '../../kernel/process.ts';

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

function evolve(state: RunState | undefined, event: Told<Watched>): RunState | undefined {
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
