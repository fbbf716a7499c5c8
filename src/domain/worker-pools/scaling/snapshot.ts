import type { Architecture } from '../../../events/worker-pools/architectures.ts';

/** A pool as scaling sees it. */
export type PoolSnapshot = Readonly<{
  name: string;
  enabled: boolean;
  architectures: readonly Architecture[];
  instanceWide: boolean;
  ephemeral: boolean;
  maxActiveInstances: number | null;
  targetMaxSecondsPerMonth: number | null;
  maxIdleSeconds: number;
  /** An instance that is not ready by then is given up; default: the snapshot's. */
  maxBootSeconds?: number;
  /** Instance-seconds of this month, running instances up to now included. */
  usedSeconds: number;
  /** Launches failed: no new try before this instant (epoch milliseconds). */
  launchesFromMilliseconds?: number;
  /** Why it launches nothing before something has been edited. */
  blocked?: string;
}>;

/** What a scope says about one of its pools. */
export type ScopePoolSnapshot = Readonly<{
  pool: string;
  priority: number;
  targetMaxSecondsPerMonth: number | null;
  targetLatencySeconds: number | null;
  /** Seconds of the scope's tasks in this pool this month, running ones up to now included. */
  usedSeconds: number;
}>;

export type ScopeSnapshot = Readonly<{ name: string; pools: readonly ScopePoolSnapshot[] }>;

/** What an active worker does. Instants are epoch milliseconds. */
export type WorkerActivity =
  | Readonly<{ state: 'booting'; since: number }>
  | Readonly<{ state: 'idle'; since: number; tasksRun: number }>
  | Readonly<{ state: 'busy'; scope: string; remainingSeconds: number; draining: boolean }>
  | Readonly<{ state: 'terminating' }>;

/** An active worker; `pool` is null for a worker without one. */
export type WorkerSnapshot = Readonly<{
  name: string;
  pool: string | null;
  architectures: readonly Architecture[];
  activity: WorkerActivity;
  /** It was launched to run one task, whatever its pool says by now. */
  ephemeral?: boolean;
}>;

/** Pending tasks of one kind, in the order in which they will be dispatched. */
export type PendingTasks = Readonly<{
  scope: string;
  architecture: Architecture;
  /** Only workers of this pool; absent: any. */
  pool?: string;
  count: number;
  /** Of one task. */
  expectedSeconds: number;
}>;

/** Everything that scaling looks at. */
export type ScalingSnapshot = Readonly<{
  nowMilliseconds: number;
  /** What an instance is expected to take from its creation to its first task. */
  bootSeconds: number;
  /** An instance that still boots after this long is given up. */
  bootTimeoutSeconds: number;
  pools: readonly PoolSnapshot[];
  scopes: readonly ScopeSnapshot[];
  workers: readonly WorkerSnapshot[];
  queue: readonly PendingTasks[];
}>;
