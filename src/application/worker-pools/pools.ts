import type { CommandContext } from '../../commands/aggregate.ts';
import { endForDeletion } from '../../commands/worker-pools/end-for-deletion.ts';
import { activeSlots, type PoolState } from '../../commands/worker-pools/pool-state.ts';
import { type AssetFacts, type WorkerPoolCommand, workerPoolDecider } from '../../commands/worker-pools/worker-pool.ts';
import { monthOf } from '../../domain/worker-pools/months.ts';
import { maxBootSeconds } from '../../events/worker-pools/limits.ts';
import type { PoolChanges, PoolRecord } from '../../events/worker-pools/pool-record.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import { poolMonthMilliseconds } from '../../projections/worker-pools/pool-usage-view.ts';
import type { WorkerPoolView } from '../../projections/worker-pools/worker-pool-view.ts';
import type { Application } from '../application.ts';
import { type Difference, differences } from './difference.ts';
import { poolNotes } from './pool-notes.ts';

/** What came of making a pool be as it is given. `notes`: what an administrator should know though it is accepted. */
export type PoolChanged = Readonly<{
  created: boolean;
  differences: readonly Difference[];
  notes: readonly string[];
}>;

/** What a deletion took with it. */
export type DeletedPool = Readonly<{ scopes: readonly string[]; ending: readonly string[] }>;

export type ChangePoolDependencies = Pick<
  Application,
  'workerPools' | 'assets' | 'clock' | 'catchUp' | 'cloudDrivers'
> &
  Readonly<{ views: Pick<Application['views'], 'poolUsage'> }>;

export type DeletePoolDependencies = Pick<Application, 'workerPools' | 'scopes' | 'workers' | 'clock'>;

export type ReadPoolsDependencies = Pick<Application, 'catchUp'> &
  Readonly<{ views: Pick<Application['views'], 'workerPools'> }>;

/** `dryRun`: the answer is what would come of it, and nothing is changed. */
type HowToChange = Readonly<{ dryRun: boolean }>;

/** Makes a pool exist with what is given. What is not named stays as it is, or has its default in a new pool. */
export async function ensurePool(
  pool: string,
  given: PoolChanges,
  how: HowToChange,
  context: CommandContext,
  dependencies: ChangePoolDependencies,
): Promise<Refusal | PoolChanged> {
  const before = (await dependencies.workerPools.state(pool)).state;
  const assets = await assetFacts(before.record, given, dependencies);
  const command = { type: 'EnsureWorkerPool', data: { pool, given, assets } } as const;
  return change(pool, command, before, how, context, dependencies);
}

/** Changes what is named of a pool that is there. */
export async function editPool(
  pool: string,
  changes: PoolChanges,
  how: HowToChange,
  context: CommandContext,
  dependencies: ChangePoolDependencies,
): Promise<Refusal | PoolChanged> {
  const before = (await dependencies.workerPools.state(pool)).state;
  if (before.record === undefined) return poolNotFound(pool);
  const assets = await assetFacts(before.record, changes, dependencies);
  const command = { type: 'EditWorkerPool', data: { changes, assets } } as const;
  return change(pool, command, before, how, context, dependencies);
}

/** Deletes a pool, takes it from its scopes and, by force, ends what runs. What a crash leaves undone a process finishes. */
export async function deletePool(
  pool: string,
  { force }: Readonly<{ force: boolean }>,
  context: CommandContext,
  { workerPools, scopes, workers, clock }: DeletePoolDependencies,
): Promise<Refusal | DeletedPool> {
  const at = clock.nowText();
  const { state } = await workerPools.state(pool);
  const answer = await workerPools.handle(pool, { type: 'DeleteWorkerPool', data: { force } }, context);
  if (isRefusal(answer)) return namingPool(pool, answer);
  for (const scope of state.scopes) {
    const removed = await scopes.handle(scope, { type: 'RemoveScopeWorkerPool', data: { pool } }, context);
    if (isRefusal(removed)) return removed;
  }
  const ending = activeSlots(answer.state).map(({ worker }) => worker);
  for (const worker of ending) await endForDeletion(worker, pool, at, context, workers);
  return { scopes: state.scopes, ending };
}

/** All pools, by name. */
export async function listPools({ catchUp, views }: ReadPoolsDependencies): Promise<readonly WorkerPoolView[]> {
  await catchUp();
  return (await views.workerPools.list()).map(({ view }) => view);
}

/** One pool. */
export async function showPool(
  pool: string,
  { catchUp, views }: ReadPoolsDependencies,
): Promise<Refusal | WorkerPoolView> {
  await catchUp();
  return (await views.workerPools.get(pool)) ?? poolNotFound(pool);
}

/** A pool's limits as they are kept to, those included that nothing was said of. */
export function limitsInForce({ limits }: Pick<PoolRecord, 'limits'>): PoolRecord['limits'] {
  return { ...limits, max_boot_seconds: maxBootSeconds(limits) };
}

/** A pool as its stream has it, and the revision of that; no record where there is none. */
export async function poolRevision(
  pool: string,
  { workerPools }: Pick<Application, 'workerPools'>,
): Promise<Readonly<{ record: PoolRecord | undefined; revision: bigint }>> {
  const { state, revision } = await workerPools.state(pool);
  return { record: state.record, revision };
}

/** No pool of this name. */
export function poolNotFound(pool: string): Refusal {
  return refuse('not-found', `worker pool ${pool} not found.`, 'pool');
}

/** What a pool's rules refused; a pool that is not there has no name of its own to say. */
export function namingPool(pool: string, refusal: Refusal): Refusal {
  if (refusal.refused !== 'worker-pool-not-found') return refusal;
  return { ...refusal, because: `worker pool ${pool} not found.` };
}

/** Decides on what the pool is now and, but for a dry run, makes it so. */
async function change(
  pool: string,
  command: WorkerPoolCommand,
  before: PoolState,
  { dryRun }: HowToChange,
  context: CommandContext,
  dependencies: ChangePoolDependencies,
): Promise<Refusal | PoolChanged> {
  const after = dryRun ? foreseen(command, before) : await changed(pool, command, context, dependencies);
  if (isRefusal(after)) return after;
  return {
    created: before.record === undefined,
    differences: differences(before.record ?? {}, after.record ?? {}),
    notes: poolNotes(after, await usedSeconds(pool, dependencies), dependencies.cloudDrivers),
  };
}

function foreseen(command: WorkerPoolCommand, before: PoolState): Refusal | PoolState {
  const events = workerPoolDecider.decide(command, before);
  if (isRefusal(events)) return events;
  return events.reduce<PoolState>((state, event) => workerPoolDecider.evolve(state, event), before);
}

async function changed(
  pool: string,
  command: WorkerPoolCommand,
  context: CommandContext,
  { workerPools }: ChangePoolDependencies,
): Promise<Refusal | PoolState> {
  const answer = await workerPools.handle(pool, command, context);
  return isRefusal(answer) ? answer : answer.state;
}

async function usedSeconds(pool: string, { catchUp, clock, views }: ChangePoolDependencies): Promise<number> {
  await catchUp();
  const now = clock.now().epochMilliseconds;
  return poolMonthMilliseconds(await views.poolUsage.get(pool), monthOf(now), now) / 1000;
}

/** What a pool has to know of the assets that it names, now or after a change. Assets that do not exist are left out. */
async function assetFacts(
  record: PoolRecord | undefined,
  given: PoolChanges,
  { assets }: ChangePoolDependencies,
): Promise<readonly AssetFacts[]> {
  const named = [
    record?.provider_account,
    record?.apt_authentication,
    given.provider_account,
    given.apt_authentication,
  ];
  const names = new Set(named.filter((name) => typeof name === 'string'));
  const states = await Promise.all([...names].map((name) => assets.state(name)));
  return states.flatMap(({ state }): readonly AssetFacts[] => {
    if (state.record === undefined) return [];
    const { name, category } = state.record;
    return [{ name, category, providerType: 'provider_type' in state.record ? state.record.provider_type : null }];
  });
}
