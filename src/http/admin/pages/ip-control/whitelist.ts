import type { Application } from '../../../../application/application.ts';
import {
  type Review,
  REVIEW_STAGES,
  type ReviewQueueDependencies,
  reviewOf,
  reviewRows,
} from '../../../../application/ip-control/review-queue.ts';
import {
  approveRequest,
  type DecidedRequest,
  rejectRequest,
  requestEvidence,
} from '../../../../application/ip-control/whitelist-review.ts';
import { isRefusal, type Refusal } from '../../../../kernel/decider.ts';
import type { Log } from '../../../../ports/log.ts';
import { mayDo } from '../../access.ts';
import { evidenceHeaders, sendEvidence } from '../../evidence.ts';
import { fieldOf, type Message, notFoundPage, type PageAnswer, type PageAsk, type PageRoute } from '../page.ts';
import type { FormErrors } from '../parts/form.tsx';
import { listQueryOf } from '../parts/list.tsx';
import { exact } from '../parts/text.tsx';
import { reviewListPage } from './review-list.tsx';
import { reviewPage } from './review-page.tsx';

export type WhitelistPagesDependencies = ReviewQueueDependencies &
  Pick<Application, 'customers' | 'evidence' | 'clock' | 'views'> &
  Readonly<{
    /** Resolves when the views show everything that was recorded until now. */
    shown: () => Promise<void>;
    log: Log;
    /** Where registries tell whose a block is, with `{cidr}` in it. */
    lookupUrl: string | undefined;
  }>;

/** The review of whitelist requests, with their evidence. */
export function whitelistPages(application: WhitelistPagesDependencies): readonly PageRoute[] {
  return [
    { method: 'GET', path: '/whitelist', scope: 'read', handle: (ask) => list(ask, application) },
    {
      method: 'GET',
      path: '/whitelist/{id}',
      scope: 'read',
      handle: (ask) => withReview(ask, application, (review) => shownPage(review, ask, application)),
    },
    {
      method: 'GET',
      path: '/whitelist/{id}/evidence',
      scope: 'evidence:read',
      isFile: true,
      handle: (ask) => evidence(ask, application),
    },
    {
      method: 'POST',
      path: '/whitelist/{id}/approve',
      scope: 'whitelist:review',
      handle: (ask) =>
        withReview(ask, application, async (review) => {
          const { requestId } = review.row.request;
          return decided(await approveRequest(requestId, ask.context, application), review, ask, application);
        }),
    },
    {
      method: 'POST',
      path: '/whitelist/{id}/reject',
      scope: 'whitelist:review',
      handle: (ask) =>
        withReview(ask, application, async (review) => {
          const wanted = { id: review.row.request.requestId, reason: fieldOf(ask.form, 'reason').trim() };
          return decided(await rejectRequest(wanted, ask.context, application), review, ask, application);
        }),
    },
  ];
}

async function list({ query: fields, request }: PageAsk, application: WhitelistPagesDependencies): Promise<PageAnswer> {
  const query = listQueryOf(fields, '');
  const asked = fieldOf(fields, 'stage') || 'waiting';
  const stage = REVIEW_STAGES.find((known) => known === asked);
  const rows = await reviewRows({ stage, text: query.q }, application);
  const now = application.clock.now();
  return { page: reviewListPage({ query, stage, rows, now, address: request.originalUrl }) };
}

async function withReview(
  { params }: PageAsk,
  application: WhitelistPagesDependencies,
  work: (review: Review) => Promise<PageAnswer>,
): Promise<PageAnswer> {
  const review = await reviewOf(params['id'] ?? '', application);
  return isRefusal(review) ? notFoundPage(review.because) : work(review);
}

async function shownPage(
  review: Review,
  { principal, form }: PageAsk,
  { clock, lookupUrl }: WhitelistPagesDependencies,
  more: Readonly<{ status?: number; errors?: FormErrors; tooLate?: Message }> = {},
): Promise<PageAnswer> {
  return {
    page: reviewPage({
      review,
      now: clock.now(),
      mayDecide: mayDo(principal, 'whitelist:review'),
      maySeeEvidence: mayDo(principal, 'evidence:read'),
      lookupUrl,
      reason: fieldOf(form, 'reason'),
      errors: {},
      ...more,
    }),
  };
}

/** What becomes of a decision: on to the next request; or who was faster, and when; or what is wrong with it. */
async function decided(
  decision: DecidedRequest | Refusal,
  before: Review,
  ask: PageAsk,
  application: WhitelistPagesDependencies,
): Promise<PageAnswer> {
  const { requestId, input } = before.row.request;
  await application.shown();
  const after = await reviewOf(requestId, application);
  if (isRefusal(after)) return notFoundPage(after.because);
  if (isRefusal(decision)) {
    const { refused, because, field } = decision;
    const isLate = refused === 'source-whitelist-decided' || refused === 'source-whitelist-not-found';
    if (isLate) return shownPage(after, ask, application, { status: 409, tooLate: fasterThan(after) });
    return shownPage(after, ask, application, { status: 422, errors: { [field === 'reason' ? field : '']: because } });
  }
  const { decided: deed } = after.row.request;
  if (!decision.isNew && deed?.by !== ask.context.actor)
    return shownPage(after, ask, application, { status: 409, tooLate: fasterThan(after) });
  const text =
    after.row.stage === 'rejected'
      ? `${input} of ${after.row.customer} is rejected.`
      : `${input} of ${after.row.customer} is approved: it goes out with the next commit.`;
  const next = before.next ?? before.previous;
  return { goTo: `/admin/whitelist${next === undefined ? '' : `/${next}`}`, message: { kind: 'ok', text } };
}

function fasterThan({ row: { request } }: Review): Message {
  const { removed, decided: deed } = request;
  const [verb, who] = removed !== null ? ['removed', removed] : [deed?.outcome ?? 'approved', deed];
  const whoAndWhen = who === null ? 'without a review' : `by ${who.by} at ${exact(who.at)}`;
  return {
    kind: 'warn',
    text: `This request was ${verb} ${whoAndWhen}: your decision came too late and changed nothing.`,
  };
}

async function evidence(
  { params, principal: { account }, context: { requestId } }: PageAsk,
  application: WhitelistPagesDependencies,
): Promise<PageAnswer> {
  const found = await requestEvidence(params['id'] ?? '', application);
  if (isRefusal(found)) return notFoundPage(found.because);
  const { sha256 } = found.evidence;
  application.log.info({ requestId, account, request: found.requestId, sha256 }, 'evidence is read');
  return { headers: evidenceHeaders(found), send: (response) => sendEvidence(found, response) };
}
