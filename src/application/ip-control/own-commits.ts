import { type ListKind, prefixListName } from '../../events/ip-control/vocabulary.ts';
import type { CommitView } from '../../projections/ip-control/commit-view.ts';
import type { Application } from '../application.ts';

/** What is read for a customer of its own commits. */
export type OwnCommitViews = Pick<Application['views'], 'commits' | 'commitLog' | 'regions'>;

/** A customer, as far as its lists are named after it. */
type Owner = Readonly<{ customerId: number; listName: string }>;

/** A commit set as its customer may know it: without routers. */
export type OwnCommit = Readonly<{
  commitSetId: string;
  region: string;
  prefixListName: string;
  status: CommitView['status'];
  attempt: number;
  /** In the list, as it was deployed; null before the first outcome. */
  prefixes: number | null;
  requestedAt: string;
  completedAt: string | null;
  /** Why it has not succeeded yet. */
  because: string | null;
}>;

export type OwnCommitQuery = Readonly<{
  region: string | undefined;
  list: ListKind | undefined;
  /** A place that a page before has ended at. */
  after: string | undefined;
  limit: number;
}>;

/** So many are looked through for one answer: those of one region may be rare. */
const LOOKED_THROUGH_MAX = 5_000;
const PAGE = 100;

/** A customer's commit sets, newest first, and the place behind which there are more. */
export async function listOwnCommits(
  owner: Owner,
  { region, list, after, limit }: OwnCommitQuery,
  views: OwnCommitViews,
): Promise<Readonly<{ commits: readonly OwnCommit[]; nextAfter: string | undefined }>> {
  const prefix = `customer/${owner.customerId}/`;
  const commits: OwnCommit[] = [];
  let place = after;
  for (let looked = 0; looked < LOOKED_THROUGH_MAX; looked += PAGE) {
    const page = await views.commitLog.page({
      prefix,
      after: place === undefined ? undefined : prefix + place,
      limit: PAGE,
    });
    for (const { key, view } of page) {
      if (commits.length === limit) return { commits, nextAfter: place };
      place = key.slice(prefix.length);
      const commit = await views.commits.get(view.commitSetId);
      if (commit === undefined || (list !== undefined && commit.list !== list)) continue;
      const shown = await shownCommit(owner, commit, views);
      if (region === undefined || shown.region === region || String(commit.regionId) === region) commits.push(shown);
    }
    if (page.length < PAGE) return { commits, nextAfter: undefined };
  }
  return { commits, nextAfter: place };
}

/** One of a customer's own commit sets; `undefined` for any other. */
export async function showOwnCommit(
  owner: Owner,
  commitSetId: string,
  views: OwnCommitViews,
): Promise<OwnCommit | undefined> {
  const commit = await views.commits.get(commitSetId.toLowerCase());
  return commit?.customerId === owner.customerId ? shownCommit(owner, commit, views) : undefined;
}

async function shownCommit(owner: Owner, commit: CommitView, { regions }: OwnCommitViews): Promise<OwnCommit> {
  const { commitSetId, regionId, list, status, attempt, content, requestedAt, completedAt } = commit;
  return {
    commitSetId,
    region: (await regions.get(String(regionId)))?.name ?? String(regionId),
    prefixListName: prefixListName(owner.listName, list),
    status,
    attempt,
    prefixes: content?.prefixes ?? null,
    requestedAt,
    completedAt,
    because: reasonOf(commit),
  };
}

/** Nothing of the network's inside: neither names of routers nor what they have said. */
function reasonOf({ status, outcomes, waitsFor }: CommitView): string | null {
  if (status === 'success') return null;
  if (waitsFor.length > 0 || outcomes.some(({ result }) => result === 'unknown'))
    return 'a router of the region did not answer';
  return outcomes.some(({ result }) => result === 'failed') ? 'a router of the region did not take the list' : null;
}
