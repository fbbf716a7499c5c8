import { Temporal } from '@js-temporal/polyfill';
import type { CommitSettled } from '../../events/ip-control/customer.ts';
import type { ListKind } from '../../events/ip-control/vocabulary.ts';
import type { WebhookDeliveryEvent } from '../../events/ip-control/webhook-delivery.ts';
import type { Told } from '../../kernel/event.ts';
import type { Duty, Process } from '../../kernel/process.ts';
import { streamId } from '../../kernel/stream-name.ts';

export type Notification = Readonly<{
  customerId: number;
  regionId: number;
  commitSetId: string;
  list: ListKind;
  status: 'success' | 'failed';
  completedAt: string;
  /** The number of the next try, from 1. */
  attempt: number;
  /** The next try is not before this. */
  notBefore: string;
}>;

/** What a customer is still to be told about a region, oldest first. */
export type DeliverWebhookState = Readonly<{ queue: readonly Notification[] }>;

export type DeliverWebhookDuty = Duty<'DeliverWebhook', Notification>;

type Watched = CommitSettled | WebhookDeliveryEvent;

/** Owes the oldest notification of each customer and region, so that they arrive in order; the next one only when it is delivered or given up. */
export function deliverWebhook(
  retryDelayMilliseconds: number,
): Process<Watched, DeliverWebhookState, DeliverWebhookDuty> {
  return {
    name: 'deliver-webhook',
    version: 1,
    handles: ['CommitCompleted', 'CommitFailed', 'WebhookDelivered', 'WebhookAttemptFailed', 'WebhookAbandoned'],
    keysOf: (event) => [
      'customerId' in event.data
        ? `${event.data.customerId}/${event.data.regionId}`
        : `${streamId(event.stream)}/${event.data.regionId}`,
    ],
    evolve: (state, event) => evolve(state, event, retryDelayMilliseconds),
    owed: ({ queue: [oldest] }, now) => {
      if (oldest === undefined || !isDue(oldest, now)) return [];
      return [{ type: 'DeliverWebhook', id: `${oldest.commitSetId}/${oldest.status}#${oldest.attempt}`, data: oldest }];
    },
    wakeAt: ({ queue: [oldest] }) =>
      oldest === undefined || oldest.attempt === 1 ? undefined : Temporal.Instant.from(oldest.notBefore),
  };
}

function evolve(
  state: DeliverWebhookState | undefined,
  event: Told<Watched>,
  retryDelayMilliseconds: number,
): DeliverWebhookState | undefined {
  const queue = state?.queue ?? [];
  switch (event.type) {
    case 'CommitCompleted':
    case 'CommitFailed':
      return event.data.notify ? { queue: [...queue, notificationOf(event)] } : state;
    case 'WebhookDelivered':
    case 'WebhookAbandoned': {
      const rest = queue.filter((waiting) => !isAbout(waiting, event));
      return rest.length === 0 ? undefined : { queue: rest };
    }
    case 'WebhookAttemptFailed': {
      const notBefore = Temporal.Instant.from(event.metadata.at)
        .add({ milliseconds: retryDelayMilliseconds })
        .toString();
      const attempt = event.data.attempt + 1;
      return (
        state && {
          queue: queue.map((waiting) => (isAbout(waiting, event) ? { ...waiting, attempt, notBefore } : waiting)),
        }
      );
    }
  }
}

/** The first try waits for nothing, not even for a clock that was set back. */
function isDue({ attempt, notBefore }: Notification, now: Temporal.Instant): boolean {
  return attempt === 1 || Temporal.Instant.compare(Temporal.Instant.from(notBefore), now) <= 0;
}

function notificationOf(event: Told<CommitSettled>): Notification {
  const { regionId, commitSetId, list, completedAt } = event.data;
  const status = event.type === 'CommitCompleted' ? 'success' : 'failed';
  const customerId = Number(streamId(event.stream));
  return { customerId, regionId, commitSetId, list, status, completedAt, attempt: 1, notBefore: event.metadata.at };
}

function isAbout(waiting: Notification, event: WebhookDeliveryEvent): boolean {
  return waiting.commitSetId === event.data.commitSetId && waiting.status === event.data.status;
}
