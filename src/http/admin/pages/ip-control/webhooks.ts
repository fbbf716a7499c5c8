import type { Application, ServedApplication } from '../../../../application/application.ts';
import { regionNames } from '../../../../application/ip-control/customer-lists.ts';
import {
  listDeliveries,
  requestRedelivery,
  showDelivery,
  testWebhook,
  type WebhookTest,
} from '../../../../application/ip-control/webhook-deliveries.ts';
import { notificationBody } from '../../../../domain/ip-control/webhook-notification.ts';
import { isRefusal, type Refusal } from '../../../../kernel/decider.ts';
import type { CustomerView } from '../../../../projections/ip-control/customer-view.ts';
import { mayDo } from '../../access.ts';
import { type Message, notFoundPage, type PageAnswer, type PageAsk, type PageRoute } from '../page.ts';
import { listQueryOf, ROWS_MAX } from '../parts/list.tsx';
import { count } from '../parts/text.tsx';
import { withCustomer } from './customers.ts';
import { deliveryPage, webhookPage } from './webhook-pages.tsx';

export type WebhookPagesDependencies = Pick<
  Application,
  'directory' | 'customers' | 'regions' | 'deliveries' | 'secrets' | 'ids' | 'clock'
> &
  Pick<ServedApplication, 'sender'> &
  Readonly<{
    views: Pick<Application['views'], 'customers' | 'regions' | 'webhookDeliveries' | 'webhookDeliveryLog'>;
    /** Resolves when the views show everything that was recorded until now. */
    shown: () => Promise<void>;
    /** From a try that failed to the next one. */
    webhookRetryMilliseconds: number;
  }>;

/** What customers were told of their commits: looked at, sent again, and tried out. */
export function webhookPages(application: WebhookPagesDependencies): readonly PageRoute[] {
  return [
    {
      method: 'GET',
      path: '/customers/{id}/webhook',
      scope: 'read',
      handle: (ask) => withCustomer(ask, application, (customer) => list(customer, ask, application)),
    },
    {
      method: 'POST',
      path: '/customers/{id}/webhook/test',
      scope: 'webhooks:write',
      handle: (ask) => withCustomer(ask, application, (customer) => sendTest(customer, ask, application)),
    },
    {
      method: 'GET',
      path: '/customers/{id}/webhook/{delivery}',
      scope: 'read',
      handle: (ask) => withCustomer(ask, application, (customer) => show(customer, ask, application)),
    },
    {
      method: 'POST',
      path: '/customers/{id}/webhook/{delivery}/resend',
      scope: 'webhooks:write',
      handle: (ask) => withCustomer(ask, application, (customer) => resend(customer, ask, application)),
    },
  ];
}

async function list(
  customer: CustomerView,
  { query: fields, principal, request }: PageAsk,
  application: WebhookPagesDependencies,
): Promise<PageAnswer> {
  const query = listQueryOf(fields, 'when');
  const { customerId } = customer;
  const after = query.after === '' ? undefined : query.after;
  const [{ deliveries, nextAfter }, regions] = await Promise.all([
    listDeliveries({ customerId, after, limit: ROWS_MAX }, application),
    regionNames(application),
  ]);
  return {
    page: webhookPage({
      customer,
      deliveries,
      regions,
      query,
      next: nextAfter,
      maySend: mayDo(principal, 'webhooks:write'),
      now: application.clock.now(),
      retryMilliseconds: application.webhookRetryMilliseconds,
      address: request.originalUrl,
    }),
  };
}

async function show(
  customer: CustomerView,
  { params, principal }: PageAsk,
  application: WebhookPagesDependencies,
): Promise<PageAnswer> {
  const delivery = await showDelivery({ customerId: customer.customerId, id: params['delivery'] ?? '' }, application);
  if (isRefusal(delivery)) return notFoundPage('There is no such notification of this customer.');
  const region = (await regionNames(application)).get(delivery.regionId) ?? String(delivery.regionId);
  return {
    page: deliveryPage({
      customer,
      delivery,
      region,
      body: notificationBody('commit_completed', { ...delivery, customer, region }),
      maySend: mayDo(principal, 'webhooks:write'),
      now: application.clock.now(),
      retryMilliseconds: application.webhookRetryMilliseconds,
    }),
  };
}

async function resend(
  customer: CustomerView,
  { params, context }: PageAsk,
  application: WebhookPagesDependencies,
): Promise<PageAnswer> {
  const { customerId } = customer;
  const id = params['delivery'] ?? '';
  const asked = await requestRedelivery({ customerId, id }, context, application);
  if (isRefusal(asked)) return refused(asked);
  await application.shown();
  const text = asked.isNew
    ? 'It is sent again, behind what is still to be sent to this customer.'
    : 'It is on its way already: nothing was changed.';
  return { goTo: `/admin/customers/${customerId}/webhook/${id}`, message: { kind: 'ok', text } };
}

async function sendTest(
  { customerId }: CustomerView,
  { context }: PageAsk,
  application: WebhookPagesDependencies,
): Promise<PageAnswer> {
  const tested = await testWebhook({ customer: customerId }, context, application);
  if (isRefusal(tested)) return refused(tested);
  await application.shown();
  return { goTo: `/admin/customers/${customerId}/webhook`, message: outcomeOf(tested) };
}

function outcomeOf({ delivered, httpStatus, because, milliseconds }: WebhookTest): Message {
  const took = `${count(milliseconds)} ms`;
  return delivered
    ? { kind: 'ok', text: `The test was delivered: HTTP ${httpStatus ?? 200} after ${took}.` }
    : { kind: 'bad', text: `The test was not delivered after ${took}: ${because ?? 'no answer'}.` };
}

function refused({ refused: code, because }: Refusal): PageAnswer {
  if (code === 'delivery-not-found') return notFoundPage('There is no such notification of this customer.');
  return { problem: { status: 409, title: 'Not done', because } };
}
