import type { Aggregate, CommandContext } from '../commands/handle.ts';
import type { AdministratorCommand, AdministratorState } from '../commands/ip-control/administrator.ts';
import type { CommitStatus } from '../commands/ip-control/commit-now.ts';
import type { CustomerCommand } from '../commands/ip-control/customer.ts';
import type { CustomerState } from '../commands/ip-control/customer-state.ts';
import type { DirectoryCommand, DirectoryState } from '../commands/ip-control/directory.ts';
import type { RegionCommand } from '../commands/ip-control/region.ts';
import type { RegionState } from '../commands/ip-control/region-state.ts';
import type { Assets, Scopes, Workers, WorkerPools } from '../commands/worker-pools/aggregates.ts';
import type { AdministratorEvent } from '../events/ip-control/administrator.ts';
import type { CustomerEvent } from '../events/ip-control/customer.ts';
import type { DirectoryEvent } from '../events/ip-control/directory.ts';
import type { RegionEvent } from '../events/ip-control/region.ts';
import type { RouterCheckResult } from '../events/ip-control/router-upkeep.ts';
import type { ListKind } from '../events/ip-control/vocabulary.ts';
import type { Refusal } from '../kernel/decider.ts';
import type { Clock } from '../ports/clock.ts';
import type { EvidenceStore } from '../ports/evidence.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Ids } from '../ports/ids.ts';
import type { OpenRouter } from '../ports/routers.ts';
import type { Secrets } from '../ports/secrets.ts';
import type { AddressView } from '../projections/ip-control/address-view.ts';
import type { AdministratorView } from '../projections/ip-control/administrator-view.ts';
import type { CommitView } from '../projections/ip-control/commit-view.ts';
import type { CustomerView } from '../projections/ip-control/customer-view.ts';
import type { RegionView } from '../projections/ip-control/region-view.ts';
import type { WhitelistRequestView } from '../projections/ip-control/source-whitelist-request-view.ts';
import type { SourceWhitelistView } from '../projections/ip-control/source-whitelist-view.ts';
import type { SubnetView } from '../projections/ip-control/subnet-view.ts';
import type { TokenView } from '../projections/ip-control/token-view.ts';
import type { WaitingChangeView } from '../projections/ip-control/waiting-change-view.ts';
import type { AssetView } from '../projections/worker-pools/asset-view.ts';
import type { PoolUsageView } from '../projections/worker-pools/pool-usage-view.ts';
import type { ScopeUsageView } from '../projections/worker-pools/scope-usage-view.ts';
import type { ScopeView } from '../projections/worker-pools/scope-view.ts';
import type { WorkerPoolView } from '../projections/worker-pools/worker-pool-view.ts';
import type { WorkerView } from '../projections/worker-pools/worker-view.ts';
import type { Views } from '../projections/engine/view-cache.ts';

/** How one projection stands. */
export type ProjectionStatus = Readonly<{ name: string; version: number; position: bigint; behind: bigint }>;

type RegionsRouter = Readonly<{ regionId: number; router: string }>;

/** What is done to routers beside commits: by the running server, or here when none runs. */
export type RouterChecks = Readonly<{
  /** Compares routers with what they should hold; undefined where the server does not get to it in time (it goes on). */
  check: (
    routers: readonly RegionsRouter[],
    prune: boolean,
    context: CommandContext,
  ) => Promise<readonly (Refusal | RouterCheckResult | undefined)[]>;
  /** Enables a router that is disabled and brings it up to date; undefined when that takes longer (it goes on). */
  enable: (
    router: RegionsRouter,
    context: CommandContext,
  ) => Promise<Refusal | Readonly<{ lists: number; changed: number }> | undefined>;
}>;

/** What the commands work with: the same rules and views as the HTTP API, over the same stores. */
export type Application = Readonly<{
  store: EventStore;
  clock: Clock;
  ids: Ids;
  secrets: Secrets;
  evidence: EvidenceStore;
  customers: Aggregate<CustomerCommand, CustomerState, CustomerEvent>;
  regions: Aggregate<RegionCommand, RegionState, RegionEvent>;
  directory: Aggregate<DirectoryCommand, DirectoryState, DirectoryEvent>;
  administrators: Aggregate<AdministratorCommand, AdministratorState, AdministratorEvent>;
  workerPools: WorkerPools;
  scopes: Scopes;
  assets: Assets;
  workers: Workers;
  views: Readonly<{
    customers: Views<CustomerView>;
    tokens: Views<TokenView>;
    subnets: Views<SubnetView>;
    addresses: Views<AddressView>;
    regions: Views<RegionView>;
    sourceWhitelists: Views<SourceWhitelistView>;
    whitelistRequests: Views<WhitelistRequestView>;
    commits: Views<CommitView>;
    waitingChanges: Views<WaitingChangeView>;
    administrators: Views<AdministratorView>;
    workerPools: Views<WorkerPoolView>;
    poolUsage: Views<PoolUsageView>;
    scopes: Views<ScopeView>;
    scopeUsage: Views<ScopeUsageView>;
    assets: Views<AssetView>;
    workers: Views<WorkerView>;
  }>;
  openRouter: OpenRouter;
  /** The name of every event there is. */
  eventTypes: readonly string[];
  /** Narrows an event of the log to a customer's. */
  isCustomerEvent: (event: { type: string }) => event is CustomerEvent;
  projections: Readonly<{
    names: readonly string[];
    status: () => Promise<readonly ProjectionStatus[]>;
    /** Builds new generations beside the ones in use and swaps them in. */
    rebuild: (names: readonly string[], progress: (done: bigint, end: bigint) => void) => Promise<void>;
  }>;
  routerChecks: RouterChecks;
  /** Deploys what is pending now: by the running server, or here when none runs. */
  commitNow: (customerId: number, regionId: number, list: ListKind, context: CommandContext) => Promise<CommitStatus>;
  /** Brings the views up to the end of the log. */
  catchUp: () => Promise<void>;
  close: () => Promise<void>;
}>;

/** Opens the house for one command and closes it afterwards, whatever comes of the work. */
export type WithApplication = <T>(work: (application: Application) => Promise<T>) => Promise<T>;

/** What looks back works with: the log, and the evidence that it names. Nothing is made, locked or written, so a read-only copy will do. */
export type Archive = Pick<
  Application,
  'store' | 'clock' | 'customers' | 'regions' | 'directory' | 'eventTypes' | 'isCustomerEvent'
> &
  Readonly<{
    /** The store as an audit must see it: data as they were written, neither upcast nor checked. */
    storeAsStored: EventStore;
    /** What the store itself finds wrong with what it keeps, beyond what the events show; one line each. */
    flaws: () => AsyncIterable<string>;
    /** Opened when it is first asked for. */
    evidence: () => Promise<Pick<EvidenceStore, 'read'>>;
  }>;

/** Opens the archive for one command and closes it afterwards, whatever comes of the work. */
export type WithArchive = <T>(work: (archive: Archive) => Promise<T>) => Promise<T>;
