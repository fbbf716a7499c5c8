import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import type { Projection } from '../../kernel/projection.ts';
import { streamId } from '../../kernel/stream-name.ts';

/** One subnet and whose it is. Key: the subnet's number. */
export type SubnetView = Readonly<{
  subnetId: number;
  customerId: number;
  cidr: string;
  regionId: number;
  asn: number;
  metro: string;
  assignedAt: string;
}>;

type Shown = Extract<CustomerEvent, { type: 'SubnetAssigned' | 'SubnetReleased' }>;

export const subnetProjection: Projection<Shown, SubnetView> = {
  name: 'subnets',
  version: 2,
  handles: ['SubnetAssigned', 'SubnetReleased'],
  keysOf: (event) => [String(event.data.subnetId)],
  evolve: (_view, event) => {
    if (event.type === 'SubnetReleased') return undefined;
    return { ...event.data, customerId: Number(streamId(event.stream)), assignedAt: event.metadata.at };
  },
};
