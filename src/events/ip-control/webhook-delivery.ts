import { z } from 'zod';
import { defineEvent, type EventOf } from '../codec.ts';
import { idNumber } from './vocabulary.ts';

const notification = {
  commitSetId: z.string(),
  customerId: idNumber,
  regionId: idNumber,
  /** The `status` that the customer is told. */
  status: z.enum(['success', 'failed']),
  /** 1 for the first try. */
  attempt: z.int().positive(),
};

/** The receiver answered 2xx. */
export const WebhookDelivered = defineEvent(
  'WebhookDelivered',
  1,
  z.strictObject({ ...notification, httpStatus: z.int() }),
);

/** One try did not get through; there will be another. */
export const WebhookAttemptFailed = defineEvent(
  'WebhookAttemptFailed',
  1,
  z.strictObject({ ...notification, because: z.string() }),
);

/** The last try did not get through either, or there is nowhere left to send it. */
export const WebhookAbandoned = defineEvent(
  'WebhookAbandoned',
  1,
  z.strictObject({ ...notification, because: z.string() }),
);

export const webhookDeliveryEvents = [WebhookDelivered, WebhookAttemptFailed, WebhookAbandoned] as const;

export type WebhookDeliveryEvent = EventOf<(typeof webhookDeliveryEvents)[number]>;
