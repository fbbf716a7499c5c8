import type { DirectoryEvent } from '../../events/ip-control/directory.ts';
import type { RegionEvent } from '../../events/ip-control/region.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import type { Aggregate, CommandContext } from '../aggregate.ts';
import { DIRECTORY_ID, type DirectoryCommand, type DirectoryState } from './directory.ts';
import type { RegionState } from './region-state.ts';
import type { RegionCommand } from './region.ts';

/**
 * The step that follows `BeginRegionRemoval`: the directory releases the name of the region, or, where it was given a subnet meanwhile, that is
 * the refusal and the region stays as it was. It may be taken twice.
 */
export async function endRegionRemoval(
  regionId: number,
  context: CommandContext,
  {
    directory,
    regions,
  }: Readonly<{
    directory: Aggregate<DirectoryCommand, DirectoryState, DirectoryEvent>;
    regions: Aggregate<RegionCommand, RegionState, RegionEvent>;
  }>,
): Promise<Refusal | undefined> {
  const { state } = await regions.state(regionId);
  if (state.phase === 'absent' || !state.isBeingRemoved)
    return refuse('region-in-use', 'the region was given a subnet while it was being removed.', 'region');
  const command = { type: 'ReleaseRegionName', data: { regionId } } as const;
  const released = await directory.handle(DIRECTORY_ID, command, context);
  if (!isRefusal(released)) return undefined;
  const calledOff = await regions.handle(regionId, { type: 'CallOffRegionRemoval', data: {} }, context);
  return isRefusal(calledOff) ? calledOff : released;
}
