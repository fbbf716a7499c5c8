import { z } from 'zod';
import { defineEvent, type EventOf } from '../codec.ts';
import { routerUpkeepEvents } from './router-upkeep.ts';
import { deployPolicy, idNumber } from './vocabulary.ts';

/** The region exists; its name was reserved in the directory before. */
export const RegionCreated = defineEvent('RegionCreated', 1, z.strictObject({ regionId: idNumber, name: z.string() }));

/** From now on every list of the region is deployed to this router too. Options hold no secret: they name one by id. */
export const RouterAdded = defineEvent(
  'RouterAdded',
  1,
  z.strictObject({
    regionId: idNumber,
    router: z.string(),
    driver: z.string(),
    options: z.record(z.string(), z.string()),
  }),
);

/** The router is no longer ours to write to; what it holds stays as it is. */
export const RouterRemoved = defineEvent(
  'RouterRemoved',
  1,
  z.strictObject({ regionId: idNumber, router: z.string() }),
);

/** How a commit treats the routers of the region from now on: each for itself, or all or none. */
export const DeployPolicyChosen = defineEvent(
  'DeployPolicyChosen',
  1,
  z.strictObject({ regionId: idNumber, deployPolicy }),
);

/** The region has no router, and takes none any more; its name is released in the directory next, unless it has subnets there. */
export const RegionRemovalBegan = defineEvent(
  'RegionRemovalBegan',
  1,
  z.strictObject({ regionId: idNumber, name: z.string() }),
);

/** The region stays as it was: it was given a subnet while it was being removed. */
export const RegionRemovalCalledOff = defineEvent(
  'RegionRemovalCalledOff',
  1,
  z.strictObject({ regionId: idNumber, name: z.string() }),
);

export const regionEvents = [
  RegionCreated,
  RegionRemovalBegan,
  RegionRemovalCalledOff,
  DeployPolicyChosen,
  RouterAdded,
  RouterRemoved,
  ...routerUpkeepEvents,
] as const;

export type RegionEvent = EventOf<(typeof regionEvents)[number]>;
