import { type AggregateDependencies, openAggregate } from '../../commands/aggregate.ts';
import { administratorDecider } from '../../commands/ip-control/administrator.ts';
import { customerDecider } from '../../commands/ip-control/customer.ts';
import { directoryDecider } from '../../commands/ip-control/directory.ts';
import { regionDecider } from '../../commands/ip-control/region.ts';
import { webhookDeliveryDecider } from '../../commands/ip-control/webhook-delivery.ts';
import { administratorEvents } from '../../events/ip-control/administrator.ts';
import { customerEvents } from '../../events/ip-control/customer.ts';
import { directoryEvents } from '../../events/ip-control/directory.ts';
import { regionEvents } from '../../events/ip-control/region.ts';
import { webhookDeliveryEvents } from '../../events/ip-control/webhook-delivery.ts';
import type { DirectReading } from '../../projections/engine/stored-views.ts';
import { servedViewOf } from '../../projections/engine/view-reader.ts';
import { addressProjection } from '../../projections/ip-control/address-view.ts';
import { administratorProjection } from '../../projections/ip-control/administrator-view.ts';
import { commitProjection } from '../../projections/ip-control/commit-view.ts';
import { customerProjection } from '../../projections/ip-control/customer-view.ts';
import { regionProjection } from '../../projections/ip-control/region-view.ts';
import { routerUpkeepProjection } from '../../projections/ip-control/router-upkeep-view.ts';
import { whitelistRequestProjection } from '../../projections/ip-control/source-whitelist-request-view.ts';
import { sourceWhitelistProjection } from '../../projections/ip-control/source-whitelist-view.ts';
import { subnetProjection } from '../../projections/ip-control/subnet-view.ts';
import { tokenProjection } from '../../projections/ip-control/token-view.ts';
import { waitingChangeProjection } from '../../projections/ip-control/waiting-change-view.ts';

/** The events of IP control, by stream category. */
export const ipControlEvents = {
  customer: customerEvents,
  directory: directoryEvents,
  region: regionEvents,
  webhookDelivery: webhookDeliveryEvents,
  administrator: administratorEvents,
} as const;

/** Its streams with their rules. */
export function openIpControlAggregates(dependencies: AggregateDependencies) {
  return {
    customers: openAggregate(customerDecider, dependencies),
    directory: openAggregate(directoryDecider, dependencies),
    regions: openAggregate(regionDecider, dependencies),
    deliveries: openAggregate(webhookDeliveryDecider, dependencies),
    administrators: openAggregate(administratorDecider, dependencies),
  };
}

/** Its views that people read. */
export function openIpControlViews(reading: DirectReading) {
  return {
    customers: servedViewOf(customerProjection, reading),
    tokens: servedViewOf(tokenProjection, reading),
    subnets: servedViewOf(subnetProjection, reading),
    addresses: servedViewOf(addressProjection, reading),
    regions: servedViewOf(regionProjection, reading),
    routerUpkeep: servedViewOf(routerUpkeepProjection, reading),
    sourceWhitelists: servedViewOf(sourceWhitelistProjection, reading),
    whitelistRequests: servedViewOf(whitelistRequestProjection, reading),
    commits: servedViewOf(commitProjection, reading),
    waitingChanges: servedViewOf(waitingChangeProjection, reading),
    administrators: servedViewOf(administratorProjection, reading),
  };
}
