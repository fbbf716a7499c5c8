import { z } from 'zod';
import { defineEvent, type EventOf } from '../codec.ts';
import { idNumber, listKind } from './vocabulary.ts';

const notification = {
  commitSetId: z.string(),
  customerId: idNumber,
  regionId: idNumber,
  /** The `status` that the customer is told. */
  status: z.enum(['success', 'failed']),
  /** 1 for the first try. */
  attempt: z.int().positive(),
};
/** How long the try took, from its beginning to its outcome; absent in events of old, and where nothing was sent. */
const milliseconds = z.int().nonnegative().optional();
/** What the receiver answered; absent where it gave no answer, and in events of old. */
const httpStatus = z.int().optional();

/** The receiver answered 2xx. */
export const WebhookDelivered = defineEvent(
  'WebhookDelivered',
  1,
  z.strictObject({ ...notification, httpStatus: z.int(), milliseconds }),
);

/** One try did not get through; there will be another. */
export const WebhookAttemptFailed = defineEvent(
  'WebhookAttemptFailed',
  1,
  z.strictObject({ ...notification, because: z.string(), httpStatus, milliseconds }),
);

/** The last try did not get through either, or there is nowhere left to send it. */
export const WebhookAbandoned = defineEvent(
  'WebhookAbandoned',
  1,
  z.strictObject({ ...notification, because: z.string(), httpStatus, milliseconds }),
);

/** The notification is to be sent again, as the last of what its customer is still to be told about the region. `attempt`: of its next try. */
export const WebhookRedeliveryRequested = defineEvent(
  'WebhookRedeliveryRequested',
  1,
  z.strictObject({ ...notification, list: listKind, completedAt: z.string() }),
);

/** A test was sent to the customer's webhook, once, and this came of it. */
export const WebhookTested = defineEvent(
  'WebhookTested',
  1,
  z.strictObject({
    customerId: idNumber,
    delivered: z.boolean(),
    /** Why it was not delivered. */
    because: z.string().optional(),
    httpStatus,
    milliseconds,
  }),
);

export const webhookDeliveryEvents = [
  WebhookDelivered,
  WebhookAttemptFailed,
  WebhookAbandoned,
  WebhookRedeliveryRequested,
  WebhookTested,
] as const;

export type WebhookDeliveryEvent = EventOf<(typeof webhookDeliveryEvents)[number]>;
