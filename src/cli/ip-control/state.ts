import type { Command } from 'commander';
import { type CustomerStateAt, customerStateAt } from '../../application/ip-control/customer-state-at.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import { accepted, instantOf } from '../output.ts';

/** `state`. */
export function addStateCommand(program: Command, tools: CommandTools): void {
  leaf(program, 'state <customer>', 'what was disabled, whitelisted, pending and deployed')
    .option('--at <instant>', 'at this moment (ISO 8601; default: now)')
    .action((customer: string, options: { at?: string; json?: boolean }) =>
      tools.withArchive(async (archive) => {
        const at = options.at === undefined ? undefined : instantOf('--at', options.at);
        const state = accepted(await customerStateAt({ customer, at }, archive));
        outputOf(options, tools).object(objectOf(state), linesOf(state));
      }),
    );
}

function objectOf({ customer, at, regions, requests }: CustomerStateAt) {
  return {
    customer,
    at,
    regions: regions.map(({ sourceWhitelist, ...region }) => ({ ...region, source_whitelist: sourceWhitelist })),
    source_whitelist_requests: requests.map(({ requestId, ...request }) => ({ id: requestId, ...request })),
  };
}

function linesOf({ customer, at, regions, requests }: CustomerStateAt): readonly string[] {
  return [
    `customer ${customer} at ${at}`,
    ...regions.flatMap(({ region, sourceWhitelist: whitelist, ...sets }) => [
      `region ${region}`,
      ...setLines(sets),
      ...(Object.values(whitelist).some((prefixes) => prefixes.length > 0)
        ? ['  source whitelist', ...setLines(whitelist).map((line) => `  ${line}`)]
        : []),
    ]),
    ...requests.map(
      ({ requestId, input, regions: names, status }) =>
        `whitelist request ${requestId}: ${input} in ${names.join(', ')}: ${status}`,
    ),
  ];
}

function setLines(sets: Readonly<Record<string, readonly string[]>>): readonly string[] {
  return Object.entries(sets).flatMap(([set, prefixes]) => [
    `  ${set} (${prefixes.length} blocks)`,
    ...prefixes.map((prefix) => `    ${prefix}`),
  ]);
}
