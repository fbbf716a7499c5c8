import type { RegionCommand } from '../../commands/ip-control/region.ts';
import type { RouterCheckResult } from '../../events/ip-control/router-upkeep.ts';
import { isRefusal } from '../../kernel/decider.ts';
import type { Perform } from '../../kernel/process.ts';
import type { KeepRouterDuty } from './keep-routers.ts';
import { lookAtRouter, type LookDependencies } from './look-at-router.ts';

/** Brings a router up to date, or makes a check that was asked for, and records what came of it. */
export function performKeepRouter(dependencies: LookDependencies): Perform<KeepRouterDuty> {
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
      const look = await lookAtRouter(regionId, router, prune ? 'prune' : 'drift', dependencies, signal);
      log.info({ regionId, router, ...look }, 'router checked');
      await record({ type: 'RecordRouterChecked', data: { router, checkId, ...resultOf(look) } });
      return;
    }
    const look = await lookAtRouter(regionId, router, 'catch-up', dependencies, signal);
    if (look === undefined) return;
    log.info({ regionId, router, ...look }, 'router brought up to date');
    if (!look.isComplete) throw new Error(`router ${router} is not up to date: ${look.problems.join('; ')}`);
    await record({ type: 'RecordRouterCaughtUp', data: { router, lists: look.lists, changed: look.repaired.length } });
    // A commit that has passed it by at the last moment shows now.
    await lookAtRouter(regionId, router, 'drift', dependencies, signal);
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

function resultOf(look: Awaited<ReturnType<typeof lookAtRouter>>): RouterCheckResult {
  if (look === undefined) return DISABLED;
  const { isComplete: _, ...result } = look;
  return result;
}
