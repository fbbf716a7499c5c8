import type { Temporal } from '@js-temporal/polyfill';
import type { JSX } from 'preact';
import type { LoggedCommit } from '../../../../application/ip-control/commits.ts';
import type { CommitTimeline } from '../../../../application/ip-control/commit-timeline.ts';
import type { RouterOutcome } from '../../../../events/ip-control/vocabulary.ts';
import type { RecordedEvent } from '../../../../kernel/event.ts';
import type { WebhookDeliveryView } from '../../../../projections/ip-control/webhook-delivery-view.ts';
import type { Crumb, Page } from '../page.ts';
import { Badge } from '../parts/badge.tsx';
import { Facts } from '../parts/facts.tsx';
import { Live } from '../parts/live.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Code, count, countOf, exact, When } from '../parts/text.tsx';
import { CommitBadge, commitReason, differenceAt, durationText } from './commit-list.tsx';
import { OutcomeBadge } from './router-page.tsx';
import { RunButton } from './run-button.tsx';
import { routerAt } from './region-pages.tsx';

export const COMMITS: Crumb = { name: 'Commits', href: '/admin/commits' };

const LANE_PIXELS = 160;

export type CommitPageView = Readonly<{
  commit: LoggedCommit;
  timeline: CommitTimeline;
  now: Temporal.Instant;
  mayRun: boolean;
}>;

/** One commit set: what it was to put where, what came of it on each router, and what happened in which order. */
export function commitPage(view: CommitPageView): Page {
  const { commit, timeline, now, mayRun } = view;
  const { commitSetId, customerId, regionId, list } = commit.view;
  const at = `/admin/commits/${commitSetId}`;
  const parts = {
    standing: <Standing {...view} />,
    lanes: <Lanes commit={commit} />,
    timeline: (
      <Table
        caption="In order"
        columns={TIMELINE_COLUMNS}
        rows={timeline.events}
        keyOf={({ id }) => id}
        empty="Its events are further on in the log."
      />
    ),
    webhook: (
      <Table
        caption="Webhook"
        columns={webhookColumns(now)}
        rows={timeline.deliveries}
        keyOf={({ status }) => status}
        empty="Nothing of it was told to the customer: it has no webhook, or the commit is not over."
      />
    ),
  };
  const live = (id: keyof typeof parts): JSX.Element => (
    <Live id={id} topic={id === 'webhook' ? `customer:${customerId}` : 'work'} at={at}>
      {parts[id]}
    </Live>
  );
  return {
    title: `${commit.customer}, ${list} in ${commit.region}`,
    crumbs: [COMMITS],
    parts,
    body: (
      <>
        {live('standing')}
        <div class="inline wrap">
          {mayRun && commit.view.status !== 'success' ? (
            <RunButton of={{ customerId, regionId, list }} label="Try now" />
          ) : null}
          <a class="button" href={differenceAt(commit.view)}>
            Difference now
          </a>
        </div>
        <h2>Routers</h2>
        {live('lanes')}
        <h2>Webhook</h2>
        {live('webhook')}
        <h2>In order</h2>
        {live('timeline')}
      </>
    ),
  };
}

function Standing({ commit: { customer, region, view }, timeline, now }: CommitPageView): JSX.Element {
  const { content, completedAt } = view;
  return (
    <Facts
      facts={[
        ['State', <CommitBadge commit={view} />],
        ['Customer', <a href={`/admin/customers/${view.customerId}`}>{String(customer)}</a>],
        ['Region', <a href={`/admin/regions/${view.regionId}`}>{String(region)}</a>],
        ['List', <Code>{view.list}</Code>],
        [
          'Requested',
          <>
            <When at={view.requestedAt} now={now} /> ({exact(view.requestedAt)})
            {timeline.by === undefined ? null : (
              <>
                {' '}
                by <Code>{timeline.by}</Code>
              </>
            )}
          </>,
        ],
        ['Reason', commitReason(view.reason)],
        ['Attempt', count(view.attempt)],
        ['Over', completedAt === null ? 'not yet' : `${exact(completedAt)}, after ${durationText(view) ?? '–'}`],
        ['Content', content === null ? 'not known yet' : countOf(content.prefixes, 'block')],
        ['SHA-256', content === null ? '–' : <Code>{content.sha256}</Code>],
        ['Number', <Code>{view.commitSetId}</Code>],
      ]}
    />
  );
}

/** A lane a router, as long as it took among all of them. */
function Lanes({ commit: { view } }: Readonly<{ commit: LoggedCommit }>): JSX.Element {
  const longest = Math.max(1, ...view.outcomes.map(({ milliseconds }) => milliseconds));
  const columns: readonly Column<RouterOutcome>[] = [
    { key: 'router', name: 'Router', cell: ({ router }) => <a href={routerAt(view.regionId, router)}>{router}</a> },
    { key: 'outcome', name: 'Outcome', cell: (outcome) => <OutcomeBadge outcome={outcome} /> },
    {
      key: 'lane',
      name: 'Took',
      cell: ({ milliseconds }) => (
        <svg class="lane" width={LANE_PIXELS} height={10} aria-hidden="true">
          <rect width={Math.max(2, (LANE_PIXELS * milliseconds) / longest)} height={10} rx={2} />
        </svg>
      ),
    },
    { key: 'milliseconds', name: 'ms', isNumber: true, cell: ({ milliseconds }) => milliseconds },
    { key: 'because', name: 'Because', cell: ({ because }) => because ?? null },
  ];
  return (
    <Table
      caption="Routers"
      columns={columns}
      rows={view.outcomes}
      keyOf={({ router }) => router}
      empty="No router has answered yet."
    />
  );
}

const TIMELINE_COLUMNS: readonly Column<RecordedEvent>[] = [
  { key: 'at', name: 'When', cell: ({ metadata }) => exact(metadata.at) },
  { key: 'type', name: 'Event', cell: ({ type }) => type },
  {
    key: 'attempt',
    name: 'Attempt',
    isNumber: true,
    cell: ({ data }) => ('attempt' in data && typeof data.attempt === 'number' ? data.attempt : null),
  },
  { key: 'by', name: 'By', cell: ({ metadata }) => <Code>{metadata.actor}</Code> },
];

const DELIVERY_STATES = {
  retrying: ['busy', 'to be told'],
  delivered: ['ok', 'delivered'],
  given_up: ['bad', 'given up'],
} as const;

function webhookColumns(now: Temporal.Instant): readonly Column<WebhookDeliveryView>[] {
  return [
    { key: 'told', name: 'Told', cell: ({ status }) => status },
    {
      key: 'state',
      name: 'State',
      cell: ({ state }) => {
        const [kind, word] = DELIVERY_STATES[state];
        return <Badge state={kind}>{word}</Badge>;
      },
    },
    { key: 'attempts', name: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts.length },
    {
      key: 'last',
      name: 'Last answer',
      cell: ({ attempts }) => {
        const last = attempts.at(-1);
        if (last === undefined) return null;
        return (
          <>
            {last.httpStatus ?? last.because ?? 'taken'}, <When at={last.at} now={now} />
          </>
        );
      },
    },
  ];
}
