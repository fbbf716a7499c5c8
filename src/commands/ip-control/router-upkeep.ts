import { type Command, type Decision, refuse } from '../../kernel/decider.ts';
import type { Drift, RouterCheckResult, RouterUpkeepEvent } from '../../events/ip-control/router-upkeep.ts';
import type { ListContent } from '../../events/ip-control/vocabulary.ts';
import type { CreatedRegion } from './region-state.ts';

/** What is asked of a router of a region, and what was seen on it. */
export type RouterUpkeepCommand =
  | Command<'ChooseRouterRepair', { router: string; repair: boolean }>
  | Command<'ReconfigureRouter', { router: string; options: Readonly<Record<string, string>> }>
  | Command<'RequestRouterDrain', { router: string }>
  | Command<'RecordRouterDrained', { router: string; removed: readonly string[]; problems: readonly string[] }>
  | Command<'DisableRouter', { router: string }>
  | Command<'EnableRouter', { router: string }>
  /** `since`: of the enabling that it was brought up to date after. */
  | Command<'RecordRouterCaughtUp', { router: string; since: bigint; lists: number; changed: number }>
  | Command<'RequestRouterCheck', { router: string; checkId: string; prune: boolean }>
  | Command<'RecordRouterChecked', { router: string; checkId: string } & RouterCheckResult>
  | Command<
      'RecordDrift',
      { router: string; list: string; missing: number; extra: number; held: ListContent; difference: Drift }
    >
  | Command<'RecordDriftRepaired', { router: string; list: string; how: 'pushed' | 'found-right' }>
  | Command<'RecordUnownedLists', { router: string; lists: readonly string[] }>
  | Command<'RecordRouterNotSaved', { router: string; because: string }>
  | Command<'RecordRouterSaved', { router: string }>;

/** Whether two routers are spoken to alike, in whatever order that is said. */
export function isSameOptions(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}

/** The rules of keeping one router; what is known already is nothing new. */
export function decideRouterUpkeep(command: RouterUpkeepCommand, region: CreatedRegion): Decision<RouterUpkeepEvent> {
  const { regionId, name } = region;
  const { router: routerName } = command.data;
  const router = region.routers.get(routerName);
  if (router === undefined) return refuse('router-not-found', `region ${name} has no router ${routerName}.`, 'router');
  switch (command.type) {
    case 'ChooseRouterRepair':
      if (router.repair === command.data.repair) return [];
      return [{ type: 'RouterRepairChosen', data: { regionId, ...command.data } }];
    case 'ReconfigureRouter':
      if (isSameOptions(router.options, command.data.options)) return [];
      return [
        { type: 'RouterReconfigured', data: { regionId, router: routerName, options: { ...command.data.options } } },
      ];
    case 'RequestRouterDrain':
      return [
        ...(router.phase === 'disabled'
          ? []
          : [{ type: 'RouterDisabled', data: { regionId, router: routerName } } as const]),
        { type: 'RouterDrainRequested', data: { regionId, router: routerName } },
      ];
    case 'RecordRouterDrained': {
      const { removed, problems } = command.data;
      return [
        {
          type: 'RouterDrained',
          data: { regionId, router: routerName, removed: [...removed], problems: [...problems] },
        },
      ];
    }
    case 'DisableRouter':
      if (router.phase === 'disabled') return [];
      return [{ type: 'RouterDisabled', data: { regionId, router: routerName } }];
    case 'EnableRouter':
      if (router.phase !== 'disabled') return [];
      return [{ type: 'RouterEnabled', data: { regionId, router: routerName } }];
    case 'RecordRouterCaughtUp': {
      const { since, ...caughtUp } = command.data;
      // One that was enabled again meanwhile may have lost its lists since.
      if (router.phase !== 'catching-up' || router.since !== since) return [];
      return [{ type: 'RouterCaughtUp', data: { regionId, ...caughtUp } }];
    }
    case 'RequestRouterCheck':
      if (router.checks.has(command.data.checkId)) return [];
      return [{ type: 'RouterCheckRequested', data: { regionId, ...command.data } }];
    case 'RecordRouterChecked':
      if (!router.checks.has(command.data.checkId)) return [];
      return [{ type: 'RouterChecked', data: { regionId, ...command.data } }];
    case 'RecordDrift':
      if (router.drifts.get(command.data.list) === command.data.held.sha256) return [];
      return [{ type: 'DriftDetected', data: { regionId, ...command.data } }];
    case 'RecordDriftRepaired':
      if (!router.drifts.has(command.data.list)) return [];
      return [{ type: 'DriftRepaired', data: { regionId, ...command.data } }];
    case 'RecordRouterNotSaved':
      if (router.unsaved !== undefined) return [];
      return [{ type: 'RouterNotSaved', data: { regionId, ...command.data } }];
    case 'RecordRouterSaved':
      if (router.unsaved === undefined) return [];
      return [{ type: 'RouterSaved', data: { regionId, router: routerName } }];
    case 'RecordUnownedLists': {
      const lists = [...command.data.lists].sort();
      if (JSON.stringify(router.unowned) === JSON.stringify(lists)) return [];
      return [{ type: 'UnownedListsSeen', data: { regionId, router: routerName, lists } }];
    }
  }
}
