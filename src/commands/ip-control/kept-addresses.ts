import { changedAddresses, changedTexts, subnetRange } from '../../domain/ip-control/address-ledger.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import { RangeSet } from '../../addresses/range-set.ts';
import type { Command, Decision } from '../../kernel/decider.ts';

/** What a router keeps of a customer's blackhole list without the restored log explaining it. */
export type KeptOnRouter = Readonly<{ regionId: number; router: string; set: RangeSet }>;

/** By region and router; a router that keeps nothing is not among them. */
export type KeptAddresses = ReadonlyMap<string, KeptOnRouter>;

export type RecordKept = Command<'RecordKept', KeptOnRouter>;

/** What the routers of a region keep. */
export function keptIn(kept: KeptAddresses, regionId: number): RangeSet {
  let all = RangeSet.empty;
  for (const of of kept.values()) if (of.regionId === regionId) all = all.union(of.set);
  return all;
}

/** What is known already is nothing new. */
export function decideKept({ regionId, router, set }: KeptOnRouter, kept: KeptAddresses): Decision<CustomerEvent> {
  const before = kept.get(keyOf(regionId, router))?.set ?? RangeSet.empty;
  if (set.equals(before)) return [];
  return [{ type: 'AddressesKept', data: { regionId, router, ranges: changedTexts(set) } }];
}

/** What is kept after an event: what its customer disables or enables is explained from then on. */
export function evolveKept(kept: KeptAddresses, event: CustomerEvent): KeptAddresses {
  if (event.type === 'AddressesKept') {
    const { regionId, router, ranges } = event.data;
    return withSet(kept, { regionId, router, set: changedAddresses(ranges) });
  }
  if (kept.size === 0) return kept;
  if (event.type === 'AddressesDisabled' || event.type === 'AddressesEnabled')
    return without(kept, event.data.regionId, changedAddresses(event.data.ranges));
  if (event.type === 'SubnetReleased')
    return without(kept, event.data.regionId, RangeSet.of(subnetRange(event.data.cidr)));
  return kept;
}

function without(kept: KeptAddresses, regionId: number, explained: RangeSet): KeptAddresses {
  let next = kept;
  for (const of of kept.values())
    if (of.regionId === regionId) next = withSet(next, { ...of, set: of.set.difference(explained) });
  return next;
}

function withSet(kept: KeptAddresses, of: KeptOnRouter): KeptAddresses {
  const next = new Map(kept);
  if (of.set.isEmpty) next.delete(keyOf(of.regionId, of.router));
  else next.set(keyOf(of.regionId, of.router), of);
  return next;
}

function keyOf(regionId: number, router: string): string {
  return `${regionId}/${router}`;
}
