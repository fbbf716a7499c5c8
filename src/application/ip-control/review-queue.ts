import { overlaps, rangeSize } from '../../addresses/range.ts';
import { DIRECTORY_ID } from '../../commands/ip-control/directory.ts';
import { rangeOfPrefixes, usedEntries } from '../../domain/ip-control/source-whitelist-ledger.ts';
import { isRefusal, type Refusal } from '../../kernel/decider.ts';
import type { WhitelistRequestView } from '../../projections/ip-control/source-whitelist-request-view.ts';
import type { Application } from '../application.ts';
import { regionNames } from './customer-lists.ts';
import { type ShownRequest, showRequest } from './whitelist-review.ts';

export type ReviewQueueDependencies = Pick<Application, 'directory' | 'customers' | 'catchUp' | 'views'>;

/** How far people are with a request: it waits for a review, was approved (or needed no review), was rejected, or was removed. */
export type ReviewStage = 'waiting' | 'approved' | 'rejected' | 'removed';

export const REVIEW_STAGES: readonly ReviewStage[] = ['waiting', 'approved', 'rejected', 'removed'];

/** A request as lists of requests show it. */
export type ReviewRow = Readonly<{
  request: WhitelistRequestView;
  stage: ReviewStage;
  customer: string;
  regions: readonly string[];
  addresses: bigint;
}>;

/** One request with what is worth knowing before it is decided. */
export type Review = Readonly<{
  row: ReviewRow;
  shown: ShownRequest;
  /** How many requests of its customer count against the limit, and the limit; undefined where the customer is not known. */
  entries: Readonly<{ used: number; limit: number }> | undefined;
  /** Requests of other customers that overlap it and are neither rejected nor removed. */
  ofOthers: readonly ReviewRow[];
  /** Requests of the same customer that overlap it, and what became of them; the newest first. */
  ofSame: readonly ReviewRow[];
  /** The requests before and after it in the queue of those that wait. */
  previous: string | undefined;
  next: string | undefined;
}>;

const RELATED_MAX = 50;

/** How far people are with a request. */
export function reviewStage({ decided, removed, autoApproved }: WhitelistRequestView): ReviewStage {
  if (removed !== null) return 'removed';
  if (decided !== null) return decided.outcome;
  return autoApproved ? 'approved' : 'waiting';
}

/**
 * Requests whose customer or addresses hold a text, in any case: those that wait with the oldest first, all others with the newest first.
 */
export async function reviewRows(
  { stage, text }: Readonly<{ stage: ReviewStage | undefined; text: string }>,
  dependencies: ReviewQueueDependencies,
): Promise<readonly ReviewRow[]> {
  const wanted = text.toLowerCase();
  const rows = (await allRows(dependencies))
    .filter((row) => stage === undefined || row.stage === stage)
    .filter(({ customer, request }) => [customer, request.input].some((known) => known.toLowerCase().includes(wanted)));
  return stage === 'waiting' ? rows : rows.toReversed();
}

/** One request by its id, removed ones too. */
export async function reviewOf(id: string, dependencies: ReviewQueueDependencies): Promise<Review | Refusal> {
  const shown = await showRequest(id, dependencies);
  if (isRefusal(shown)) return shown;
  const rows = await allRows(dependencies);
  const row = rows.find(({ request }) => request.requestId === shown.requestId);
  if (row === undefined) throw new Error(`the request ${shown.requestId} was in the view a moment ago`);
  const { customerId, prefixes } = row.request;
  const range = rangeOfPrefixes(prefixes);
  const related = rows.filter((other) => other !== row && overlaps(rangeOfPrefixes(other.request.prefixes), range));
  const place = rows.indexOf(row);
  const customer = await dependencies.views.customers.get(String(customerId));
  const whitelist = (await dependencies.views.sourceWhitelists.get(String(customerId)))?.whitelist;
  return {
    row,
    shown,
    entries:
      customer === undefined
        ? undefined
        : { used: whitelist === undefined ? 0 : usedEntries(whitelist), limit: customer.settings.whitelistLimit },
    ofOthers: related
      .filter(({ request, stage }) => request.customerId !== customerId && isInUse(stage))
      .slice(0, RELATED_MAX),
    ofSame: related
      .filter(({ request }) => request.customerId === customerId)
      .toReversed()
      .slice(0, RELATED_MAX),
    // By place, as several may have been submitted at the same instant.
    previous: rows.slice(0, place).findLast(isWaiting)?.request.requestId,
    next: rows.slice(place + 1).find(isWaiting)?.request.requestId,
  };
}

function isWaiting({ stage }: ReviewRow): boolean {
  return stage === 'waiting';
}

/** Whether its addresses are, or may come to be, in a list. */
export function isInUse(stage: ReviewStage): boolean {
  return stage === 'waiting' || stage === 'approved';
}

/** All requests, the oldest first. */
async function allRows({
  directory,
  views,
}: Pick<ReviewQueueDependencies, 'directory' | 'views'>): Promise<readonly ReviewRow[]> {
  const [{ state }, regions, requests] = await Promise.all([
    directory.state(DIRECTORY_ID),
    regionNames({ views }),
    views.whitelistRequests.list(),
  ]);
  return requests
    .map(({ view: request }) => ({
      request,
      stage: reviewStage(request),
      customer: state.customers.get(request.customerId)?.name ?? String(request.customerId),
      regions: request.regionIds.map((regionId) => regions.get(regionId) ?? String(regionId)),
      addresses: rangeSize(rangeOfPrefixes(request.prefixes)),
    }))
    .toSorted((a, b) => compareTexts(a.request.submitted.at, b.request.submitted.at));
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
