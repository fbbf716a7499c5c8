import { DIRECTORY_ID } from '../../commands/ip-control/directory.ts';
import { pendingAddresses, regionAddresses } from '../../domain/ip-control/address-ledger.ts';
import type { CommitTimes } from '../../domain/ip-control/commit-due.ts';
import type { RouterUpkeep } from '../../projections/ip-control/router-upkeep-view.ts';
import type { WaitingChangeView } from '../../projections/ip-control/waiting-change-view.ts';
import type { WhitelistRequestView } from '../../projections/ip-control/source-whitelist-request-view.ts';
import type { Application } from '../application.ts';
import { regionNames, removedCustomers } from './customer-lists.ts';
import { nextTryOf } from './next-try.ts';
import { reviewStage } from './review-queue.ts';

export type OverviewDependencies = Pick<Application, 'directory'> &
  Readonly<{
    commitTimes: CommitTimes;
    views: Pick<
      Application['views'],
      | 'removedCustomers'
      | 'waitingChanges'
      | 'work'
      | 'routerUpkeep'
      | 'whitelistRequests'
      | 'regions'
      | 'addresses'
      | 'commits'
      | 'webhookBacklog'
      | 'webhookDeliveries'
    >;
  }>;

export type OnItsWayDependencies = Pick<OverviewDependencies, 'directory' | 'commitTimes'> &
  Readonly<{ views: Pick<OverviewDependencies['views'], 'waitingChanges' | 'work' | 'regions' | 'addresses'> }>;

/** A list that has changes which are not on all routers. */
export type OnItsWay = Readonly<{
  change: WaitingChangeView;
  customer: string;
  region: string;
  /** Addresses that are pending; of a whitelist it is not counted. */
  pending: bigint | undefined;
  /** Since when the oldest change waits, or is carried. */
  since: string | null;
  /** When a commit is asked for, if nothing changes until then; undefined while one is deployed. */
  nextTry: string | undefined;
}>;

/** A router that is disabled, could not be reached, or holds something else than it should. */
export type RouterOutOfStep = Readonly<{ router: RouterUpkeep; regionId: number; region: string }>;

/** A whitelist request that waits for a review. */
export type ToReview = Readonly<{ request: WhitelistRequestView; customer: string }>;

/** Notifications that are owed: how many, and of those that have failed before the oldest. */
export type OwedWebhooks = Readonly<{
  owed: number;
  failing: number;
  worst: Readonly<{ customerId: number; customer: string; since: string }> | undefined;
}>;

/** What wants attention, the oldest first; of long lists the first so many, and how many there are in all. */
export type Overview = Readonly<{
  onItsWay: readonly OnItsWay[];
  waiting: number;
  failing: number;
  outOfStep: readonly RouterOutOfStep[];
  /** Lists on routers that are not as they should be. */
  drifted: number;
  toReview: readonly ToReview[];
  customers: number;
  webhooks: OwedWebhooks;
}>;

const ROWS_MAX = 50;

/** What is on its way to routers, the oldest first: of a customer, of a region, or all of it. */
export async function onItsWayOf(
  of: Readonly<{ customer?: string; region?: string }>,
  dependencies: OnItsWayDependencies,
): Promise<readonly OnItsWay[]> {
  return oldestOf(await dependencies.views.waitingChanges.list(), of, dependencies);
}

async function oldestOf(
  changes: readonly Readonly<{ view: WaitingChangeView }>[],
  of: Parameters<typeof onItsWayOf>[0],
  { directory, views, commitTimes }: OnItsWayDependencies,
): Promise<readonly OnItsWay[]> {
  const { customers } = (await directory.state(DIRECTORY_ID)).state;
  const regions = await regionNames({ views });
  const oldest = changes
    .map(({ view: change }) => ({
      change,
      since: change.carriedSince ?? change.waitingSince,
      customer: customers.get(change.customerId)?.name ?? String(change.customerId),
      region: regions.get(change.regionId) ?? String(change.regionId),
    }))
    .filter(({ customer, region }) => customer === (of.customer ?? customer) && region === (of.region ?? region))
    .toSorted((a, b) => compareTexts(a.since ?? '', b.since ?? ''));
  return Promise.all(
    oldest.slice(0, ROWS_MAX).map(async (row) => ({
      ...row,
      nextTry: await nextTryFor(row.change, { views, commitTimes }),
      pending: row.change.list === 'BLACKHOLE' ? await pendingOf(row.change, views) : undefined,
    })),
  );
}

/** How everything stands at this moment. */
export async function overviewOf({ directory, views, commitTimes }: OverviewDependencies): Promise<Overview> {
  const { customers } = (await directory.state(DIRECTORY_ID)).state;
  const nameOf = (customerId: number): string => customers.get(customerId)?.name ?? String(customerId);
  const [changes, routers, requests] = await Promise.all([
    views.waitingChanges.list(),
    views.routerUpkeep.list(),
    views.whitelistRequests.list(),
  ]);
  const all = routers.flatMap(({ key, view }) =>
    view.routers.map((router) => ({ router, regionId: Number(key), region: view.region })),
  );
  const toReview = requests
    .filter(({ view }) => reviewStage(view) === 'waiting')
    .map(({ view: request }) => ({ request, customer: nameOf(request.customerId) }));
  return {
    onItsWay: await oldestOf(changes, {}, { directory, views, commitTimes }),
    waiting: changes.length,
    failing: changes.filter(({ view }) => view.failingOn !== undefined).length,
    outOfStep: all.filter(({ router }) => isOutOfStep(router)).slice(0, ROWS_MAX),
    drifted: all.reduce((sum, { router }) => sum + router.drifted.length, 0),
    toReview: toReview.toSorted((a, b) => compareTexts(a.request.submitted.at, b.request.submitted.at)),
    customers: customers.size - (await removedCustomers(views)).size,
    webhooks: await owedWebhooks(nameOf, views),
  };
}

/** The oldest are looked at; a receiver that is away has them all fail. */
async function owedWebhooks(
  nameOf: (customerId: number) => string,
  { webhookBacklog, webhookDeliveries, commits }: OverviewDependencies['views'],
): Promise<OwedWebhooks> {
  const backlog = (await webhookBacklog.list()).toSorted((a, b) => compareTexts(a.view.since, b.view.since));
  const looked = await Promise.all(
    backlog.slice(0, ROWS_MAX).map(async ({ key, view: { since } }) => {
      const commit = await commits.get(key.slice(0, key.lastIndexOf('/')));
      if (commit === undefined) return [];
      const { customerId } = commit;
      const delivery = await webhookDeliveries.get(`${customerId}/${key}`);
      const isFailing = delivery !== undefined && delivery.attempts.length > 0;
      return isFailing ? [{ customerId, customer: nameOf(customerId), since }] : [];
    }),
  );
  const failing = looked.flat();
  return { owed: backlog.length, failing: failing.length, worst: failing[0] };
}

function isOutOfStep({ phase, drifted, unowned, unsavedSince }: RouterUpkeep): boolean {
  return phase !== 'enabled' || drifted.length > 0 || unowned > 0 || unsavedSince !== null;
}

async function nextTryFor(
  { customerId, regionId, list }: WaitingChangeView,
  { views, commitTimes }: Pick<OnItsWayDependencies, 'views' | 'commitTimes'>,
): Promise<string | undefined> {
  const work = await views.work.get(`${customerId}/${regionId}/${list}`);
  return work === undefined ? undefined : nextTryOf(work, commitTimes);
}

async function pendingOf(
  { customerId, regionId }: WaitingChangeView,
  views: Pick<OverviewDependencies['views'], 'addresses'>,
): Promise<bigint> {
  const view = await views.addresses.get(String(customerId));
  return view === undefined ? 0n : pendingAddresses(regionAddresses(view.ledger, regionId)).count();
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
