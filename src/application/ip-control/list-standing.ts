import { DIRECTORY_ID } from '../../commands/ip-control/directory.ts';
import { type ListKind, prefixListName } from '../../events/ip-control/vocabulary.ts';
import type { CommitView } from '../../projections/ip-control/commit-view.ts';
import { listCommitKey, type ListCommitView } from '../../projections/ip-control/list-commit-view.ts';
import type { WaitingChangeView } from '../../projections/ip-control/waiting-change-view.ts';
import type { Application } from '../application.ts';
import { regionNames, removedCustomers } from './customer-lists.ts';

export type ListStandingDependencies = Pick<Application, 'directory'> &
  Readonly<{
    views: Pick<Application['views'], 'listCommits' | 'commits' | 'waitingChanges' | 'regions' | 'removedCustomers'>;
  }>;

type OfList = Readonly<{ customerId: number; regionId: number; list: ListKind }>;

/** A customer's list in a region, and how it stands. */
export type ListStanding = OfList &
  Readonly<{
    customer: string;
    region: string;
    /** What routers call it. */
    prefixListName: string;
    /** Of the newest commit whose content is known. */
    prefixes: number | null;
    /** The newest one; undefined for a list that waits for its first. */
    commit: CommitView | undefined;
    /** What is not on all routers. */
    change: WaitingChangeView | undefined;
  }>;

/** Some of the lists of a customer or a region, and the place behind which there are more. */
export type ListPage = Readonly<{ lists: readonly ListStanding[]; nextAfter: string | undefined }>;

type Asked = Readonly<{ after: string | undefined; limit: number }>;

/** So many keys are read at a time where a filter leaves few of them. */
const READ_AT_ONCE = 1_000;
/** So many lists that wait are looked at for those that no commit has captured yet: each is committed soon. */
const WAITING_MAX = 100;

/** The lists of a customer, by region. */
export async function listsOfCustomer(
  { customerId, ...asked }: Asked & Readonly<{ customerId: number }>,
  dependencies: ListStandingDependencies,
): Promise<ListPage> {
  const waiting = await dependencies.views.waitingChanges.list(`${customerId}/`);
  return pageOfLists(
    { ...asked, prefix: `customer/${customerId}/`, isMeant: anyList },
    waiting.map(viewOf),
    dependencies,
  );
}

/** The lists of a region whose customer's name or list name holds a text, in any case, by the customer's number. */
export async function listsOfRegion(
  { regionId, text, ...asked }: Asked & Readonly<{ regionId: number; text: string }>,
  dependencies: ListStandingDependencies,
): Promise<ListPage> {
  const { directory, views } = dependencies;
  const [{ state }, removed, all] = await Promise.all([
    directory.state(DIRECTORY_ID),
    removedCustomers(views),
    views.waitingChanges.list(),
  ]);
  const wanted = text.toLowerCase();
  const waiting = all.map(viewOf).filter((change) => change.regionId === regionId);
  const atWork = new Set(waiting.map(({ customerId }) => customerId));
  const isMeant = ({ customerId }: OfList): boolean => {
    const { name = '', listName = '' } = state.customers.get(customerId) ?? {};
    const isThere = !removed.has(customerId) || atWork.has(customerId);
    return isThere && [name, listName].some((known) => known.toLowerCase().includes(wanted));
  };
  return pageOfLists({ ...asked, prefix: `region/${regionId}/`, isMeant }, waiting, dependencies);
}

function anyList(): boolean {
  return true;
}

function viewOf({ view }: Readonly<{ view: WaitingChangeView }>): WaitingChangeView {
  return view;
}

/** Before the first page come those that wait for their first commit. */
async function pageOfLists(
  { prefix, after, limit, isMeant }: Asked & Readonly<{ prefix: string; isMeant: (list: OfList) => boolean }>,
  waiting: readonly WaitingChangeView[],
  dependencies: ListStandingDependencies,
): Promise<ListPage> {
  const changes = new Map(waiting.map((change) => [keyOf(change), change]));
  const [first, committed, names] = await Promise.all([
    after === undefined ? neverCommitted(waiting.filter(isMeant), dependencies) : [],
    committedLists({ prefix, after, limit, isMeant }, dependencies),
    openNames(dependencies),
  ]);
  const rows = [...first.map((list) => ({ list, newest: undefined })), ...committed.found];
  const lists = await Promise.all(
    rows.map(async ({ list, newest }) => ({
      ...names(list),
      ...(await commitOf(newest, dependencies)),
      change: changes.get(keyOf(list)),
    })),
  );
  return { lists, nextAfter: committed.nextAfter };
}

async function neverCommitted(
  waiting: readonly WaitingChangeView[],
  { views }: ListStandingDependencies,
): Promise<readonly OfList[]> {
  // What a commit carries, or has failed, has had one.
  const may = waiting.filter(({ carriedSince, failingOn }) => carriedSince === null && failingOn === undefined);
  const looked = may.slice(0, WAITING_MAX).map(async ({ customerId, regionId, list }) => {
    const of = { customerId, regionId, list };
    return (await views.listCommits.get(listCommitKey(of))) === undefined ? [of] : [];
  });
  return (await Promise.all(looked)).flat();
}

async function committedLists(
  { prefix, after, limit, isMeant }: Asked & Readonly<{ prefix: string; isMeant: (list: OfList) => boolean }>,
  { views }: ListStandingDependencies,
) {
  const found: Readonly<{ list: OfList; newest: ListCommitView }>[] = [];
  let place = after;
  for (let atOnce = limit + 1; ; atOnce = READ_AT_ONCE) {
    const behind = place === undefined ? undefined : prefix + place;
    const page = await views.listCommits.page({ prefix, after: behind, limit: atOnce });
    for (const { key, view: newest } of page) {
      const { customerId, regionId, list } = newest;
      const of = { customerId, regionId, list };
      if (!isMeant(of)) continue;
      // There is one more than fit: the page ends before it.
      if (found.length === limit) return { found, nextAfter: place };
      found.push({ list: of, newest });
      place = key.slice(prefix.length);
    }
    if (page.length < atOnce) return { found, nextAfter: undefined };
    place = page.at(-1)?.key.slice(prefix.length);
  }
}

/** What lists, customers and regions are called. */
async function openNames({ directory, views }: ListStandingDependencies) {
  const [{ state }, regions] = await Promise.all([directory.state(DIRECTORY_ID), regionNames({ views })]);
  return ({ customerId, regionId, list }: OfList) => {
    const { name, listName } = state.customers.get(customerId) ?? { name: String(customerId), listName: '' };
    return {
      customerId,
      regionId,
      list,
      customer: name,
      region: regions.get(regionId) ?? String(regionId),
      prefixListName: prefixListName(listName, list),
    };
  };
}

async function commitOf(
  newest: ListCommitView | undefined,
  { views }: ListStandingDependencies,
): Promise<Pick<ListStanding, 'commit' | 'prefixes'>> {
  if (newest === undefined) return { commit: undefined, prefixes: null };
  const commit = await views.commits.get(newest.commitSetId);
  // Of one that is on its way nothing is known yet: until it is there, routers hold what the one before it has brought.
  const known =
    (commit?.content ?? null) !== null || newest.before === null ? commit : await views.commits.get(newest.before);
  return { commit, prefixes: known?.content?.prefixes ?? null };
}

function keyOf({ customerId, regionId, list }: OfList): string {
  return `${customerId}/${regionId}/${list}`;
}
