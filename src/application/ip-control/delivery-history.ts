import { webhookDeliveryEvents } from '../../events/ip-control/webhook-delivery.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { streamName } from '../../kernel/stream-name.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Application } from '../application.ts';

/** The types of events that tell of deliveries; a test has a stream of its own, which no commit names. */
export const DELIVERY_TYPES: readonly string[] = webhookDeliveryEvents
  .map(({ type }) => type)
  .filter((type) => type !== 'WebhookTested');

type History = Readonly<{ store: Pick<EventStore, 'read'> }> & Pick<Application, 'isCustomerEvent'>;

/**
 * A customer's history with the deliveries of its webhooks, in the order of the log. Each commit set that is told has a stream of its own for them,
 * whose events come after the commit's: what is kept in memory is a page, and deliveries of its commits that were recorded later.
 */
export async function* withDeliveries(
  application: History,
  customerId: number,
): AsyncGenerator<readonly RecordedEvent[]> {
  const toldBefore = new Set<string>();
  let later: readonly RecordedEvent[] = [];
  for await (const page of application.store.read(streamName('customer', customerId))) {
    const deliveries = await Promise.all(
      tellingIn(page, application, toldBefore).map((id) => deliveriesOf(application, id)),
    );
    const known = [...later, ...deliveries.flat()];
    const end = page.at(-1)?.position ?? 0n;
    later = known.filter(({ position }) => position > end);
    yield inOrder([...page, ...known.filter(({ position }) => position <= end)]);
  }
  if (later.length > 0) yield inOrder(later);
}

/** Whether events of this type tell of deliveries. */
export function isWebhookDeliveryType(type: string): boolean {
  return DELIVERY_TYPES.includes(type);
}

/** Whether an event of the log tells of a delivery to this customer. */
export function isDeliveryOf(customerId: number, { type, data }: RecordedEvent): boolean {
  return DELIVERY_TYPES.includes(type) && 'customerId' in data && data.customerId === customerId;
}

/** The commit sets that these events say are to be told, each where it is said first: a failure and the success after it share a stream. */
function tellingIn(
  page: readonly RecordedEvent[],
  { isCustomerEvent }: History,
  toldBefore: Set<string>,
): readonly string[] {
  const telling: string[] = [];
  for (const event of page) {
    if (!isCustomerEvent(event) || (event.type !== 'CommitFailed' && event.type !== 'CommitCompleted')) continue;
    const { commitSetId, notify } = event.data;
    const isNew = notify && !toldBefore.has(commitSetId);
    if (isNew) telling.push(commitSetId);
    if (event.type === 'CommitCompleted') toldBefore.delete(commitSetId);
    else if (isNew) toldBefore.add(commitSetId);
  }
  return telling;
}

async function deliveriesOf({ store }: History, commitSetId: string): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const page of store.read(streamName('webhookDelivery', commitSetId))) events.push(...page);
  return events;
}

function inOrder(events: readonly RecordedEvent[]): readonly RecordedEvent[] {
  return events.toSorted((a, b) => (a.position < b.position ? -1 : 1));
}
