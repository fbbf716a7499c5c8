import type { Request, Response } from 'express';
import { z } from 'zod';
import type { Application } from '../../application/application.ts';
import {
  type ListedDelivery,
  listDeliveries,
  requestRedelivery,
} from '../../application/ip-control/webhook-deliveries.ts';
import { isRefusal } from '../../kernel/decider.ts';
import { invalid, type Problem, problems, refused, sendJson, sendProblem } from '../problems.ts';
import { queryErrors, refuseQuery } from '../middleware/query.ts';
import { callerOf, contextOf } from '../middleware/request-context.ts';
import { requireWhole } from '../middleware/whole-requests.ts';
import { CUSTOMER_PROBLEMS, numbersQuery, type Operation, problemAnswers, type Route } from '../route.ts';
import { pageQuery, readPage } from './page-query.ts';

export type WebhookDeliveryDependencies = Pick<Application, 'customers' | 'deliveries'> &
  Readonly<{
    views: Pick<Application['views'], 'webhookDeliveries' | 'webhookDeliveryLog'>;
    /** Waits (bounded) until every view shows this position. */
    shown: (position: bigint) => Promise<boolean>;
  }>;

const NO_WEBHOOK: Problem = { status: 409, message: 'your account has no webhook URL.' };

const state = z.enum(['delivered', 'retrying', 'given_up']);
const delivery = z.strictObject({
  id: z.string(),
  commit_set_id: z.uuid(),
  status: z.enum(['success', 'failed']),
  state,
  attempts: z.array(
    z.strictObject({
      at: z.iso.datetime({ offset: true }),
      http_status: z.int().nullable(),
      error: z.string().nullable(),
    }),
  ),
});

const listOwn = {
  method: 'GET',
  path: '/webhook-deliveries',
  scope: 'customer',
  request: { query: z.strictObject({ ...pageQuery, ...numbersQuery }) },
  answers: {
    200: z.strictObject({ data: z.array(delivery), meta: z.strictObject({ next_after: z.string().nullable() }) }),
    ...CUSTOMER_PROBLEMS,
  },
} as const satisfies Operation;

const redeliver = {
  method: 'POST',
  path: '/webhook-deliveries/{id}/redeliver',
  scope: 'customer',
  request: { params: z.strictObject({ id: z.string() }), query: z.strictObject(numbersQuery) },
  answers: {
    202: z.strictObject({ data: z.strictObject({ id: z.string(), state }) }),
    ...CUSTOMER_PROBLEMS,
    ...problemAnswers(404, 409, 413),
  },
} as const satisfies Operation;

/** What shows a customer the deliveries of its webhooks, and has them sent again. @public what describes the API is made from it */
export const WEBHOOK_DELIVERY_OPERATIONS: readonly Operation[] = [listOwn, redeliver];

/** What shows a customer the deliveries of its webhooks, and has them sent again, carried out. */
export function webhookDeliveryRoutes(dependencies: WebhookDeliveryDependencies): readonly Route[] {
  return [
    { ...listOwn, handle: [(request, response) => sendDeliveries(request, response, dependencies)] },
    {
      ...redeliver,
      handle: [refuseQuery, requireWhole, (request, response) => sendAgain(request, response, dependencies)],
    },
  ];
}

async function sendDeliveries(
  request: Request,
  response: Response,
  dependencies: WebhookDeliveryDependencies,
): Promise<void> {
  const errors: Record<string, readonly string[]> = { ...queryErrors(request, ['after', 'limit']) };
  const page = readPage(request, errors);
  if (Object.keys(errors).length > 0) return sendProblem(response, invalid(errors));
  const { customerId } = callerOf(response).customer;
  const { deliveries, nextAfter = null } = await listDeliveries({ customerId, ...page }, dependencies);
  sendJson(response, 200, { data: deliveries.map(shownDelivery), meta: { next_after: nextAfter } });
}

function shownDelivery({ id, commitSetId, status, state: now, attempts }: ListedDelivery) {
  return {
    id,
    commit_set_id: commitSetId,
    status,
    state: now,
    attempts: attempts.map(({ at, httpStatus, because }) => ({ at, http_status: httpStatus, error: because })),
  };
}

async function sendAgain(
  request: Request,
  response: Response,
  dependencies: WebhookDeliveryDependencies,
): Promise<void> {
  const { customer, tokenId } = callerOf(response);
  const wanted = { customerId: customer.customerId, id: String(request.params['id']) };
  const context = { actor: `token:${tokenId}`, requestId: contextOf(response).requestId };
  const answer = await requestRedelivery(wanted, context, dependencies);
  if (isRefusal(answer)) {
    if (answer.refused === 'delivery-not-found') return sendProblem(response, problems.notFound);
    return sendProblem(response, answer.refused === 'no-webhook' ? NO_WEBHOOK : refused(answer));
  }
  await dependencies.shown(answer.position);
  sendJson(response, 202, { data: { id: answer.id, state: answer.state } });
}
