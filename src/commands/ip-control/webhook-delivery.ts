import type { Command, Decider, Decision } from '../../kernel/decider.ts';
import type { ListKind } from '../../events/ip-control/vocabulary.ts';
import { type WebhookDeliveryEvent, webhookDeliveryEvents } from '../../events/ip-control/webhook-delivery.ts';

type About = Readonly<{ commitSetId: string; customerId: number; regionId: number; status: 'success' | 'failed' }>;
type Try = About & Readonly<{ attempt: number; milliseconds?: number }>;
type FailedTry = Try & Readonly<{ because: string; httpStatus?: number }>;

/** By the status that the customer is told: how many tries were recorded, and whether there will be no other. A test has a stream of its own. */
export type WebhookDeliveryState = Readonly<
  Partial<Record<'success' | 'failed', { attempts: number; isOver: boolean }>> & { isTested?: boolean }
>;

export type WebhookDeliveryCommand =
  | Command<'RecordWebhookDelivered', Try & { httpStatus: number }>
  | Command<'RecordWebhookAttemptFailed', FailedTry>
  | Command<'RecordWebhookAbandoned', FailedTry>
  | Command<'RequestWebhookRedelivery', About & { list: ListKind; completedAt: string }>
  | Command<
      'RecordWebhookTested',
      { customerId: number; delivered: boolean; because?: string; httpStatus?: number; milliseconds?: number }
    >;

/** What is recorded of the notifications of one commit set. */
export const webhookDeliveryDecider = {
  category: 'webhookDelivery',
  handles: webhookDeliveryEvents.map(({ type }) => type),
  initial: {},
  evolve,
  decide,
} as const satisfies Decider<WebhookDeliveryCommand, WebhookDeliveryState, WebhookDeliveryEvent> &
  Readonly<{ handles: readonly WebhookDeliveryEvent['type'][] }>;

function evolve(state: WebhookDeliveryState, event: WebhookDeliveryEvent): WebhookDeliveryState {
  switch (event.type) {
    case 'WebhookTested':
      return { ...state, isTested: true };
    case 'WebhookRedeliveryRequested':
      return { ...state, [event.data.status]: { attempts: event.data.attempt - 1, isOver: false } };
    case 'WebhookDelivered':
    case 'WebhookAbandoned':
      return { ...state, [event.data.status]: { attempts: event.data.attempt, isOver: true } };
    case 'WebhookAttemptFailed':
      return { ...state, [event.data.status]: { attempts: event.data.attempt, isOver: false } };
  }
}

function decide(command: WebhookDeliveryCommand, state: WebhookDeliveryState): Decision<WebhookDeliveryEvent> {
  if (command.type === 'RecordWebhookTested')
    return state.isTested === true ? [] : [{ type: 'WebhookTested', data: command.data }];
  const known = state[command.data.status];
  if (command.type === 'RequestWebhookRedelivery') {
    // What has had no try, or is to have another, is on its way already.
    if (known?.isOver !== true) return [];
    return [{ type: 'WebhookRedeliveryRequested', data: { ...command.data, attempt: known.attempts + 1 } }];
  }
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
