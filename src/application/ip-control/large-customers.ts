import type { Aggregate } from '../../commands/aggregate.ts';
import type { CustomerState } from '../../commands/ip-control/customer-state.ts';
import type { CustomerCommand } from '../../commands/ip-control/customer.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import { StoreUnavailable } from '../../ports/event-store.ts';
import type { Log } from '../../ports/log.ts';
import type { ReadModels } from '../../ports/read-models.ts';
import type { Views } from '../../projections/engine/keyed-views.ts';
import { keysWithParts } from '../../projections/engine/view-parts.ts';
import type { AddressView } from '../../projections/ip-control/address-view.ts';

export type LargeCustomersDependencies = Readonly<{
  customers: Pick<Aggregate<CustomerCommand, CustomerState, CustomerEvent>, 'state'>;
  addresses: Pick<Views<AddressView>, 'get'> & Readonly<{ name: string }>;
  readModels: Pick<ReadModels, 'active' | 'keys'>;
  log: Pick<Log, 'warn'>;
}>;

/** So many are read at a start: each takes a few megabytes at most, and an earlier first request the more, the larger it is. */
const CUSTOMERS_MAX = 100;

/**
 * Reads the customers with so many ranges that their views are saved in parts into memory, one after the other: the first request on one of
 * them would have to wait for it. How many there are is told. One that can't be read does not keep the others from it. @throws StoreUnavailable
 */
export async function readLargeCustomers(dependencies: LargeCustomersDependencies): Promise<number> {
  const { customers, addresses, readModels, log } = dependencies;
  const active = await readModels.active(addresses.name);
  const keys = active === undefined ? [] : await keysWithParts(readModels, active, CUSTOMERS_MAX);
  for (const key of keys) {
    try {
      await addresses.get(key);
      await customers.state(Number(key));
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      log.warn({ error }, `customer ${key} could not be read at the start; its first request reads it`);
    }
  }
  return keys.length;
}
