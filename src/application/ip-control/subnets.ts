import { isAddressProblem } from '../../addresses/address-problem.ts';
import { formatCidr, parseCidr } from '../../addresses/cidr.ts';
import type { CommandContext } from '../../commands/aggregate.ts';
import type { Subnet } from '../../commands/ip-control/customer-state.ts';
import { DIRECTORY_ID } from '../../commands/ip-control/directory.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import { invariant } from '../../kernel/invariant.ts';
import type { Application } from '../application.ts';
import { findCustomer, findRegion, notFound } from './lookups.ts';

type SubnetDependencies = Pick<Application, 'directory' | 'customers' | 'regions'>;

export type NewSubnet = Readonly<{
  /** Its name or number. */
  customer: string | number;
  /** Whose routers hold its lists, by name or number. */
  region: string;
  cidr: string;
  asn: number;
  metro: string;
}>;

/** A subnet with the names of its customer and its region. */
export type CustomersSubnet = Subnet & Readonly<{ customer: string | undefined; region: string | undefined }>;

/** Assigns a subnet to a customer: reserves its addresses for it, which no other customer may have, and hands them over. */
export async function addSubnet(
  { customer: customerName, region: regionName, cidr: text, asn, metro }: NewSubnet,
  context: CommandContext,
  dependencies: SubnetDependencies,
): Promise<CustomersSubnet | Refusal> {
  const { directory, customers } = dependencies;
  const customer = await findCustomer(customerName, dependencies);
  if (isRefusal(customer)) return customer;
  const region = await findRegion(regionName, dependencies);
  if (isRefusal(region)) return region;
  const parsed = parseCidr(text);
  if (isAddressProblem(parsed)) return refuse('bad-cidr', parsed.problem, 'cidr');
  const { customerId } = customer;
  const { regionId } = region;
  const wanted = { customerId, cidr: formatCidr(parsed), regionId, asn, metro };
  const reserved = await directory.handle(DIRECTORY_ID, { type: 'ReserveSubnet', data: wanted }, context);
  if (isRefusal(reserved)) return reserved;
  const [reservation] = reserved.events;
  invariant(reservation?.type === 'SubnetReserved', 'addresses that are free are reserved');
  const { subnetId, cidr } = reservation.data;
  const data = { subnetId, cidr, regionId, asn, metro };
  const assigned = await customers.handle(customerId, { type: 'AssignSubnet', data }, context);
  if (isRefusal(assigned)) return assigned;
  return { ...data, customer: customer.name, region: region.name };
}

/** The subnets of all customers, or of one by name or number. */
export async function listSubnets(
  customer: string | number | undefined,
  dependencies: Pick<Application, 'directory' | 'customers'>,
): Promise<readonly CustomersSubnet[] | Refusal> {
  const only = customer === undefined ? undefined : await findCustomer(customer, dependencies);
  if (only !== undefined && isRefusal(only)) return only;
  const { subnets, customers, regions } = (await dependencies.directory.state(DIRECTORY_ID)).state;
  return [...subnets.values()]
    .filter(({ customerId }) => only === undefined || customerId === only.customerId)
    .map(({ subnetId, customerId, cidr, regionId, asn, metro }) => ({
      subnetId,
      cidr,
      regionId,
      asn,
      metro,
      customer: customers.get(customerId)?.name,
      region: regions.get(regionId),
    }));
}

/** When each subnet was assigned. */
export async function subnetsAssignedAt({
  catchUp,
  views,
}: Pick<Application, 'catchUp'> & Readonly<{ views: Pick<Application['views'], 'subnets'> }>): Promise<
  ReadonlyMap<number, string>
> {
  await catchUp();
  return new Map((await views.subnets.list()).map(({ view }) => [view.subnetId, view.assignedAt]));
}

/** Makes a subnet be the customer's as it is given. Refused with `subnet-differs` where it has it otherwise: what a subnet is never changes. */
export async function ensureSubnet(
  wanted: NewSubnet,
  context: CommandContext,
  dependencies: SubnetDependencies,
): Promise<Readonly<{ subnet: CustomersSubnet; isNew: boolean }> | Refusal> {
  const known = await findSubnet({ customer: wanted.customer, subnet: wanted.cidr }, dependencies);
  if (isRefusal(known)) {
    if (known.field !== 'subnet') return known;
    const added = await addSubnet(wanted, context, dependencies);
    return isRefusal(added) ? added : { subnet: added, isNew: true };
  }
  const region = await findRegion(wanted.region, dependencies);
  if (isRefusal(region)) return region;
  const { cidr, regionId, asn, metro } = known;
  if (regionId === region.regionId && asn === wanted.asn && metro === wanted.metro) {
    return { subnet: known, isNew: false };
  }
  const has = `region ${known.region ?? regionId}, ASN ${asn} and metro ${metro}`;
  return refuse('subnet-differs', `${cidr} has ${has}, which never change: remove it and add it again.`, 'cidr');
}

/** A subnet of a customer, by its CIDR or number; refused with `not-found`. */
export async function findSubnet(
  { customer, subnet }: Readonly<{ customer: string | number; subnet: string }>,
  dependencies: Pick<Application, 'directory' | 'customers'>,
): Promise<CustomersSubnet | Refusal> {
  const subnets = await listSubnets(customer, dependencies);
  if (isRefusal(subnets)) return subnets;
  const parsed = parseCidr(subnet);
  const cidr = isAddressProblem(parsed) ? undefined : formatCidr(parsed);
  const found = subnets.find((one) => one.cidr === cidr || String(one.subnetId) === subnet);
  return found ?? notFound(`subnet ${subnet} not found.`, 'subnet');
}

/** Subnets by number, at most `limit` of those behind `after`; of all customers, or of one by name or number. */
export async function pageSubnets(
  { customer, after, limit }: Readonly<{ customer: string | undefined; after: string | undefined; limit: number }>,
  dependencies: Pick<Application, 'directory' | 'customers'>,
): Promise<readonly CustomersSubnet[] | Refusal> {
  const subnets = await listSubnets(customer, dependencies);
  if (isRefusal(subnets)) return subnets;
  const behind = Number(after ?? 0);
  const rest = subnets.filter(({ subnetId }) => subnetId > behind).toSorted((a, b) => a.subnetId - b.subnetId);
  return rest.slice(0, limit);
}

/** Takes a subnet back, by its number; what is disabled in it leaves the routers. */
export async function removeSubnet(
  number: string,
  context: CommandContext,
  { directory, customers }: Pick<Application, 'directory' | 'customers'>,
): Promise<Readonly<{ subnetId: number; cidr: string }> | Refusal> {
  const { subnets } = (await directory.state(DIRECTORY_ID)).state;
  const reserved = /^\d{1,15}$/.test(number) ? subnets.get(Number(number)) : undefined;
  if (reserved === undefined) return notFound(`subnet ${number} not found.`, 'subnet');
  const { subnetId, customerId, cidr } = reserved;
  // The customer lets go first: no other may be given the addresses before.
  const released = await customers.handle(customerId, { type: 'ReleaseSubnet', data: { subnetId } }, context);
  if (isRefusal(released)) return released;
  const command = { type: 'ReleaseSubnetReservation', data: { subnetId } } as const;
  const freed = await directory.handle(DIRECTORY_ID, command, context);
  return isRefusal(freed) ? freed : { subnetId, cidr };
}
