import { Temporal } from '@js-temporal/polyfill';
import type { Command } from 'commander';
import type { CustomerEvent } from '../../events/ip-control/customer.ts';
import { type SourceWhitelist, whitelistStatus } from '../../domain/ip-control/source-whitelist-ledger.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { streamName } from '../../kernel/stream-name.ts';
import {
  applyToHistory,
  type CustomerHistory,
  NO_HISTORY,
  regionsAt,
} from '../../domain/ip-control/customer-history.ts';
import { coverTexts } from '../../addresses/cidr-cover.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import type { Archive } from '../../application/application.ts';
import { findCustomer } from '../lookup.ts';
import { instantOf } from '../output.ts';

/** `state`. */
export function addStateCommand(program: Command, tools: CommandTools): void {
  leaf(program, 'state <customer>', 'what was disabled, whitelisted, pending and deployed')
    .option('--at <instant>', 'at this moment (ISO 8601; default: now)')
    .action((customer: string, options: { at?: string; json?: boolean }) =>
      tools.withArchive((archive) => showState(archive, customer, options, tools)),
    );
}

async function showState(
  archive: Archive,
  customer: string,
  options: { at?: string; json?: boolean },
  tools: CommandTools,
): Promise<void> {
  const { customerId, name } = await findCustomer(archive, customer);
  const at = options.at === undefined ? archive.clock.now() : instantOf('--at', options.at);
  const history = await historyAt(archive, customerId, at);
  const regions = await Promise.all(
    regionsAt(history).map(async ({ regionId, disabled, pending, deployed, whitelist }) => ({
      region: await regionName(archive, regionId),
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
  const requests = await requestRows(archive, history.whitelist);
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

async function regionName(archive: Archive, regionId: number): Promise<string> {
  const { state } = await archive.regions.state(regionId);
  return state.phase === 'created' ? state.name : String(regionId);
}

function requestRows(archive: Archive, { requests }: SourceWhitelist) {
  return Promise.all(
    [...requests.values()].map(async (request) => ({
      id: request.requestId,
      input: request.input,
      regions: await Promise.all(request.regionIds.map((regionId) => regionName(archive, regionId))),
      status: whitelistStatus(request),
    })),
  );
}

async function historyAt(archive: Archive, customerId: number, at: Temporal.Instant): Promise<CustomerHistory> {
  let history = NO_HISTORY;
  for await (const page of archive.store.read(streamName('customer', customerId))) {
    for (const event of page) {
      // A stream's instants never run backwards: the first later one ends it.
      if (Temporal.Instant.compare(Temporal.Instant.from(event.metadata.at), at) > 0) return history;
      if (isCustomerEvent(archive, event)) history = applyToHistory(history, event);
    }
  }
  return history;
}

function isCustomerEvent(archive: Archive, event: RecordedEvent): event is RecordedEvent<CustomerEvent> {
  return archive.isCustomerEvent(event);
}
