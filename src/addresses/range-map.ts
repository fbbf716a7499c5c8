import type { AddressRange } from './range.ts';
import { RangeSet } from './range-set.ts';

type Entry<V> = Readonly<{ first: bigint; last: bigint; value: V }>;
type Entries<V> = readonly Entry<V>[];

/** A range of addresses that have one value. */
export type RangeWithValue<V> = Readonly<{ range: AddressRange; value: V }>;

/**
 * An immutable map from addresses of both versions to values, kept as sorted, disjoint ranges; neighbours with the same value (`===`) are one.
 * A change copies a list of pointers, one a range, whatever the number of addresses.
 */
export class RangeMap<V> {
  readonly #ipv4: Entries<V>;
  readonly #ipv6: Entries<V>;

  /** An empty map; the parameters are for its own use. */
  constructor(ipv4: Entries<V> = [], ipv6: Entries<V> = []) {
    this.#ipv4 = ipv4;
    this.#ipv6 = ipv6;
  }

  get isEmpty(): boolean {
    return this.#ipv4.length === 0 && this.#ipv6.length === 0;
  }

  get rangeCount(): number {
    return this.#ipv4.length + this.#ipv6.length;
  }

  /** The map in which these addresses have this value; `undefined`: none. */
  with(addresses: RangeSet, value: V | undefined): RangeMap<V> {
    if (value === undefined && this.isEmpty) return this;
    const ipv4: AddressRange[] = [];
    const ipv6: AddressRange[] = [];
    for (const range of addresses.ranges()) (range.version === 4 ? ipv4 : ipv6).push(range);
    return new RangeMap(changed(this.#ipv4, ipv4, value), changed(this.#ipv6, ipv6, value));
  }

  /** Each range with its value, in order: IPv4, then IPv6. */
  *entries(): Generator<RangeWithValue<V>, void, undefined> {
    for (const { first, last, value } of this.#ipv4) yield { range: rangeOf(4, first, last), value };
    for (const { first, last, value } of this.#ipv6) yield { range: rangeOf(6, first, last), value };
  }

  /** The ranges that have an address in common with this one, whole, in order. */
  *entriesWithin(range: AddressRange): Generator<RangeWithValue<V>, void, undefined> {
    const entries = range.version === 4 ? this.#ipv4 : this.#ipv6;
    const end = BigInt(range.last);
    for (let at = placeOf(entries, BigInt(range.first)); at < entries.length; at++) {
      const entry = entries[at];
      if (entry === undefined || entry.first > end) return;
      yield { range: rangeOf(range.version, entry.first, entry.last), value: entry.value };
    }
  }

  /** All addresses that have a value that is meant. */
  addressesOf(isMeant: (value: V) => boolean): RangeSet {
    const ranges: AddressRange[] = [];
    for (const { range, value } of this.entries()) if (isMeant(value)) ranges.push(range);
    return RangeSet.from(ranges);
  }

  /** Those of these addresses that have a value that is meant. */
  addressesWithin(addresses: RangeSet, isMeant: (value: V) => boolean): RangeSet {
    if (this.isEmpty) return RangeSet.empty;
    const ranges: AddressRange[] = [];
    for (const asked of addresses.ranges())
      for (const { range, value } of this.entriesWithin(asked)) if (isMeant(value)) ranges.push(range);
    return RangeSet.from(ranges).intersection(addresses);
  }

  /** The addresses of each value. */
  byValue(): ReadonlyMap<V, RangeSet> {
    const ranges = new Map<V, AddressRange[]>();
    for (const { range, value } of this.entries()) {
      const known = ranges.get(value);
      if (known === undefined) ranges.set(value, [range]);
      else known.push(range);
    }
    return new Map([...ranges].map(([value, all]) => [value, RangeSet.from(all)]));
  }
}

/** The first entry that ends at a point or behind it. */
function placeOf<V>(entries: Entries<V>, point: bigint, from = 0): number {
  let [low, high] = [from, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.last ?? point) < point) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** `ranges`: sorted and disjoint. */
function changed<V>(entries: Entries<V>, ranges: readonly AddressRange[], value: V | undefined): Entries<V> {
  if (ranges.length === 0) return entries;
  const result: Entry<V>[] = [];
  let at = 0;
  /** What is left of the entry at `at`, where a range before has taken its beginning. */
  let rest: Entry<V> | undefined;
  const copyTo = (end: number): void => {
    if (at >= end) return;
    append(result, rest ?? entries[at]);
    rest = undefined;
    // Neighbours in a map are apart, or differ.
    for (at += 1; at < end; at++) result.push(entries[at] as Entry<V>);
  };
  for (const range of ranges) {
    const [first, last] = [BigInt(range.first), BigInt(range.last)];
    copyTo(placeOf(entries, first, at));
    for (let entry = rest ?? entries[at]; entry !== undefined && entry.first <= last; entry = entries[at]) {
      if (entry.first < first) append(result, { ...entry, last: first - 1n });
      rest = entry.last > last ? { ...entry, first: last + 1n } : undefined;
      if (rest !== undefined) break;
      at += 1;
    }
    if (value !== undefined) append(result, { first, last, value });
  }
  copyTo(entries.length);
  return result;
}

function append<V>(entries: Entry<V>[], entry: Entry<V> | undefined): void {
  if (entry === undefined) return;
  const before = entries.at(-1);
  if (before !== undefined && before.value === entry.value && before.last + 1n === entry.first)
    entries[entries.length - 1] = { ...before, last: entry.last };
  else entries.push(entry);
}

function rangeOf(version: 4 | 6, first: bigint, last: bigint): AddressRange {
  return version === 4 ? { version, first: Number(first), last: Number(last) } : { version, first, last };
}
