import { changedAddresses, subnetRange } from '../../domain/ip-control/address-ledger.ts';
import { type CustomerEvent, customerEvents } from '../../events/ip-control/customer.ts';
import { rangeOfPrefixes } from '../../domain/ip-control/source-whitelist-ledger.ts';
import type { ListKind } from '../../events/ip-control/vocabulary.ts';
import type { AddressRange } from '../../addresses/range.ts';
import { RangeSet } from '../../addresses/range-set.ts';
import { isHandled } from '../../kernel/event.ts';
import { streamName } from '../../kernel/stream-name.ts';
import { type EventStore, NO_STREAM } from '../../ports/event-store.ts';

/** One list of a customer in a region. */
export type CustomersList = Readonly<{ customerId: number; regionId: number; list: ListKind }>;

const HANDLES = new Set<string>(customerEvents.map(({ type }) => type));

/**
 * The addresses that have left a list by what the customer's stream says after a revision. What it says before explains nothing: in
 * the part of the log that is lost they may have come back.
 */
export async function explainedRemovals(
  { customerId, regionId, list }: CustomersList,
  after: bigint,
  store: Pick<EventStore, 'read'>,
): Promise<RangeSet> {
  const removals = new Removals(regionId, list);
  // The removal of a whitelist request does not repeat its addresses.
  const from = list === 'BLACKHOLE' ? after : NO_STREAM;
  for await (const page of store.read(streamName('customer', customerId), from)) {
    for (const event of page) if (isHandled<CustomerEvent>(HANDLES, event)) removals.add(event, event.revision > after);
  }
  return removals.set;
}

/** Adds up what has left one list, in the order of the customer's stream. */
export class Removals {
  readonly #regionId: number;
  readonly #list: ListKind;
  readonly #requests = new Map<string, AddressRange>();
  /** Of what is disabled for a time, that of which this was said afterwards. */
  #terms = RangeSet.empty;
  set = RangeSet.empty;

  constructor(regionId: number, list: ListKind) {
    this.#regionId = regionId;
    this.#list = list;
  }

  add(event: CustomerEvent, isAfter: boolean): void {
    if (event.type === 'SourceWhitelistSubmitted')
      this.#requests.set(event.data.requestId, rangeOfPrefixes(event.data.prefixes));
    if (isAfter) this.set = this.#list === 'BLACKHOLE' ? this.#blackhole(event) : this.#whitelist(event);
  }

  #blackhole(event: CustomerEvent): RangeSet {
    if (event.type === 'AddressesEnabled' && this.#isHere(event.data)) {
      const changed = changedAddresses(event.data.ranges);
      // A time that was said before may have been made longer in the part that is lost.
      return this.set.union(event.data.because === 'until' ? changed.intersection(this.#terms) : changed);
    }
    if (event.type === 'DisabledTermChanged' && this.#isHere(event.data)) this.#withTerm(event.data);
    if (event.type === 'AddressesDisabled' && this.#isHere(event.data)) {
      this.#withTerm(event.data);
      return this.set.difference(changedAddresses(event.data.ranges));
    }
    // None of it is the customer's any more, whatever was disabled in it.
    if (event.type === 'SubnetReleased' && this.#isHere(event.data))
      return this.set.union(RangeSet.of(subnetRange(event.data.cidr)));
    return this.set;
  }

  #withTerm({ ranges, until }: Readonly<{ ranges: readonly string[]; until?: string | undefined }>): void {
    const changed = changedAddresses(ranges);
    this.#terms = until === undefined ? this.#terms.difference(changed) : this.#terms.union(changed);
  }

  #whitelist(event: CustomerEvent): RangeSet {
    if (event.type !== 'SourceWhitelistRemoved' || !event.data.regionIds.includes(this.#regionId)) return this.set;
    const range = this.#requests.get(event.data.requestId);
    return range === undefined ? this.set : this.set.union(RangeSet.of(range));
  }

  #isHere({ regionId }: Readonly<{ regionId: number }>): boolean {
    return regionId === this.#regionId;
  }
}
