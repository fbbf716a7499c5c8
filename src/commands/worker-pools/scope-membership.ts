import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import type { ScopeLimits } from '../../events/worker-pools/limits.ts';
import type { CommandContext } from '../handle.ts';
import type { Scopes, WorkerPools } from './aggregates.ts';
import type { ScopeState } from './scope.ts';

export type Membership = Readonly<{ scope: string; pool: string }>;

/** What is to be; what is left out stays as it is, or has its default in a new membership. */
export type MembershipTerms = Readonly<{ priority?: number; limits?: ScopeLimits }>;

export type MembershipDependencies = Readonly<{ workerPools: WorkerPools; scopes: Scopes }>;

/** Whether anything changed, and what the scope is now. */
export type MembershipChange = Readonly<{ changed: boolean; state: ScopeState }>;

const NO_LIMITS: ScopeLimits = { target_max_seconds_per_month: null, target_latency_seconds: null };

/**
 * Lets a scope use a pool. The pool's stream admits the scope first, since it guards that a pool that is not instance-wide has
 * one scope; the scope's stream follows. What a crash leaves undone in between is finished by a process, or by asking again.
 */
export async function addScopeWorkerPool(
  { scope, pool }: Membership,
  terms: MembershipTerms,
  context: CommandContext,
  { workerPools, scopes }: MembershipDependencies,
): Promise<Refusal | MembershipChange> {
  if ((await scopes.state(scope)).state.scope === undefined) {
    return refuse('scope-not-found', `scope ${scope} not found.`, 'scope');
  }
  const { priority = 0, limits = NO_LIMITS } = terms;
  const admitted = await workerPools.handle(pool, { type: 'AdmitScope', data: { scope, priority, limits } }, context);
  if (isRefusal(admitted)) return admitted;
  const added = await scopes.handle(scope, { type: 'AddScopeWorkerPool', data: { pool, priority, limits } }, context);
  if (isRefusal(added)) return added;
  const edited = await scopes.handle(scope, { type: 'EditScopeWorkerPool', data: { pool, ...terms } }, context);
  if (isRefusal(edited)) return edited;
  return { changed: admitted.events.length + added.events.length + edited.events.length > 0, state: edited.state };
}

/** Takes a pool from a scope; the pool's stream first, which is what others go by. */
export async function removeScopeWorkerPool(
  { scope, pool }: Membership,
  context: CommandContext,
  { workerPools, scopes }: MembershipDependencies,
): Promise<Refusal | MembershipChange> {
  const released = await workerPools.handle(pool, { type: 'ReleaseScope', data: { scope } }, context);
  if (isRefusal(released)) return released;
  const removed = await scopes.handle(scope, { type: 'RemoveScopeWorkerPool', data: { pool } }, context);
  if (isRefusal(removed)) return removed;
  return { changed: released.events.length + removed.events.length > 0, state: removed.state };
}
