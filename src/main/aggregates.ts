import { type AggregateDependencies, openAggregate } from '../commands/handle.ts';
import { administratorDecider } from '../commands/ip-control/administrator.ts';
import { customerDecider } from '../commands/ip-control/customer.ts';
import { directoryDecider } from '../commands/ip-control/directory.ts';
import { regionDecider } from '../commands/ip-control/region.ts';
import { webhookDeliveryDecider } from '../commands/ip-control/webhook-delivery.ts';
import { assetDecider } from '../commands/worker-pools/asset.ts';
import { scopeDecider } from '../commands/worker-pools/scope.ts';
import { workerDecider } from '../commands/worker-pools/worker.ts';
import { workerPoolDecider } from '../commands/worker-pools/worker-pool.ts';

/** Every stream category with its rules. */
export function openAggregates(dependencies: AggregateDependencies) {
  return {
    customers: openAggregate(customerDecider, dependencies),
    directory: openAggregate(directoryDecider, dependencies),
    regions: openAggregate(regionDecider, dependencies),
    deliveries: openAggregate(webhookDeliveryDecider, dependencies),
    administrators: openAggregate(administratorDecider, dependencies),
    workerPools: openAggregate(workerPoolDecider, dependencies),
    scopes: openAggregate(scopeDecider, dependencies),
    assets: openAggregate(assetDecider, dependencies),
    workers: openAggregate(workerDecider, dependencies),
  };
}

export type Aggregates = ReturnType<typeof openAggregates>;
