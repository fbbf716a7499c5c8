import { Temporal } from '@js-temporal/polyfill';
import type { EventDefinition } from '../../events/codec.ts';
import { customerEvents } from '../../events/ip-control/customer.ts';
import { regionEvents } from '../../events/ip-control/region.ts';
import { isRefusal, type Refusal } from '../../kernel/decider.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { streamName } from '../../kernel/stream-name.ts';
import { BEGINNING } from '../../ports/event-store.ts';
import type { Application, Archive } from '../application.ts';
import { DELIVERY_TYPES, isDeliveryOf, withDeliveries } from './delivery-history.ts';
import { findAnyCustomer, findRegion } from './lookups.ts';

type HistoryDependencies = Pick<
  Archive,
  'store' | 'customers' | 'regions' | 'directory' | 'eventTypes' | 'isCustomerEvent'
>;

/** Whose history: a customer's, with the deliveries of its webhooks or without, a region's with its routers', or the whole log. */
export type HistoryOf =
  | Readonly<{ customer: string; deliveries: boolean }>
  | Readonly<{ region: string }>
  | Readonly<{ all: true }>;

/** Which of the events: not before `from`, not after `to`, of one type. */
export type HistoryFilter = Readonly<{
  from?: Temporal.Instant | undefined;
  to?: Temporal.Instant | undefined;
  type?: string | undefined;
}>;

/** Events that belong together, in the order of the log, in pages. */
export type History = Readonly<{
  /** What the log holds of it up to the position at its end, `endOfLog`. */
  recorded: (endOfLog: bigint, filter: HistoryFilter) => AsyncIterable<readonly RecordedEvent[]>;
  /** What is recorded after that position, as it happens, until the signal aborts. */
  following: (endOfLog: bigint, filter: HistoryFilter, signal: AbortSignal) => AsyncIterable<readonly RecordedEvent[]>;
  /** The position at the end of the log now. */
  endOfLog: () => Promise<bigint>;
  /** The types of events that can be in it. */
  types: readonly string[];
  /** Revisions are those of each stream. */
  hasManyStreams: boolean;
}>;

/** Where the events of a history are: `includes` says which events of the log belong to it. */
type Source = Pick<History, 'types' | 'hasManyStreams'> &
  Readonly<{ read: () => AsyncIterable<readonly RecordedEvent[]>; includes: (event: RecordedEvent) => boolean }>;

/** Opens a history. However long it is, a page of it is kept at a time. */
export async function openHistory(of: HistoryOf, dependencies: HistoryDependencies): Promise<History | Refusal> {
  const source = await sourceOf(of, dependencies);
  if (isRefusal(source)) return source;
  const { store } = dependencies;
  const { read, includes, types, hasManyStreams } = source;
  return {
    types,
    hasManyStreams,
    endOfLog: () => store.end(),
    recorded: (end, filter) => pagesOf(read(), (event) => event.position <= end && isWanted(event, filter)),
    following: (end, filter, signal) =>
      pagesOf(store.follow(end, signal), (event) => includes(event) && isWanted(event, filter)),
  };
}

/** Which events of the log: of one stream, of one type, by one actor, not before `from`, not after `to`, behind a position. */
export type EventFilter = HistoryFilter &
  Readonly<{ stream?: string | undefined; actor?: string | undefined; after?: bigint | undefined }>;

/** Events that fit, and the position behind which to look for more; undefined at the end of the log. */
export type EventPage = Readonly<{ events: readonly RecordedEvent[]; nextAfter: bigint | undefined }>;

type LogDependencies = Pick<Archive, 'store'> & Readonly<{ views: Pick<Application['views'], 'eventDays'> }>;

/** A page looks through so many events at most: of a filter that fits few, it may be empty and others follow. */
const LOOKED_THROUGH_MAX = 20_000;

/** At most `limit` events that fit, in the order of the log. @throws the reason of the signal, soon after it aborts */
export async function pageEvents(
  filter: EventFilter,
  limit: number,
  dependencies: LogDependencies,
  signal: AbortSignal,
): Promise<EventPage> {
  const events: RecordedEvent[] = [];
  let seen = 0;
  for await (const page of logPages(filter, dependencies)) {
    signal.throwIfAborted();
    for (const event of page) {
      if (isBehind(event, filter)) {
        if (fits(event, filter)) events.push(event);
        seen += 1;
      }
      if (events.length === limit || seen === LOOKED_THROUGH_MAX) return { events, nextAfter: event.position };
    }
  }
  return { events, nextAfter: undefined };
}

/** All events that fit, as the log holds them now, in pages; ends where the signal aborts. */
export async function* everyEvent(
  filter: EventFilter,
  dependencies: LogDependencies,
  signal: AbortSignal,
): AsyncGenerator<readonly RecordedEvent[]> {
  for await (const page of logPages(filter, dependencies)) {
    if (signal.aborted) return;
    const fitting = page.filter((event) => isBehind(event, filter) && fits(event, filter));
    if (fitting.length > 0) yield fitting;
  }
}

/** The event at a position of the log. */
export async function showEvent(
  position: bigint,
  { store }: Pick<Archive, 'store'>,
): Promise<RecordedEvent | undefined> {
  for await (const [event] of store.readAll(position - 1n)) return event?.position === position ? event : undefined;
  return undefined;
}

/** The event that has an id, wherever it is: the log is read from its beginning. @throws the reason of the signal, soon after it aborts */
export async function findEvent(
  id: string,
  { store }: Pick<Archive, 'store'>,
  signal: AbortSignal,
): Promise<RecordedEvent | undefined> {
  for await (const page of store.readAll(BEGINNING)) {
    signal.throwIfAborted();
    const found = page.find((event) => event.id === id);
    if (found !== undefined) return found;
  }
  return undefined;
}

const POSITION = /^\d{1,19}$/;
const POSITION_MAX = 2n ** 63n - 1n;

/** A position of a log; undefined for any other text. */
export function positionNamed(text: string): bigint | undefined {
  if (!POSITION.test(text)) return undefined;
  const position = BigInt(text);
  return position <= POSITION_MAX ? position : undefined;
}

/** An instant with an offset; undefined for any other text. */
export function instantNamed(text: string): Temporal.Instant | undefined {
  try {
    return Temporal.Instant.from(text);
  } catch {
    return undefined;
  }
}

async function* logPages(
  { stream, after, from }: EventFilter,
  { store, views }: LogDependencies,
): AsyncGenerator<readonly RecordedEvent[]> {
  if (stream !== undefined) {
    yield* store.read(stream);
    return;
  }
  const day = from === undefined ? undefined : await firstDayFrom(from, views);
  const begins = day === undefined ? BEGINNING : BigInt(day.position) - 1n;
  yield* store.readAll(after === undefined || after < begins ? begins : after);
}

const DAY_CHARACTERS = '2026-11-28'.length;

/** The day of an instant, or the next one in which something has happened. */
async function firstDayFrom(from: Temporal.Instant, { eventDays }: LogDependencies['views']) {
  // Every day of these ten comes behind what they begin with, and every day before them does not.
  const after = from.toString().slice(0, DAY_CHARACTERS - 1);
  const day = from.toString().slice(0, DAY_CHARACTERS);
  const tens = await eventDays.page({ after, limit: DAYS_BEGUN_ALIKE + 1 });
  return tens.find(({ key }) => key >= day)?.view;
}

/** Days that differ in their last digit alone. */
const DAYS_BEGUN_ALIKE = 10;

function isBehind({ position }: RecordedEvent, { after }: EventFilter): boolean {
  return after === undefined || position > after;
}

function fits(event: RecordedEvent, filter: EventFilter): boolean {
  return (filter.actor === undefined || event.metadata.actor === filter.actor) && isWanted(event, filter);
}

async function sourceOf(of: HistoryOf, dependencies: HistoryDependencies): Promise<Source | Refusal> {
  const { store, eventTypes } = dependencies;
  if ('all' in of)
    return { read: () => store.readAll(BEGINNING), includes: () => true, types: eventTypes, hasManyStreams: true };
  if ('region' in of) {
    const region = await findRegion(of.region, dependencies);
    if (isRefusal(region)) return region;
    return oneStream(streamName('region', region.regionId), namesOf(regionEvents), dependencies);
  }
  const customer = await findAnyCustomer(of.customer, dependencies);
  if (isRefusal(customer)) return customer;
  const { customerId } = customer;
  const stream = streamName('customer', customerId);
  const types = [...namesOf(customerEvents), ...DELIVERY_TYPES];
  if (!of.deliveries) return oneStream(stream, types, dependencies);
  return {
    read: () => withDeliveries(dependencies, customerId),
    includes: (event) => event.stream === stream || isDeliveryOf(customerId, event),
    types,
    hasManyStreams: true,
  };
}

function oneStream(stream: string, types: readonly string[], { store }: HistoryDependencies): Source {
  return { read: () => store.read(stream), includes: (event) => event.stream === stream, types, hasManyStreams: false };
}

function namesOf(definitions: readonly EventDefinition[]): readonly string[] {
  return definitions.map(({ type }) => type);
}

async function* pagesOf(
  pages: AsyncIterable<readonly RecordedEvent[]>,
  isShown: (event: RecordedEvent) => boolean,
): AsyncGenerator<readonly RecordedEvent[]> {
  for await (const page of pages) {
    const shown = page.filter(isShown);
    if (shown.length > 0) yield shown;
  }
}

function isWanted(event: RecordedEvent, { from, to, type }: HistoryFilter): boolean {
  if (type !== undefined && event.type !== type) return false;
  if (from === undefined && to === undefined) return true;
  const at = Temporal.Instant.from(event.metadata.at);
  if (from !== undefined && Temporal.Instant.compare(at, from) < 0) return false;
  return to === undefined || Temporal.Instant.compare(at, to) <= 0;
}
