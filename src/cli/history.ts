import { Temporal } from '@js-temporal/polyfill';
import type { Command } from 'commander';
import { type SourceWhitelist, whitelistStatus } from '../events/ip-control/source-whitelist-ledger.ts';
import { type CustomerEvent, customerEvents } from '../events/ip-control/customer.ts';
import { regionEvents } from '../events/ip-control/region.ts';
import type { Recorded } from '../kernel/event.ts';
import { streamName } from '../kernel/stream-name.ts';
import {
  applyToHistory,
  type CustomerHistory,
  NO_HISTORY,
  regionsAt,
} from '../projections/ip-control/customer-history.ts';
import { coverTexts } from '../kernel/addresses/cover.ts';
import { type CommandTools, leaf, outputOf } from './command.ts';
import type { House } from './house.ts';
import { findCustomer, findRegion } from './lookup.ts';
import { jsonLine, usage } from './output.ts';

type EventOptions = Readonly<{
  region?: string;
  from?: string;
  to?: string;
  type?: string;
  follow?: boolean;
  json?: boolean;
}>;

/** `events` and `state`. */
export function addHistoryCommands(program: Command, tools: CommandTools): void {
  leaf(program, 'events [customer]', "a customer's history, or that of a region and its routers")
    .option('--region <region>', 'of this region, in place of a customer')
    .option('--from <instant>', 'not before this (ISO 8601)')
    .option('--to <instant>', 'not after this (ISO 8601)')
    .option('--type <type>', 'only events of this type')
    .option('--follow', 'go on with what happens, one line an event, until interrupted')
    .action((customer: string | undefined, options: EventOptions) =>
      tools.withHouse((house) => showEvents(house, customer, options, tools)),
    );
  leaf(program, 'state <customer>', 'what was disabled, whitelisted, pending and deployed')
    .option('--at <instant>', 'at this moment (ISO 8601; default: now)')
    .action((customer: string, options: { at?: string; json?: boolean }) =>
      tools.withHouse((house) => showState(house, customer, options, tools)),
    );
}

async function showEvents(
  house: House,
  customer: string | undefined,
  options: EventOptions,
  tools: CommandTools,
): Promise<void> {
  const stream = await streamOf(house, customer, options);
  requireKnownType(options);
  const isWanted = filterOf(options);
  if (options.follow === true) return followEvents(house, stream, isWanted, options, tools);
  const rows: object[] = [];
  for await (const page of house.store.read(stream)) rows.push(...page.filter(isWanted).map(rowOf));
  outputOf(options, tools).table(
    ['at', 'revision', 'actor', 'type', 'data'],
    rows.map((row) => ({ ...row })),
  );
}

async function streamOf(house: House, customer: string | undefined, { region }: EventOptions): Promise<string> {
  if (customer !== undefined && region === undefined)
    return streamName('customer', (await findCustomer(house, customer)).customerId);
  if (customer === undefined && region !== undefined)
    return streamName('region', (await findRegion(house, region)).regionId);
  throw usage('name a customer, or give --region.');
}

async function followEvents(
  house: House,
  stream: string,
  isWanted: (event: Recorded) => boolean,
  options: EventOptions,
  tools: CommandTools,
): Promise<void> {
  const output = outputOf(options, tools);
  const interrupted = new AbortController();
  const stop = (): void => interrupted.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const show = (event: Recorded): void => {
    const { at, revision, actor, type, data } = rowOf(event);
    output.line(output.json ? jsonLine(rowOf(event)) : `${at}  ${revision}  ${actor}  ${type}  ${jsonLine(data)}`);
  };
  // From the end of the log before the stream is read: what comes in between is shown once, as its revision tells.
  const end = await house.store.end();
  let shown = -1n;
  for await (const page of house.store.read(stream)) {
    for (const event of page) {
      shown = event.revision;
      if (isWanted(event)) show(event);
    }
  }
  for await (const page of house.store.follow(end, interrupted.signal)) {
    for (const event of page) if (event.stream === stream && event.revision > shown && isWanted(event)) show(event);
  }
}

function rowOf({ id, revision, position, type, data, metadata }: Recorded) {
  const { at, actor, schema, $correlationId: requestId, hash } = metadata;
  return { at, revision, actor, type, data, id, position, requestId, schema, hash };
}

/** A type that no event has would show an empty history, which says something else. */
function requireKnownType({ type, region }: EventOptions): void {
  const known: readonly string[] = (region === undefined ? customerEvents : regionEvents).map((event) => event.type);
  if (type !== undefined && !known.includes(type)) throw usage(`--type must be one of ${known.join(', ')}.`);
}

function filterOf({ from, to, type }: EventOptions): (event: Recorded) => boolean {
  const earliest = from === undefined ? undefined : instantOf('--from', from);
  const latest = to === undefined ? undefined : instantOf('--to', to);
  return (event) => {
    if (type !== undefined && event.type !== type) return false;
    const at = Temporal.Instant.from(event.metadata.at);
    if (earliest !== undefined && Temporal.Instant.compare(at, earliest) < 0) return false;
    return latest === undefined || Temporal.Instant.compare(at, latest) <= 0;
  };
}

function instantOf(option: string, text: string): Temporal.Instant {
  try {
    return Temporal.Instant.from(text);
  } catch {
    throw usage(`${option} must be an instant with an offset, such as 2026-11-27T20:50:00Z.`);
  }
}

async function showState(
  house: House,
  customer: string,
  options: { at?: string; json?: boolean },
  tools: CommandTools,
): Promise<void> {
  const { customerId, name } = await findCustomer(house, customer);
  const at = options.at === undefined ? house.clock.now() : instantOf('--at', options.at);
  const history = await historyAt(house, customerId, at);
  const regions = await Promise.all(
    regionsAt(history).map(async ({ regionId, disabled, pending, deployed, whitelist }) => ({
      region: await regionName(house, regionId),
      disabled: coverTexts(disabled),
      pending: coverTexts(pending),
      deployed: coverTexts(deployed),
      source_whitelist: {
        live: coverTexts(whitelist.live),
        pending: coverTexts(whitelist.pending),
        deployed: coverTexts(whitelist.deployed),
      },
    })),
  );
  const requests = await requestRows(house, history.whitelist);
  const lines = regions.flatMap(({ region, source_whitelist: whitelist, ...sets }) => [
    `region ${region}`,
    ...setLines(sets),
    ...(Object.values(whitelist).some((prefixes) => prefixes.length > 0)
      ? ['  source whitelist', ...setLines(whitelist).map((line) => `  ${line}`)]
      : []),
  ]);
  outputOf(options, tools).object({ customer: name, at: at.toString(), regions, source_whitelist_requests: requests }, [
    `customer ${name} at ${at.toString()}`,
    ...lines,
    ...requests.map((row) => `whitelist request ${row.id}: ${row.input} in ${row.regions.join(', ')}: ${row.status}`),
  ]);
}

function setLines(sets: Readonly<Record<string, readonly string[]>>): readonly string[] {
  return Object.entries(sets).flatMap(([set, prefixes]) => [
    `  ${set} (${prefixes.length} blocks)`,
    ...prefixes.map((prefix) => `    ${prefix}`),
  ]);
}

async function regionName(house: House, regionId: number): Promise<string> {
  const { state } = await house.regions.state(regionId);
  return state.phase === 'created' ? state.name : String(regionId);
}

function requestRows(house: House, { requests }: SourceWhitelist) {
  return Promise.all(
    [...requests.values()].map(async (request) => ({
      id: request.requestId,
      input: request.input,
      regions: await Promise.all(request.regionIds.map((regionId) => regionName(house, regionId))),
      status: whitelistStatus(request),
    })),
  );
}

async function historyAt(house: House, customerId: number, at: Temporal.Instant): Promise<CustomerHistory> {
  let history = NO_HISTORY;
  for await (const page of house.store.read(streamName('customer', customerId))) {
    for (const event of page) {
      // A stream's instants never run backwards: the first later one ends it.
      if (Temporal.Instant.compare(Temporal.Instant.from(event.metadata.at), at) > 0) return history;
      if (isCustomerEvent(house, event)) history = applyToHistory(history, event);
    }
  }
  return history;
}

function isCustomerEvent(house: House, event: Recorded): event is Recorded<CustomerEvent> {
  return house.isCustomerEvent(event);
}
