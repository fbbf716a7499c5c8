import type { Aggregate } from '../../commands/handle.ts';
import type { CustomerCommand } from '../../commands/ip-control/customer.ts';
import type { CustomerState } from '../../commands/ip-control/customer-state.ts';
import { DIRECTORY_ID, type DirectoryCommand, type DirectoryState } from '../../commands/ip-control/directory.ts';
import type { RegionCommand } from '../../commands/ip-control/region.ts';
import type { RegionState } from '../../commands/ip-control/region-state.ts';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import type { DirectoryEvent } from '../../events/ip-control/directory.ts';
import type { RegionEvent } from '../../events/ip-control/region.ts';
import type { Refusal } from '../../kernel/decider.ts';
import type { Perform } from '../../kernel/process.ts';
import type { FinishReservationDuty } from './finish-reservations.ts';

export type FinishReservationDependencies = Readonly<{
  customers: Aggregate<CustomerCommand, CustomerState, CustomerEvent>;
  regions: Aggregate<RegionCommand, RegionState, RegionEvent>;
  directory: Aggregate<DirectoryCommand, DirectoryState, DirectoryEvent>;
}>;

/** Takes the step that is missing; every one of them may be taken twice. */
export function performFinishReservation(dependencies: FinishReservationDependencies): Perform<FinishReservationDuty> {
  return async (duty) => {
    const answer = await finish(duty, dependencies);
    if ('refused' in answer) throw new Error(`reservation ${duty.id} could not be finished: ${answer.because}`);
  };
}

async function finish(
  { id, data }: FinishReservationDuty,
  { customers, regions, directory }: FinishReservationDependencies,
): Promise<Refusal | object> {
  const context = { actor: 'system:finish-reservations', requestId: id };
  switch (data.kind) {
    case 'customer': {
      const { customerId, name, listName, settings } = data;
      return customers.handle(
        customerId,
        { type: 'RegisterCustomer', data: { customerId, name, listName, settings } },
        context,
      );
    }
    case 'region': {
      const { regionId, name } = data;
      return regions.handle(regionId, { type: 'CreateRegion', data: { regionId, name } }, context);
    }
    case 'subnet': {
      const { customerId, subnetId, cidr, regionId, asn, metro } = data;
      // The reservation may have been released since the duty arose.
      if (!(await directory.state(DIRECTORY_ID)).state.subnets.has(subnetId)) return {};
      return customers.handle(
        customerId,
        { type: 'AssignSubnet', data: { subnetId, cidr, regionId, asn, metro } },
        context,
      );
    }
    case 'release':
      return directory.handle(
        DIRECTORY_ID,
        { type: 'ReleaseSubnetReservation', data: { subnetId: data.subnetId } },
        context,
      );
  }
}
