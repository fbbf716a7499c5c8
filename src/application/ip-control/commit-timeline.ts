import type { RecordedEvent } from '../../kernel/event.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { CommitView } from '../../projections/ip-control/commit-view.ts';
import { deliveryKey, type WebhookDeliveryView } from '../../projections/ip-control/webhook-delivery-view.ts';
import type { Application } from '../application.ts';

/** What is known of a commit set beyond its view. */
export type CommitTimeline = Readonly<{
  /** Its events and those of its notifications, the oldest first, as far as the log was looked through. */
  events: readonly RecordedEvent[];
  /** Who asked for it, where that is among them. */
  by: string | undefined;
  deliveries: readonly WebhookDeliveryView[];
}>;

/** Events of the log that are looked through behind its request: on a busy log the others of that time are among them. */
const LOOKED_THROUGH_MAX = 2_000;

/** From the request of a commit set on, what has happened with it. */
export async function commitTimeline(
  { commitSetId, customerId, position }: CommitView,
  {
    store,
    views,
  }: Readonly<{ store: Pick<EventStore, 'readAll'>; views: Pick<Application['views'], 'webhookDeliveries'> }>,
): Promise<CommitTimeline> {
  const events: RecordedEvent[] = [];
  let lookedThrough = 0;
  for await (const page of store.readAll(BigInt(position) - 1n)) {
    for (const event of page)
      if ('commitSetId' in event.data && event.data.commitSetId === commitSetId) events.push(event);
    lookedThrough += page.length;
    if (lookedThrough >= LOOKED_THROUGH_MAX) break;
  }
  const statuses = ['success', 'failed'] as const;
  const deliveries = await Promise.all(
    statuses.map((status) => views.webhookDeliveries.get(deliveryKey({ customerId, commitSetId, status }))),
  );
  return {
    events,
    by: events.find(({ type }) => type === 'CommitRequested')?.metadata.actor,
    deliveries: deliveries.flatMap((delivery) => delivery ?? []),
  };
}
