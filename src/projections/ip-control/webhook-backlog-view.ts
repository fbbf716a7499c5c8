import type { CommitSettled } from '../../events/ip-control/customer.ts';
import type { WebhookDeliveryEvent } from '../../events/ip-control/webhook-delivery.ts';
import type { Projection } from '../../kernel/projection.ts';

type Shown =
  | CommitSettled
  | Extract<WebhookDeliveryEvent, { type: 'WebhookDelivered' | 'WebhookAbandoned' | 'WebhookRedeliveryRequested' }>;

/** A webhook that is neither delivered nor given up. Key: `commit set/status`. `since`: as in the event that it tells of. */
export type WebhookBacklogView = Readonly<{ since: string }>;

export const webhookBacklogProjection: Projection<Shown, WebhookBacklogView> = {
  name: 'webhook-backlog',
  version: 1,
  handles: ['CommitCompleted', 'CommitFailed', 'WebhookDelivered', 'WebhookAbandoned', 'WebhookRedeliveryRequested'],
  keysOf: (event) => {
    switch (event.type) {
      case 'CommitCompleted':
      case 'CommitFailed':
        return event.data.notify ? [keyOf(event.data.commitSetId, statusOf(event))] : [];
      case 'WebhookDelivered':
      case 'WebhookAbandoned':
      case 'WebhookRedeliveryRequested':
        return [keyOf(event.data.commitSetId, event.data.status)];
    }
  },
  evolve: (_view, event) =>
    event.type === 'WebhookDelivered' || event.type === 'WebhookAbandoned' ? undefined : { since: event.metadata.at },
};

function statusOf({ type }: CommitSettled): 'success' | 'failed' {
  return type === 'CommitCompleted' ? 'success' : 'failed';
}

function keyOf(commitSetId: string, status: string): string {
  return `${commitSetId}/${status}`;
}
