import { isAddressProblem } from '../../addresses/address-problem.ts';
import { type AddressRange, firstAddress, lastAddress, rangeContains, rangeSize } from '../../addresses/range.ts';
import { parseCidr, rangeOfCidr } from '../../addresses/cidr.ts';
import { RangeSet } from '../../addresses/range-set.ts';
import { invariant } from '../../kernel/invariant.ts';

/**
 * The IANA IPv4 Special-Purpose Address Registry (RFC 6890, section 2.2.2, updated by RFC 8190;
 * https://www.iana.org/assignments/iana-ipv4-special-registry), as of its entries of 2020-09, and below it the multicast
 * space (RFC 5771), which has a registry of its own. `true`: the registry says that the block is globally reachable.
 */
const SPECIAL_PURPOSE: readonly (readonly [block: string, isReachable: boolean])[] = [
  ['0.0.0.0/8', false], // "this network", RFC 791
  ['0.0.0.0/32', false], // "this host on this network", RFC 1122
  ['10.0.0.0/8', false], // private use, RFC 1918
  ['100.64.0.0/10', false], // shared address space, RFC 6598
  ['127.0.0.0/8', false], // loopback, RFC 1122
  ['169.254.0.0/16', false], // link local, RFC 3927
  ['172.16.0.0/12', false], // private use, RFC 1918
  ['192.0.0.0/24', false], // IETF protocol assignments, RFC 6890
  ['192.0.0.0/29', false], // IPv4 service continuity, RFC 7335
  ['192.0.0.8/32', false], // IPv4 dummy address, RFC 7600
  ['192.0.0.9/32', true], // port control protocol anycast, RFC 7723
  ['192.0.0.10/32', true], // TURN anycast, RFC 8155
  ['192.0.0.170/32', false], // NAT64/DNS64 discovery, RFC 8880
  ['192.0.0.171/32', false], // NAT64/DNS64 discovery, RFC 8880
  ['192.0.2.0/24', false], // documentation, RFC 5737
  ['192.31.196.0/24', true], // AS112-v4, RFC 7535
  ['192.52.193.0/24', true], // AMT, RFC 7450
  ['192.88.99.0/24', false], // deprecated 6to4 relay anycast, RFC 7526: the registry says nothing of its reach
  ['192.88.99.2/32', false], // 6a44 relay anycast, RFC 6751
  ['192.168.0.0/16', false], // private use, RFC 1918
  ['192.175.48.0/24', true], // direct delegation AS112 service, RFC 7534
  ['198.18.0.0/15', false], // benchmarking, RFC 2544
  ['198.51.100.0/24', false], // documentation, RFC 5737
  ['203.0.113.0/24', false], // documentation, RFC 5737
  ['240.0.0.0/4', false], // reserved, once class E, RFC 1112
  ['255.255.255.255/32', false], // limited broadcast, RFC 8190 and RFC 919
  ['224.0.0.0/4', false], // multicast, RFC 5771
];

type Block = Readonly<{ text: string; range: AddressRange }>;

const blocksOf = (reachable: boolean): readonly Block[] =>
  SPECIAL_PURPOSE.filter(([, isReachable]) => isReachable === reachable).map(([text]) => ({
    text,
    range: rangeOf(text),
  }));

/** The smallest first. */
const RESERVED_BLOCKS = blocksOf(false).toSorted((a, b) => Number(rangeSize(a.range) - rangeSize(b.range)));
/** In the registry a more specific entry takes its addresses out of the block around it. */
const RESERVED = setOf(RESERVED_BLOCKS).difference(setOf(blocksOf(true)));

/**
 * The reserved block that a range of addresses touches first, as a CIDR; `undefined` when it touches none. Of blocks that lie in each
 * other the smallest one that holds all that is hit there is named.
 */
export function reservedBlock(range: AddressRange): string | undefined {
  const [hit] = RESERVED.intersection(RangeSet.of(range)).ranges();
  if (hit === undefined) return undefined;
  const [first, last] = [firstAddress(hit), lastAddress(hit)];
  const around = RESERVED_BLOCKS.filter((block) => rangeContains(block.range, first));
  const holding = around.find((block) => rangeContains(block.range, last)) ?? around.at(-1);
  invariant(holding, 'what is reserved lies in a reserved block');
  return holding.text;
}

function setOf(blocks: readonly Block[]): RangeSet {
  return RangeSet.from(blocks.map(({ range }) => range));
}

function rangeOf(block: string): AddressRange {
  const cidr = parseCidr(block);
  invariant(!isAddressProblem(cidr), `${block} is a block of the registry`);
  return rangeOfCidr(cidr);
}
