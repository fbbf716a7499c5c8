import { isRefusal } from '../../kernel/decider.ts';
import type { CustomerView } from '../../projections/ip-control/customer-view.ts';
import type { Application } from '../application.ts';
import { type LoggedCommit, pageCommits } from './commits.ts';
import { type ReviewRow, reviewRows } from './review-queue.ts';

export type CustomerActivityDependencies = Pick<
  Application,
  'directory' | 'customers' | 'regions' | 'catchUp' | 'views'
>;

/** What of a customer waits for a review, the oldest first, and what was deployed last, the newest first. */
export type CustomerActivity = Readonly<{ waiting: readonly ReviewRow[]; commits: readonly LoggedCommit[] }>;

const ROWS_MAX = 10;

/** How it goes with a customer at this moment; at most 10 of each. */
export async function customerActivity(
  { customerId, name }: Pick<CustomerView, 'customerId' | 'name'>,
  dependencies: CustomerActivityDependencies,
): Promise<CustomerActivity> {
  const [waiting, commits] = await Promise.all([
    reviewRows({ stage: 'waiting', text: '' }, dependencies),
    pageCommits({ customer: name, after: undefined, limit: ROWS_MAX }, dependencies),
  ]);
  return {
    waiting: waiting.filter(({ request }) => request.customerId === customerId).slice(0, ROWS_MAX),
    commits: isRefusal(commits) ? [] : commits,
  };
}
