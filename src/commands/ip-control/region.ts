import { counted } from '../../domain/counted.ts';
import { type Command, type Decider, type Decision, refuse } from '../../kernel/decider.ts';
import { type RegionEvent, regionEvents } from '../../events/ip-control/region.ts';
import type { DeployPolicy } from '../../events/ip-control/vocabulary.ts';
import { type CreatedRegion, evolveRegion, type RegionState, type Router } from './region-state.ts';
import { decideRouterUpkeep, isSameOptions, type RouterUpkeepCommand } from './router-upkeep.ts';

export type RegionCommand =
  | Command<'CreateRegion', { regionId: number; name: string }>
  | Command<'BeginRegionRemoval', Readonly<Record<string, never>>>
  | Command<'CallOffRegionRemoval', Readonly<Record<string, never>>>
  | Command<'ChooseDeployPolicy', { deployPolicy: DeployPolicy }>
  | Command<'AddRouter', Router>
  | Command<'RemoveRouter', { router: string }>
  | RouterUpkeepCommand;

const ROUTER_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** The rules of one region. */
export const regionDecider = {
  category: 'region',
  handles: regionEvents.map(({ type }) => type),
  initial: { phase: 'absent' },
  evolve: evolveRegion,
  decide,
} as const satisfies Decider<RegionCommand, RegionState, RegionEvent> &
  Readonly<{ handles: readonly RegionEvent['type'][] }>;

function decide(command: RegionCommand, state: RegionState): Decision<RegionEvent> {
  if (command.type === 'CreateRegion') {
    return state.phase === 'absent' ? [{ type: 'RegionCreated', data: command.data }] : [];
  }
  if (state.phase === 'absent') return refuse('region-not-found', 'region not found.', 'region');
  if (state.isBeingRemoved) return decideRemoving(command, state);
  const { regionId, name } = state;
  switch (command.type) {
    case 'BeginRegionRemoval': {
      const { size } = state.routers;
      if (size === 0) return [{ type: 'RegionRemovalBegan', data: { regionId, name } }];
      return refuse('region-in-use', `region ${name} has ${counted(size, 'router')}: remove them first.`, 'region');
    }
    case 'CallOffRegionRemoval':
      return [];
    case 'ChooseDeployPolicy':
      if (state.deployPolicy === command.data.deployPolicy) return [];
      return [{ type: 'DeployPolicyChosen', data: { regionId, ...command.data } }];
    case 'AddRouter': {
      const { router, driver, options } = command.data;
      if (!ROUTER_NAME.test(router)) {
        return refuse(
          'bad-router-name',
          'a router name has 1 to 64 of A–Z a–z 0–9 _ . - and starts with a letter or digit.',
          'name',
        );
      }
      const known = state.routers.get(router);
      if (known === undefined) return [{ type: 'RouterAdded', data: { regionId, router, driver, options } }];
      const isSame = known.driver === driver && isSameOptions(known.options, options);
      return isSame ? [] : refuse('router-name-taken', `region ${state.name} has a router ${router} already.`, 'name');
    }
    case 'RemoveRouter':
      if (!state.routers.has(command.data.router))
        return refuse('router-not-found', `region ${state.name} has no router ${command.data.router}.`, 'router');
      return [{ type: 'RouterRemoved', data: { regionId, router: command.data.router } }];
    case 'ChooseRouterRepair':
    case 'ReconfigureRouter':
    case 'RequestRouterDrain':
    case 'RecordRouterDrained':
    case 'DisableRouter':
    case 'EnableRouter':
    case 'RecordRouterCaughtUp':
    case 'RequestRouterCheck':
    case 'RecordRouterChecked':
    case 'RecordDrift':
    case 'RecordDriftRepaired':
    case 'RecordUnownedLists':
    case 'RecordRouterNotSaved':
    case 'RecordRouterSaved':
      return decideRouterUpkeep(command, state);
  }
}

function decideRemoving({ type }: RegionCommand, { regionId, name }: CreatedRegion): Decision<RegionEvent> {
  if (type === 'BeginRegionRemoval') return [];
  if (type === 'CallOffRegionRemoval') return [{ type: 'RegionRemovalCalledOff', data: { regionId, name } }];
  return refuse('region-not-found', `region ${name} is being removed.`, 'region');
}
