import { checkLink } from '../../events/hash-chain.ts';
import { isRefusal, type Refusal } from '../../kernel/decider.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { streamName } from '../../kernel/stream-name.ts';
import { BEGINNING, type EventStore } from '../../ports/event-store.ts';
import type { Application } from '../application.ts';
import { showEvent } from './history.ts';
import { type CustomerLookup, findCustomer, findRegion, notFound, type RegionLookup } from './lookups.ts';

/** What a stream can be of; `stream`: it is named as it is. */
export const STREAM_KINDS = ['customer', 'region', 'account', 'worker pool', 'scope', 'worker', 'stream'] as const;
export type StreamKind = (typeof STREAM_KINDS)[number];

/** The stream of a customer or region by name or number, of an account, a pool, a scope or a worker by its name. */
export async function streamMeant(
  kind: StreamKind,
  name: string,
  lookup: CustomerLookup & RegionLookup,
): Promise<string | Refusal> {
  if (name === '') return notFound('say which one.', 'name');
  switch (kind) {
    case 'customer': {
      const customer = await findCustomer(name, lookup);
      return isRefusal(customer) ? { ...customer, field: 'name' } : streamName('customer', customer.customerId);
    }
    case 'region': {
      const region = await findRegion(name, lookup);
      return isRefusal(region) ? { ...region, field: 'name' } : streamName('region', region.regionId);
    }
    case 'account':
      return streamName('administrator', name);
    case 'worker pool':
      return streamName('workerPool', name);
    case 'scope':
    case 'worker':
      return streamName(kind, name);
    case 'stream':
      return name;
  }
}

/** An event with what it stands between. */
export type EventInContext = Readonly<{
  event: RecordedEvent;
  /** Whether its hash is that of what is stored, and follows the one before it. */
  isIntact: boolean;
  /** The event that it was caused by, where that is near. */
  cause: RecordedEvent | undefined;
  /** Events near it that it has caused. */
  caused: readonly RecordedEvent[];
  /** Events near it of the same request, without these. */
  sameRequest: readonly RecordedEvent[];
}>;

/** What causes an event, and what comes of it, is looked for so many positions before and behind it. */
export const NEAR_POSITIONS = 1_000;
const RELATED_MAX = 100;

type EventDependencies = Readonly<{
  store: EventStore;
  storeAsStored: () => Promise<Pick<EventStore, 'read'>>;
}>;

/** The event at a position of the log, checked, with those around it that belong to it; undefined where there is none. */
export async function eventInContext(
  position: bigint,
  { store, storeAsStored }: EventDependencies,
): Promise<EventInContext | undefined> {
  const event = await showEvent(position, { store });
  if (event === undefined) return undefined;
  const { $causationId: causedBy, $correlationId: request } = event.metadata;
  let cause: RecordedEvent | undefined;
  const [caused, sameRequest]: [RecordedEvent[], RecordedEvent[]] = [[], []];
  const from = position - BigInt(NEAR_POSITIONS) - 1n;
  const until = position + BigInt(NEAR_POSITIONS);
  for await (const page of store.readAll(from < BEGINNING ? BEGINNING : from)) {
    for (const other of page) {
      if (other.position > until || other.id === event.id) continue;
      if (other.id === causedBy) cause = other;
      else if (other.metadata.$causationId === event.id) caused.push(other);
      else if (other.metadata.$correlationId === request) sameRequest.push(other);
    }
    if ((page.at(-1)?.position ?? until) >= until) break;
  }
  return {
    event,
    isIntact: await isIntact(event, await storeAsStored()),
    cause,
    caused: caused.slice(0, RELATED_MAX),
    sameRequest: sameRequest.slice(0, RELATED_MAX),
  };
}

async function isIntact({ stream, revision, id }: RecordedEvent, store: Pick<EventStore, 'read'>): Promise<boolean> {
  let hash = '';
  const before = revision < 2n ? undefined : revision - 2n;
  for await (const page of store.read(stream, before)) {
    for (const stored of page) {
      if (stored.revision === revision) return stored.id === id && checkLink(hash, stored);
      hash = stored.metadata.hash;
    }
  }
  return false;
}

export type EventBrowserDependencies = CustomerLookup &
  RegionLookup &
  EventDependencies &
  Pick<Application, 'eventTypes'> &
  Readonly<{ views: Pick<Application['views'], 'eventDays'> }>;
