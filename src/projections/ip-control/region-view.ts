import type { RegionEvent } from '../../events/ip-control/region.ts';
import type { Projection } from '../../kernel/projection.ts';

export type RouterView = Readonly<{ name: string; driver: string; options: Readonly<Record<string, string>> }>;

/** One region and its routers. Key: the region's number. */
export type RegionView = Readonly<{ regionId: number; name: string; routers: readonly RouterView[] }>;

export const regionProjection: Projection<RegionEvent, RegionView> = {
  name: 'regions',
  version: 1,
  handles: ['RegionCreated', 'RouterAdded', 'RouterRemoved'],
  keysOf: (event) => [String(event.data.regionId)],
  evolve: (view, event) => {
    if (event.type === 'RegionCreated') return { ...event.data, routers: [] };
    if (view === undefined) return undefined;
    if (event.type !== 'RouterAdded' && event.type !== 'RouterRemoved') return view;
    const others = view.routers.filter((router) => router.name !== event.data.router);
    if (event.type === 'RouterRemoved') return { ...view, routers: others };
    const { router: name, driver, options } = event.data;
    return { ...view, routers: [...others, { name, driver, options }] };
  },
};
