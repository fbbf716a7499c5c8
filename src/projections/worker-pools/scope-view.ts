import type { ScopeLimits } from '../../events/worker-pools/limits.ts';
import { type ScopeEvent, scopeEvents } from '../../events/worker-pools/scope.ts';
import type { Projection } from '../../kernel/projection.ts';

export type ScopeView = Readonly<{
  scope: string;
  createdAt: string;
  pools: Readonly<Record<string, Readonly<{ priority: number; limits: ScopeLimits }>>>;
  /** The newest reason why work waits that no pool could be asked for, by architecture; since the newest pool came. */
  refused: Readonly<Record<string, Readonly<{ because: string; at: string }>>>;
}>;

/** Scopes by name. */
export const scopeProjection: Projection<ScopeEvent, ScopeView> = {
  name: 'scopes',
  version: 2,
  handles: scopeEvents.map(({ type }) => type),
  keysOf: ({ data }) => [data.scope],
  evolve: (view, event) => {
    if (event.type === 'ScopeCreated') {
      return { scope: event.data.scope, createdAt: event.metadata.at, pools: {}, refused: {} };
    }
    return view === undefined || event.type === 'ScopeDeleted' ? undefined : changed(view, event);
  },
};

function changed(view: ScopeView, event: Exclude<ScopeEvent, { type: 'ScopeCreated' | 'ScopeDeleted' }>): ScopeView {
  switch (event.type) {
    case 'ScopeWorkerPoolAdded':
    case 'ScopeWorkerPoolEdited': {
      const { pool, priority, limits } = event.data;
      const pools = { ...view.pools, [pool]: { priority, limits } };
      return event.type === 'ScopeWorkerPoolAdded' ? { ...view, pools, refused: {} } : { ...view, pools };
    }
    case 'ScopeWorkerPoolRemoved': {
      const { [event.data.pool]: _removed, ...pools } = view.pools;
      return { ...view, pools };
    }
    case 'ScopeScalingRefused': {
      const { architecture, because, refusedAt: at } = event.data;
      return { ...view, refused: { ...view.refused, [architecture]: { because, at } } };
    }
  }
}
