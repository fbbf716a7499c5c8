import { rangeSize } from '../../addresses/range.ts';
import { DIRECTORY_ID } from '../../commands/ip-control/directory.ts';
import { EMPTY_LEDGER, subnetRange } from '../../domain/ip-control/address-ledger.ts';
import { subnetStatus, type SubnetStatus } from '../../domain/ip-control/subnet-status.ts';
import type { Refusal } from '../../kernel/decider.ts';
import type { AddressView } from '../../projections/ip-control/address-view.ts';
import type { CustomerView } from '../../projections/ip-control/customer-view.ts';
import type { Application } from '../application.ts';
import { notFound } from './lookups.ts';

type ListDependencies = Pick<Application, 'directory'> &
  Readonly<{ views: Pick<Application['views'], 'customers' | 'addresses' | 'waitingChanges' | 'regions'> }>;

type CustomerNamesDependencies = Pick<Application, 'directory'> &
  Readonly<{ views: Pick<Application['views'], 'removedCustomers'> }>;

/** A customer's name and number, from the directory, which is in memory. */
export type CustomerName = Readonly<{ customerId: number; name: string; listName: string }>;

/** How many addresses there are, and how they stand. */
export type AddressCounts = Readonly<{ total: bigint; disabled: bigint; pending: bigint }>;

/** One row of the list of customers. */
export type CustomerRow = Readonly<{ customer: CustomerView; subnets: number; counts: AddressCounts }>;

/** A subnet of a customer with its counts. */
export type SubnetRow = Readonly<{
  subnetId: number;
  cidr: string;
  regionId: number;
  region: string;
  asn: number;
  metro: string;
  counts: AddressCounts;
}>;

const NO_ADDRESSES: AddressView = { subnets: [], ledger: EMPTY_LEDGER };

/** The customers that were not removed and whose name or list name holds a text, in any case; all of them for an empty one. By number. */
export async function customerNames(
  text: string,
  { directory, views }: CustomerNamesDependencies,
): Promise<readonly CustomerName[]> {
  const { customers } = (await directory.state(DIRECTORY_ID)).state;
  const removed = await removedCustomers(views);
  const wanted = text.toLowerCase();
  const all = [...customers].map(([customerId, { name, listName }]) => ({ customerId, name, listName }));
  return all.filter(
    ({ customerId, name, listName }) =>
      !removed.has(customerId) &&
      ([name.toLowerCase(), listName.toLowerCase()].some((known) => known.includes(wanted)) ||
        String(customerId) === wanted),
  );
}

/** The numbers of customers that were removed; the directory keeps their names. */
export async function removedCustomers({
  removedCustomers: removed,
}: Pick<Application['views'], 'removedCustomers'>): Promise<ReadonlySet<number>> {
  return new Set((await removed.list()).map(({ view }) => view.customerId));
}

/** Of these customers what their list shows. Those that are being registered at this moment are left out. */
export async function customerRows(
  names: readonly CustomerName[],
  { views }: Pick<ListDependencies, 'views'>,
): Promise<readonly CustomerRow[]> {
  const rows = await Promise.all(
    names.map(async ({ customerId }) => {
      const [customer, addresses = NO_ADDRESSES] = await Promise.all([
        views.customers.get(String(customerId)),
        views.addresses.get(String(customerId)),
      ]);
      if (customer === undefined || customer.standing === 'removed') return [];
      return [{ customer, subnets: addresses.subnets.length, counts: countsOf(statusesOf(addresses)) }];
    }),
  );
  return rows.flat();
}

/** A customer by number, as its pages show it. */
export async function customerById(
  customerId: string,
  { views }: Readonly<{ views: Pick<ListDependencies['views'], 'customers'> }>,
): Promise<CustomerView | Refusal> {
  const customer = /^[1-9]\d{0,14}$/.test(customerId) ? await views.customers.get(customerId) : undefined;
  if (customer !== undefined && customer.standing !== 'removed') return customer;
  return notFound(`There is no customer ${customerId}.`, 'customer');
}

/** A customer's subnets with their counts, in the order in which they came; of these numbers alone where they are given. */
export async function subnetRows(
  customerId: number,
  { views }: Readonly<{ views: Pick<ListDependencies['views'], 'addresses' | 'regions'> }>,
  only?: ReadonlySet<number>,
): Promise<readonly SubnetRow[]> {
  const regions = await regionNames({ views });
  return namedSubnetRows(customerId, regions, { views }, only);
}

/** As `subnetRows`, for many customers, with what regions are called. */
export async function namedSubnetRows(
  customerId: number,
  regions: ReadonlyMap<number, string>,
  { views }: Readonly<{ views: Pick<ListDependencies['views'], 'addresses'> }>,
  only?: ReadonlySet<number>,
): Promise<readonly SubnetRow[]> {
  const addresses = (await views.addresses.get(String(customerId))) ?? NO_ADDRESSES;
  const statuses = statusesOf(addresses).filter(({ subnet }) => only === undefined || only.has(subnet.subnetId));
  return statuses.map((status) => {
    const { subnetId, cidr, regionId, asn, metro } = status.subnet;
    const region = regions.get(regionId) ?? String(regionId);
    return { subnetId, cidr, regionId, region, asn, metro, counts: countsOf([status]) };
  });
}

/** What regions are called, by number. */
export async function regionNames({
  views,
}: Readonly<{ views: Pick<Application['views'], 'regions'> }>): Promise<ReadonlyMap<number, string>> {
  return new Map((await views.regions.list()).map(({ view: { regionId, name } }) => [regionId, name]));
}

/** A customer's subnet by number. */
export async function subnetById(
  customerId: number,
  subnetId: string,
  dependencies: Pick<ListDependencies, 'views'>,
): Promise<SubnetRow | Refusal> {
  const rows = await subnetRows(customerId, dependencies);
  return rows.find((row) => String(row.subnetId) === subnetId) ?? notFound(`There is no subnet ${subnetId}.`, 'subnet');
}

function statusesOf(addresses: AddressView): readonly SubnetStatus[] {
  return addresses.subnets.flatMap(({ subnetId }) => subnetStatus(addresses, subnetId) ?? []);
}

function countsOf(statuses: readonly SubnetStatus[]): AddressCounts {
  let [total, disabled, pending] = [0n, 0n, 0n];
  for (const status of statuses) {
    const range = subnetRange(status.subnet.cidr);
    total += rangeSize(range);
    disabled += status.disabled.countWithin(range);
    pending += status.pending.countWithin(range);
  }
  return { total, disabled, pending };
}
