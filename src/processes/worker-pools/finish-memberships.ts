import type { Scopes, WorkerPools } from '../../commands/worker-pools/aggregates.ts';
import type { ScopeLimits } from '../../events/worker-pools/limits.ts';
import type { ScopeEvent } from '../../events/worker-pools/scope.ts';
import type { WorkerPoolEvent } from '../../events/worker-pools/worker-pool.ts';
import { isRefusal } from '../../kernel/decider.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { type Duty, type Mark, markOf, type Perform, type Process, type Since } from '../../kernel/process.ts';

type Watched =
  | Extract<WorkerPoolEvent, { type: 'WorkerPoolScopeAdmitted' | 'WorkerPoolScopeReleased' | 'WorkerPoolDeleted' }>
  | Extract<ScopeEvent, { type: 'ScopeWorkerPoolAdded' | 'ScopeWorkerPoolRemoved' }>;

type Terms = Readonly<{ priority: number; limits: ScopeLimits }>;

/** What the pool's stream says about a scope, and what the scope's own stream says. */
export type MembershipState = Readonly<{
  scope: string;
  pool: string;
  admitted: Terms | null;
  isAdded: boolean;
  /** When one of them last said something; absent in states of old. */
  changed?: Mark;
}>;

/** The one who began it is left to finish it, under the own name. */
const GRACE_MILLISECONDS = 3_000;

export type MembershipDuty =
  | Duty<'FollowIntoScope', Readonly<{ scope: string; pool: string }> & Terms>
  | Duty<'FollowOutOfScope', Readonly<{ scope: string; pool: string }>>;

/** Makes the scope's stream say what the pool's stream decided, where a command did not get that far. */
export const finishMemberships: Process<Watched, MembershipState, MembershipDuty> = {
  name: 'finish-memberships',
  version: 1,
  handles: [
    'WorkerPoolScopeAdmitted',
    'WorkerPoolScopeReleased',
    'WorkerPoolDeleted',
    'ScopeWorkerPoolAdded',
    'ScopeWorkerPoolRemoved',
  ],
  keysOf: (event) =>
    event.type === 'WorkerPoolDeleted'
      ? event.data.scopes.map((scope) => keyOf(event.data.pool, scope))
      : [keyOf(event.data.pool, event.data.scope)],
  evolve: (state, event, key) => {
    const next = { ...changed(state ?? unknown(key), event), changed: markOf(event) };
    return next.admitted === null && !next.isAdded ? undefined : next;
  },
  owed: ({ scope, pool, admitted, isAdded, changed: last }, since) => {
    if (dueIn(last, since) > 0) return [];
    if (admitted !== null && !isAdded) {
      return [{ type: 'FollowIntoScope', id: `into/${keyOf(pool, scope)}`, data: { scope, pool, ...admitted } }];
    }
    if (admitted === null && isAdded) {
      return [{ type: 'FollowOutOfScope', id: `out/${keyOf(pool, scope)}`, data: { scope, pool } }];
    }
    return [];
  },
  wakesIn: ({ admitted, isAdded, changed: last }, since) =>
    (admitted === null) === isAdded ? dueIn(last, since) : undefined,
};

function dueIn(last: Mark | undefined, since: Since): number {
  return last === undefined ? 0 : GRACE_MILLISECONDS - since(last);
}

/** Neither name can hold a slash. */
function keyOf(pool: string, scope: string): string {
  return `${pool}/${scope}`;
}

function unknown(key: string): MembershipState {
  const [pool = '', scope = ''] = key.split('/');
  return { scope, pool, admitted: null, isAdded: false };
}

function changed(state: MembershipState, event: RecordedEvent<Watched>): MembershipState {
  switch (event.type) {
    case 'WorkerPoolScopeAdmitted': {
      const { priority, limits } = event.data;
      return { ...state, admitted: { priority, limits } };
    }
    case 'WorkerPoolScopeReleased':
    case 'WorkerPoolDeleted':
      return { ...state, admitted: null };
    case 'ScopeWorkerPoolAdded':
      return { ...state, isAdded: true };
    case 'ScopeWorkerPoolRemoved':
      return { ...state, isAdded: false };
  }
}

export type FinishMembershipDependencies = Readonly<{ workerPools: WorkerPools; scopes: Scopes }>;

/** Takes the step that is missing, if it still is; it may be taken twice. */
export function performFinishMembership({
  workerPools,
  scopes,
}: FinishMembershipDependencies): Perform<MembershipDuty> {
  return async ({ id, type, data }) => {
    const { scope, pool } = data;
    const context = { actor: 'system:finish-memberships', requestId: id };
    const isAdmitted = (await workerPools.state(pool)).state.scopes.includes(scope);
    // The pool may have changed its mind since the duty arose; then the duty is another one.
    if (isAdmitted !== (type === 'FollowIntoScope')) return;
    const command =
      type === 'FollowIntoScope'
        ? ({ type: 'AddScopeWorkerPool', data: { pool, priority: data.priority, limits: data.limits } } as const)
        : ({ type: 'RemoveScopeWorkerPool', data: { pool } } as const);
    const answer = await scopes.handle(scope, command, context);
    // A scope that was deleted at the moment in which the pool admitted it is given back.
    if (isRefusal(answer) && answer.refused === 'scope-not-found') {
      await workerPools.handle(pool, { type: 'ReleaseScope', data: { scope } }, context);
      return;
    }
    if (isRefusal(answer)) throw new Error(`scope ${scope} could not follow pool ${pool}: ${answer.because}`);
  };
}
