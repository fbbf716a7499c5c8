import type { Aggregate } from '../../../commands/aggregate.ts';
import { commitKey, type CustomerState } from '../../../commands/ip-control/customer-state.ts';
import type { CustomerCommand } from '../../../commands/ip-control/customer.ts';
import { DIRECTORY_ID, type DirectoryCommand, type DirectoryState } from '../../../commands/ip-control/directory.ts';
import type { CustomerEvent } from '../../../events/ip-control/customer.ts';
import type { DirectoryEvent } from '../../../events/ip-control/directory.ts';
import { type ListKind, listKind, prefixListName } from '../../../events/ip-control/vocabulary.ts';
import { lastPrefixes } from '../deploy-commit.ts';

/** Whose list it is. */
export type OwnedList = Readonly<{ customerId: number; kind: ListKind }>;

/** Every name that a customer's lists have, whatever they hold. */
export async function ownedLists(
  directory: Pick<Aggregate<DirectoryCommand, DirectoryState, DirectoryEvent>, 'state'>,
): Promise<ReadonlyMap<string, OwnedList>> {
  const { customers } = (await directory.state(DIRECTORY_ID)).state;
  return new Map(
    [...customers].flatMap(([customerId, { listName }]) =>
      listKind.options.map((kind): [string, OwnedList] => [prefixListName(listName, kind), { customerId, kind }]),
    ),
  );
}

/** What the list's last completed commit has put on the region's routers. */
export async function deployedPrefixes(
  regionId: number,
  { customerId, kind }: OwnedList,
  customers: Pick<Aggregate<CustomerCommand, CustomerState, CustomerEvent>, 'state'>,
): Promise<readonly string[] | 'under way'> {
  const { state } = await customers.state(customerId);
  if (state.phase === 'unregistered') return [];
  if (state.commits.has(commitKey(regionId, kind))) return 'under way';
  return lastPrefixes(state, { regionId, list: kind });
}
