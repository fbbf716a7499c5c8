import type { EventDefinition } from '../events/codec.ts';
import { administratorEvents } from '../events/ip-control/administrator.ts';
import { type CustomerEvent, customerEvents } from '../events/ip-control/customer.ts';
import { directoryEvents } from '../events/ip-control/directory.ts';
import { regionEvents } from '../events/ip-control/region.ts';
import { webhookDeliveryEvents } from '../events/ip-control/webhook-delivery.ts';
import { assetEvents } from '../events/worker-pools/asset.ts';
import { scopeEvents } from '../events/worker-pools/scope.ts';
import { workerEvents } from '../events/worker-pools/worker.ts';
import { workerPoolEvents } from '../events/worker-pools/worker-pool.ts';

/** Every event that edgeward writes or reads. */
export const EVENT_CATALOGUE: readonly EventDefinition[] = [
  ...customerEvents,
  ...directoryEvents,
  ...regionEvents,
  ...webhookDeliveryEvents,
  ...administratorEvents,
  ...workerPoolEvents,
  ...scopeEvents,
  ...assetEvents,
  ...workerEvents,
];

const CUSTOMER_EVENT_TYPES = new Set<string>(customerEvents.map(({ type }) => type));

/** Narrows an event of the log to a customer's. */
export function isCustomerEvent(event: { type: string }): event is CustomerEvent {
  return CUSTOMER_EVENT_TYPES.has(event.type);
}
