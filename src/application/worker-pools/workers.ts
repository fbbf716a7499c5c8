import type { CommandContext } from '../../commands/aggregate.ts';
import { epochMilliseconds } from '../../domain/instants.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import type { WorkerView } from '../../projections/worker-pools/worker-view.ts';
import type { Application } from '../application.ts';

/** The workers whose instances are being launched. */
export type Launched = Readonly<{ workers: readonly string[] }>;

/** Whether the instance was not being ended already, and the task that is waited for before it ends. */
export type Terminated = Readonly<{ changed: boolean; waitsForTask: string | null }>;

/** A worker as it is now. `runtimeSeconds`: since its instance was created; null without one. */
export type WorkerNow = Readonly<{ view: WorkerView; runtimeSeconds: number | null }>;

export type LaunchWorkersDependencies = Pick<Application, 'workerPools' | 'ids' | 'clock'>;

export type TerminateWorkerDependencies = Pick<Application, 'workers' | 'clock'>;

export type ReadWorkersDependencies = Pick<Application, 'catchUp' | 'clock'> &
  Readonly<{ views: Pick<Application['views'], 'workers'> }>;

const BY_HAND = 'an administrator asked for it';

/** Takes places for instances in a pool, for all of them or for none; a running server creates them. */
export async function launchWorkers(
  pool: string,
  count: number,
  context: CommandContext,
  { workerPools, ids, clock }: LaunchWorkersDependencies,
): Promise<Refusal | Launched> {
  const runs = Array.from({ length: count }, () => ids.uuid());
  const data = { runs, because: BY_HAND, at: clock.nowText(), partly: false };
  const answer = await workerPools.handle(pool, { type: 'ReserveInstances', data }, context);
  if (isRefusal(answer)) return answer;
  return {
    workers: answer.events.flatMap((event) => (event.type === 'InstanceReserved' ? [event.data.worker] : [])),
  };
}

/** Asks for the end of a worker's instance. Without `forced` a running task is waited for. */
export async function terminateWorker(
  worker: string,
  { forced }: Readonly<{ forced: boolean }>,
  context: CommandContext,
  { workers, clock }: TerminateWorkerDependencies,
): Promise<Refusal | Terminated> {
  const data = { code: 'asked', because: BY_HAND, forced, at: clock.nowText() };
  const answer = await workers.handle(worker, { type: 'RequestTermination', data }, context);
  if (isRefusal(answer)) return answer;
  const { task, instance } = answer.state;
  const waitsForTask = instance?.termination?.forced === true ? null : (task?.task ?? null);
  return { changed: answer.events.length > 0, waitsForTask };
}

/** All workers by name, or those of one pool. */
export async function listWorkers(
  { pool }: Readonly<{ pool?: string | undefined }>,
  { catchUp, clock, views }: ReadWorkersDependencies,
): Promise<readonly WorkerNow[]> {
  await catchUp();
  const now = clock.now().epochMilliseconds;
  const all = await views.workers.list();
  return all.flatMap(({ view }) => (pool === undefined || view.pool === pool ? [asOf(now, view)] : []));
}

/** One worker. */
export async function showWorker(
  worker: string,
  { catchUp, clock, views }: ReadWorkersDependencies,
): Promise<Refusal | WorkerNow> {
  await catchUp();
  const view = await views.workers.get(worker);
  if (view === undefined) return refuse('not-found', `worker ${worker} not found.`, 'worker');
  return asOf(clock.now().epochMilliseconds, view);
}

function asOf(now: number, view: WorkerView): WorkerNow {
  const { instanceCreatedAt } = view;
  if (instanceCreatedAt === null) return { view, runtimeSeconds: null };
  return { view, runtimeSeconds: Math.max(0, Math.floor((now - epochMilliseconds(instanceCreatedAt)) / 1000)) };
}
