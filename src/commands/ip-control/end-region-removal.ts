import type { DirectoryEvent } from '../../events/ip-control/directory.ts';
import type { RegionEvent } from '../../events/ip-control/region.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import { StoreUnavailable } from '../../ports/event-store.ts';
import type { Aggregate, CommandContext } from '../aggregate.ts';
import { DIRECTORY_ID, type DirectoryCommand, type DirectoryState } from './directory.ts';
import type { RegionState } from './region-state.ts';
import type { RegionCommand } from './region.ts';

const RACES_MAX = 20;

/**
 * The step that follows `BeginRegionRemoval`: the directory releases the name of the region, or, where it was given a subnet meanwhile, that is
 * the refusal and the region stays as it was. It may be taken twice. The directory must stand where it stood before the region was looked at:
 * whoever calls a removal off has seen a subnet in a later one.
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
  for (let race = 0; race < RACES_MAX; race += 1) {
    const { revision } = await directory.state(DIRECTORY_ID);
    const { state } = await regions.state(regionId);
    if (state.phase === 'absent' || !state.isBeingRemoved)
      return refuse('region-in-use', 'the region was given a subnet while it was being removed.', 'region');
    const command = { type: 'ReleaseRegionName', data: { regionId } } as const;
    const released = await directory.handle(DIRECTORY_ID, command, context, revision);
    if (!isRefusal(released)) return undefined;
    if (released.refused === 'revision-differs') continue;
    const calledOff = await regions.handle(regionId, { type: 'CallOffRegionRemoval', data: {} }, context);
    return isRefusal(calledOff) ? calledOff : released;
  }
  throw new StoreUnavailable(
    `region ${regionId}: the directory was changed by others ${RACES_MAX} times while it was being removed`,
  );
}
