import { type AddressRange, firstAddress, lastAddress, rangeContains, rangeSize } from '../../addresses/range.ts';
import { RangeSet } from '../../addresses/range-set.ts';
import { MULTICAST_IPV4, rangeOfIpv4Block, SPECIAL_PURPOSE_IPV4 } from '../../addresses/special-purpose-registry.ts';
import { invariant } from '../../kernel/invariant.ts';

type Block = Readonly<{ text: string; range: AddressRange }>;

const blocksOf = (reachable: boolean): readonly Block[] =>
  SPECIAL_PURPOSE_IPV4.filter(({ isReachable }) => isReachable === reachable).map(({ block }) => blockOf(block));

/** The smallest first. */
const RESERVED_BLOCKS = [...blocksOf(false), blockOf(MULTICAST_IPV4)].toSorted((a, b) =>
  Number(rangeSize(a.range) - rangeSize(b.range)),
);
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

function blockOf(text: string): Block {
  return { text, range: rangeOfIpv4Block(text) };
}
