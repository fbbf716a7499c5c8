import type { CommandContext } from '../../commands/aggregate.ts';
import { epochMilliseconds } from '../../domain/instants.ts';
import { monthOf } from '../../domain/worker-pools/months.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import { poolMonthMilliseconds } from '../../projections/worker-pools/pool-usage-view.ts';
import type { WorkerView } from '../../projections/worker-pools/worker-view.ts';
import type { Application } from '../application.ts';
import { namingPool } from './pools.ts';

/** The workers whose instances are being launched. `notes`: what an administrator should know though it is done. */
export type Launched = Readonly<{ workers: readonly string[]; notes: readonly string[] }>;

/** Whether the instance was not being ended already, and the task that is waited for before it ends. */
export type Terminated = Readonly<{ changed: boolean; waitsForTask: string | null }>;

/** A worker as it is now. `runtimeSeconds`: since its instance was created; null without one. */
export type WorkerNow = Readonly<{ view: WorkerView; runtimeSeconds: number | null }>;

export type LaunchWorkersDependencies = Pick<
  Application,
  'workerPools' | 'assets' | 'ids' | 'clock' | 'catchUp' | 'workersUrl'
> &
  Readonly<{ views: Pick<Application['views'], 'poolUsage'> }>;

export type TerminateWorkerDependencies = Pick<Application, 'workers' | 'clock'>;

export type ReadWorkersDependencies = Pick<Application, 'catchUp' | 'clock'> &
  Readonly<{ views: Pick<Application['views'], 'workers'> }>;

const BY_HAND = 'an administrator asked for it';

/** Takes places for instances in a pool, for all of them or for none; a running server creates them. */
export async function launchWorkers(
  pool: string,
  count: number,
  context: CommandContext,
  dependencies: LaunchWorkersDependencies,
): Promise<Refusal | Launched> {
  const { workerPools, ids, clock } = dependencies;
  const { record } = (await workerPools.state(pool)).state;
  const problem = record === undefined ? undefined : await urlProblem(record.provider_account, dependencies);
  if (problem !== undefined) return refuse('no-public-url', `${problem}.`);
  const runs = Array.from({ length: count }, () => ids.uuid());
  const data = { runs, because: BY_HAND, at: clock.nowText(), partly: false };
  const answer = await workerPools.handle(pool, { type: 'ReserveInstances', data }, context);
  if (isRefusal(answer)) return namingPool(pool, answer);
  return {
    workers: answer.events.flatMap((event) => (event.type === 'InstanceReserved' ? [event.data.worker] : [])),
    notes: await monthNotes(pool, record?.limits.target_max_seconds_per_month ?? null, dependencies),
  };
}

/** Why new workers would not find the service; `undefined`: they do. */
async function urlProblem(
  account: string,
  { assets, workersUrl }: LaunchWorkersDependencies,
): Promise<string | undefined> {
  if (!('problem' in workersUrl)) return undefined;
  const { record } = (await assets.state(account)).state;
  const hasOwnUrl = record?.category === 'cloud-provider-account' && 'server_url' in record.configuration;
  return hasOwnUrl ? undefined : workersUrl.problem;
}

async function monthNotes(
  pool: string,
  target: number | null,
  { catchUp, clock, views }: LaunchWorkersDependencies,
): Promise<readonly string[]> {
  if (target === null) return [];
  await catchUp();
  const now = clock.now().epochMilliseconds;
  const used = Math.floor(poolMonthMilliseconds(await views.poolUsage.get(pool), monthOf(now), now) / 1000);
  if (used < target) return [];
  return [
    `${used} seconds of this month are used, limits.target_max_seconds_per_month is ${target}: this launch is beyond the target, and the next decision ends what idles`,
  ];
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
  if (isRefusal(answer))
    return answer.refused === 'worker-not-found' ? { ...answer, because: `worker ${worker} not found.` } : answer;
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
