import type { CommandContext } from '../../commands/aggregate.ts';
import type { Registered } from '../../commands/ip-control/customer-state.ts';
import { deliveryId, deliveryNamed, notificationBody } from '../../domain/ip-control/webhook-notification.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import type { WebhookSender } from '../../ports/webhooks.ts';
import { deliveryKey, type WebhookDeliveryView } from '../../projections/ip-control/webhook-delivery-view.ts';
import type { Application } from '../application.ts';
import { type CustomerLookup, findCustomer, notFound, type RegionLookup } from './lookups.ts';

type DeliveryViews = Readonly<{ views: Pick<Application['views'], 'webhookDeliveries' | 'webhookDeliveryLog'> }>;

/** A delivery by the `webhook-id` that its receiver sees. */
export type ListedDelivery = WebhookDeliveryView & Readonly<{ id: string }>;

/** Deliveries, newest first, and behind which place the next ones are, as long as there are more. */
export type DeliveryPage = Readonly<{ deliveries: readonly ListedDelivery[]; nextAfter: string | undefined }>;

/** What came of a test of a customer's webhook. */
export type WebhookTest = Readonly<{
  id: string;
  delivered: boolean;
  httpStatus?: number;
  because?: string;
  milliseconds: number;
}>;

/** A page of the deliveries to all customers, or to one by number. */
export async function listDeliveries(
  { customerId, after, limit }: Readonly<{ customerId?: number; after?: string | undefined; limit: number }>,
  { views }: DeliveryViews,
): Promise<DeliveryPage> {
  const prefix = customerId === undefined ? 'all/' : `customer/${customerId}/`;
  const query = { prefix, limit: limit + 1, after: after === undefined ? undefined : prefix + after };
  const found = await views.webhookDeliveryLog.page(query);
  const rows = found.slice(0, limit);
  const shown = await Promise.all(rows.map(({ view }) => views.webhookDeliveries.get(deliveryKey(view))));
  const deliveries = shown.flatMap((view) => (view === undefined ? [] : [listed(view)]));
  return { deliveries, nextAfter: found.length > limit ? rows.at(-1)?.key.slice(prefix.length) : undefined };
}

/** How the newest notification to a customer stands; `none`: there was nothing to tell yet. */
export type WebhookStanding = 'delivering' | 'failing' | 'none';

/** Whether what customers with a webhook are told arrives, by number; what is still to be sent for the first time has not failed. */
export async function webhookStandings(
  customerIds: readonly number[],
  dependencies: DeliveryViews,
): Promise<ReadonlyMap<number, WebhookStanding>> {
  const standings = await Promise.all(
    customerIds.map(async (customerId) => {
      const { deliveries } = await listDeliveries({ customerId, limit: 1 }, dependencies);
      return [customerId, standingOf(deliveries[0])] as const;
    }),
  );
  return new Map(standings);
}

function standingOf(newest: ListedDelivery | undefined): WebhookStanding {
  if (newest === undefined) return 'none';
  const isFailing = newest.state === 'given_up' || (newest.attempts.at(-1)?.because ?? null) !== null;
  return isFailing && newest.state !== 'delivered' ? 'failing' : 'delivering';
}

/** A delivery to a customer; refused with `delivery-not-found`. */
export async function showDelivery(
  { customerId, id }: Readonly<{ customerId: number; id: string }>,
  { views }: DeliveryViews,
): Promise<ListedDelivery | Refusal> {
  const named = deliveryNamed(id);
  const view = named && (await views.webhookDeliveries.get(deliveryKey({ customerId, ...named })));
  return view === undefined ? refuse('delivery-not-found', `delivery ${id} not found.`, 'id') : listed(view);
}

/**
 * Has a notification sent again, as the last of what its customer is still to be told about the region; one that is on its way already goes on as it
 * was. It has the same body and the same `webhook-id`. Refused with `delivery-not-found` or `no-webhook`.
 */
export async function requestRedelivery(
  wanted: Readonly<{ customerId: number; id: string }>,
  context: CommandContext,
  dependencies: DeliveryViews & Pick<Application, 'customers' | 'deliveries'>,
): Promise<Readonly<{ id: string; state: 'retrying'; isNew: boolean; position: bigint }> | Refusal> {
  const delivery = await showDelivery(wanted, dependencies);
  if (isRefusal(delivery)) return delivery;
  const { state: customer } = await dependencies.customers.state(wanted.customerId);
  if (customer.phase === 'unregistered' || customer.settings.webhookUrl === null) return noWebhook(customer);
  const { id, commitSetId, customerId, regionId, status, list, completedAt } = delivery;
  const data = { commitSetId, customerId, regionId, status, list, completedAt };
  const command = { type: 'RequestWebhookRedelivery', data } as const;
  const answer = await dependencies.deliveries.handle(commitSetId, command, context);
  if (isRefusal(answer)) return answer;
  return { id, state: 'retrying', isNew: answer.events.length > 0, position: answer.position };
}

/** Sends a test to a customer's webhook, once, and records what came of it. Refused with `no-webhook` where there is nowhere to send it. */
export async function testWebhook(
  { customer: nameOrNumber }: Readonly<{ customer: string | number }>,
  context: CommandContext,
  dependencies: CustomerLookup &
    Pick<RegionLookup, 'regions'> &
    Pick<Application, 'deliveries' | 'secrets' | 'clock' | 'ids'> &
    Readonly<{ sender: Pick<WebhookSender, 'send'> }>,
): Promise<WebhookTest | Refusal> {
  const { deliveries, secrets, sender, clock, ids } = dependencies;
  const customer = await findCustomer(nameOrNumber, dependencies);
  if (isRefusal(customer)) return customer;
  const { webhookUrl: url } = customer.settings;
  if (url === null) return noWebhook(customer);
  const secret = customer.webhookSecretId === undefined ? undefined : await secrets.get(customer.webhookSecretId);
  if (secret === undefined)
    return refuse('no-webhook', `the webhook secret of customer ${customer.name} is missing: rotate it.`, 'customer');
  const testId = ids.uuid();
  const id = deliveryId(testId, 'test');
  const region = await firstRegion(customer, dependencies);
  const completedAt = clock.nowText();
  const about = { commitSetId: testId, customer, list: 'BLACKHOLE', region, status: 'success', completedAt } as const;
  const body = notificationBody('test', about);
  const timestampSeconds = (): number => Math.floor(clock.now().epochMilliseconds / 1000);
  const began = clock.monotonicMilliseconds();
  // What was sent is recorded, also when those who asked are gone; the sender's own time limit ends it.
  const never = new AbortController().signal;
  const result = await sender.send({ url, messageId: id, timestampSeconds, body, secret }, never);
  const milliseconds = Math.round(clock.monotonicMilliseconds() - began);
  const { delivered, status: httpStatus } = result;
  const outcome = {
    delivered,
    ...(httpStatus === undefined ? {} : { httpStatus }),
    ...(result.delivered ? {} : { because: result.because }),
    milliseconds,
  };
  const data = { customerId: customer.customerId, ...outcome };
  const recorded = await deliveries.handle(testId, { type: 'RecordWebhookTested', data }, context);
  return isRefusal(recorded) ? recorded : { id, ...outcome };
}

function listed(view: WebhookDeliveryView): ListedDelivery {
  return { id: deliveryId(view.commitSetId, view.status), ...view };
}

function noWebhook(customer: Registered | Readonly<{ phase: 'unregistered' }>): Refusal {
  if (customer.phase === 'unregistered') return notFound('customer not found.', 'customer');
  return refuse('no-webhook', `customer ${customer.name} has no webhook URL.`, 'customer');
}

/** A region that the receiver knows; a customer without subnets has none. */
async function firstRegion(customer: Registered, { regions }: Pick<RegionLookup, 'regions'>): Promise<string> {
  const [subnet] = customer.subnets.values();
  const state = subnet === undefined ? undefined : (await regions.state(subnet.regionId)).state;
  return state?.phase === 'created' ? state.name : 'test';
}
