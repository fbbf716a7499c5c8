import type { CustomerSettings } from '../../events/ip-control/vocabulary.ts';
import { coverCount, coverMayExceed } from '../../addresses/cover-count.ts';
import type { RangeSet } from '../../addresses/range-set.ts';
import { PREFIX_LIMIT } from '../../domain/ip-control/region-limits.ts';
import { type Refusal, refuse } from '../../kernel/decider.ts';

/** A region by its number: its name, and how many entries the router takes that takes the fewest; `Infinity` where none is limited. */
export type RegionLimits = ReadonlyMap<number, Readonly<{ name: string; most: number }>>;

/**
 * The refusal of a change that would make a list longer than the region's routers take or the customer may have; a list that is too
 * long already may still shrink, or stay as long as it is.
 */
export function prefixLimitRefusal(
  change: Readonly<{ regionId: number; before: RangeSet; changed: RangeSet; after: () => RangeSet; field: string }>,
  settings: Pick<CustomerSettings, 'prefixLimit'>,
  limits: RegionLimits | undefined,
): Refusal | undefined {
  const { regionId, before, changed, field } = change;
  const region = limits?.get(regionId);
  const most = Math.min(settings.prefixLimit ?? PREFIX_LIMIT, region?.most ?? Number.POSITIVE_INFINITY);
  if (!coverMayExceed(before, changed, most)) return undefined;
  const needed = coverCount(change.after(), before);
  if (needed <= most || needed <= coverCount(before)) return undefined;
  const where = region?.name ?? `region ${regionId}`;
  return refuse(
    'too-many-prefixes',
    `this change needs ${needed} prefixes in ${where}; at most ${most} are possible.`,
    field,
  );
}
