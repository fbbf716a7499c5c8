import type { Command, Decider, Decision } from '../../kernel/decider.ts';
import { type WebhookDeliveryEvent, webhookDeliveryEvents } from '../../events/ip-control/webhook-delivery.ts';

type Notification = Readonly<{
  commitSetId: string;
  customerId: number;
  regionId: number;
  status: 'success' | 'failed';
  attempt: number;
}>;

/** By the status that the customer is told: how many tries were recorded, and whether there will be no other. */
export type WebhookDeliveryState = Readonly<
  Partial<Record<'success' | 'failed', { attempts: number; isOver: boolean }>>
>;

export type WebhookDeliveryCommand =
  | Command<'RecordWebhookDelivered', Notification & { httpStatus: number }>
  | Command<'RecordWebhookAttemptFailed', Notification & { because: string }>
  | Command<'RecordWebhookAbandoned', Notification & { because: string }>;

/** What is recorded of the notifications of one commit set. */
export const webhookDeliveryDecider = {
  category: 'webhookDelivery',
  handles: webhookDeliveryEvents.map(({ type }) => type),
  initial: {},
  evolve: (state, event) => ({
    ...state,
    [event.data.status]: { attempts: event.data.attempt, isOver: event.type !== 'WebhookAttemptFailed' },
  }),
  decide,
} as const satisfies Decider<WebhookDeliveryCommand, WebhookDeliveryState, WebhookDeliveryEvent> &
  Readonly<{ handles: readonly WebhookDeliveryEvent['type'][] }>;

function decide(command: WebhookDeliveryCommand, state: WebhookDeliveryState): Decision<WebhookDeliveryEvent> {
  const known = state[command.data.status];
  if (known !== undefined && (known.isOver || known.attempts >= command.data.attempt)) return [];
  switch (command.type) {
    case 'RecordWebhookDelivered':
      return [{ type: 'WebhookDelivered', data: command.data }];
    case 'RecordWebhookAttemptFailed':
      return [{ type: 'WebhookAttemptFailed', data: command.data }];
    case 'RecordWebhookAbandoned':
      return [{ type: 'WebhookAbandoned', data: command.data }];
  }
}
