import type { RecordedEvent } from '../../kernel/event.ts';
import { streamName } from '../../kernel/stream-name.ts';
import type { EventStore } from '../../ports/event-store.ts';

/** Who says that a stream is there. */
type Claim = Readonly<{ stream: string; by: string }>;
type Reserved = Readonly<{ customer: string; cidr: string; by: string }>;

/** Streams that must be there since others speak of them. A chain can't show that all of a stream is gone. */
export type StreamClaims = Readonly<{
  /** Takes one event of the log as it is stored, in order. */
  take: (event: RecordedEvent) => void;
  /** What is missing, one line each; `store` is asked what has come since. */
  problems: (streams: ReadonlySet<string>, store: Pick<EventStore, 'read' | 'revision'>) => Promise<readonly string[]>;
}>;

const DIRECTORY = 'directory-';
const WITH_RESERVED_NAMES = ['customer-', 'region-'];
const NOT_FOLLOWED = 'it was removed, or what began in the directory was never finished (a running server does)';

export function openStreamClaims(): StreamClaims {
  const claims = new Map<string, string>();
  const reserved = new Map<string, Reserved>();
  const assigned = new Set<string>();
  const reservedNames = new Set<string>();

  return {
    take: (event) => {
      const claim = claimOf(event);
      if (claim !== undefined && !claims.has(claim.stream)) claims.set(claim.stream, claim.by);
      if (claim !== undefined && event.stream.startsWith(DIRECTORY)) reservedNames.add(claim.stream);
      takeSubnet(event);
    },
    problems: async (streams, store) => {
      const problems: string[] = [];
      for (const [stream, by] of claims) {
        if (streams.has(stream) || (await store.revision(stream)) >= 0n) continue;
        problems.push(`${stream}: the stream is missing, and ${by} speaks of it: ${NOT_FOLLOWED}`);
      }
      for (const stream of streams) {
        if (!WITH_RESERVED_NAMES.some((start) => stream.startsWith(start)) || reservedNames.has(stream)) continue;
        problems.push(`${stream}: the stream is there, and no name is reserved for it in the directory`);
      }
      for (const [subnet, { customer, cidr, by }] of reserved) {
        // A missing stream is named already.
        if (assigned.has(subnet) || !streams.has(customer)) continue;
        if (await isAssignedSince(subnet, customer, store)) continue;
        problems.push(`${customer}: subnet ${cidr} (${subnet}) is missing, and ${by} speaks of it: ${NOT_FOLLOWED}`);
      }
      return problems;
    },
  };

  function takeSubnet({ type, data, stream, revision }: RecordedEvent): void {
    const subnet = textOf(data, 'subnetId');
    if (type === 'SubnetReserved') {
      const customer = `customer-${textOf(data, 'customerId')}`;
      reserved.set(subnet, { customer, cidr: textOf(data, 'cidr'), by: `${stream} revision ${revision}` });
    } else if (type === 'SubnetReservationReleased') reserved.delete(subnet);
    else if (type === 'SubnetAssigned') assigned.add(subnet);
  }
}

/** Data are as they are stored, and may say anything: what they do not say is the empty text. */
function textOf(data: object, field: string): string {
  const value: unknown = Object.entries(data).find(([name]) => name === field)?.[1];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function claimOf({ type, data, stream, revision }: RecordedEvent): Claim | undefined {
  const named = (category: Parameters<typeof streamName>[0], field: string): Claim | undefined => {
    const id = textOf(data, field);
    return id === '' ? undefined : { stream: streamName(category, id), by: `${stream} revision ${revision}` };
  };
  switch (type) {
    case 'CustomerNameReserved':
      return named('customer', 'customerId');
    case 'RegionNameReserved':
      return named('region', 'regionId');
    case 'WorkerPoolScopeAdmitted':
      return named('scope', 'scope');
    case 'ScopeWorkerPoolAdded':
    case 'WorkerRegistered':
      return named('workerPool', 'pool');
    default:
      return undefined;
  }
}

async function isAssignedSince(subnet: string, customer: string, store: Pick<EventStore, 'read'>): Promise<boolean> {
  for await (const page of store.read(customer)) {
    if (page.some(({ type, data }) => type === 'SubnetAssigned' && textOf(data, 'subnetId') === subnet)) return true;
  }
  return false;
}
