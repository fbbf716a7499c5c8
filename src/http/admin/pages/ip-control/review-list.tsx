import type { Temporal } from '@js-temporal/polyfill';
import type { JSX } from 'preact';
import { REVIEW_STAGES, type ReviewRow, type ReviewStage } from '../../../../application/ip-control/review-queue.ts';
import type { Page } from '../page.ts';
import { Badge, type State } from '../parts/badge.tsx';
import { Filter, List, type ListQuery } from '../parts/list.tsx';
import { Live } from '../parts/live.tsx';
import type { Column } from '../parts/table.tsx';
import { Code, When } from '../parts/text.tsx';

const PATH = '/admin/whitelist';

const STAGES: Readonly<Record<ReviewStage, Readonly<{ state: State; word: string }>>> = {
  waiting: { state: 'warn', word: 'waiting for review' },
  approved: { state: 'ok', word: 'approved' },
  rejected: { state: 'off', word: 'rejected' },
  removed: { state: 'off', word: 'removed' },
};

/** How far people are with a request. */
export function StageBadge({ stage }: Readonly<{ stage: ReviewStage }>): JSX.Element {
  const { state, word } = STAGES[stage];
  return <Badge state={state}>{word}</Badge>;
}

/** The columns of a list of requests. */
export function reviewColumns(now: Temporal.Instant): readonly Column<ReviewRow>[] {
  return [
    {
      key: 'input',
      name: 'Asked for',
      sortBy: ({ request }) => request.input,
      cell: ({ request }) => (
        <a href={`${PATH}/${request.requestId}`}>
          <Code>{request.input}</Code>
        </a>
      ),
    },
    { key: 'customer', name: 'Customer', sortBy: ({ customer }) => customer, cell: ({ customer }) => customer },
    {
      key: 'addresses',
      name: 'Addresses',
      isNumber: true,
      sortBy: ({ addresses }) => addresses,
      cell: ({ addresses }) => addresses,
    },
    { key: 'regions', name: 'Regions', cell: ({ regions }) => regions.join(', ') },
    {
      key: 'age',
      name: 'Submitted',
      sortBy: ({ request }) => request.submitted.at,
      cell: ({ request }) => <When at={request.submitted.at} now={now} />,
    },
    { key: 'stage', name: 'State', sortBy: ({ stage }) => stage, cell: ({ stage }) => <StageBadge stage={stage} /> },
  ];
}

export type ReviewListView = Readonly<{
  query: ListQuery;
  stage: ReviewStage | undefined;
  /** All that fit the filter. */
  rows: readonly ReviewRow[];
  now: Temporal.Instant;
  /** Where this very page is, with its filter. */
  address: string;
}>;

/** The queue of requests that wait for a review; by its filter, all the others. */
export function reviewListPage({ query, stage, rows, now, address }: ReviewListView): Page {
  const table = (
    <List
      path={PATH}
      query={query}
      caption="Whitelist requests"
      columns={reviewColumns(now)}
      rows={rows}
      keyOf={({ request }) => request.requestId}
      noun="request"
      empty={emptyOf(query, stage)}
    />
  );
  return {
    title: 'Whitelist review',
    parts: { requests: table },
    body: (
      <>
        <div class="bar">
          <Filter path={PATH} query={query} label="Customer or address">
            <label class="hidden" for="stage">
              State
            </label>
            <select id="stage" name="stage">
              {REVIEW_STAGES.map((known) => (
                <option key={known} value={known} selected={known === stage}>
                  {STAGES[known].word}
                </option>
              ))}
              <option value="all" selected={stage === undefined}>
                all
              </option>
            </select>
          </Filter>
        </div>
        <Live id="requests" topic="review" at={address}>
          {table}
        </Live>
      </>
    ),
  };
}

function emptyOf({ q }: ListQuery, stage: ReviewStage | undefined): string {
  if (q !== '') return 'No request of this state has this in its customer or address.';
  return stage === 'waiting'
    ? 'Nothing waits for a review. Customers whose accounts allow it submit requests with POST /source-whitelist.'
    : 'There is no request of this state.';
}
