import { type AggregateDependencies, openAggregate } from '../../commands/aggregate.ts';
import { assetDecider } from '../../commands/worker-pools/asset.ts';
import { providerAccountDecider } from '../../commands/worker-pools/provider-account.ts';
import { scopeDecider } from '../../commands/worker-pools/scope.ts';
import { workRequestDecider } from '../../commands/worker-pools/work-request.ts';
import { workerDecider } from '../../commands/worker-pools/worker.ts';
import { workerPoolDecider } from '../../commands/worker-pools/worker-pool.ts';
import { assetEvents } from '../../events/worker-pools/asset.ts';
import { providerAccountEvents } from '../../events/worker-pools/provider-account.ts';
import { scopeEvents } from '../../events/worker-pools/scope.ts';
import { workRequestEvents } from '../../events/worker-pools/work-request.ts';
import { workerEvents } from '../../events/worker-pools/worker.ts';
import { workerPoolEvents } from '../../events/worker-pools/worker-pool.ts';
import type { StoredViewsDependencies } from '../../projections/engine/stored-views.ts';
import { viewReaderOf } from '../../projections/engine/view-reader.ts';
import { assetProjection } from '../../projections/worker-pools/asset-view.ts';
import { poolUsageProjection } from '../../projections/worker-pools/pool-usage-view.ts';
import { scopeUsageProjection } from '../../projections/worker-pools/scope-usage-view.ts';
import { scopeProjection } from '../../projections/worker-pools/scope-view.ts';
import { openWorkProjection, workRequestProjection } from '../../projections/worker-pools/work-request-view.ts';
import { workerPoolProjection } from '../../projections/worker-pools/worker-pool-view.ts';
import { workerProjection } from '../../projections/worker-pools/worker-view.ts';

/** The events of the worker pools, by stream category. */
export const workerPoolsEvents = {
  workerPool: workerPoolEvents,
  scope: scopeEvents,
  asset: assetEvents,
  worker: workerEvents,
  providerAccount: providerAccountEvents,
  workRequest: workRequestEvents,
} as const;

/** Their streams with their rules. */
export function openWorkerPoolsAggregates(dependencies: AggregateDependencies) {
  return {
    workerPools: openAggregate(workerPoolDecider, dependencies),
    scopes: openAggregate(scopeDecider, dependencies),
    assets: openAggregate(assetDecider, dependencies),
    workers: openAggregate(workerDecider, dependencies),
    providerAccounts: openAggregate(providerAccountDecider, dependencies),
    workRequests: openAggregate(workRequestDecider, dependencies),
  };
}

/** Their views that people read. */
export function openWorkerPoolsViews(reading: StoredViewsDependencies) {
  return {
    workerPools: viewReaderOf(workerPoolProjection, reading),
    poolUsage: viewReaderOf(poolUsageProjection, reading),
    scopes: viewReaderOf(scopeProjection, reading),
    scopeUsage: viewReaderOf(scopeUsageProjection, reading),
    assets: viewReaderOf(assetProjection, reading),
    workers: viewReaderOf(workerProjection, reading),
    workRequests: viewReaderOf(workRequestProjection, reading),
    openWork: viewReaderOf(openWorkProjection, reading),
  };
}
