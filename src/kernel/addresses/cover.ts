import { ipv4Text, ipv6Text } from './address-text.ts';
import type { Cidr } from './cidr.ts';
import { type BlockSink, coverIpv4List, coverIpv6List } from './cover-blocks.ts';
import { bigintOf } from './limbs.ts';
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
