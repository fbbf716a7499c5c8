import { isRefusal, type Refusal } from '../../kernel/decider.ts';
import type { CommandContext } from '../handle.ts';
import type { Scopes, Workers, WorkerPools } from './aggregates.ts';
import { activeSlots } from './pool-state.ts';

export type DeleteWorkerPoolDependencies = Readonly<{ workerPools: WorkerPools; scopes: Scopes; workers: Workers }>;

/** What a deletion took with it. */
export type DeletedWorkerPool = Readonly<{ scopes: readonly string[]; ending: readonly string[] }>;

/** Deletes a pool, takes it from its scopes and, by force, ends what runs. What a crash leaves undone a process finishes. */
export async function deleteWorkerPool(
  pool: string,
  options: Readonly<{ force: boolean; at: string }>,
  context: CommandContext,
  { workerPools, scopes, workers }: DeleteWorkerPoolDependencies,
): Promise<Refusal | DeletedWorkerPool> {
  const { state } = await workerPools.state(pool);
  const answer = await workerPools.handle(pool, { type: 'DeleteWorkerPool', data: { force: options.force } }, context);
  if (isRefusal(answer)) return answer;
  for (const scope of state.scopes) {
    const removed = await scopes.handle(scope, { type: 'RemoveScopeWorkerPool', data: { pool } }, context);
    if (isRefusal(removed)) return removed;
  }
  const ending = activeSlots(answer.state).map(({ worker }) => worker);
  for (const worker of ending) await endForDeletion(worker, pool, options.at, context, workers);
  return { scopes: state.scopes, ending };
}

/** Ends a worker of a deleted pool at once. A worker whose launch was not begun yet has nothing to end. */
export async function endForDeletion(
  worker: string,
  pool: string,
  at: string,
  context: CommandContext,
  workers: Workers,
): Promise<void> {
  const data = { code: 'pool-deleted', because: `worker pool ${pool} was deleted`, forced: true, at };
  await workers.handle(worker, { type: 'RequestTermination', data }, context);
}
