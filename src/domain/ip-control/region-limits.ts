/** How many prefixes a customer's list may have in a region when nothing else is said. */
export const PREFIX_LIMIT = 10_000;

/** A region as far as the length of its lists goes. */
type Region = Readonly<{
  regionId: number;
  name: string;
  routers: readonly Readonly<{ driver: string; options: Readonly<Record<string, string>> }>[];
}>;

/** Drivers that refuse longer lists than this where their option says nothing else. */
const ENTRIES_BY_DRIVER: Readonly<Record<string, number>> = { junos: 10_000, openconfig: 10_000 };

/** How many entries the routers of each region take: as many as the one that takes the fewest. */
export function regionLimits(
  regions: readonly Region[],
): ReadonlyMap<number, Readonly<{ name: string; most: number }>> {
  return new Map(
    regions.map(({ regionId, name, routers }) => [regionId, { name, most: Math.min(...routers.map(entriesOf)) }]),
  );
}

function entriesOf({ driver, options }: Region['routers'][number]): number {
  const option = options['max_entries'];
  return option === undefined ? (ENTRIES_BY_DRIVER[driver] ?? Number.POSITIVE_INFINITY) : Number(option);
}
