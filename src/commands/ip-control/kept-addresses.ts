import { changedAddresses, changedTexts, subnetRange } from '../../domain/ip-control/address-ledger.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import { RangeSet } from '../../addresses/range-set.ts';
import type { Command, Decision } from '../../kernel/decider.ts';

/** What a router keeps of a customer's blackhole list without the restored log explaining it. */
export type KeptOnRouter = Readonly<{ regionId: number; router: string; set: RangeSet }>;

/** By region and router; a router that keeps nothing is not among them. */
export type KeptAddresses = ReadonlyMap<string, KeptOnRouter>;

/** `isMore`: beside what is known already. */
export type RecordKept = Command<'RecordKept', KeptOnRouter & Readonly<{ isMore?: boolean }>>;

/** What the routers of a region keep. */
export function keptIn(kept: KeptAddresses, regionId: number): RangeSet {
  let all = RangeSet.empty;
  for (const of of kept.values()) if (of.regionId === regionId) all = all.union(of.set);
  return all;
}

/** What is known already is nothing new. */
export function decideKept(
  { regionId, router, set, isMore = false }: RecordKept['data'],
  kept: KeptAddresses,
): Decision<CustomerEvent> {
  const before = kept.get(keyOf(regionId, router))?.set ?? RangeSet.empty;
  if (isMore ? set.difference(before).isEmpty : set.equals(before)) return [];
  const more = isMore ? ({ isMore } as const) : {};
  return [{ type: 'AddressesKept', data: { regionId, router, ranges: changedTexts(set), ...more } }];
}

/** What is kept after an event: what its customer disables or enables is explained from then on. */
export function evolveKept(kept: KeptAddresses, event: CustomerEvent): KeptAddresses {
  if (event.type === 'AddressesKept') {
    const { regionId, router, ranges, isMore = false } = event.data;
    const before = isMore ? kept.get(keyOf(regionId, router))?.set : undefined;
    const told = changedAddresses(ranges);
    return withSet(kept, { regionId, router, set: before === undefined ? told : before.union(told) });
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
