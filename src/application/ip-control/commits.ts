import type { CommandContext } from '../../commands/aggregate.ts';
import { epochMilliseconds } from '../../domain/instants.ts';
import { waitingSeconds } from '../../domain/ip-control/waiting-changes.ts';
import type { ListKind, RouterOutcome } from '../../events/ip-control/vocabulary.ts';
import { isRefusal, type Refusal } from '../../kernel/decider.ts';
import type { CommitView } from '../../projections/ip-control/commit-view.ts';
import type { WaitingChangeView } from '../../projections/ip-control/waiting-change-view.ts';
import type { Application } from '../application.ts';
import type { CommitStatus } from './commit-now.ts';
import { type CustomerLookup, findAnyCustomer, findRegion, notFound, type RegionLookup } from './lookups.ts';

type CommitViews = Readonly<{
  views: Pick<Application['views'], 'commits' | 'waitingChanges' | 'customers' | 'regions'>;
}>;
type ListDependencies = CustomerLookup & RegionLookup & CommitViews & Pick<Application, 'catchUp' | 'clock'>;
type RunDependencies = CustomerLookup &
  RegionLookup &
  Pick<Application, 'catchUp' | 'commitNow'> &
  Readonly<{ views: Pick<Application['views'], 'commits' | 'commitLog'> }>;

/** Commit sets of a customer that are looked through at a time; the one looked for is nearly always the first. */
const LOG_PAGE = 20;

type OfList = Readonly<{ customerId: number; regionId: number; list: ListKind }>;

/** A customer's list in a region, by names; by number where a name is not known. */
type NamedList = Readonly<{ customer: string | number; region: string | number; list: ListKind }>;

/** A commit set. `waitingSeconds`: the age of the oldest change that it carries and that is not on all routers. */
export type ListedCommit = NamedList &
  Pick<
    CommitView,
    'commitSetId' | 'status' | 'progress' | 'attempt' | 'requestedAt' | 'completedAt' | 'outcomes' | 'waitsFor'
  > &
  Readonly<{ prefixes: number | null; waitingSeconds: number | null }>;

/** A list with changes that no commit has captured yet, and the age of the oldest. */
export type WaitingList = NamedList & Readonly<{ waitingSeconds: number }>;

/** How a commit that was asked for ended, and what it came to on each router, where it has ended. */
export type CommitRun = Readonly<{
  customer: string;
  region: string;
  list: ListKind;
  status: CommitStatus;
  /** Whether a commit was requested for that. */
  isRequested: boolean;
  outcomes: readonly RouterOutcome[];
}>;

/** Which commit sets; what is not named does not matter. `since`: requested then or later, in epoch milliseconds. */
export type CommitFilter = Readonly<{
  customer?: string | undefined;
  list?: ListKind | undefined;
  region?: string | undefined;
  status?: (typeof COMMIT_STATES)[number] | undefined;
  since?: number | undefined;
}>;

/** How a commit set stands; `waiting`: no commit has captured the changes yet. */
export const COMMIT_STATES = ['waiting', 'deploying', 'success', 'failed'] as const;

/** Commit sets, newest first, and what waits for its first or next one, whenever that began. */
export async function listCommits(
  { customer, list, region: regionName, status: wanted, since }: CommitFilter,
  dependencies: ListDependencies,
): Promise<Readonly<{ commits: readonly ListedCommit[]; waiting: readonly WaitingList[] }> | Refusal> {
  const { views, clock } = dependencies;
  await dependencies.catchUp();
  const only = customer === undefined ? undefined : await findAnyCustomer(customer, dependencies);
  if (only !== undefined && isRefusal(only)) return only;
  const region = regionName === undefined ? undefined : await findRegion(regionName, dependencies);
  if (region !== undefined && isRefusal(region)) return region;
  const isShown = (of: OfList): boolean =>
    (only === undefined || of.customerId === only.customerId) &&
    (region === undefined || of.regionId === region.regionId) &&
    (list === undefined || of.list === list);
  const listed = (await views.commits.list()).map(({ view }) => view).filter(isShown);
  const changes = (await views.waitingChanges.list()).map(({ view }) => view).filter(isShown);
  const now = clock.now().epochMilliseconds;
  const ages = agesOf(changes, now);
  const newestFirst = listed.toSorted((a, b) => b.position - a.position);
  const commits = newestFirst
    // The age of what waits goes with the newest commit of its list, shown or not.
    .map((commit) => ({ ...commit, age: ages.take(commit) }))
    .filter(({ status }) => wanted === undefined || status === wanted)
    .filter(({ requestedAt }) => since === undefined || epochMilliseconds(requestedAt) >= since);
  return {
    commits: await Promise.all(
      commits.map(
        async ({ age, commitSetId, status, progress, attempt, requestedAt, completedAt, content, ...commit }) => {
          const { outcomes, waitsFor } = commit;
          const shown = { commitSetId, status, progress, attempt, requestedAt, completedAt, outcomes, waitsFor };
          const prefixes = content?.prefixes ?? null;
          return { ...(await namesOf(commit, dependencies)), ...shown, prefixes, waitingSeconds: age };
        },
      ),
    ),
    waiting: await Promise.all(
      changes
        .filter(() => wanted === undefined || wanted === 'waiting')
        .filter(({ carriedSince, waitingSince }) => carriedSince === null && waitingSince !== null)
        .map(async (change) => ({
          ...(await namesOf(change, dependencies)),
          waitingSeconds: waitingSeconds(change, now),
        })),
    ),
  };
}

/** A commit set where a list of the newest has it: `place` is behind which the next ones are. */
export type LoggedCommit = Readonly<{
  customer: string | number;
  region: string | number;
  place: string;
  view: CommitView;
}>;

type LogDependencies = CustomerLookup &
  RegionLookup &
  Readonly<{ views: Pick<Application['views'], 'commits' | 'commitLog' | 'customers' | 'regions'> }>;

/** Commit sets, newest first, at most `limit` of those behind `after`: of all, of a customer or of a region. */
export async function pageCommits(
  of: Readonly<{
    customer?: string | undefined;
    region?: string | undefined;
    after: string | undefined;
    limit: number;
  }>,
  dependencies: LogDependencies,
): Promise<readonly LoggedCommit[] | Refusal> {
  const { views } = dependencies;
  const prefix = await logPrefix(of, dependencies);
  if (typeof prefix !== 'string') return prefix;
  const after = of.after === undefined ? undefined : prefix + of.after;
  const found = await views.commitLog.page({ prefix, after, limit: of.limit });
  const commits = await Promise.all(
    found.map(async ({ key, view: { commitSetId } }) => {
      const view = await views.commits.get(commitSetId);
      return view === undefined ? [] : [await loggedCommit(view, key.slice(prefix.length), dependencies)];
    }),
  );
  return commits.flat();
}

/** A commit set by its id; refused with `not-found`. */
export async function showCommit(
  commitSetId: string,
  dependencies: Pick<LogDependencies, 'views'>,
): Promise<LoggedCommit | Refusal> {
  const view = await dependencies.views.commits.get(commitSetId.toLowerCase());
  if (view === undefined) return notFound(`commit ${commitSetId} not found.`, 'commit');
  return loggedCommit(view, '', dependencies);
}

async function logPrefix(
  { customer, region }: Readonly<{ customer?: string | undefined; region?: string | undefined }>,
  dependencies: LogDependencies,
): Promise<string | Refusal> {
  if (customer !== undefined) {
    const found = await findAnyCustomer(customer, dependencies);
    return isRefusal(found) ? found : `customer/${found.customerId}/`;
  }
  if (region === undefined) return 'all/';
  const found = await findRegion(region, dependencies);
  return isRefusal(found) ? found : `region/${found.regionId}/`;
}

async function loggedCommit(
  view: CommitView,
  place: string,
  { views }: Pick<LogDependencies, 'views'>,
): Promise<LoggedCommit> {
  const customer = (await views.customers.get(String(view.customerId)))?.name ?? view.customerId;
  const region = (await views.regions.get(String(view.regionId)))?.name ?? view.regionId;
  return { customer, region, place, view };
}

/** Has what is pending of a list deployed now, without waiting for the quiet period, and waits for it within a bound. */
export async function runCommit(
  { list, ...names }: Readonly<{ customer: string; region: string; list: ListKind }>,
  context: CommandContext,
  dependencies: RunDependencies,
): Promise<CommitRun | Refusal> {
  const customer = await findAnyCustomer(names.customer, dependencies);
  if (isRefusal(customer)) return customer;
  const region = await findRegion(names.region, dependencies);
  if (isRefusal(region)) return region;
  const [{ customerId }, { regionId }] = [customer, region];
  const { status, isRequested } = await dependencies.commitNow(customerId, regionId, list, context);
  const newest =
    status === 'in_progress' ? undefined : await newestCommit({ customerId, regionId, list }, dependencies);
  return { customer: customer.name, region: region.name, list, status, isRequested, outcomes: newest?.outcomes ?? [] };
}

async function newestCommit(of: OfList, { catchUp, views }: RunDependencies): Promise<CommitView | undefined> {
  await catchUp();
  const prefix = `customer/${of.customerId}/`;
  let after: string | undefined;
  for (;;) {
    const rows = await views.commitLog.page({ prefix, after, limit: LOG_PAGE });
    for (const { key, view } of rows) {
      after = key;
      const commit = await views.commits.get(view.commitSetId);
      if (commit !== undefined && keyOf(commit) === keyOf(of)) return commit;
    }
    if (rows.length < LOG_PAGE) return undefined;
  }
}

/** The ages of lists' oldest changes that commits carry: each is told once, with the newest commit of its list. */
function agesOf(changes: readonly WaitingChangeView[], now: number): Readonly<{ take: (of: OfList) => number | null }> {
  const carried = new Map(
    changes.filter(({ carriedSince }) => carriedSince !== null).map((change) => [keyOf(change), change]),
  );
  return {
    take: (of) => {
      const change = carried.get(keyOf(of));
      carried.delete(keyOf(of));
      return change === undefined ? null : waitingSeconds(change, now);
    },
  };
}

async function namesOf({ customerId, regionId, list }: OfList, { views }: CommitViews): Promise<NamedList> {
  const customer = (await views.customers.get(String(customerId)))?.name ?? customerId;
  const region = (await views.regions.get(String(regionId)))?.name ?? regionId;
  return { customer, region, list };
}

function keyOf({ customerId, regionId, list }: OfList): string {
  return `${customerId}/${regionId}/${list}`;
}
