import type { EventDefinition } from '../events/codec.ts';
import { administratorEvents } from '../events/ip-control/administrator.ts';
import { customerEvents } from '../events/ip-control/customer.ts';
import { directoryEvents } from '../events/ip-control/directory.ts';
import { regionEvents } from '../events/ip-control/region.ts';
import { webhookDeliveryEvents } from '../events/ip-control/webhook-delivery.ts';

/** Every event that edgeward writes or reads. */
export const EVENT_CATALOGUE: readonly EventDefinition[] = [
  ...customerEvents,
  ...directoryEvents,
  ...regionEvents,
  ...webhookDeliveryEvents,
  ...administratorEvents,
];
