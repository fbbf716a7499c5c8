import type { ScopeEvent } from '../../events/worker-pools/scope.ts';
import type { WorkerPoolEvent } from '../../events/worker-pools/worker-pool.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import type { ScopeView } from '../../projections/worker-pools/scope-view.ts';
import type { WorkerPoolView } from '../../projections/worker-pools/worker-pool-view.ts';

type TermsEvent =
  | Extract<ScopeEvent, { type: 'ScopeWorkerPoolAdded' | 'ScopeWorkerPoolEdited' | 'ScopeWorkerPoolRemoved' }>
  | Extract<WorkerPoolEvent, { type: 'WorkerPoolCreated' | 'WorkerPoolEdited' | 'WorkerPoolDeleted' }>;

const TERMS_EVENTS: ReadonlySet<string> = new Set<TermsEvent['type']>([
  'ScopeWorkerPoolAdded',
  'ScopeWorkerPoolEdited',
  'ScopeWorkerPoolRemoved',
  'WorkerPoolCreated',
  'WorkerPoolEdited',
  'WorkerPoolDeleted',
]);

/**
 * Whose work the workers of a pool may take. They begin as views show them and are kept by the events that follow: views that are read again
 * after an event may not show it yet, and nothing would tell when they do.
 */
export type DispatchTerms = Readonly<{
  /** The scope's priority in the pool; `undefined`: its work is not for workers of the pool. */
  priorityOf: (pool: string, scope: string) => number | undefined;
  /** Takes up what has happened. Whether it concerns who may take what. */
  notice: (event: RecordedEvent) => boolean;
}>;

export function dispatchTerms(
  pools: readonly Readonly<{ key: string; view: Pick<WorkerPoolView, 'record'> }>[],
  scopes: readonly Readonly<{ view: Pick<ScopeView, 'scope' | 'pools'> }>[],
): DispatchTerms {
  const instanceWide = new Map(pools.map(({ key, view }) => [key, view.record.instance_wide]));
  const priorities = new Map<string, number>();
  for (const { view } of scopes)
    for (const [pool, { priority }] of Object.entries(view.pools)) priorities.set(keyOf(pool, view.scope), priority);
  return {
    priorityOf: (pool, scope) => {
      const isInstanceWide = instanceWide.get(pool);
      // Of a pool that was deleted its scopes say so later.
      if (isInstanceWide === undefined) return undefined;
      return priorities.get(keyOf(pool, scope)) ?? (isInstanceWide ? 0 : undefined);
    },
    notice: (event) => {
      if (!isOfTerms(event)) return false;
      switch (event.type) {
        case 'ScopeWorkerPoolAdded':
        case 'ScopeWorkerPoolEdited':
          priorities.set(keyOf(event.data.pool, event.data.scope), event.data.priority);
          break;
        case 'ScopeWorkerPoolRemoved':
          priorities.delete(keyOf(event.data.pool, event.data.scope));
          break;
        case 'WorkerPoolCreated':
          instanceWide.set(event.data.pool, event.data.record.instance_wide);
          break;
        case 'WorkerPoolEdited':
          if (event.data.changes.instance_wide === undefined) return false;
          instanceWide.set(event.data.pool, event.data.changes.instance_wide);
          break;
        case 'WorkerPoolDeleted':
          instanceWide.delete(event.data.pool);
          break;
      }
      return true;
    },
  };
}

/** Neither name can hold a slash. */
function keyOf(pool: string, scope: string): string {
  return `${pool}/${scope}`;
}

function isOfTerms(event: RecordedEvent): event is RecordedEvent<TermsEvent> {
  return TERMS_EVENTS.has(event.type);
}
