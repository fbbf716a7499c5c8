import type { RouterUpkeepEvent } from '../../events/ip-control/router-upkeep.ts';
import type { Told } from '../../kernel/event.ts';
import type { Duty, Process } from '../../kernel/process.ts';
import type { RegionEvent } from '../../events/ip-control/region.ts';

/** What is to be done with one router: bring it up to date, and compare it where somebody has asked for that. */
export type KeepRouterState = Readonly<{
  regionId: number;
  router: string;
  /** Of the event that enabled it, until it is up to date. */
  enabledAt: string | null;
  checks: readonly Readonly<{ checkId: string; prune: boolean }>[];
}>;

export type KeepRouterDuty =
  | Duty<'CatchUpRouter', { regionId: number; router: string }>
  | Duty<'CheckRouter', { regionId: number; router: string; checkId: string; prune: boolean }>;

type Watched =
  | Extract<
      RouterUpkeepEvent,
      { type: 'RouterDisabled' | 'RouterEnabled' | 'RouterCaughtUp' | 'RouterCheckRequested' | 'RouterChecked' }
    >
  | Extract<RegionEvent, { type: 'RouterRemoved' }>;

/** Owes what operators have asked for, restarts included. */
export const keepRouters: Process<Watched, KeepRouterState, KeepRouterDuty> = {
  name: 'keep-routers',
  version: 1,
  handles: [
    'RouterDisabled',
    'RouterEnabled',
    'RouterCaughtUp',
    'RouterCheckRequested',
    'RouterChecked',
    'RouterRemoved',
  ],
  keysOf: ({ data }) => [`${data.regionId}/${data.router}`],
  evolve: (state, event) => {
    const next = evolve(state, event);
    return next === undefined || (next.enabledAt === null && next.checks.length === 0) ? undefined : next;
  },
  owed: ({ regionId, router, enabledAt, checks }) => [
    ...checks.map(({ checkId, prune }) => ({
      type: 'CheckRouter' as const,
      id: checkId,
      data: { regionId, router, checkId, prune },
    })),
    ...(enabledAt === null
      ? []
      : [{ type: 'CatchUpRouter' as const, id: `${regionId}/${router}@${enabledAt}`, data: { regionId, router } }]),
  ],
  wakesIn: () => undefined,
};

function evolve(before: KeepRouterState | undefined, event: Told<Watched>): KeepRouterState | undefined {
  const { regionId, router } = event.data;
  const state = before ?? { regionId, router, enabledAt: null, checks: [] };
  switch (event.type) {
    case 'RouterEnabled':
      return { ...state, enabledAt: String(event.revision) };
    case 'RouterDisabled':
    case 'RouterCaughtUp':
      return { ...state, enabledAt: null };
    case 'RouterCheckRequested': {
      const { checkId, prune } = event.data;
      return { ...state, checks: [...state.checks, { checkId, prune }] };
    }
    case 'RouterChecked':
      return { ...state, checks: state.checks.filter(({ checkId }) => checkId !== event.data.checkId) };
    case 'RouterRemoved':
      return undefined;
  }
}
