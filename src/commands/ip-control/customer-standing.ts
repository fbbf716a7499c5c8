import { counted } from '../../domain/counted.ts';
import { RangeSet } from '../../addresses/range-set.ts';
import { changedTexts, regionAddresses, subnetRange } from '../../domain/ip-control/address-ledger.ts';
import { countedRequests } from '../../domain/ip-control/source-whitelist-ledger.ts';
import type { EventOf } from '../../events/codec.ts';
import type { CustomerEvent, SubnetReleased } from '../../events/ip-control/customer.ts';
import { type Command, type Decision, refuse } from '../../kernel/decider.ts';
import type { Registered, Subnet } from './customer-state.ts';

export type StandingCommand =
  | Command<'DisableCustomer'>
  | Command<'EnableCustomer'>
  /** `force`: also where it has subnets or whitelist requests, which go with it. */
  | Command<'RemoveCustomer', { force: boolean }>;

/** The rules of whether a customer may act, and of its end. */
export function decideStanding({ type, data }: StandingCommand, state: Registered): Decision<CustomerEvent> {
  const { customerId, standing } = state;
  switch (type) {
    case 'DisableCustomer':
      return standing === 'enabled' ? [{ type: 'CustomerDisabled', data: { customerId } }] : [];
    case 'EnableCustomer':
      return standing === 'disabled' ? [{ type: 'CustomerEnabled', data: { customerId } }] : [];
    case 'RemoveCustomer':
      return standing === 'removed' ? [] : remove(data.force, state);
  }
}

/** A subnet that the customer lets go of, with what was disabled in it. */
export function released(
  { subnetId, cidr, regionId }: Subnet,
  { ledger }: Pick<Registered, 'ledger'>,
): EventOf<typeof SubnetReleased> {
  const disabled = regionAddresses(ledger, regionId).disabled.intersection(RangeSet.of(subnetRange(cidr)));
  return { type: 'SubnetReleased', data: { subnetId, cidr, regionId, wasDisabled: changedTexts(disabled) } };
}

/** Everything that it has goes by the events by which it would go one by one, so that commits take it off the routers as always. */
function remove(force: boolean, state: Registered): Decision<CustomerEvent> {
  const { customerId, name, subnets, tokens, whitelist } = state;
  const requests = countedRequests(whitelist);
  if (!force && subnets.size + requests.length > 0) {
    const has = `customer ${name} has ${counted(subnets.size, 'subnet')} and ${counted(requests.length, 'whitelist request')}`;
    return refuse('customer-in-use', `${has}: remove these first, or say --force (force=true), which removes all.`);
  }
  return [
    ...[...tokens.values()].map(({ tokenId, sha256 }) => ({
      type: 'ApiTokenRevoked' as const,
      data: { tokenId, sha256 },
    })),
    ...requests.map(({ requestId, regionIds, review }) => ({
      type: 'SourceWhitelistRemoved' as const,
      data: { requestId, regionIds: review.phase === 'approved' ? [...regionIds] : [] },
    })),
    ...[...subnets.values()].map((subnet) => released(subnet, state)),
    { type: 'CustomerRemoved', data: { customerId } },
  ];
}
