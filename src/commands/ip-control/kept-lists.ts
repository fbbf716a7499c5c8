import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import type { DirectoryEvent } from '../../events/ip-control/directory.ts';
import { isAddressProblem } from '../../addresses/address-problem.ts';
import type { AddressRange } from '../../addresses/range.ts';
import { parseCidr, rangeOfCidr } from '../../addresses/cidr.ts';
import { coverTexts } from '../../addresses/cidr-cover.ts';
import { RangeSet } from '../../addresses/range-set.ts';
import { type EventStore, NO_STREAM } from '../../ports/event-store.ts';
import type { Aggregate } from '../aggregate.ts';
import type { CustomerCommand } from './customer.ts';
import { type CustomerState, listedAddresses } from './customer-state.ts';
import { DIRECTORY_ID, type DirectoryCommand, type DirectoryState } from './directory.ts';
import { type CustomersList, explainedRemovals } from './explained-removals.ts';
import { isRestored, keptWhileRestored } from './restore.ts';

export type KeepingDependencies = Readonly<{
  directory: Pick<Aggregate<DirectoryCommand, DirectoryState, DirectoryEvent>, 'state'>;
  customers: Pick<Aggregate<CustomerCommand, CustomerState, CustomerEvent>, 'state'>;
  store: Pick<EventStore, 'read'>;
}>;

/** What a restored log explains of one list; everything else that a router holds in it stays there. */
export type Keeping = Readonly<{
  /** What has left the list since the log was restored. */
  removals: RangeSet;
  /** What the list is to hold as things are, whether a commit has captured that yet or not. */
  listed: RangeSet;
}>;

/** What is to be kept of a list, or `undefined` where the log of the region is no restored one. */
export async function keepingOf(
  list: CustomersList,
  { directory, customers, store }: KeepingDependencies,
): Promise<Keeping | undefined> {
  const { state } = await directory.state(DIRECTORY_ID);
  if (state.restored === undefined || !isRestored(state, list.regionId)) return undefined;
  const after = state.restored.customers.get(list.customerId) ?? NO_STREAM;
  const removals = await explainedRemovals(list, after, store);
  const { state: customer } = await customers.state(list.customerId);
  const listed =
    customer.phase === 'unregistered' ? RangeSet.empty : listedAddresses(customer, list.regionId, list.list);
  return { removals, listed };
}

/** What one router is to hold: the wanted blocks and what it keeps beside them. `kept`: those of them that the log does not explain. */
export type WantedOnRouter = Readonly<{ prefixes: readonly string[]; kept: readonly string[] }>;

/**
 * The list of one router, from what it holds and from what is wanted everywhere. An entry that is no plain block can't be written by
 * edgeward, so that a list that has one can't be changed and keep it: that is a problem, which names the entry.
 */
export function wantedOn(
  held: readonly string[] | 'absent',
  prefixes: readonly string[],
  keeping: Keeping | undefined,
): WantedOnRouter | Readonly<{ problem: string }> {
  if (keeping === undefined || held === 'absent') return { prefixes, kept: [] };
  const strange = held.find((entry) => rangeOf(entry) === undefined);
  if (strange !== undefined) return { problem: `${STRANGE_ENTRY}: ${strange}` };
  const [present, wanted] = [addressesOf(held), addressesOf(prefixes)];
  const stays = keptWhileRestored(present, wanted, keeping.removals);
  if (stays.isEmpty) return { prefixes, kept: [] };
  return { prefixes: coverTexts(wanted.union(stays)), kept: coverTexts(stays.difference(keeping.listed)) };
}

/** What a router holds and a restored log does not explain, as blocks; entries that are no plain blocks as they are. */
export function unexplained(held: readonly string[] | 'absent', { removals, listed }: Keeping): readonly string[] {
  if (held === 'absent') return [];
  const strange = held.filter((entry) => rangeOf(entry) === undefined);
  return [...coverTexts(keptWhileRestored(addressesOf(held), listed, removals)), ...strange];
}

const WAY_OUT = 'put it right on the router, or accept what the log says with edgeward restore accept';
const STRANGE_ENTRY = `the log was restored, and the list has an entry that can not be kept when the list changes (${WAY_OUT})`;

/** Why what is there is not replaced although it is no list. */
export const NOT_REPLACED = `the log was restored: what it does not explain may be in it, so that it stays (${WAY_OUT})`;

/** The addresses of those entries that are plain blocks. */
export function addressesOf(entries: readonly string[]): RangeSet {
  return RangeSet.from(entries.flatMap((entry) => rangeOf(entry) ?? []));
}

function rangeOf(entry: string): AddressRange | undefined {
  const cidr = parseCidr(entry);
  return isAddressProblem(cidr) ? undefined : rangeOfCidr(cidr);
}
