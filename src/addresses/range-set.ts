import { isAddressProblem } from './address-problem.ts';
import { ipv4OfText } from './address-scanner.ts';
import { type Address, parseAddress } from './address.ts';
import { EdgeBuilder } from './boundaries/builder.ts';
import { comparePoints, type Edges, IPV4_SPACE, IPV6_SPACE } from './boundaries/chunk.ts';
import { bigintOf, writeLimbs, writeWords } from './boundaries/limbs.ts';
import {
  EdgeCursor,
  EdgeList,
  equalLists,
  haveCommon,
  holdsPoint,
  singleRange,
  sizeWithin,
} from './boundaries/list.ts';
import { differenceOf, intersectionOf, unionOf } from './boundaries/merge.ts';
import { pushIpv4Texts, pushIpv6Texts } from './boundaries/text.ts';
import { RangeSetBuilder, type RangeSink } from './range-set-builder.ts';
import { type AddressRange, rangeOfAddress } from './range.ts';

/**
 * An immutable set of addresses of both versions, kept as sorted, disjoint, maximal ranges. What an operation doesn't touch
 * is shared between the old set and the new one: changing one address costs a search, one chunk of ranges and a copy of the
 * list of chunks, whatever the number of addresses.
 */
export class RangeSet {
  static readonly empty = new RangeSet(new EdgeList(IPV4_SPACE, []), new EdgeList(IPV6_SPACE, []));

  /** The IPv4 part and the IPv6 part, for the neighbours in this folder that must be fast. */
  readonly ipv4: EdgeList;
  readonly ipv6: EdgeList;

  constructor(ipv4: EdgeList, ipv6: EdgeList) {
    this.ipv4 = ipv4;
    this.ipv6 = ipv6;
  }

  /** The addresses of the given ranges, which may overlap and come in any order. */
  static of(...ranges: readonly AddressRange[]): RangeSet {
    return RangeSet.from(ranges);
  }

  /** The addresses of the given ranges, which may overlap and come in any order. */
  static from(ranges: Iterable<AddressRange>): RangeSet {
    const all = [...ranges];
    const [only] = all;
    if (only === undefined) return RangeSet.empty;
    if (all.some(({ first, last }) => first > last))
      throw new Error('broken invariant: a range starts at its first address');
    if (all.length === 1) return RangeSet.ofEdges(only.version, edgesOf(only));
    const intake = new RangeSetBuilder(all.length);
    for (const range of all) intake.add(range);
    return RangeSet.fromIntake(intake);
  }

  /** The set of the one range with these edges, which it keeps. */
  static ofEdges(version: 4 | 6, edges: Edges): RangeSet {
    return version === 4
      ? new RangeSet(singleRange(IPV4_SPACE, edges), RangeSet.empty.ipv6)
      : new RangeSet(RangeSet.empty.ipv4, singleRange(IPV6_SPACE, edges));
  }

  /** The set of all that an intake has taken. */
  static fromIntake(intake: RangeSetBuilder): RangeSet {
    const lists = new ListSink();
    intake.mergeInto(lists);
    return new RangeSet(lists.ipv4List(), lists.ipv6List());
  }

  /** The set of one address. */
  static ofAddress(address: Address): RangeSet {
    return RangeSet.of(rangeOfAddress(address));
  }

  /** The set of the given addresses. */
  static ofAddresses(addresses: Iterable<Address>): RangeSet {
    return RangeSet.from(Array.from(addresses, rangeOfAddress));
  }

  get isEmpty(): boolean {
    return this.ipv4.isEmpty && this.ipv6.isEmpty;
  }

  /** How many maximal ranges the set has. */
  get rangeCount(): number {
    return this.ipv4.rangeCount + this.ipv6.rangeCount;
  }

  /** The addresses in this set, in the other one, or in both. */
  union(other: RangeSet): RangeSet {
    return withLists(this, unionOf(this.ipv4, other.ipv4), unionOf(this.ipv6, other.ipv6));
  }

  /** The addresses of this set that are not in the other one. */
  difference(other: RangeSet): RangeSet {
    return withLists(this, differenceOf(this.ipv4, other.ipv4), differenceOf(this.ipv6, other.ipv6));
  }

  /** The addresses in both sets. */
  intersection(other: RangeSet): RangeSet {
    return withLists(this, intersectionOf(this.ipv4, other.ipv4), intersectionOf(this.ipv6, other.ipv6));
  }

  /** Whether the sets have an address in common. */
  intersects(other: RangeSet): boolean {
    return haveCommon(this.ipv4, other.ipv4) || haveCommon(this.ipv6, other.ipv6);
  }

  contains(address: Address): boolean {
    return holdsPoint(partOf(this, address.version), pointOf(address));
  }

  equals(other: RangeSet): boolean {
    return equalLists(this.ipv4, other.ipv4) && equalLists(this.ipv6, other.ipv6);
  }

  /** How many addresses the set holds, exactly. */
  count(): bigint {
    return BigInt(this.ipv4.size) + BigInt(this.ipv6.size);
  }

  /** How many addresses of the range the set holds, exactly. */
  countWithin(range: AddressRange): bigint {
    return BigInt(sizeWithin(partOf(this, range.version), edgesOf(range)));
  }

  /** The maximal ranges in order: IPv4, then IPv6. */
  *ranges(): Generator<AddressRange, void, undefined> {
    yield* rangesOf(this.ipv4, IPV4_SPACE.whole);
    yield* rangesOf(this.ipv6, IPV6_SPACE.whole);
  }

  /** The ranges from an address on, in order; a range that began before is cut. From an IPv4 address on, IPv6 follows. */
  *rangesFrom(address: Address): Generator<AddressRange, void, undefined> {
    const list = partOf(this, address.version);
    yield* rangesOf(list, [...pointOf(address), ...list.space.end]);
    if (address.version === 4) yield* rangesOf(this.ipv6, IPV6_SPACE.whole);
  }

  /** The ranges within a range, in order, cut at its ends. */
  *rangesWithin(range: AddressRange): Generator<AddressRange, void, undefined> {
    yield* rangesOf(partOf(this, range.version), edgesOf(range));
  }

  /** The range texts, for events, views and snapshots. */
  toJSON(): string[] {
    const texts: string[] = [];
    pushIpv4Texts(this.ipv4, texts);
    pushIpv6Texts(this.ipv6, texts);
    return texts;
  }
}

// These two are no private methods: TypeScript 7.0 miscompiles static fields of a class that has some.
function partOf(set: RangeSet, version: 4 | 6): EdgeList {
  return version === 4 ? set.ipv4 : set.ipv6;
}

/** The same set when nothing changed, so that equal states stay the same object. */
function withLists(set: RangeSet, ipv4: EdgeList, ipv6: EdgeList): RangeSet {
  return ipv4 === set.ipv4 && ipv6 === set.ipv6 ? set : new RangeSet(ipv4, ipv6);
}

/** Builds both lists of a set from merged ranges. */
class ListSink implements RangeSink {
  readonly #ipv4 = new EdgeBuilder(IPV4_SPACE);
  readonly #ipv6 = new EdgeBuilder(IPV6_SPACE);

  ipv4(start: number, end: number): void {
    this.#ipv4.appendIpv4(start, end);
  }

  ipv6(edges: Edges): void {
    this.#ipv6.append(edges, 0, edges, 3);
  }

  ipv4List(): EdgeList {
    return this.#ipv4.finish();
  }

  ipv6List(): EdgeList {
    return this.#ipv6.finish();
  }
}

/** The ranges of a list between the two points of a span, cut there. */
function* rangesOf(list: EdgeList, span: Edges): Generator<AddressRange, void, undefined> {
  const { width } = list.space;
  const cursor = new EdgeCursor(list);
  cursor.seek(span, 0, 1);
  if (cursor.isInside) {
    const { edges, at } = cursor;
    const isLast = comparePoints(edges, at, span, width, width) >= 0;
    yield rangeAt(width, span, 0, isLast ? span : edges, isLast ? width : at);
    cursor.step();
  }
  while (!cursor.isAtEnd) {
    const { edges, at } = cursor;
    if (comparePoints(edges, at, span, width, width) >= 0) return;
    const isCut = comparePoints(edges, at + width, span, width, width) > 0;
    yield rangeAt(width, edges, at, isCut ? span : edges, isCut ? width : at + width);
    cursor.skipRange();
  }
}

function rangeAt(width: number, starts: Edges, i: number, ends: Edges, j: number): AddressRange {
  if (width === 1) return { version: 4, first: starts[i] ?? 0, last: (ends[j] ?? 0) - 1 };
  const first = bigintOf(starts[i] ?? 0, starts[i + 1] ?? 0, starts[i + 2] ?? 0);
  return { version: 6, first, last: bigintOf(ends[j] ?? 0, ends[j + 1] ?? 0, ends[j + 2] ?? 0) - 1n };
}

function edgesOf(range: AddressRange): Edges {
  if (range.version === 4) {
    const edges = IPV4_SPACE.whole.slice();
    edges[0] = range.first;
    edges[1] = range.last + 1;
    return edges;
  }
  const edges = IPV6_SPACE.whole.slice();
  writeLimbs(range.first, edges, 0);
  writeLimbs(range.last + 1n, edges, 3);
  return edges;
}

function pointOf(address: Address): Edges {
  if (address.version === 4) {
    const point = IPV4_SPACE.start.slice();
    point[0] = address.value;
    return point;
  }
  const point = IPV6_SPACE.start.slice();
  writeLimbs(address.value, point, 0);
  return point;
}

/** What is wrong with one text of a list, and its place there, from 0. */
export type ListedProblem = Readonly<{ at: number; problem: string }>;

/** The set of all addresses of a list, each read as `parseAddress` does; or the problems of the texts that are none, at most `problemsMax`. */
export function parseAddressList(
  texts: readonly string[],
  problemsMax = Number.POSITIVE_INFINITY,
): Readonly<{ set: RangeSet }> | Readonly<{ problems: readonly ListedProblem[] }> {
  const problems: ListedProblem[] = [];
  const intake = new RangeSetBuilder(texts.length);
  for (let at = 0; at < texts.length && problems.length < problemsMax; at++) {
    const text = texts[at] ?? '';
    const ipv4 = ipv4OfText(text);
    if (ipv4 >= 0) {
      intake.addIpv4(ipv4, ipv4);
      continue;
    }
    const address = parseAddress(text);
    if (isAddressProblem(address)) problems.push({ at, problem: address.problem });
    else if (address.version === 4) intake.addIpv4(address.value, address.value);
    else {
      writeWords(address.value, words);
      intake.addIpv6(words, words);
    }
  }
  return problems.length > 0 ? { problems } : { set: RangeSet.fromIntake(intake) };
}

const words = new Uint32Array(4);
