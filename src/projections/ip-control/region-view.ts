import type { DirectoryEvent } from '../../events/ip-control/directory.ts';
import type { RegionEvent } from '../../events/ip-control/region.ts';
import type { DeployPolicy } from '../../events/ip-control/vocabulary.ts';
import type { Projection } from '../../kernel/projection.ts';

export type RouterView = Readonly<{
  name: string;
  driver: string;
  options: Readonly<Record<string, string>>;
  /** Whether drift is put right. */
  repair: boolean;
  addedAt: string;
}>;

/** One region and its routers. Key: the region's number. */
export type RegionView = Readonly<{
  regionId: number;
  name: string;
  deployPolicy: DeployPolicy;
  routers: readonly RouterView[];
  createdAt: string;
}>;

type Shown =
  | Extract<
      RegionEvent,
      {
        type:
          | 'RegionCreated'
          | 'DeployPolicyChosen'
          | 'RouterAdded'
          | 'RouterRemoved'
          | 'RouterRepairChosen'
          | 'RouterReconfigured';
      }
    >
  | Extract<DirectoryEvent, { type: 'RegionNameReleased' }>;

export const regionProjection: Projection<Shown, RegionView> = {
  name: 'regions',
  version: 4,
  handles: [
    'RegionCreated',
    'DeployPolicyChosen',
    'RouterAdded',
    'RouterRemoved',
    'RouterRepairChosen',
    'RouterReconfigured',
    'RegionNameReleased',
  ],
  keysOf: (event) => [String(event.data.regionId)],
  evolve: (view, event) => {
    if (event.type === 'RegionCreated') {
      return { ...event.data, deployPolicy: 'each', routers: [], createdAt: event.metadata.at };
    }
    if (view === undefined || event.type === 'RegionNameReleased') return undefined;
    if (event.type === 'DeployPolicyChosen') return { ...view, deployPolicy: event.data.deployPolicy };
    if (event.type === 'RouterRepairChosen') {
      const { router: chosen, repair } = event.data;
      return {
        ...view,
        routers: view.routers.map((router) => (router.name === chosen ? { ...router, repair } : router)),
      };
    }
    if (event.type === 'RouterReconfigured') {
      const { router: changed, options } = event.data;
      return {
        ...view,
        routers: view.routers.map((router) => (router.name === changed ? { ...router, options } : router)),
      };
    }
    const others = view.routers.filter((router) => router.name !== event.data.router);
    if (event.type === 'RouterRemoved') return { ...view, routers: others };
    const { router: name, driver, options } = event.data;
    return { ...view, routers: [...others, { name, driver, options, repair: true, addedAt: event.metadata.at }] };
  },
};
