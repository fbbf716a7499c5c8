import type { Temporal } from '@js-temporal/polyfill';
import type { JSX } from 'preact';
import type { LoggedCommit } from '../../../../application/ip-control/commits.ts';
import type { OnItsWay } from '../../../../application/ip-control/overview.ts';
import type { CommitView } from '../../../../projections/ip-control/commit-view.ts';
import type { Page } from '../page.ts';
import { Badge, Note } from '../parts/badge.tsx';
import { Filter, type ListQuery, Pager } from '../parts/list.tsx';
import { Live } from '../parts/live.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Code, count, Short, span, When } from '../parts/text.tsx';
import { OnItsWayTable } from './on-its-way.tsx';

const REASONS: Readonly<Record<CommitView['reason'], string>> = {
  quiet: 'quiet period over',
  retry: 'tried again',
  synchronous: 'synchronous request',
  operator: 'deploy now',
};

/** Why a commit was asked for, in words. */
export function commitReason(reason: CommitView['reason']): string {
  return REASONS[reason];
}

/** How far a commit is. */
export function CommitBadge({ commit }: Readonly<{ commit: CommitView }>): JSX.Element {
  const { status, progress, waitsFor, attempt } = commit;
  if (status === 'success') return <Badge state="ok">on the routers</Badge>;
  if (status === 'failed') return <Badge state="bad">{`failed, attempt ${attempt}`}</Badge>;
  if (waitsFor.length > 0) return <Badge state="warn">{`waits for ${waitsFor.join(', ')}`}</Badge>;
  if (progress !== null)
    return <Badge state="busy">{`${count(progress.done)} of ${count(progress.total)} prefixes`}</Badge>;
  return <Badge state="busy">deploying</Badge>;
}

/** Where a list is compared with what the routers of its region hold. */
export function differenceAt({
  customerId,
  regionId,
  list,
}: Pick<CommitView, 'customerId' | 'regionId' | 'list'>): string {
  return `/admin/commits/diff?customer=${customerId}&region=${regionId}&list=${list}`;
}

/** How long a commit has taken, of which the end is known. */
export function durationText({ requestedAt, completedAt }: CommitView): string | null {
  if (completedAt === null) return null;
  const milliseconds = Date.parse(completedAt) - Date.parse(requestedAt);
  return milliseconds < 10_000 ? `${(Math.max(0, milliseconds) / 1_000).toFixed(1)} s` : span(milliseconds);
}

/** The columns of a list of commits. */
export function commitColumns(now: Temporal.Instant): readonly Column<LoggedCommit>[] {
  return [
    {
      key: 'requested',
      name: 'Requested',
      cell: ({ view }) => (
        <a href={`/admin/commits/${view.commitSetId}`}>
          <When at={view.requestedAt} now={now} />
        </a>
      ),
    },
    {
      key: 'customer',
      name: 'Customer',
      cell: ({ customer, view }) => <a href={`/admin/customers/${view.customerId}`}>{String(customer)}</a>,
    },
    {
      key: 'region',
      name: 'Region',
      cell: ({ region, view }) => <a href={`/admin/regions/${view.regionId}`}>{String(region)}</a>,
    },
    { key: 'list', name: 'List', cell: ({ view }) => <Code>{view.list}</Code> },
    { key: 'reason', name: 'Reason', cell: ({ view }) => commitReason(view.reason) },
    { key: 'by', name: 'By', cell: ({ view }) => <Short>{view.requestedBy}</Short> },
    { key: 'attempt', name: 'Attempt', isNumber: true, cell: ({ view }) => view.attempt },
    { key: 'status', name: 'State', cell: ({ view }) => <CommitBadge commit={view} /> },
    { key: 'prefixes', name: 'Prefixes', isNumber: true, cell: ({ view }) => view.content?.prefixes ?? null },
    { key: 'took', name: 'Took', isNumber: true, cell: ({ view }) => durationText(view) },
  ];
}

const PATH = '/admin/commits';

export type CommitListView = Readonly<{
  query: ListQuery;
  commits: readonly LoggedCommit[];
  next: string | undefined;
  /** Above the first page. */
  onItsWay: readonly OnItsWay[];
  mayRun: boolean;
  /** Whose commits these are; undefined: all. */
  of: string | undefined;
  /** What is wrong with the filter. */
  problem: string | undefined;
  now: Temporal.Instant;
  /** Where this very page is, with its filter. */
  address: string;
}>;

/** Deployments, the newest first, as they happen. */
export function commitListPage(view: CommitListView): Page {
  const { query, commits, next, of, problem, now, address } = view;
  const work = <OnItsWayTable rows={view.onItsWay} now={now} mayRun={view.mayRun} />;
  const table = (
    <>
      <Table
        caption="Commits"
        columns={commitColumns(now)}
        rows={commits}
        keyOf={(commit) => commit.view.commitSetId}
        empty="Nothing was deployed yet. What customers change goes out once its quiet period is over."
      />
      <Pager path={PATH} query={query} next={next} noun="commit" />
    </>
  );
  return {
    title: of === undefined ? 'Commits' : `Commits of ${of}`,
    ...(of === undefined ? {} : { crumbs: [{ name: 'Commits', href: PATH }] }),
    ...(problem === undefined ? {} : { status: 422 }),
    parts: { 'commit-list': table, work },
    body: (
      <>
        <div class="bar">
          <Filter path={PATH} query={query} label="Customer or region, by name" />
          <a class="button" href={`${PATH}/diff`}>
            Difference now
          </a>
        </div>
        {problem === undefined ? null : <Note state="bad">{problem}</Note>}
        {query.after === '' ? (
          <>
            <h2>On its way to routers</h2>
            <Live id="work" topic="work" at={address}>
              {work}
            </Live>
            <h2>Commits, the newest first</h2>
          </>
        ) : null}
        <Live id="commit-list" topic="work" at={address}>
          {table}
        </Live>
      </>
    ),
  };
}
