import { Temporal } from '@js-temporal/polyfill';
import type { Command } from 'commander';
import { type CustomerStateAt, customerStateAt } from '../../application/ip-control/customer-state-at.ts';
import { type CommandTools, leaf, outputOf, wideOption } from '../command.ts';
import { counted } from '../../domain/counted.ts';
import { accepted, endsText, instantOf, isLong } from '../output.ts';

/** `state`. */
export function addStateCommand(program: Command, tools: CommandTools): void {
  leaf(program, 'state <customer>', 'what was disabled, whitelisted, pending and deployed')
    .option('--at <instant>', 'at this moment (ISO 8601; default: now)')
    .addOption(wideOption())
    .action((customer: string, options: Readonly<{ at?: string; wide?: boolean; json?: boolean }>) =>
      tools.withArchive(async (archive) => {
        const at = options.at === undefined ? undefined : instantOf('--at', options.at);
        const state = asEver(accepted(await customerStateAt({ customer, at }, archive)));
        outputOf(options, tools).object(objectOf(state), linesOf(state, options.wide === true));
      }),
    );
}

/** A state of one log is the same bytes in every release: the first one wrote this instant with a Z. */
function asEver(state: CustomerStateAt): CustomerStateAt {
  return { ...state, at: Temporal.Instant.from(state.at).toString() };
}

function objectOf({ customer, at, regions, requests }: CustomerStateAt) {
  return {
    customer,
    at,
    regions: regions.map(({ sourceWhitelist, disabledUntil, ...region }) => ({
      ...region,
      disabled_until: disabledUntil,
      source_whitelist: sourceWhitelist,
    })),
    source_whitelist_requests: requests.map(({ requestId, ...request }) => ({ id: requestId, ...request })),
  };
}

function linesOf({ customer, at, regions, requests }: CustomerStateAt, wide: boolean): readonly string[] {
  const setLines = (sets: Readonly<Record<string, readonly string[]>>) => linesOfSets(sets, wide);
  return [
    `customer ${customer} at ${at}`,
    ...regions.flatMap(({ region, sourceWhitelist: whitelist, disabledUntil, because, ...sets }) => [
      `region ${region}`,
      ...setLines(sets),
      ...disabledUntil.flatMap(({ until, prefixes }) => setLines({ [`disabled until ${until}`]: prefixes })),
      ...because.flatMap((given) => setLines({ [whyLine(given)]: given.prefixes })),
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

function whyLine({ reason, ticket, by, at }: CustomerStateAt['regions'][number]['because'][number]): string {
  const said = [reason === undefined ? [] : [JSON.stringify(reason)], ticket === undefined ? [] : [`ticket ${ticket}`]];
  return `disabled because ${said.flat().join(', ')}, said by ${by} at ${at}`;
}

function linesOfSets(sets: Readonly<Record<string, readonly string[]>>, wide: boolean): readonly string[] {
  return Object.entries(sets).flatMap(([set, prefixes]) => [
    `  ${set} (${counted(prefixes.length, 'block')})`,
    ...(isLong(prefixes) && !wide
      ? [`    ${endsText(prefixes, 'blocks')}; --wide lists them`]
      : prefixes.map((prefix) => `    ${prefix}`)),
  ]);
}
