import type { AssetEvent } from '../../events/worker-pools/asset.ts';
import type { ScopeEvent } from '../../events/worker-pools/scope.ts';
import type { WorkerEvent } from '../../events/worker-pools/worker.ts';
import type { WorkerPoolEvent } from '../../events/worker-pools/worker-pool.ts';
import type { Aggregate } from '../aggregate.ts';
import type { AssetCommand, AssetState } from './asset.ts';
import type { PoolState } from './pool-state.ts';
import type { ScopeCommand, ScopeState } from './scope.ts';
import type { WorkerCommand } from './worker.ts';
import type { WorkerPoolCommand } from './worker-pool.ts';
import type { WorkerState } from './worker-state.ts';

export type WorkerPools = Aggregate<WorkerPoolCommand, PoolState, WorkerPoolEvent>;
export type Scopes = Aggregate<ScopeCommand, ScopeState, ScopeEvent>;
export type Assets = Aggregate<AssetCommand, AssetState, AssetEvent>;
export type Workers = Aggregate<WorkerCommand, WorkerState, WorkerEvent>;
