import type { CommandContext } from '../../commands/aggregate.ts';
import type { ScopeWorkerPool } from '../../commands/worker-pools/scope.ts';
import type { ScopeLimits } from '../../events/worker-pools/limits.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import type { ScopeView } from '../../projections/worker-pools/scope-view.ts';
import type { Application } from '../application.ts';
import { namingPool } from './pools.ts';

export type Membership = Readonly<{ scope: string; pool: string }>;

/** What is to be; what is left out stays as it is, or has its default in a new membership. */
export type MembershipTerms = Readonly<{ priority?: number; limits?: ScopeLimits }>;

/** Whether anything changed, and the terms on which the scope uses the pool now; undefined: it does not. */
export type MembershipChanged = Readonly<{ changed: boolean; terms: ScopeWorkerPool | undefined }>;

export type ScopeDependencies = Pick<Application, 'scopes'>;

export type MembershipDependencies = Pick<Application, 'workerPools' | 'scopes'>;

export type DeleteScopeDependencies = Pick<Application, 'scopes' | 'catchUp'> &
  Readonly<{ views: Pick<Application['views'], 'workerPools' | 'openWork'> }>;

export type ReadScopesDependencies = Pick<Application, 'catchUp'> &
  Readonly<{ views: Pick<Application['views'], 'scopes'> }>;

const NO_LIMITS: ScopeLimits = { target_max_seconds_per_month: null, target_latency_seconds: null };

/** Makes a scope exist. */
export async function createScope(
  scope: string,
  context: CommandContext,
  { scopes }: ScopeDependencies,
): Promise<Refusal | Readonly<{ created: boolean }>> {
  const answer = await scopes.handle(scope, { type: 'CreateScope', data: { scope } }, context);
  return isRefusal(answer) ? answer : { created: answer.events.length > 0 };
}

/**
 * Lets a scope use a pool. The pool's stream admits the scope first, since it guards that a pool that is not instance-wide has
 * one scope; the scope's stream follows. What a crash leaves undone in between is finished by a process, or by asking again.
 */
export async function addScopeWorkerPool(
  { scope, pool }: Membership,
  terms: MembershipTerms,
  context: CommandContext,
  { workerPools, scopes }: MembershipDependencies,
): Promise<Refusal | MembershipChanged> {
  if ((await scopes.state(scope)).state.scope === undefined) {
    return refuse('scope-not-found', `scope ${scope} not found.`, 'scope');
  }
  const { priority = 0, limits = NO_LIMITS } = terms;
  const admitted = await workerPools.handle(pool, { type: 'AdmitScope', data: { scope, priority, limits } }, context);
  if (isRefusal(admitted)) return namingPool(pool, admitted);
  const added = await scopes.handle(scope, { type: 'AddScopeWorkerPool', data: { pool, priority, limits } }, context);
  if (isRefusal(added)) return added;
  const edited = await editScopeWorkerPool({ scope, pool }, terms, context, { scopes });
  if (isRefusal(edited)) return edited;
  const changed = admitted.events.length + added.events.length > 0 || edited.changed;
  return { changed, terms: edited.terms };
}

/** Changes the terms on which a scope uses a pool. */
export async function editScopeWorkerPool(
  { scope, pool }: Membership,
  terms: MembershipTerms,
  context: CommandContext,
  { scopes }: ScopeDependencies,
): Promise<Refusal | MembershipChanged> {
  const edited = await scopes.handle(scope, { type: 'EditScopeWorkerPool', data: { pool, ...terms } }, context);
  if (isRefusal(edited)) return namingScope(scope, edited);
  return { changed: edited.events.length > 0, terms: edited.state.pools[pool] };
}

/** Takes a pool from a scope; the pool's stream first, which is what others go by. */
export async function removeScopeWorkerPool(
  { scope, pool }: Membership,
  context: CommandContext,
  { workerPools, scopes }: MembershipDependencies,
): Promise<Refusal | MembershipChanged> {
  if ((await scopes.state(scope)).state.scope === undefined) return scopeNotFound(scope);
  const released = await workerPools.handle(pool, { type: 'ReleaseScope', data: { scope } }, context);
  if (isRefusal(released)) return released;
  const removed = await scopes.handle(scope, { type: 'RemoveScopeWorkerPool', data: { pool } }, context);
  if (isRefusal(removed)) return removed;
  return { changed: released.events.length + removed.events.length > 0, terms: removed.state.pools[pool] };
}

/** Deletes a scope that uses no pool and has no work. What it has used stays in the accounts of the months. */
export async function deleteScope(
  scope: string,
  context: CommandContext,
  { scopes, catchUp, views }: DeleteScopeDependencies,
): Promise<Refusal | Readonly<{ name: string }>> {
  await catchUp();
  const own = (await scopes.state(scope)).state.pools;
  const pools = (await views.workerPools.list()).flatMap(({ view: { record, scopes: admitted } }) =>
    admitted.includes(scope) && own[record.name] === undefined ? [`worker pool ${record.name}`] : [],
  );
  const work = (await views.openWork.list()).filter(({ view }) => view.scope === scope).length;
  const usedBy = [...pools, ...(work === 0 ? [] : [`${work} work ${work === 1 ? 'request' : 'requests'}`])];
  const answer = await scopes.handle(scope, { type: 'DeleteScope', data: { usedBy } }, context);
  return isRefusal(answer) ? namingScope(scope, answer) : { name: scope };
}

/** Whether there is a scope of this name, the pools that it uses, and how far its stream is. */
export async function scopeRevision(
  scope: string,
  { scopes }: ScopeDependencies,
): Promise<Readonly<{ isThere: boolean; pools: Readonly<Record<string, ScopeWorkerPool>>; revision: bigint }>> {
  const { state, revision } = await scopes.state(scope);
  return { isThere: state.scope !== undefined, pools: state.pools, revision };
}

/** All scopes, by name. */
export async function listScopes({ catchUp, views }: ReadScopesDependencies): Promise<readonly ScopeView[]> {
  await catchUp();
  return (await views.scopes.list()).map(({ view }) => view);
}

/** One scope. */
export async function showScope(
  scope: string,
  { catchUp, views }: ReadScopesDependencies,
): Promise<Refusal | ScopeView> {
  await catchUp();
  return (await views.scopes.get(scope)) ?? scopeNotFound(scope);
}

function namingScope(scope: string, refusal: Refusal): Refusal {
  return refusal.refused === 'scope-not-found' ? { ...refusal, because: `scope ${scope} not found.` } : refusal;
}

function scopeNotFound(scope: string): Refusal {
  return refuse('not-found', `scope ${scope} not found.`, 'scope');
}
