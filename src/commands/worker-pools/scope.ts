import { type Command, type Decider, type Decision, refuse } from '../../kernel/decider.ts';
import type { ScopeLimits } from '../../events/worker-pools/limits.ts';
import { type ScopeEvent, scopeEvents } from '../../events/worker-pools/scope.ts';
import { sameJson } from './same-json.ts';

export type ScopeWorkerPool = Readonly<{ priority: number; limits: ScopeLimits }>;

/** Plain JSON, so that it is its own snapshot. */
export type ScopeState = Readonly<{
  scope?: string;
  pools: Readonly<Record<string, ScopeWorkerPool>>;
  /** Why work waits that no pool could be asked for, by architecture; since the newest pool came. */
  refused: Readonly<Record<string, string>>;
}>;

export type ScopeCommand =
  | Command<'CreateScope', { scope: string }>
  /** The pool has admitted the scope before. A pool that the scope has already stays as it is. */
  | Command<'AddScopeWorkerPool', { pool: string; priority: number; limits: ScopeLimits }>
  | Command<'EditScopeWorkerPool', { pool: string; priority?: number; limits?: ScopeLimits }>
  | Command<'RemoveScopeWorkerPool', { pool: string }>
  /** `usedBy`: what else than its own pools needs it, as it is to be told. */
  | Command<'DeleteScope', { usedBy: readonly string[] }>
  | Command<'RecordScalingRefusal', { architecture: string; unmet: number; because: string; at: string }>;

/** The rules of one scope. */
export const scopeDecider = {
  category: 'scope',
  handles: scopeEvents.map(({ type }) => type),
  initial: { pools: {}, refused: {} } as ScopeState,
  evolve,
  decide,
  snapshot: {
    version: 2,
    encode: (state: ScopeState): unknown => state,
    decode: (stored: unknown) => stored as ScopeState,
  },
} as const satisfies Decider<ScopeCommand, ScopeState, ScopeEvent> &
  Readonly<{ handles: readonly ScopeEvent['type'][] }>;

function evolve(state: ScopeState, event: ScopeEvent): ScopeState {
  switch (event.type) {
    case 'ScopeCreated':
      return { ...state, scope: event.data.scope };
    case 'ScopeWorkerPoolAdded':
    case 'ScopeWorkerPoolEdited': {
      const { pool, priority, limits } = event.data;
      const pools = { ...state.pools, [pool]: { priority, limits } };
      // There is another pool to ask now: where that is of no help, it is refused anew.
      return event.type === 'ScopeWorkerPoolAdded' ? { ...state, pools, refused: {} } : { ...state, pools };
    }
    case 'ScopeWorkerPoolRemoved': {
      const { [event.data.pool]: _removed, ...pools } = state.pools;
      return { ...state, pools };
    }
    case 'ScopeScalingRefused': {
      const { architecture, because } = event.data;
      return { ...state, refused: { ...state.refused, [architecture]: because } };
    }
    case 'ScopeDeleted':
      return { pools: {}, refused: {} };
  }
}

function decide(command: ScopeCommand, state: ScopeState): Decision<ScopeEvent> {
  if (command.type === 'CreateScope') {
    return state.scope === undefined ? [{ type: 'ScopeCreated', data: { scope: command.data.scope } }] : [];
  }
  const { scope } = state;
  if (scope === undefined) return refuse('scope-not-found', 'scope not found.', 'scope');
  if (command.type === 'RecordScalingRefusal') {
    const { architecture, unmet, because, at } = command.data;
    if (state.refused[architecture] === because) return [];
    return [{ type: 'ScopeScalingRefused', data: { scope, architecture, unmet, because, refusedAt: at } }];
  }
  if (command.type === 'DeleteScope') {
    const pools = Object.keys(state.pools).toSorted();
    const uses = [...pools.map((pool) => `worker pool ${pool}`), ...command.data.usedBy];
    if (uses.length > 0) return refuse('scope-in-use', `scope ${scope} is in use: ${uses.join(', ')}.`, 'scope');
    return [{ type: 'ScopeDeleted', data: { scope } }];
  }
  const { pool } = command.data;
  const known = state.pools[pool];
  switch (command.type) {
    case 'AddScopeWorkerPool': {
      const { priority, limits } = command.data;
      return known === undefined ? [{ type: 'ScopeWorkerPoolAdded', data: { scope, pool, priority, limits } }] : [];
    }
    case 'EditScopeWorkerPool': {
      if (known === undefined) {
        return refuse('scope-worker-pool-not-found', `scope ${scope} has no worker pool ${pool}.`, 'pool');
      }
      const { priority = known.priority, limits = known.limits } = command.data;
      if (priority === known.priority && sameJson(limits, known.limits)) return [];
      return [{ type: 'ScopeWorkerPoolEdited', data: { scope, pool, priority, limits } }];
    }
    case 'RemoveScopeWorkerPool':
      return known === undefined ? [] : [{ type: 'ScopeWorkerPoolRemoved', data: { scope, pool } }];
  }
}
