import type { RegionEvent } from '../../events/ip-control/region.ts';
import type { Projection } from '../../kernel/projection.ts';

/** How one router stands: what an operator wants to be woken for. Instants as in the events; `null`: never. */
export type RouterUpkeep = Readonly<{
  name: string;
  phase: 'enabled' | 'disabled' | 'catching-up';
  /** Our lists on it that are not as they should be. */
  drifted: readonly string[];
  /** How many lists with our prefix belong to no customer. */
  unowned: number;
  driftedAt: string | null;
  repairedAt: string | null;
  /** Since when something is in force on it that it could not save. */
  unsavedSince: string | null;
}>;

/** The routers of one region. Key: the region's number. */
export type RouterUpkeepView = Readonly<{ region: string; routers: readonly RouterUpkeep[] }>;

const NEW: Omit<RouterUpkeep, 'name'> = {
  phase: 'enabled',
  drifted: [],
  unowned: 0,
  driftedAt: null,
  repairedAt: null,
  unsavedSince: null,
};

/** What tells how a router stands. */
export type RouterStandingEvent = Extract<
  RegionEvent,
  {
    type:
      | 'RegionCreated'
      | 'RouterAdded'
      | 'RouterRemoved'
      | 'RouterDisabled'
      | 'RouterEnabled'
      | 'RouterCaughtUp'
      | 'DriftDetected'
      | 'DriftRepaired'
      | 'UnownedListsSeen'
      | 'RouterNotSaved'
      | 'RouterSaved';
  }
>;

export const routerUpkeepProjection: Projection<RouterStandingEvent, RouterUpkeepView> = {
  name: 'router-upkeep',
  version: 2,
  handles: [
    'RegionCreated',
    'RouterAdded',
    'RouterRemoved',
    'RouterDisabled',
    'RouterEnabled',
    'RouterCaughtUp',
    'DriftDetected',
    'DriftRepaired',
    'UnownedListsSeen',
    'RouterNotSaved',
    'RouterSaved',
  ],
  keysOf: (event) => [String(event.data.regionId)],
  evolve: (view, event) => {
    if (event.type === 'RegionCreated') return { region: event.data.name, routers: [] };
    if (view === undefined) return undefined;
    const { router: name } = event.data;
    const others = view.routers.filter((router) => router.name !== name);
    if (event.type === 'RouterRemoved') return { ...view, routers: others };
    if (event.type === 'RouterAdded') return { ...view, routers: [...others, { name, ...NEW }] };
    const routers = view.routers.map((router) =>
      router.name === name ? { ...router, ...change(router, event, event.metadata.at) } : router,
    );
    return { ...view, routers };
  },
};

function change(
  { drifted }: RouterUpkeep,
  event: Exclude<RouterStandingEvent, { type: 'RegionCreated' | 'RouterAdded' | 'RouterRemoved' }>,
  at: string,
): Partial<RouterUpkeep> {
  switch (event.type) {
    case 'RouterDisabled':
      return { phase: 'disabled' };
    case 'RouterEnabled':
      return { phase: 'catching-up' };
    case 'RouterCaughtUp':
      return { phase: 'enabled' };
    case 'DriftDetected':
      return { drifted: [...new Set([...drifted, event.data.list])], driftedAt: at };
    case 'DriftRepaired':
      return { drifted: drifted.filter((list) => list !== event.data.list), repairedAt: at };
    case 'UnownedListsSeen':
      return { unowned: event.data.lists.length };
    case 'RouterNotSaved':
      return { unsavedSince: at };
    case 'RouterSaved':
      return { unsavedSince: null };
  }
}
