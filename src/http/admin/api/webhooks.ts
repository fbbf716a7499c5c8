import { z } from 'zod';
import { findCustomer } from '../../../application/ip-control/lookups.ts';
import {
  type ListedDelivery,
  listDeliveries,
  requestRedelivery,
  showDelivery,
  testWebhook,
} from '../../../application/ip-control/webhook-deliveries.ts';
import { isRefusal } from '../../../kernel/decider.ts';
import { jsonOf, problemAnswers, type Route } from '../../route.ts';
import { type AdminApi, type AdminOperation, adminRoute } from './call.ts';
import { customerParams } from './customers.ts';
import { ADMIN_PROBLEMS, BODY_PROBLEMS, changed, groundsBody, pageFields, pageOf, showing } from './shapes.ts';

const delivery = z.strictObject({
  id: z.string(),
  commit_set_id: z.string(),
  list: z.string(),
  status: z.enum(['success', 'failed']),
  completed_at: z.string(),
  owed_at: z.string(),
  requested_again_at: z.string().nullable(),
  state: z.enum(['retrying', 'delivered', 'given_up']),
  attempts: z.array(
    z.strictObject({
      attempt: z.int().positive(),
      at: z.string(),
      http_status: z.int().nullable(),
      because: z.string().nullable(),
      milliseconds: z.int().nonnegative().nullable(),
    }),
  ),
});
const deliveryParams = customerParams.extend({ delivery: z.string() });

const list = {
  method: 'GET',
  path: '/customers/{customer}/webhook-deliveries',
  scope: 'admin',
  needs: 'read',
  request: { params: customerParams, query: z.strictObject(pageFields) },
  answers: { 200: pageOf(delivery), ...ADMIN_PROBLEMS },
} as const satisfies AdminOperation;

const test = {
  method: 'POST',
  path: '/customers/{customer}/webhook-deliveries/test',
  scope: 'admin',
  needs: 'webhooks:write',
  request: { params: customerParams, body: jsonOf(groundsBody) },
  answers: {
    200: changed(
      z.strictObject({
        id: z.string(),
        delivered: z.boolean(),
        http_status: z.int().nullable(),
        because: z.string().nullable(),
        milliseconds: z.int().nonnegative(),
      }),
    ),
    ...BODY_PROBLEMS,
    ...problemAnswers(409),
  },
} as const satisfies AdminOperation;

const show = showing('/customers/{customer}/webhook-deliveries/{delivery}', deliveryParams, delivery);

const redeliver = {
  method: 'POST',
  path: '/customers/{customer}/webhook-deliveries/{delivery}/redeliver',
  scope: 'admin',
  needs: 'webhooks:write',
  request: { params: deliveryParams, body: jsonOf(groundsBody) },
  answers: {
    202: changed(z.strictObject({ id: z.string(), state: z.literal('retrying') })),
    ...BODY_PROBLEMS,
    ...problemAnswers(409),
  },
} as const satisfies AdminOperation;

/** What customers were told, and were not. @public what describes the API is made from it */
export const WEBHOOK_OPERATIONS: readonly AdminOperation[] = [list, test, show, redeliver];

/** What customers were told, and were not, carried out. */
export function webhookRoutes(api: AdminApi): readonly Route[] {
  return [
    adminRoute(list, api, async ({ application, params, query: { after, limit } }) => {
      const customer = await findCustomer(params.customer, application);
      if (isRefusal(customer)) return customer;
      const page = await listDeliveries({ customerId: customer.customerId, after, limit }, application);
      return { data: page.deliveries.map(rowOf), meta: { next_after: page.nextAfter ?? null } };
    }),
    adminRoute(test, api, async ({ application, params, context }) => {
      const tested = await testWebhook({ customer: params.customer }, context, application);
      if (isRefusal(tested)) return tested;
      const { id, delivered, httpStatus = null, because = null, milliseconds } = tested;
      return { data: { id, delivered, http_status: httpStatus, because, milliseconds } };
    }),
    adminRoute(show, api, async ({ application, params }) => {
      const customer = await findCustomer(params.customer, application);
      if (isRefusal(customer)) return customer;
      const { customerId } = customer;
      const found = await showDelivery({ customerId, id: params.delivery }, application);
      return isRefusal(found) ? found : { data: rowOf(found) };
    }),
    adminRoute(redeliver, api, async ({ application, params, context }) => {
      const customer = await findCustomer(params.customer, application);
      if (isRefusal(customer)) return customer;
      const wanted = { customerId: customer.customerId, id: params.delivery };
      const asked = await requestRedelivery(wanted, context, application);
      return isRefusal(asked) ? asked : { status: 202, data: { id: asked.id, state: asked.state } };
    }),
  ];
}

function rowOf(told: ListedDelivery) {
  return {
    id: told.id,
    commit_set_id: told.commitSetId,
    list: told.list,
    status: told.status,
    completed_at: told.completedAt,
    owed_at: told.owedAt,
    requested_again_at: told.requestedAgainAt,
    state: told.state,
    attempts: told.attempts.map(({ httpStatus, ...attempt }) => ({ ...attempt, http_status: httpStatus })),
  };
}
