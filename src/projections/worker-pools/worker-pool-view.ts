import { epochMilliseconds } from '../../domain/instants.ts';
import type { PoolRecord } from '../../events/worker-pools/pool-record.ts';
import { type WorkerPoolEvent, workerPoolEvents } from '../../events/worker-pools/worker-pool.ts';
import type { WorkerEvent } from '../../events/worker-pools/worker.ts';
import type { Projection } from '../../kernel/projection.ts';

type Watched = WorkerPoolEvent | Extract<WorkerEvent, { type: 'InstanceCreated' | 'WorkerConnected' }>;

type Decision = Omit<Extract<WorkerPoolEvent, { type: 'WorkerPoolScalingDecided' }>['data'], 'pool'>;

type DynamicMetadata = Extract<WorkerEvent, { type: 'WorkerConnected' }>['data']['dynamicMetadata'];

/** A pool as administrators read it. */
export type WorkerPoolView = Readonly<{
  record: PoolRecord;
  createdAt: string;
  scopes: readonly string[];
  /** Copied from the most recently launched worker. */
  dynamicMetadata: DynamicMetadata;
  latestLaunch: Readonly<{ run: string; at: string }> | null;
  /** Workers whose instances are reserved, starting, running or ending, by name. */
  active: readonly Readonly<{ worker: string; run: string; since: string }>[];
  /** Launches that failed one after another, for the pause before the next one. */
  failedAt: readonly string[];
  /** Why the newest launch that failed did, or the newest instance that never got ready; null since one has succeeded or the pool was edited. */
  failure: Readonly<{ code: string; because: string; at: string }> | null;
  decision: Decision | null;
}>;

const FAILURES_MAX = 10;

/** Pools by name. */
export const workerPoolProjection: Projection<Watched, WorkerPoolView> = {
  name: 'worker-pools',
  version: 2,
  handles: [...workerPoolEvents.map(({ type }) => type), 'InstanceCreated', 'WorkerConnected'],
  keysOf: ({ data }) => (data.pool === null ? [] : [data.pool]),
  evolve: (view, event) => {
    if (event.type === 'WorkerPoolCreated') {
      return {
        record: event.data.record,
        createdAt: event.metadata.at,
        scopes: [],
        dynamicMetadata: {},
        latestLaunch: null,
        active: [],
        failedAt: [],
        failure: null,
        decision: null,
      };
    }
    return view === undefined ? undefined : changed(view, event);
  },
};

function changed(
  view: WorkerPoolView,
  event: Exclude<Watched, { type: 'WorkerPoolCreated' }>,
): WorkerPoolView | undefined {
  switch (event.type) {
    case 'WorkerPoolEdited':
      return { ...view, record: { ...view.record, ...event.data.changes }, failedAt: [], failure: null };
    case 'WorkerPoolDeleted':
      return undefined;
    case 'WorkerPoolScopeAdmitted':
      return { ...view, scopes: [...without(view.scopes, event.data.scope), event.data.scope].sort() };
    case 'WorkerPoolScopeReleased':
      return { ...view, scopes: without(view.scopes, event.data.scope) };
    case 'InstanceReserved': {
      const { worker, run, reservedAt } = event.data;
      const others = view.active.filter((known) => known.worker !== worker);
      const active = [...others, { worker, run, since: reservedAt }].sort((a, b) => (a.worker < b.worker ? -1 : 1));
      return { ...view, active };
    }
    case 'InstanceReleased': {
      const { run, outcome, failure, releasedAt: at } = event.data;
      const active = view.active.filter((known) => known.run !== run);
      if (outcome === 'terminated' && failure === undefined) return { ...view, active, failedAt: [], failure: null };
      const earlier = view.failedAt.filter((known) => known !== at);
      const why = failure === undefined ? view.failure : { code: failure.code, because: failure.because, at };
      return { ...view, active, failedAt: [...earlier, at].slice(-FAILURES_MAX), failure: why };
    }
    case 'WorkerPoolScalingDecided': {
      const { pool: _pool, ...decision } = event.data;
      return { ...view, decision };
    }
    case 'InstanceCreated': {
      const { run, instanceCreatedAt: at } = event.data;
      const latest = view.latestLaunch;
      const isNewer = latest === null || epochMilliseconds(at) >= epochMilliseconds(latest.at);
      return isNewer ? { ...view, latestLaunch: { run, at } } : view;
    }
    case 'WorkerConnected':
      if (event.data.run === null || event.data.run !== view.latestLaunch?.run) return view;
      return { ...view, dynamicMetadata: event.data.dynamicMetadata };
  }
}

function without(scopes: readonly string[], scope: string): readonly string[] {
  return scopes.filter((known) => known !== scope);
}
