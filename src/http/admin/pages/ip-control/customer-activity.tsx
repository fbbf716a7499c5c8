import type { Temporal } from '@js-temporal/polyfill';
import type { JSX } from 'preact';
import type { CustomerActivity } from '../../../../application/ip-control/customer-activity.ts';
import { Live } from '../parts/live.tsx';
import { Table } from '../parts/table.tsx';
import { commitColumns } from './commit-list.tsx';
import { reviewColumns } from './review-list.tsx';

/** What of a customer waits for a review, and what was deployed last: the parts of its page, and how they stand in it. */
export function activityParts(
  { waiting, commits }: CustomerActivity,
  now: Temporal.Instant,
): Readonly<Record<'waiting' | 'latest', JSX.Element>> {
  return {
    waiting: (
      <Table
        caption="Whitelist requests that wait"
        columns={reviewColumns(now)}
        rows={waiting}
        keyOf={({ request }) => request.requestId}
        empty="No whitelist request of this customer waits for a review."
      />
    ),
    latest: (
      <Table
        caption="Latest commits"
        columns={commitColumns(now)}
        rows={commits}
        keyOf={({ view }) => view.commitSetId}
        empty="Nothing of this customer was deployed yet."
      />
    ),
  };
}

/** These parts, each fetched again when the customer's stream has moved. */
export function Activity({
  customerId,
  parts: { waiting, latest },
}: Readonly<{ customerId: number; parts: ReturnType<typeof activityParts> }>): JSX.Element {
  const [topic, at] = [`customer:${customerId}`, `/admin/customers/${customerId}`] as const;
  return (
    <>
      <h2>Whitelist requests that wait</h2>
      <Live id="waiting" topic={topic} at={at}>
        {waiting}
      </Live>
      <h2>Latest commits</h2>
      <Live id="latest" topic={topic} at={at}>
        {latest}
      </Live>
      <p class="pager">
        <a href={`/admin/commits?customer=${customerId}`}>All commits of this customer</a>
      </p>
    </>
  );
}
