import type { RegionEvent } from '../../events/ip-control/region.ts';
import type { DeployPolicy } from '../../events/ip-control/vocabulary.ts';

/** A router as an operator describes it. */
export type Router = Readonly<{ router: string; driver: string; options: Readonly<Record<string, string>> }>;

/** A router of a region, and what is known of how it keeps our lists. */
export type RegionRouter = Router &
  Readonly<{
    /** `disabled`: passed over. `catching-up`: enabled, and not up to date yet. Commits are complete without either. */
    phase: 'enabled' | 'catching-up' | 'disabled';
    /** All of our lists were to be taken off it, and it was not enabled since. */
    isDrained: boolean;
    /** The revision of the event that added it, or enabled it last: what it was seen to hold before that says nothing. */
    since: bigint;
    /** Whether drift is put right. */
    repair: boolean;
    /** Lists that were found to be other than they should, with the SHA-256 of what was found. */
    drifts: ReadonlyMap<string, string>;
    /** Lists with our prefix that belong to no customer. */
    unowned: readonly string[];
    /** Why it could not save what is in force on it; undefined when all of it is saved, as far as is known. */
    unsaved?: string;
    /** Checks that were asked for and are not over. */
    checks: ReadonlySet<string>;
  }>;

export type CreatedRegion = Readonly<{
  phase: 'created';
  regionId: number;
  name: string;
  deployPolicy: DeployPolicy;
  routers: ReadonlyMap<string, RegionRouter>;
  /** It has no router and takes none; it is no more once the directory has released its name, and stays so. */
  isBeingRemoved: boolean;
}>;

export type RegionState = Readonly<{ phase: 'absent' }> | CreatedRegion;

/** The state after an event. */
export function evolveRegion(state: RegionState, event: RegionEvent & Readonly<{ revision: bigint }>): RegionState {
  if (event.type === 'RegionCreated') {
    return { phase: 'created', ...event.data, deployPolicy: 'each', routers: new Map(), isBeingRemoved: false };
  }
  if (state.phase === 'absent') return state;
  switch (event.type) {
    case 'RegionRemovalBegan':
      return { ...state, isBeingRemoved: true };
    case 'RegionRemovalCalledOff':
      return { ...state, isBeingRemoved: false };
    case 'DeployPolicyChosen':
      return { ...state, deployPolicy: event.data.deployPolicy };
    case 'RouterAdded': {
      const { router, driver, options } = event.data;
      const added: RegionRouter = { ...NEW_ROUTER, router, driver, options, since: event.revision };
      return { ...state, routers: new Map(state.routers).set(router, added) };
    }
    case 'RouterRemoved': {
      const routers = new Map(state.routers);
      routers.delete(event.data.router);
      return { ...state, routers };
    }
    case 'RouterRepairChosen':
    case 'RouterReconfigured':
    case 'RouterDrainRequested':
    case 'RouterDrained':
    case 'RouterDisabled':
    case 'RouterEnabled':
    case 'RouterCaughtUp':
    case 'RouterCheckRequested':
    case 'RouterChecked':
    case 'DriftDetected':
    case 'DriftRepaired':
    case 'UnownedListsSeen':
    case 'RouterNotSaved':
    case 'RouterSaved': {
      const before = state.routers.get(event.data.router);
      if (before === undefined) return state;
      return { ...state, routers: new Map(state.routers).set(before.router, evolveRouter(before, event)) };
    }
  }
}

const NEW_ROUTER = {
  phase: 'enabled',
  isDrained: false,
  repair: true,
  drifts: new Map(),
  unowned: [],
  checks: new Set<string>(),
} as const;

type RouterEvent = Exclude<
  RegionEvent,
  {
    type:
      | 'RegionCreated'
      | 'RegionRemovalBegan'
      | 'RegionRemovalCalledOff'
      | 'DeployPolicyChosen'
      | 'RouterAdded'
      | 'RouterRemoved';
  }
>;

function evolveRouter(
  router: RegionRouter,
  { type, data, revision }: RouterEvent & Readonly<{ revision: bigint }>,
): RegionRouter {
  switch (type) {
    case 'RouterRepairChosen':
      return { ...router, repair: data.repair };
    case 'RouterReconfigured':
      return { ...router, options: data.options };
    case 'RouterDrainRequested':
      return { ...router, isDrained: true };
    case 'RouterDrained':
      return router;
    case 'RouterDisabled':
      return { ...router, phase: 'disabled' };
    case 'RouterEnabled':
      return { ...router, phase: 'catching-up', isDrained: false, since: revision };
    case 'RouterCaughtUp':
      return { ...router, phase: 'enabled' };
    case 'RouterCheckRequested':
      return { ...router, checks: new Set(router.checks).add(data.checkId) };
    case 'RouterChecked':
      return { ...router, checks: new Set([...router.checks].filter((check) => check !== data.checkId)) };
    case 'DriftDetected':
      return { ...router, drifts: new Map(router.drifts).set(data.list, data.held.sha256) };
    case 'DriftRepaired':
      return { ...router, drifts: new Map([...router.drifts].filter(([list]) => list !== data.list)) };
    case 'UnownedListsSeen':
      return { ...router, unowned: data.lists };
    case 'RouterNotSaved':
      return { ...router, unsaved: data.because };
    case 'RouterSaved': {
      const { unsaved: _, ...saved } = router;
      return saved;
    }
  }
}
