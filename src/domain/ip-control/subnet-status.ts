import { type AddressRange, firstAddress } from '../../addresses/range.ts';
import type { RangeMap } from '../../addresses/range-map.ts';
import type { RangeSet } from '../../addresses/range-set.ts';
import type { Address } from '../../addresses/address.ts';
import { type AddressLedger, pendingAddresses, regionAddresses, subnetRange } from './address-ledger.ts';

export type SubnetOfCustomer = Readonly<{
  subnetId: number;
  cidr: string;
  regionId: number;
  asn: number;
  metro: string;
}>;

/** One subnet with what its addresses are. */
export type SubnetStatus = Readonly<{
  subnet: SubnetOfCustomer;
  range: AddressRange;
  disabled: RangeSet;
  /** When those of the disabled ones are enabled by themselves that are disabled for a time. */
  terms: RangeMap<string>;
  pending: RangeSet;
}>;

/** A customer's subnet by its number. */
export function subnetStatus(
  { subnets, ledger }: Readonly<{ subnets: readonly SubnetOfCustomer[]; ledger: AddressLedger }>,
  subnetId: number,
): SubnetStatus | undefined {
  const subnet = subnets.find((candidate) => candidate.subnetId === subnetId);
  if (subnet === undefined) return undefined;
  const region = regionAddresses(ledger, subnet.regionId);
  const { disabled, terms } = region;
  return { subnet, range: subnetRange(subnet.cidr), disabled, terms, pending: pendingAddresses(region) };
}

/** Neighbouring addresses of one status. `until`: when they are enabled by themselves. */
export type AddressRun = Readonly<{
  first: bigint;
  last: bigint;
  isDisabled: boolean;
  isPending: boolean;
  until?: string | undefined;
}>;

/** The maximal runs of equal status that make up a range, complete and in order, from `from` on (default: its first address). */
export function* addressRuns(
  { range, disabled, terms, pending }: Omit<SubnetStatus, 'subnet'>,
  from: Address = firstAddress(range),
): IterableIterator<AddressRun> {
  const last = BigInt(range.last);
  const within = rangeFrom(range, from);
  const disabledRuns = edgesOf(disabled, within);
  const pendingRuns = edgesOf(pending, within);
  const termRuns = termsFrom(terms, within);
  let first = BigInt(from.value);
  while (first <= last) {
    const isDisabled = disabledRuns.isInside(first);
    const isPending = pendingRuns.isInside(first);
    const until = termRuns.at(first);
    const changesAt = smaller(
      smaller(disabledRuns.nextEdge(first), pendingRuns.nextEdge(first)),
      termRuns.nextEdge(first),
    );
    const end = changesAt === undefined || changesAt > last ? last : changesAt - 1n;
    yield { first, last: end, isDisabled, isPending, until };
    first = end + 1n;
  }
}

function rangeFrom(range: AddressRange, from: Address): AddressRange {
  if (range.version === 4 && from.version === 4) return { ...range, first: from.value };
  if (range.version === 6 && from.version === 6) return { ...range, first: from.value };
  return range;
}

type Edges = Readonly<{ isInside: (at: bigint) => boolean; nextEdge: (after: bigint) => bigint | undefined }>;

/** A set's ranges within a range, asked for ever higher addresses. */
function edgesOf(set: RangeSet, within: AddressRange): Edges {
  const ranges = set.rangesWithin(within)[Symbol.iterator]();
  let current = next();
  return {
    isInside: (at) => {
      skipBefore(at);
      return current !== undefined && current.first <= at;
    },
    nextEdge: (at) => {
      skipBefore(at);
      if (current === undefined) return undefined;
      return current.first > at ? current.first : current.last + 1n;
    },
  };

  function skipBefore(at: bigint): void {
    while (current !== undefined && current.last < at) current = next();
  }

  function next(): { first: bigint; last: bigint } | undefined {
    const { value, done } = ranges.next();
    return done === true ? undefined : { first: BigInt(value.first), last: BigInt(value.last) };
  }
}

type Terms = Readonly<{ at: (at: bigint) => string | undefined; nextEdge: (after: bigint) => bigint | undefined }>;

/** The terms within a range, asked for ever higher addresses. */
function termsFrom(terms: RangeMap<string>, within: AddressRange): Terms {
  if (terms.isEmpty) return NO_TERMS;
  const entries = terms.entriesWithin(within)[Symbol.iterator]();
  let current = next();
  const skipBefore = (at: bigint): void => {
    while (current !== undefined && current.last < at) current = next();
  };
  return {
    at: (at) => {
      skipBefore(at);
      return current !== undefined && current.first <= at ? current.until : undefined;
    },
    nextEdge: (at) => {
      skipBefore(at);
      if (current === undefined) return undefined;
      return current.first > at ? current.first : current.last + 1n;
    },
  };

  function next(): { first: bigint; last: bigint; until: string } | undefined {
    const { value, done } = entries.next();
    if (done === true) return undefined;
    return { first: BigInt(value.range.first), last: BigInt(value.range.last), until: value.value };
  }
}

const NO_TERMS: Terms = { at: () => undefined, nextEdge: () => undefined };

function smaller(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined) return b;
  return b === undefined || a < b ? a : b;
}
