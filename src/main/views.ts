import { administratorProjection } from '../projections/ip-control/administrator-view.ts';
import { addressProjection } from '../projections/ip-control/address-view.ts';
import { commitProjection } from '../projections/ip-control/commit-view.ts';
import { customerProjection } from '../projections/ip-control/customer-view.ts';
import { regionProjection } from '../projections/ip-control/region-view.ts';
import { whitelistRequestProjection } from '../projections/ip-control/source-whitelist-request-view.ts';
import { routerUpkeepProjection } from '../projections/ip-control/router-upkeep-view.ts';
import { sourceWhitelistProjection } from '../projections/ip-control/source-whitelist-view.ts';
import { subnetProjection } from '../projections/ip-control/subnet-view.ts';
import { tokenProjection } from '../projections/ip-control/token-view.ts';
import { waitingChangeProjection } from '../projections/ip-control/waiting-change-view.ts';
import { assetProjection } from '../projections/worker-pools/asset-view.ts';
import { poolUsageProjection } from '../projections/worker-pools/pool-usage-view.ts';
import { scopeUsageProjection } from '../projections/worker-pools/scope-usage-view.ts';
import { scopeProjection } from '../projections/worker-pools/scope-view.ts';
import { workerPoolProjection } from '../projections/worker-pools/worker-pool-view.ts';
import { workerProjection } from '../projections/worker-pools/worker-view.ts';
import type { DirectReading } from '../projections/engine/stored-views.ts';
import { servedViewOf } from '../projections/engine/view-reader.ts';

/** Each view that people read. */
export function openViews(reading: DirectReading) {
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
    workerPools: servedViewOf(workerPoolProjection, reading),
    poolUsage: servedViewOf(poolUsageProjection, reading),
    scopes: servedViewOf(scopeProjection, reading),
    scopeUsage: servedViewOf(scopeUsageProjection, reading),
    assets: servedViewOf(assetProjection, reading),
    workers: servedViewOf(workerProjection, reading),
  };
}
