import type { RegionRouter, RegionState } from '../../../commands/ip-control/region-state.ts';
import { identityOf } from './attempt-pushes.ts';

type Regions = Readonly<{
  regions: Readonly<{ state: (regionId: number) => Promise<Readonly<{ state: RegionState }>> }>;
}>;

/** The router was disabled, removed, or configured or enabled again meanwhile: it is nobody's, or another look's. */
export class RouterChanged extends Error {
  override readonly name = 'RouterChanged';
}

/** A router of a region as it is now. */
export async function routerOf(
  regionId: number,
  name: string,
  { regions }: Regions,
): Promise<RegionRouter | undefined> {
  const { state } = await regions.state(regionId);
  return state.phase === 'created' ? state.routers.get(name) : undefined;
}

/** Nothing is changed on a router that is passed over by now: its lists may have been taken off. @throws RouterChanged */
export async function requireUnchanged(regionId: number, router: RegionRouter, dependencies: Regions): Promise<void> {
  const now = await routerOf(regionId, router.router, dependencies);
  if (now === undefined || now.phase === 'disabled' || identityOf(now) !== identityOf(router))
    throw new RouterChanged('the router was disabled, removed, configured or enabled again meanwhile');
}
