import { comparePoints } from './boundaries/chunk.ts';
import { EdgeCursor, type EdgeList } from './boundaries/list.ts';
import { type BlockSink, CidrList, coverInto, coverIpv4, coverIpv6At } from './cidr-cover.ts';
import { type Cidr, compareCidrs } from './cidr.ts';
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

type CoverDifference = Readonly<{ added: readonly Cidr[]; removed: readonly Cidr[] }>;

/**
 * The blocks that the cover of `after` has and that of `before` has not, and the other way round, each in order.
 * Only ranges that differ are covered, and what the two sets share is not looked into.
 */
export function coverDifference(before: RangeSet, after: RangeSet): CoverDifference {
  const removed = new CidrList();
  const added = new CidrList();
  coverChangedRanges(before.ipv4, after.ipv4, removed, added);
  coverChangedRanges(before.ipv6, after.ipv6, removed, added);
  return { added: without(added.cidrs, removed.cidrs), removed: without(removed.cidrs, added.cidrs) };
}

function coverChangedRanges(before: EdgeList, after: EdgeList, removed: CidrList, added: CidrList): void {
  if (before === after) return;
  const { width } = before.space;
  const old = new EdgeCursor(before);
  const young = new EdgeCursor(after);
  for (;;) {
    old.skipShared(young);
    if (old.isAtEnd && young.isAtEnd) return;
    const order = rangeOrder(old, young, width);
    if (order < 0) coverNext(old, width, removed);
    else if (order > 0) coverNext(young, width, added);
    else {
      old.skipRange();
      young.skipRange();
    }
  }
}

/** Orders the next ranges of two lists by their starts, then by their ends; a list that is at its end comes last. */
function rangeOrder(a: EdgeCursor, b: EdgeCursor, width: number): number {
  if (a.isAtEnd || b.isAtEnd) return a.isAtEnd ? 1 : -1;
  return comparePoints(a.edges, a.at, b.edges, b.at, 2 * width);
}

function coverNext(cursor: EdgeCursor, width: number, into: CidrList): void {
  const { edges, at } = cursor;
  if (width === 1) coverIpv4(edges[at] ?? 0, edges[at + 1] ?? 0, into);
  else coverIpv6At(edges, at, into);
  cursor.skipRange();
}

/** The blocks of one sorted list that are not in another. */
function without(cidrs: readonly Cidr[], others: readonly Cidr[]): Cidr[] {
  let next = 0;
  return cidrs.filter((cidr) => {
    for (let other = others[next]; other !== undefined; other = others[++next]) {
      const order = compareCidrs(other, cidr);
      if (order > 0) break;
      if (order === 0) return false;
    }
    return true;
  });
}
