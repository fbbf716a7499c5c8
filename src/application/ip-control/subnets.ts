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
  customer: string;
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
  customer: string | undefined,
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
