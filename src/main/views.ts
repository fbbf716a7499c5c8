import { administratorProjection } from '../projections/ip-control/administrator-view.ts';
import { addressProjection } from '../projections/ip-control/address-view.ts';
import { commitProjection } from '../projections/ip-control/commit-view.ts';
import { customerProjection } from '../projections/ip-control/customer-view.ts';
import { regionProjection } from '../projections/ip-control/region-view.ts';
import { whitelistRequestProjection } from '../projections/ip-control/source-whitelist-request-view.ts';
import { sourceWhitelistProjection } from '../projections/ip-control/source-whitelist-view.ts';
import { subnetProjection } from '../projections/ip-control/subnet-view.ts';
import { tokenProjection } from '../projections/ip-control/token-view.ts';
import { assetProjection } from '../projections/worker-pools/asset-view.ts';
import { poolUsageProjection } from '../projections/worker-pools/pool-usage-view.ts';
import { scopeUsageProjection } from '../projections/worker-pools/scope-usage-view.ts';
import { scopeProjection } from '../projections/worker-pools/scope-view.ts';
import { workerPoolProjection } from '../projections/worker-pools/worker-pool-view.ts';
import { workerProjection } from '../projections/worker-pools/worker-view.ts';
import { shelfOf } from '../projections/shelf.ts';
import type { ReadModels } from '../ports/read-models.ts';

/** A shelf for each view that people read. */
export function openViews(readModels: ReadModels) {
  return {
    customers: shelfOf(customerProjection, readModels),
    tokens: shelfOf(tokenProjection, readModels),
    subnets: shelfOf(subnetProjection, readModels),
    addresses: shelfOf(addressProjection, readModels),
    regions: shelfOf(regionProjection, readModels),
    sourceWhitelists: shelfOf(sourceWhitelistProjection, readModels),
    whitelistRequests: shelfOf(whitelistRequestProjection, readModels),
    commits: shelfOf(commitProjection, readModels),
    administrators: shelfOf(administratorProjection, readModels),
    workerPools: shelfOf(workerPoolProjection, readModels),
    poolUsage: shelfOf(poolUsageProjection, readModels),
    scopes: shelfOf(scopeProjection, readModels),
    scopeUsage: shelfOf(scopeUsageProjection, readModels),
    assets: shelfOf(assetProjection, readModels),
    workers: shelfOf(workerProjection, readModels),
  };
}
