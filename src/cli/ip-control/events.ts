import { Temporal } from '@js-temporal/polyfill';
import type { Command } from 'commander';
import { z } from 'zod';
import { type History, type HistoryFilter, type HistoryOf, openHistory } from '../../application/ip-control/history.ts';
import { isWebhookDeliveryType } from '../../application/ip-control/delivery-history.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { type CommandTools, listing, outputOf } from '../command.ts';
import { accepted, cut, endsText, instantOf, isLong, jsonLine, sinceOf, usage } from '../output.ts';

type EventOptions = Readonly<{
  region?: string;
  all?: boolean;
  deliveries?: boolean;
  from?: string;
  since?: string;
  to?: string;
  type?: string;
  follow?: boolean;
  limit?: number;
  wide?: boolean;
  json?: boolean;
}>;

/** Less of what has happened tells nothing. */
const DATA_MIN = 24;

/** `events`. */
export function addEventsCommand(program: Command, tools: CommandTools): void {
  listing(program, 'events [customer]', "a customer's history, that of a region and its routers, or the whole log", {
    since: 'what has happened',
  })
    .option('--region <region>', 'of this region, in place of a customer')
    .option('--all', 'everything, in place of a customer')
    .option('--deliveries', "with the deliveries of the customer's webhooks")
    .option('--from <instant>', 'not before this (ISO 8601)')
    .option('--to <instant>', 'not after this (ISO 8601)')
    .option('--type <type>', 'only events of this type')
    .option('--follow', 'go on with what happens, one line an event, until interrupted')
    .action((customer: string | undefined, options: EventOptions) =>
      tools.withArchive(async (archive) => {
        const history = accepted(await openHistory(namedHistory(customer, options), archive));
        requireKnownType(options, history);
        const filter = filterOf(options, archive.clock.now());
        if (options.follow === true) await followEvents(history, filter, options, tools);
        else await showEvents(history, filter, options, tools);
      }),
    );
}

function namedHistory(customer: string | undefined, { region, all, deliveries, type }: EventOptions): HistoryOf {
  if ([customer, region, all].filter((given) => given !== undefined).length !== 1)
    throw usage('name a customer, or give --region or --all.');
  if (deliveries === true && customer === undefined) throw usage('--deliveries goes with a customer.');
  if (customer !== undefined) return { customer, deliveries: deliveries === true || isWebhookDeliveryType(type ?? '') };
  return region === undefined ? { all: true } : { region };
}

/** A type that no event has would show an empty history, which says something else. */
function requireKnownType({ type }: EventOptions, { types }: History): void {
  if (type !== undefined && !types.includes(type)) throw usage(`--type must be one of ${types.join(', ')}.`);
}

/** Shows what the log holds now. However long that is, a page of it is kept at a time; a table is read twice, since its widths come first. */
async function showEvents(
  history: History,
  filter: HistoryFilter,
  options: EventOptions,
  { write, columns, jsonLines = false }: CommandTools,
): Promise<void> {
  const end = await history.endOfLog();
  const { limit, wide = false } = options;
  const pages = () => firstOf(history.recorded(end, filter), limit);
  if (options.json === true && jsonLines) {
    for await (const page of pages()) write(page.map((event) => `${jsonLine(rowOf(event, history))}\n`).join(''));
    return;
  }
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
      for (const [at, cell] of cellsOf(event, history, wide).entries())
        widths[at] = Math.max(widths[at] ?? 0, cell.length);
  // The last column is as wide as it is, or as there is room for.
  widths.pop();
  const taken = widths.reduce((sum, width) => sum + width + 2, 0);
  const room = wide || columns === undefined ? Number.POSITIVE_INFINITY : Math.max(columns - taken, DATA_MIN);
  const lineOf = (cells: readonly string[]): string =>
    `${cells.map((cell, at) => (at < widths.length ? cell.padEnd(widths[at] ?? 0) : cut(cell, room))).join('  ')}\n`;
  write(lineOf(head));
  for await (const page of pages()) write(page.map((event) => lineOf(cellsOf(event, history, wide))).join(''));
}

/** At most so many events, the first ones. */
async function* firstOf(
  pages: AsyncIterable<readonly RecordedEvent[]>,
  limit = Number.POSITIVE_INFINITY,
): AsyncIterableIterator<readonly RecordedEvent[]> {
  let left = limit;
  for await (const page of pages) {
    yield page.slice(0, left);
    left -= page.length;
    if (left <= 0) return;
  }
}

async function followEvents(
  history: History,
  filter: HistoryFilter,
  options: EventOptions,
  tools: CommandTools,
): Promise<void> {
  const output = outputOf(options, tools);
  const interrupted = new AbortController();
  const stop = (): void => interrupted.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const show = (event: RecordedEvent): void =>
    output.line(
      output.json ? jsonLine(rowOf(event, history)) : cellsOf(event, history, options.wide === true).join('  '),
    );
  // What comes after this moment is followed, so that nothing is shown twice.
  const end = await history.endOfLog();
  for await (const page of history.recorded(end, filter)) for (const event of page) show(event);
  for await (const page of history.following(end, filter, interrupted.signal)) for (const event of page) show(event);
}

function rowOf({ id, stream, revision, position, type, data, metadata }: RecordedEvent, { hasManyStreams }: History) {
  const { at, actor, schema, $correlationId: request_id, hash } = metadata;
  const row = { at, revision, actor, type, data, id, position, request_id, schema, hash };
  return hasManyStreams ? { ...row, stream } : row;
}

function cellsOf(
  { stream, revision, type, data, metadata }: RecordedEvent,
  { hasManyStreams }: History,
  wide: boolean,
): readonly string[] {
  const who = [metadata.at, String(revision), metadata.actor, type];
  return [...who, ...(hasManyStreams ? [stream] : []), wide ? jsonLine(data) : withoutLongLists(data)];
}

/** `"ranges":"5,000 ranges (first … last)"`; whole with `--wide`, and for machines. */
function withoutLongLists(data: object): string {
  return JSON.stringify(data, (name, member: unknown) => {
    const texts = Array.isArray(member) ? z.array(z.string()).safeParse(member) : undefined;
    return texts?.success === true && isLong(texts.data) ? endsText(texts.data, name) : member;
  });
}

function filterOf({ from, since, to, type }: EventOptions, now: Temporal.Instant): HistoryFilter {
  if (from !== undefined && since !== undefined) throw usage('--since and --from say the same: give one of them.');
  const began = sinceOf(since, now);
  const fromThen = began === undefined ? undefined : Temporal.Instant.fromEpochMilliseconds(began);
  return {
    from: from === undefined ? fromThen : instantOf('--from', from),
    to: to === undefined ? undefined : instantOf('--to', to),
    type,
  };
}
