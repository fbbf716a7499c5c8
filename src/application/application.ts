import type { CommandContext } from '../commands/aggregate.ts';
import type { CommitEnd } from './ip-control/commit-now.ts';
import type { CustomerEvent } from '../events/ip-control/customer.ts';
import type { RouterCheckResult } from '../events/ip-control/router-upkeep.ts';
import type { ListKind } from '../events/ip-control/vocabulary.ts';
import type { Refusal } from '../kernel/decider.ts';
import type { Clock } from '../ports/clock.ts';
import type { EvidenceStore } from '../ports/evidence.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Ids } from '../ports/ids.ts';
import type { CloudDriver, OpenCloud } from '../ports/clouds.ts';
import type { OpenRouter } from '../ports/routers.ts';
import type { Secrets } from '../ports/secrets.ts';
import type { WebhookSender } from '../ports/webhooks.ts';
import type { ViewsBesideFold } from './operations/compare-views.ts';
import type { RouterReach } from './ip-control/router-reach.ts';
import type { RouterSightings } from './ip-control/router-sightings.ts';
import type { openIpControlAggregates, openIpControlViews } from './ip-control/registration.ts';
import type { openWorkerPoolsAggregates, openWorkerPoolsViews } from './worker-pools/registration.ts';
import type { WorkersUrl } from '../domain/worker-pools/workers-url.ts';
import type { Views } from '../projections/engine/keyed-views.ts';
import type { EventDayView } from '../projections/operations/event-day-view.ts';

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

type Aggregates = Readonly<ReturnType<typeof openIpControlAggregates> & ReturnType<typeof openWorkerPoolsAggregates>>;

/** What of a view is for its readers. */
type ReadableViews<V> = { readonly [Name in keyof V]: V[Name] extends Views<infer View> ? Views<View> : never };

/** What the commands work with: the same rules and views as the HTTP API, over the same stores. */
export type Application = Aggregates &
  Readonly<{
    store: EventStore;
    clock: Clock;
    ids: Ids;
    secrets: Secrets;
    evidence: EvidenceStore;
    views: ReadableViews<ReturnType<typeof openIpControlViews> & ReturnType<typeof openWorkerPoolsViews>> &
      Readonly<{ eventDays: Views<EventDayView> }>;
    openRouter: OpenRouter;
    cloudDrivers: readonly CloudDriver[];
    openCloud: OpenCloud;
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
    /** What the server that leads has last seen of routers. */
    routerSightings: () => Promise<RouterSightings>;
    routerChecks: RouterChecks;
    /** Where workers find the service, or why no instance is launched. */
    workersUrl: WorkersUrl;
    /** Deploys what is pending now: by the running server, or here when none runs. */
    commitNow: (customerId: number, regionId: number, list: ListKind, context: CommandContext) => Promise<CommitEnd>;
    /** Brings the views up to the end of the log. @throws ViewsBehind where a server does not get them there in time */
    catchUp: () => Promise<void>;
    close: () => Promise<void>;
  }>;

/** What a server serves administrators with: what commands work with, and what only a server has. */
export type ServedApplication = Application &
  Readonly<{
    sender: Pick<WebhookSender, 'send'>;
    /** The log as an audit must see it: data as they were written, neither upcast nor checked. */
    storeAsStored: () => Promise<Pick<EventStore, 'read'>>;
    /** What options of routers may reach that come over HTTP. */
    routerReach: RouterReach;
    /** Makes a folder where there is none, with those above it. */
    makeFolder: (path: string) => Promise<unknown>;
  }>;

/** Opens the application for one command, and closes it also when the work fails. */
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
    /** Does work on the saved views, beside another fold of the log. Nothing else here opens them. @throws StoreRefused */
    withViews: <T>(work: (views: ViewsBesideFold) => Promise<T>) => Promise<T>;
  }>;

/** Opens the archive for one command and closes it afterwards, whatever comes of the work. */
export type WithArchive = <T>(work: (archive: Archive) => Promise<T>) => Promise<T>;
