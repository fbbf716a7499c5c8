import { ipv4Text, ipv6Text } from './address-text.ts';
import { bigintOf } from './boundaries/limbs.ts';
import type { EdgeList } from './boundaries/list.ts';
import type { Cidr } from './cidr.ts';
import type { RangeSet } from './range-set.ts';

/** The one minimal list of CIDR blocks that holds exactly the set: IPv4 first, then IPv6, in numeric order. */
export function cover(set: RangeSet): Cidr[] {
  const blocks = new CidrList();
  coverInto(set, blocks);
  return blocks.cidrs;
}

/** The minimal cover as canonical texts, hosts with `/32` and `/128`. */
export function coverTexts(set: RangeSet): string[] {
  const blocks = new CidrTexts();
  coverInto(set, blocks);
  return blocks.texts;
}

/** Hands the blocks of the minimal cover to a sink, in order. */
export function coverInto(set: RangeSet, sink: BlockSink): void {
  coverIpv4List(set.ipv4, sink);
  coverIpv6List(set.ipv6, sink);
}

/** Collects blocks as CIDR values. */
export class CidrList implements BlockSink {
  readonly cidrs: Cidr[] = [];

  ipv4(network: number, length: number): void {
    this.cidrs.push({ version: 4, network, length });
  }

  ipv6(high: number, middle: number, low: number, length: number): void {
    this.cidrs.push({ version: 6, network: bigintOf(high, middle, low), length });
  }
}

/** Collects blocks as canonical texts. */
export class CidrTexts implements BlockSink {
  readonly texts: string[] = [];

  ipv4(network: number, length: number): void {
    this.texts.push(`${ipv4Text(network)}${LENGTHS[length]}`);
  }

  ipv6(high: number, middle: number, low: number, length: number): void {
    this.texts.push(`${ipv6Text(high, middle, low)}${LENGTHS[length]}`);
  }
}

const LENGTHS = Array.from({ length: 129 }, (_, length) => `/${length}`);

/** Takes CIDR blocks one after the other: an IPv6 network comes in limbs (upper 32, middle 48, lower 48 bits). */
export type BlockSink = {
  ipv4(network: number, length: number): void;
  ipv6(high: number, middle: number, low: number, length: number): void;
};

const LIMB_BITS = 48;
const LIMB = 2 ** LIMB_BITS;
const POWERS = Array.from({ length: LIMB_BITS + 1 }, (_, exponent) => 2 ** exponent);

/** The fewest blocks that cover exactly an IPv4 list, in order. */
export function coverIpv4List(list: EdgeList, sink: BlockSink): void {
  for (const { edges } of list.chunks) {
    for (let at = 0; at < edges.length; at += 2) coverIpv4(edges[at] ?? 0, edges[at + 1] ?? 0, sink);
  }
}

/** The fewest blocks that cover exactly an IPv6 list, in order. */
export function coverIpv6List(list: EdgeList, sink: BlockSink): void {
  for (const { edges } of list.chunks) {
    for (let at = 0; at < edges.length; at += 6) coverIpv6At(edges, at, sink);
  }
}

/**
 * The blocks of one IPv4 range, `end` being its last address + 1. Ranges that don't touch never share a block, so the cover
 * of a set is the covers of its ranges, one after the other.
 */
export function coverIpv4(start: number, end: number, sink: BlockSink): void {
  let from = start;
  while (from < end) {
    const bits = largestBlock(from, end, 32);
    sink.ipv4(from, 32 - bits);
    from += POWERS[bits] ?? 0;
  }
}

/** The blocks of the IPv6 range whose two points begin at `edges[at]`. */
export function coverIpv6At(edges: ArrayLike<number>, at: number, sink: BlockSink): void {
  let high = edges[at] ?? 0;
  let middle = edges[at + 1] ?? 0;
  const low = edges[at + 2] ?? 0;
  const endHigh = edges[at + 3] ?? 0;
  const endMiddle = edges[at + 4] ?? 0;
  const endLow = edges[at + 5] ?? 0;
  if (high === endHigh && middle === endMiddle) return coverLow(high, middle, low, endLow, sink);
  // No block can cross the end of the lower limb unless it is made of whole ones; the same holds one limb up.
  if (low > 0) {
    coverLow(high, middle, low, LIMB, sink);
    middle++;
  }
  if (high === endHigh) coverMiddle(high, middle, endMiddle, sink);
  else {
    if (middle > 0) {
      coverMiddle(high, middle, LIMB, sink);
      high++;
    }
    coverHigh(high, endHigh, sink);
    coverMiddle(endHigh, 0, endMiddle, sink);
  }
  coverLow(endHigh, endMiddle, 0, endLow, sink);
}

function coverLow(high: number, middle: number, start: number, end: number, sink: BlockSink): void {
  let from = start;
  while (from < end) {
    const bits = largestBlock(from, end, LIMB_BITS);
    sink.ipv6(high, middle, from, 128 - bits);
    from += POWERS[bits] ?? 0;
  }
}

function coverMiddle(high: number, start: number, end: number, sink: BlockSink): void {
  let from = start;
  while (from < end) {
    const bits = largestBlock(from, end, LIMB_BITS);
    sink.ipv6(high, from, 0, 80 - bits);
    from += POWERS[bits] ?? 0;
  }
}

function coverHigh(start: number, end: number, sink: BlockSink): void {
  let from = start;
  while (from < end) {
    const bits = largestBlock(from, end, 32);
    sink.ipv6(from, 0, 0, 32 - bits);
    from += POWERS[bits] ?? 0;
  }
}

/** The exponent of the largest aligned block that starts at `from` and doesn't pass `end`. */
function largestBlock(from: number, end: number, bits: number): number {
  const alignment = from === 0 ? bits : trailingZeros(from);
  const fitting = highestBit(end - from);
  return alignment < fitting ? alignment : fitting;
}

function trailingZeros(value: number): number {
  const low = value >>> 0;
  if (low !== 0) return 31 - Math.clz32(low & -low);
  const upper = value / 2 ** 32;
  return 63 - Math.clz32(upper & -upper);
}

function highestBit(value: number): number {
  return value < 2 ** 32 ? 31 - Math.clz32(value) : 63 - Math.clz32(value / 2 ** 32);
}
