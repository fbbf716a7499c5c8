import { type AggregateDependencies, openAggregate } from '../../commands/aggregate.ts';
import { administratorDecider } from '../../commands/ip-control/administrator.ts';
import { apiTokenDecider } from '../../commands/ip-control/api-token.ts';
import { customerDecider } from '../../commands/ip-control/customer.ts';
import { directoryDecider } from '../../commands/ip-control/directory.ts';
import { regionDecider } from '../../commands/ip-control/region.ts';
import { webhookDeliveryDecider } from '../../commands/ip-control/webhook-delivery.ts';
import { administratorEvents } from '../../events/ip-control/administrator.ts';
import { apiTokenEvents } from '../../events/ip-control/api-token.ts';
import { customerEvents } from '../../events/ip-control/customer.ts';
import { directoryEvents } from '../../events/ip-control/directory.ts';
import { regionEvents } from '../../events/ip-control/region.ts';
import { webhookDeliveryEvents } from '../../events/ip-control/webhook-delivery.ts';
import type { StoredViewsDependencies } from '../../projections/engine/stored-views.ts';
import { viewReaderOf } from '../../projections/engine/view-reader.ts';
import { adminTokenProjection } from '../../projections/ip-control/admin-token-view.ts';
import { addressProjection } from '../../projections/ip-control/address-view.ts';
import { adminSessionProjection } from '../../projections/ip-control/admin-session-view.ts';
import { administratorProjection } from '../../projections/ip-control/administrator-view.ts';
import { commitLogProjection } from '../../projections/ip-control/commit-log-view.ts';
import { commitProjection } from '../../projections/ip-control/commit-view.ts';
import { customerProjection } from '../../projections/ip-control/customer-view.ts';
import { listCommitProjection } from '../../projections/ip-control/list-commit-view.ts';
import { operationProjection } from '../../projections/ip-control/operation-view.ts';
import { regionProjection } from '../../projections/ip-control/region-view.ts';
import { removedCustomerProjection } from '../../projections/ip-control/removed-customer-view.ts';
import { routerUpkeepProjection } from '../../projections/ip-control/router-upkeep-view.ts';
import { whitelistRequestProjection } from '../../projections/ip-control/source-whitelist-request-view.ts';
import { sourceWhitelistProjection } from '../../projections/ip-control/source-whitelist-view.ts';
import { subnetProjection } from '../../projections/ip-control/subnet-view.ts';
import { tokenProjection } from '../../projections/ip-control/token-view.ts';
import { waitingChangeProjection } from '../../projections/ip-control/waiting-change-view.ts';
import { webhookBacklogProjection } from '../../projections/ip-control/webhook-backlog-view.ts';
import {
  webhookDeliveryLogProjection,
  webhookDeliveryProjection,
} from '../../projections/ip-control/webhook-delivery-view.ts';
import { workProjection } from '../../projections/ip-control/work-view.ts';

/** The events of IP control, by stream category. */
export const ipControlEvents = {
  customer: customerEvents,
  directory: directoryEvents,
  region: regionEvents,
  webhookDelivery: webhookDeliveryEvents,
  administrator: administratorEvents,
  apiToken: apiTokenEvents,
} as const;

/** Its streams with their rules. */
export function openIpControlAggregates(dependencies: AggregateDependencies) {
  return {
    customers: openAggregate(customerDecider, dependencies),
    directory: openAggregate(directoryDecider, dependencies),
    regions: openAggregate(regionDecider, dependencies),
    deliveries: openAggregate(webhookDeliveryDecider, dependencies),
    administrators: openAggregate(administratorDecider, dependencies),
    tokenUses: openAggregate(apiTokenDecider, dependencies),
  };
}

/** Its views that people read. */
export function openIpControlViews(reading: StoredViewsDependencies) {
  return {
    customers: viewReaderOf(customerProjection, reading),
    removedCustomers: viewReaderOf(removedCustomerProjection, reading),
    tokens: viewReaderOf(tokenProjection, reading),
    subnets: viewReaderOf(subnetProjection, reading),
    addresses: viewReaderOf(addressProjection, reading),
    regions: viewReaderOf(regionProjection, reading),
    routerUpkeep: viewReaderOf(routerUpkeepProjection, reading),
    sourceWhitelists: viewReaderOf(sourceWhitelistProjection, reading),
    whitelistRequests: viewReaderOf(whitelistRequestProjection, reading),
    commits: viewReaderOf(commitProjection, reading),
    commitLog: viewReaderOf(commitLogProjection, reading),
    listCommits: viewReaderOf(listCommitProjection, reading),
    waitingChanges: viewReaderOf(waitingChangeProjection, reading),
    work: viewReaderOf(workProjection, reading),
    webhookDeliveries: viewReaderOf(webhookDeliveryProjection, reading),
    webhookDeliveryLog: viewReaderOf(webhookDeliveryLogProjection, reading),
    webhookBacklog: viewReaderOf(webhookBacklogProjection, reading),
    administrators: viewReaderOf(administratorProjection, reading),
    adminTokens: viewReaderOf(adminTokenProjection, reading),
    operations: viewReaderOf(operationProjection, reading),
    adminSessions: viewReaderOf(adminSessionProjection, reading),
  };
}
