import type { RegionCommand } from '../../commands/ip-control/region.ts';
import type { RegionEvent } from '../../events/ip-control/region.ts';
import type { RouterCheckResult, RouterUpkeepEvent } from '../../events/ip-control/router-upkeep.ts';
import { isRefusal } from '../../kernel/decider.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import type { Duty, Perform, Process } from '../../kernel/process.ts';
import { reconcileRouter, type ReconcileDependencies } from './pushing/reconcile-router.ts';
import { routerOf } from './pushing/same-router.ts';

/** What is to be done with one router: bring it up to date, and compare it where an operator has asked for that. */
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
export const routerMaintenance: Process<Watched, KeepRouterState, KeepRouterDuty> = {
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

function evolve(before: KeepRouterState | undefined, event: RecordedEvent<Watched>): KeepRouterState | undefined {
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

/** Brings a router up to date, or makes a check that was asked for, and records what came of it. */
export function performKeepRouter(dependencies: ReconcileDependencies): Perform<KeepRouterDuty> {
  const { regions, log } = dependencies;
  return async (duty, signal) => {
    const { regionId, router } = duty.data;
    const record = async (command: RegionCommand): Promise<void> => {
      const context = { actor: 'system:keep-routers', requestId: duty.id };
      const answer = await regions.handle(regionId, command, context);
      if (isRefusal(answer) && answer.refused !== 'router-not-found')
        throw new Error(`${command.type} of ${router} was refused: ${answer.because}`);
    };
    if (duty.type === 'CheckRouter') {
      const { checkId, prune } = duty.data;
      const look = await reconcileRouter(regionId, router, prune ? 'prune' : 'drift', dependencies, signal);
      log[look === undefined || look.problems.length > 0 ? 'warn' : 'info'](
        { regionId, router, ...look },
        'router checked',
      );
      await record({ type: 'RecordRouterChecked', data: { router, checkId, ...resultOf(look) } });
      return;
    }
    const since = (await routerOf(regionId, router, dependencies))?.since;
    const look = await reconcileRouter(regionId, router, 'catch-up', dependencies, signal);
    if (look === undefined || since === undefined) return;
    log.info({ regionId, router, ...look }, 'router brought up to date');
    if (!look.isComplete) throw new Error(`router ${router} is not up to date: ${look.problems.join('; ')}`);
    const { lists, repaired } = look;
    await record({ type: 'RecordRouterCaughtUp', data: { router, since, lists, changed: repaired.length } });
    // A commit that has passed it by at the last moment shows now.
    await reconcileRouter(regionId, router, 'drift', dependencies, signal);
  };
}

const DISABLED: RouterCheckResult = {
  lists: 0,
  underWay: 0,
  drifted: [],
  repaired: [],
  unowned: [],
  removed: [],
  problems: ['the router is disabled'],
};

function resultOf(look: Awaited<ReturnType<typeof reconcileRouter>>): RouterCheckResult {
  if (look === undefined) return DISABLED;
  const { isComplete: _, ...result } = look;
  return result;
}
