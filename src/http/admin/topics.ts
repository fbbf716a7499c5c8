import type { RecordedEvent } from '../../kernel/event.ts';
import { streamId } from '../../kernel/stream-name.ts';

/** What parts of pages follow. Each event rings those of `topicsOf`. */
export type Topic =
  | 'accounts'
  | 'customers'
  | 'events'
  | 'pools'
  | 'review'
  | 'routers'
  | 'work'
  | `${'customer' | 'pool' | 'region'}:${string}`;

/** Of a customer: changes that wait for routers, commits, and what becomes of them. */
const WORK = /^(?:Addresses|Commit|SourceWhitelist(?!Rejected)|SubnetReleased$)/;

/** The regions that an event is about; a whitelist request is about several. */
function regionsOf(data: RecordedEvent['data']): readonly unknown[] {
  if ('regionId' in data) return [data.regionId];
  return 'regionIds' in data && Array.isArray(data.regionIds) ? data.regionIds : [];
}

function customerOf(data: RecordedEvent['data']): readonly Topic[] {
  return 'customerId' in data ? [`customer:${String(data.customerId)}`] : [];
}

/** What of the pages may look otherwise after an event. */
export function topicsOf({ type, stream, data }: RecordedEvent): readonly Topic[] {
  const [category = ''] = stream.split('-', 1);
  const region = regionsOf(data).map((regionId) => `region:${String(regionId)}` as const);
  switch (category) {
    case 'customer': {
      const work = WORK.test(type) ? (['work', 'routers'] as const) : [];
      const review = type.startsWith('SourceWhitelist') ? (['review'] as const) : [];
      return ['events', 'customers', `customer:${streamId(stream)}`, ...work, ...review, ...region];
    }
    case 'apiToken':
      return ['events', ...customerOf(data)];
    case 'directory':
      return ['events', 'customers', ...(type.startsWith('RegionName') ? (['routers'] as const) : []), ...region];
    case 'region':
      return ['events', 'routers', `region:${streamId(stream)}`];
    case 'webhookDelivery':
      return ['events', 'work', 'customers', ...customerOf(data)];
    case 'administrator':
      return ['events', 'accounts'];
    case 'workerPool':
      return ['events', 'pools', `pool:${streamId(stream)}`];
    default:
      return [
        'events',
        'pools',
        ...('pool' in data && typeof data.pool === 'string' ? [`pool:${data.pool}` as const] : []),
      ];
  }
}
