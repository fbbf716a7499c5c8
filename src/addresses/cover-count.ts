import { type BlockSink, coverInto } from './cidr-cover.ts';
import { coverDifference } from './cover-difference.ts';
import type { RangeSet } from './range-set.ts';

/** The most blocks that one range can need: IPv6's. */
const BLOCKS_OF_A_RANGE_MAX = 254;

const known = new WeakMap<RangeSet, number>();

/** How many blocks the minimal cover of a set has. Said once for each set; of a set that came from a known one, only the difference is counted. */
export function coverCount(set: RangeSet, from?: RangeSet): number {
  const before = known.get(set);
  if (before !== undefined) return before;
  const count = from === undefined ? countAll(set) : coverCount(from) + grownBy(from, set);
  known.set(set, count);
  return count;
}

/**
 * Whether the cover of a set may have more than `most` blocks after these addresses have come or gone: a quick look that says yes
 * too often, and no only where it is so.
 */
export function coverMayExceed(before: RangeSet, changed: RangeSet, most: number): boolean {
  if ((before.rangeCount + changed.rangeCount) * BLOCKS_OF_A_RANGE_MAX <= most) return false;
  return before.count() + changed.count() > BigInt(most);
}

function grownBy(before: RangeSet, after: RangeSet): number {
  const { added, removed } = coverDifference(before, after);
  return added.length - removed.length;
}

function countAll(set: RangeSet): number {
  const blocks = new BlockCount();
  coverInto(set, blocks);
  return blocks.count;
}

class BlockCount implements BlockSink {
  count = 0;

  ipv4(): void {
    this.count += 1;
  }

  ipv6(): void {
    this.count += 1;
  }
}
