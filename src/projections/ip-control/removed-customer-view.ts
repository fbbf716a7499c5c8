import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import type { Projection } from '../../kernel/projection.ts';
import { streamId } from '../../kernel/stream-name.ts';

/** A customer that was removed: few are, so that lists of all others need not look at each of them. Key: its number. */
export type RemovedCustomerView = Readonly<{ customerId: number }>;

type Shown = Extract<CustomerEvent, { type: 'CustomerRemoved' }>;

export const removedCustomerProjection: Projection<Shown, RemovedCustomerView> = {
  name: 'removed-customers',
  version: 1,
  handles: ['CustomerRemoved'],
  keysOf: (event) => [streamId(event.stream)],
  evolve: (_view, event) => ({ customerId: Number(streamId(event.stream)) }),
};
