import type { CommandContext } from '../../commands/aggregate.ts';
import { waitingSeconds } from '../../domain/ip-control/waiting-changes.ts';
import type { ListKind, RouterOutcome } from '../../events/ip-control/vocabulary.ts';
import { isRefusal, type Refusal } from '../../kernel/decider.ts';
import type { CommitView } from '../../projections/ip-control/commit-view.ts';
import type { WaitingChangeView } from '../../projections/ip-control/waiting-change-view.ts';
import type { Application } from '../application.ts';
import type { CommitStatus } from './commit-now.ts';
import { type CustomerLookup, findCustomer, findRegion, type RegionLookup } from './lookups.ts';

type CommitViews = Readonly<{
  views: Pick<Application['views'], 'commits' | 'waitingChanges' | 'customers' | 'regions'>;
}>;
type ListDependencies = CustomerLookup & CommitViews & Pick<Application, 'catchUp' | 'clock'>;
type RunDependencies = CustomerLookup & RegionLookup & CommitViews & Pick<Application, 'catchUp' | 'commitNow'>;

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
  outcomes: readonly RouterOutcome[];
}>;

/** Commit sets, newest first, and what waits for its first or next one; of one customer or list where those are named. */
export async function listCommits(
  { customer, list }: Readonly<{ customer?: string | undefined; list?: ListKind | undefined }>,
  dependencies: ListDependencies,
): Promise<Readonly<{ commits: readonly ListedCommit[]; waiting: readonly WaitingList[] }> | Refusal> {
  const { views, clock } = dependencies;
  await dependencies.catchUp();
  const only = customer === undefined ? undefined : await findCustomer(customer, dependencies);
  if (only !== undefined && isRefusal(only)) return only;
  const isShown = (of: OfList): boolean =>
    (only === undefined || of.customerId === only.customerId) && (list === undefined || of.list === list);
  const commits = (await views.commits.list()).map(({ view }) => view).filter(isShown);
  const changes = (await views.waitingChanges.list()).map(({ view }) => view).filter(isShown);
  const now = clock.now().epochMilliseconds;
  const ages = agesOf(changes, now);
  commits.sort((a, b) => b.position - a.position);
  return {
    commits: await Promise.all(
      commits.map(async ({ commitSetId, status, progress, attempt, requestedAt, completedAt, content, ...commit }) => {
        const age = ages.take(commit);
        const { outcomes, waitsFor } = commit;
        const shown = { commitSetId, status, progress, attempt, requestedAt, completedAt, outcomes, waitsFor };
        const prefixes = content?.prefixes ?? null;
        return { ...(await namesOf(commit, dependencies)), ...shown, prefixes, waitingSeconds: age };
      }),
    ),
    waiting: await Promise.all(
      changes
        .filter(({ carriedSince }) => carriedSince === null)
        .map(async (change) => ({
          ...(await namesOf(change, dependencies)),
          waitingSeconds: waitingSeconds(change, now),
        })),
    ),
  };
}

/** Has what is pending of a list deployed now, without waiting for the quiet period, and waits for it within a bound. */
export async function runCommit(
  { list, ...names }: Readonly<{ customer: string; region: string; list: ListKind }>,
  context: CommandContext,
  dependencies: RunDependencies,
): Promise<CommitRun | Refusal> {
  const customer = await findCustomer(names.customer, dependencies);
  if (isRefusal(customer)) return customer;
  const region = await findRegion(names.region, dependencies);
  if (isRefusal(region)) return region;
  const [{ customerId }, { regionId }] = [customer, region];
  const status = await dependencies.commitNow(customerId, regionId, list, context);
  const newest =
    status === 'in_progress' ? undefined : await newestCommit({ customerId, regionId, list }, dependencies);
  return { customer: customer.name, region: region.name, list, status, outcomes: newest?.outcomes ?? [] };
}

async function newestCommit(of: OfList, { catchUp, views }: RunDependencies): Promise<CommitView | undefined> {
  await catchUp();
  const commits = (await views.commits.list()).map(({ view }) => view).filter((commit) => keyOf(commit) === keyOf(of));
  return commits.sort((a, b) => b.position - a.position)[0];
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
