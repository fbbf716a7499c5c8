import { Temporal } from '@js-temporal/polyfill';
import type { Command } from 'commander';
import { customerEvents } from '../../events/ip-control/customer.ts';
import { regionEvents } from '../../events/ip-control/region.ts';
import type { EventDefinition } from '../../events/codec.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { streamName } from '../../kernel/stream-name.ts';
import { BEGINNING } from '../../ports/event-store.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import { DELIVERY_TYPES, isDeliveryOf, withDeliveries } from './delivery-history.ts';
import type { Archive } from '../../application/application.ts';
import { findCustomer, findRegion } from '../lookup.ts';
import { instantOf, jsonLine, usage } from '../output.ts';

type EventOptions = Readonly<{
  region?: string;
  all?: boolean;
  deliveries?: boolean;
  from?: string;
  to?: string;
  type?: string;
  follow?: boolean;
  json?: boolean;
}>;

/** Events that are shown together, in the order of the log. */
type History = Readonly<{
  /** What the log holds of it now. */
  read: () => AsyncIterable<readonly RecordedEvent[]>;
  /** Whether an event of the log belongs to it. */
  includes: (event: RecordedEvent) => boolean;
  types: readonly string[];
  /** Revisions are those of each stream. */
  hasManyStreams: boolean;
}>;

/** `events`. */
export function addEventsCommand(program: Command, tools: CommandTools): void {
  leaf(program, 'events [customer]', "a customer's history, that of a region and its routers, or the whole log")
    .option('--region <region>', 'of this region, in place of a customer')
    .option('--all', 'everything, in place of a customer')
    .option('--deliveries', "with the deliveries of the customer's webhooks")
    .option('--from <instant>', 'not before this (ISO 8601)')
    .option('--to <instant>', 'not after this (ISO 8601)')
    .option('--type <type>', 'only events of this type')
    .option('--follow', 'go on with what happens, one line an event, until interrupted')
    .action((customer: string | undefined, options: EventOptions) =>
      tools.withArchive(async (archive) => {
        const history = await historyOf(archive, customer, options);
        requireKnownType(options, history);
        const isWanted = filterOf(options);
        if (options.follow === true) await followEvents(archive, history, isWanted, options, tools);
        else await showEvents(archive, history, isWanted, options, tools);
      }),
    );
}

async function historyOf(archive: Archive, customer: string | undefined, options: EventOptions): Promise<History> {
  const { region, all, deliveries, type } = options;
  if ([customer, region, all].filter((given) => given !== undefined).length !== 1)
    throw usage('name a customer, or give --region or --all.');
  if (deliveries === true && customer === undefined) throw usage('--deliveries goes with a customer.');
  const { store } = archive;
  if (customer !== undefined) {
    const { customerId } = await findCustomer(archive, customer);
    const stream = streamName('customer', customerId);
    if (deliveries !== true && !DELIVERY_TYPES.includes(type ?? ''))
      return oneStream(archive, stream, [...namesOf(customerEvents), ...DELIVERY_TYPES]);
    return {
      read: () => withDeliveries(archive, customerId),
      includes: (event) => event.stream === stream || isDeliveryOf(customerId, event),
      types: [...namesOf(customerEvents), ...DELIVERY_TYPES],
      hasManyStreams: true,
    };
  }
  if (region !== undefined)
    return oneStream(
      archive,
      streamName('region', (await findRegion(archive, region)).regionId),
      namesOf(regionEvents),
    );
  return {
    read: () => store.readAll(BEGINNING),
    includes: () => true,
    types: archive.eventTypes,
    hasManyStreams: true,
  };
}

function oneStream({ store }: Archive, stream: string, types: readonly string[]): History {
  return { read: () => store.read(stream), includes: (event) => event.stream === stream, types, hasManyStreams: false };
}

function namesOf(definitions: readonly EventDefinition[]): readonly string[] {
  return definitions.map(({ type }) => type);
}

/** A type that no event has would show an empty history, which says something else. */
function requireKnownType({ type }: EventOptions, { types }: History): void {
  if (type !== undefined && !types.includes(type)) throw usage(`--type must be one of ${types.join(', ')}.`);
}

/** Shows what the log holds now. However long that is, a page of it is kept at a time; a table is read twice, since its widths come first. */
async function showEvents(
  archive: Archive,
  history: History,
  isWanted: (event: RecordedEvent) => boolean,
  options: EventOptions,
  { write }: CommandTools,
): Promise<void> {
  const end = await archive.store.end();
  const pages = () => wantedPages(history, (event) => event.position <= end && isWanted(event));
  if (options.json === true) {
    let before = '[';
    for await (const page of pages()) {
      write(before + page.map((event) => jsonLine(rowOf(event, history))).join(','));
      before = ',';
    }
    write(before === '[' ? '[]\n' : ']\n');
    return;
  }
  const head = ['AT', 'REVISION', 'ACTOR', 'TYPE', ...(history.hasManyStreams ? ['STREAM'] : []), 'DATA'];
  const widths = head.map(({ length }) => length);
  for await (const page of pages())
    for (const event of page)
      for (const [at, cell] of cellsOf(event, history).entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  // The last column is as wide as it is.
  widths.pop();
  const lineOf = (cells: readonly string[]): string =>
    `${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')}\n`;
  write(lineOf(head));
  for await (const page of pages()) write(page.map((event) => lineOf(cellsOf(event, history))).join(''));
}

async function* wantedPages(
  history: History,
  isWanted: (event: RecordedEvent) => boolean,
): AsyncGenerator<readonly RecordedEvent[]> {
  for await (const page of history.read()) {
    const wanted = page.filter(isWanted);
    if (wanted.length > 0) yield wanted;
  }
}

async function followEvents(
  archive: Archive,
  history: History,
  isWanted: (event: RecordedEvent) => boolean,
  options: EventOptions,
  tools: CommandTools,
): Promise<void> {
  const output = outputOf(options, tools);
  const interrupted = new AbortController();
  const stop = (): void => interrupted.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const show = (event: RecordedEvent): void =>
    output.line(output.json ? jsonLine(rowOf(event, history)) : cellsOf(event, history).join('  '));
  // What comes after this moment is followed, so that nothing is shown twice.
  const end = await archive.store.end();
  for await (const page of wantedPages(history, (event) => event.position <= end && isWanted(event)))
    for (const event of page) show(event);
  for await (const page of archive.store.follow(end, interrupted.signal))
    for (const event of page) if (history.includes(event) && isWanted(event)) show(event);
}

function rowOf({ id, stream, revision, position, type, data, metadata }: RecordedEvent, { hasManyStreams }: History) {
  const { at, actor, schema, $correlationId: requestId, hash } = metadata;
  const row = { at, revision, actor, type, data, id, position, requestId, schema, hash };
  return hasManyStreams ? { ...row, stream } : row;
}

function cellsOf(
  { stream, revision, type, data, metadata }: RecordedEvent,
  { hasManyStreams }: History,
): readonly string[] {
  const who = [metadata.at, String(revision), metadata.actor, type];
  return [...who, ...(hasManyStreams ? [stream] : []), jsonLine(data)];
}

function filterOf({ from, to, type }: EventOptions): (event: RecordedEvent) => boolean {
  const earliest = from === undefined ? undefined : instantOf('--from', from);
  const latest = to === undefined ? undefined : instantOf('--to', to);
  return (event) => {
    if (type !== undefined && event.type !== type) return false;
    const at = Temporal.Instant.from(event.metadata.at);
    if (earliest !== undefined && Temporal.Instant.compare(at, earliest) < 0) return false;
    return latest === undefined || Temporal.Instant.compare(at, latest) <= 0;
  };
}
