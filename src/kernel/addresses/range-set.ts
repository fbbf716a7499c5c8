import type { AddressRange } from './address-range.ts';
import type { Address } from './address.ts';
import { differenceOf, intersectionOf, unionOf } from './edge-algebra.ts';
import { EdgeCursor, EdgeList, equalLists, holdsPoint, singleRange, sizeBetween } from './edge-list.ts';
import { IPV4_SPACE, IPV6_SPACE } from './edge-space.ts';
import { comparePoints, type Edges } from './edges.ts';
import { listOfRanges } from './edge-sorting.ts';
import { bigintOf, writeLimbs } from './limbs.ts';
import { pushIpv4Texts, pushIpv6Texts } from './edge-text.ts';

/**
 * An immutable set of addresses of both versions, kept as sorted, disjoint, maximal ranges. What an operation doesn't touch
 * is shared between the old set and the new one: changing one address costs a search, one chunk of ranges and a copy of the
 * list of chunks, whatever the number of addresses.
 */
export class RangeSet {
  static readonly empty = new RangeSet(new EdgeList(IPV4_SPACE, [], 0), new EdgeList(IPV6_SPACE, [], 0));

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
    if (all.length === 1) {
      const list = singleRange(spaceOf(only), startPoint(only), endPoint(only));
      return only.version === 4 ? RangeSet.empty.#with(list, undefined) : RangeSet.empty.#with(undefined, list);
    }
    return new RangeSet(
      listOfRanges(IPV4_SPACE, all.filter((range) => range.version === 4).map(edgesOf)),
      listOfRanges(IPV6_SPACE, all.filter((range) => range.version === 6).map(edgesOf)),
    );
  }

  /** The set of one address. */
  static ofAddress(address: Address): RangeSet {
    return address.version === 4
      ? RangeSet.of({ version: 4, first: address.value, last: address.value })
      : RangeSet.of({ version: 6, first: address.value, last: address.value });
  }

  /** The set of the given addresses. */
  static ofAddresses(addresses: Iterable<Address>): RangeSet {
    return RangeSet.from(
      Array.from(addresses, (address): AddressRange =>
        address.version === 4
          ? { version: 4, first: address.value, last: address.value }
          : { version: 6, first: address.value, last: address.value },
      ),
    );
  }

  get isEmpty(): boolean {
    return this.rangeCount === 0;
  }

  /** How many maximal ranges the set has. */
  get rangeCount(): number {
    return this.ipv4.rangeCount + this.ipv6.rangeCount;
  }

  /** The addresses in this set, in the other one, or in both. */
  union(other: RangeSet): RangeSet {
    return this.#with(unionOf(this.ipv4, other.ipv4), unionOf(this.ipv6, other.ipv6));
  }

  /** The addresses of this set that are not in the other one. */
  difference(other: RangeSet): RangeSet {
    return this.#with(differenceOf(this.ipv4, other.ipv4), differenceOf(this.ipv6, other.ipv6));
  }

  /** The addresses in both sets. */
  intersection(other: RangeSet): RangeSet {
    return this.#with(intersectionOf(this.ipv4, other.ipv4), intersectionOf(this.ipv6, other.ipv6));
  }

  contains(address: Address): boolean {
    return holdsPoint(this.#part(address.version), pointOf(address.value));
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
    return BigInt(sizeBetween(this.#part(range.version), startPoint(range), endPoint(range)));
  }

  /** The maximal ranges in order: IPv4, then IPv6. */
  *ranges(): Generator<AddressRange, void, undefined> {
    yield* between(this.ipv4, IPV4_SPACE.start, IPV4_SPACE.end);
    yield* between(this.ipv6, IPV6_SPACE.start, IPV6_SPACE.end);
  }

  /** The ranges from an address on, in order; a range that began before is cut. From an IPv4 address on, IPv6 follows. */
  *rangesFrom(address: Address): Generator<AddressRange, void, undefined> {
    const { space } = this.#part(address.version);
    yield* between(this.#part(address.version), pointOf(address.value), space.end);
    if (address.version === 4) yield* between(this.ipv6, IPV6_SPACE.start, IPV6_SPACE.end);
  }

  /** The ranges within a range, in order, cut at its ends. */
  *rangesWithin(range: AddressRange): Generator<AddressRange, void, undefined> {
    yield* between(this.#part(range.version), startPoint(range), endPoint(range));
  }

  /** The range texts, for events, views and snapshots. */
  toJSON(): string[] {
    const texts: string[] = [];
    pushIpv4Texts(this.ipv4, texts);
    pushIpv6Texts(this.ipv6, texts);
    return texts;
  }

  #part(version: 4 | 6): EdgeList {
    return version === 4 ? this.ipv4 : this.ipv6;
  }

  /** This set when nothing changed, so that equal states stay the same object. */
  #with(ipv4: EdgeList = this.ipv4, ipv6: EdgeList = this.ipv6): RangeSet {
    return ipv4 === this.ipv4 && ipv6 === this.ipv6 ? this : new RangeSet(ipv4, ipv6);
  }
}

function* between(list: EdgeList, from: Edges, to: Edges): Generator<AddressRange, void, undefined> {
  const { width } = list.space;
  const cursor = new EdgeCursor(list);
  cursor.seek(from, 0, 1);
  if (cursor.isInside) {
    const { edges, at } = cursor;
    const isLast = comparePoints(edges, at, to, 0, width) >= 0;
    yield rangeAt(width, from, 0, isLast ? to : edges, isLast ? 0 : at);
    cursor.step();
  }
  while (!cursor.isAtEnd) {
    const { edges, at } = cursor;
    if (comparePoints(edges, at, to, 0, width) >= 0) return;
    const isCut = comparePoints(edges, at + width, to, 0, width) > 0;
    yield rangeAt(width, edges, at, isCut ? to : edges, isCut ? 0 : at + width);
    cursor.step();
    cursor.step();
  }
}

function rangeAt(width: number, starts: Edges, i: number, ends: Edges, j: number): AddressRange {
  if (width === 1) return { version: 4, first: starts[i] ?? 0, last: (ends[j] ?? 0) - 1 };
  const first = bigintOf(starts[i] ?? 0, starts[i + 1] ?? 0, starts[i + 2] ?? 0);
  return { version: 6, first, last: bigintOf(ends[j] ?? 0, ends[j + 1] ?? 0, ends[j + 2] ?? 0) - 1n };
}

function spaceOf(range: AddressRange): typeof IPV4_SPACE {
  return range.version === 4 ? IPV4_SPACE : IPV6_SPACE;
}

function pointOf(value: number | bigint): Edges {
  if (typeof value === 'number') {
    const point = IPV4_SPACE.start.slice();
    point[0] = value;
    return point;
  }
  const point = IPV6_SPACE.start.slice();
  writeLimbs(value, point, 0);
  return point;
}

function startPoint(range: AddressRange): Edges {
  return pointOf(range.first);
}

function endPoint(range: AddressRange): Edges {
  return pointOf(range.version === 4 ? range.last + 1 : range.last + 1n);
}

function edgesOf(range: AddressRange): Edges {
  return [...startPoint(range), ...endPoint(range)];
}
