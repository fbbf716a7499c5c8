import type { RecordedEvent } from '../../kernel/event.ts';
import { streamId } from '../../kernel/stream-name.ts';
import type { CustomerEvent } from './customer.ts';
import type { ListKind } from './vocabulary.ts';

/** What changes what a list is to hold, or is about its way to the routers. */
export const LIST_EVENTS = [
  'SubnetReleased',
  'AddressesDisabled',
  'AddressesEnabled',
  'SourceWhitelistSubmitted',
  'SourceWhitelistApproved',
  'SourceWhitelistRemoved',
  'CommitRequested',
  'CommitCompleted',
  'CommitFailed',
] as const;
export type ListEvent = Extract<CustomerEvent, { type: (typeof LIST_EVENTS)[number] }>;

type Keyed = ListEvent | Extract<CustomerEvent, { type: 'CommitSliceDeployed' | 'CommitHeldUp' }>;

/** The lists that an event is about, as `customer/region/list`; a whitelist request that waits for its review is about none. */
export function listKeysOf(event: RecordedEvent<Keyed>): readonly string[] {
  const customerId = streamId(event.stream);
  // Nearly all events of a log are of these types: asking them which fields they have takes longer than the rest.
  if (event.type === 'AddressesDisabled' || event.type === 'AddressesEnabled') {
    return [`${customerId}/${event.data.regionId}/BLACKHOLE`];
  }
  return regionsOf(event).map((regionId) => `${customerId}/${regionId}/${listOf(event)}`);
}

/** Which of a customer's lists an event is about. */
export function listOf(event: Keyed): ListKind {
  if ('list' in event.data) return event.data.list;
  return 'requestId' in event.data ? 'SRC_WHITELIST' : 'BLACKHOLE';
}

function regionsOf({ type, data }: Keyed): readonly number[] {
  if (type === 'SourceWhitelistSubmitted' && !data.autoApproved) return [];
  return 'regionIds' in data ? data.regionIds : [data.regionId];
}
