import type { RegionLimits } from '../../commands/ip-control/prefix-limit.ts';
import { regionLimits } from '../../domain/ip-control/region-limits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { RegionView } from '../../projections/ip-control/region-view.ts';
import type { Views } from '../../projections/engine/view-cache.ts';

/** Limits change when an operator changes routers; a change of theirs counts for the customers' after this at the latest. */
const REMEMBERED_MILLISECONDS = 250;
/** A change does not wait longer than this for the read models when older limits are known. */
const PATIENCE_MILLISECONDS = 100;

/**
 * Gives the limits of all regions to each change of a customer. Reading the regions for every change would cost a read of the read
 * models each, and would refuse changes while these are away: limits that were read before serve until newer ones have come.
 */
export function rememberedRegionLimits(
  regions: Pick<Views<RegionView>, 'list'>,
  clock: Clock,
): () => Promise<RegionLimits> {
  let known: Readonly<{ limits: RegionLimits; until: number }> | undefined;
  let reading: Promise<RegionLimits> | undefined;

  const read = async (): Promise<RegionLimits> => {
    try {
      const limits = regionLimits((await regions.list()).map(({ view }) => view));
      known = { limits, until: clock.monotonicMilliseconds() + REMEMBERED_MILLISECONDS };
      return limits;
    } finally {
      reading = undefined;
    }
  };

  return async () => {
    if (known !== undefined && clock.monotonicMilliseconds() < known.until) return known.limits;
    reading ??= read();
    if (known === undefined) return reading;
    const over = new AbortController();
    const { limits } = known;
    const older = clock.wait(PATIENCE_MILLISECONDS, over.signal).then(
      () => limits,
      () => limits,
    );
    try {
      return await Promise.race([reading.catch(() => limits), older]);
    } finally {
      over.abort();
    }
  };
}
