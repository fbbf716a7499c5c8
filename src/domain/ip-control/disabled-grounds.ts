import { RangeMap } from '../../addresses/range-map.ts';
import { RangeSet } from '../../addresses/range-set.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { type Grounds, saidOf } from '../grounds.ts';
import { changedAddresses, subnetRange } from './address-ledger.ts';

/** What was said for disabling addresses, by whom and when. */
export type GivenGrounds = Grounds & Readonly<{ by: string; at: string }>;

/** Why a customer's addresses are disabled, where that was said, by region. */
export type DisabledGrounds = ReadonlyMap<number, RangeMap<GivenGrounds>>;

/** The grounds after one more event: those of the last call that disabled an address count. */
export function applyToGrounds(before: DisabledGrounds, event: RecordedEvent<CustomerEvent>): DisabledGrounds {
  if (event.type === 'AddressesDisabled' || event.type === 'DisabledTermChanged') {
    const said = saidIn(event.data);
    const { actor: by, at } = event.metadata;
    const given = Object.keys(said).length === 0 ? undefined : { ...said, by, at };
    return withGrounds(before, event.data.regionId, changedAddresses(event.data.ranges), given);
  }
  if (event.type === 'AddressesEnabled')
    return withGrounds(before, event.data.regionId, changedAddresses(event.data.ranges), undefined);
  if (event.type === 'SubnetReleased')
    return withGrounds(before, event.data.regionId, RangeSet.of(subnetRange(event.data.cidr)), undefined);
  return before;
}

function saidIn(data: object): ReturnType<typeof saidOf> {
  return saidOf({
    reason: 'reason' in data ? textOf(data.reason) : undefined,
    ticket: 'ticket' in data ? textOf(data.ticket) : undefined,
  });
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function withGrounds(
  before: DisabledGrounds,
  regionId: number,
  addresses: RangeSet,
  given: GivenGrounds | undefined,
): DisabledGrounds {
  const known = before.get(regionId) ?? new RangeMap<GivenGrounds>();
  return given === undefined && known.isEmpty ? before : new Map(before).set(regionId, known.with(addresses, given));
}
