import type { CommitSettled } from '../../events/ip-control/customer.ts';
import type { ListKind } from '../../events/ip-control/vocabulary.ts';
import type { WebhookDeliveryEvent } from '../../events/ip-control/webhook-delivery.ts';
import type { Told } from '../../kernel/event.ts';
import { type Duty, type Mark, markOf, type Process, type Since } from '../../kernel/process.ts';
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
  /** The last try, which failed: the next one keeps its distance from it. */
  failed: Mark | null;
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
    version: 2,
    handles: ['CommitCompleted', 'CommitFailed', 'WebhookDelivered', 'WebhookAttemptFailed', 'WebhookAbandoned'],
    keysOf: (event) => [
      'customerId' in event.data
        ? `${event.data.customerId}/${event.data.regionId}`
        : `${streamId(event.stream)}/${event.data.regionId}`,
    ],
    evolve,
    owed: ({ queue: [oldest] }, since) => {
      if (oldest === undefined || dueIn(oldest, since) > 0) return [];
      return [{ type: 'DeliverWebhook', id: `${oldest.commitSetId}/${oldest.status}#${oldest.attempt}`, data: oldest }];
    },
    wakesIn: ({ queue: [oldest] }, since) => (oldest === undefined ? undefined : dueIn(oldest, since)),
  };

  function dueIn({ failed }: Notification, since: Since): number {
    return failed === null ? 0 : retryDelayMilliseconds - since(failed);
  }
}

function evolve(state: DeliverWebhookState | undefined, event: Told<Watched>): DeliverWebhookState | undefined {
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
      const attempt = event.data.attempt + 1;
      const failed = markOf(event);
      return (
        state && {
          queue: queue.map((waiting) => (isAbout(waiting, event) ? { ...waiting, attempt, failed } : waiting)),
        }
      );
    }
  }
}

function notificationOf(event: Told<CommitSettled>): Notification {
  const { regionId, commitSetId, list, completedAt } = event.data;
  const status = event.type === 'CommitCompleted' ? 'success' : 'failed';
  const customerId = Number(streamId(event.stream));
  return { customerId, regionId, commitSetId, list, status, completedAt, attempt: 1, failed: null };
}

function isAbout(waiting: Notification, event: WebhookDeliveryEvent): boolean {
  return waiting.commitSetId === event.data.commitSetId && waiting.status === event.data.status;
}
