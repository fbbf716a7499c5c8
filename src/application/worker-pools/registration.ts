import { type AggregateDependencies, openAggregate } from '../../commands/aggregate.ts';
import { assetDecider } from '../../commands/worker-pools/asset.ts';
import { scopeDecider } from '../../commands/worker-pools/scope.ts';
import { workerDecider } from '../../commands/worker-pools/worker.ts';
import { workerPoolDecider } from '../../commands/worker-pools/worker-pool.ts';
import { assetEvents } from '../../events/worker-pools/asset.ts';
import { scopeEvents } from '../../events/worker-pools/scope.ts';
import { workerEvents } from '../../events/worker-pools/worker.ts';
import { workerPoolEvents } from '../../events/worker-pools/worker-pool.ts';
import type { DirectReading } from '../../projections/engine/stored-views.ts';
import { servedViewOf } from '../../projections/engine/view-reader.ts';
import { assetProjection } from '../../projections/worker-pools/asset-view.ts';
import { poolUsageProjection } from '../../projections/worker-pools/pool-usage-view.ts';
import { scopeUsageProjection } from '../../projections/worker-pools/scope-usage-view.ts';
import { scopeProjection } from '../../projections/worker-pools/scope-view.ts';
import { workerPoolProjection } from '../../projections/worker-pools/worker-pool-view.ts';
import { workerProjection } from '../../projections/worker-pools/worker-view.ts';

/** The events of the worker pools, by stream category. */
export const workerPoolsEvents = {
  workerPool: workerPoolEvents,
  scope: scopeEvents,
  asset: assetEvents,
  worker: workerEvents,
} as const;

/** Their streams with their rules. */
export function openWorkerPoolsAggregates(dependencies: AggregateDependencies) {
  return {
    workerPools: openAggregate(workerPoolDecider, dependencies),
    scopes: openAggregate(scopeDecider, dependencies),
    assets: openAggregate(assetDecider, dependencies),
    workers: openAggregate(workerDecider, dependencies),
  };
}

/** Their views that people read. */
export function openWorkerPoolsViews(reading: DirectReading) {
  return {
    workerPools: servedViewOf(workerPoolProjection, reading),
    poolUsage: servedViewOf(poolUsageProjection, reading),
    scopes: servedViewOf(scopeProjection, reading),
    scopeUsage: servedViewOf(scopeUsageProjection, reading),
    assets: servedViewOf(assetProjection, reading),
    workers: servedViewOf(workerProjection, reading),
  };
}
