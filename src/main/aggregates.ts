import { type AggregateDependencies, openAggregate } from '../commands/handle.ts';
import { administratorDecider } from '../commands/ip-control/administrator.ts';
import { customerDecider } from '../commands/ip-control/customer.ts';
import { directoryDecider } from '../commands/ip-control/directory.ts';
import { regionDecider } from '../commands/ip-control/region.ts';
import { webhookDeliveryDecider } from '../commands/ip-control/webhook-delivery.ts';

/** Every stream category with its rules. */
export function openAggregates(dependencies: AggregateDependencies) {
  return {
    customers: openAggregate(customerDecider, dependencies),
    directory: openAggregate(directoryDecider, dependencies),
    regions: openAggregate(regionDecider, dependencies),
    deliveries: openAggregate(webhookDeliveryDecider, dependencies),
    administrators: openAggregate(administratorDecider, dependencies),
  };
}

export type Aggregates = ReturnType<typeof openAggregates>;
