import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Temporal } from '@js-temporal/polyfill';
import type { WithArchive, WithApplication } from '../application/application.ts';
import type { CloudDriver } from '../ports/clouds.ts';
import { epochMilliseconds } from '../domain/instants.ts';
import { openOutput, type Output, sinceOf } from './output.ts';

/** A driver of routers with its options. `onlyWith`: the choice that an option belongs to, such as `transport=ssh`. */
export type RouterDriverHelp = Readonly<{
  driver: string;
  options: readonly Readonly<{ name: string; meaning: string; required: boolean; onlyWith: string | undefined }>[];
}>;

/** What every command group gets. */
export type CommandTools = Readonly<{
  withApplication: WithApplication;
  withArchive: WithArchive;
  /** What documents are checked with before anything is opened. */
  cloudDrivers: readonly CloudDriver[];
  /** What help texts say of the drivers of routers. */
  routerDrivers: readonly RouterDriverHelp[];
  write: (text: string) => void;
  /** How wide the terminal is that tables are to fit; undefined where the output is none. */
  columns?: number | undefined;
  /** Rows are printed as one line of JSON each (`--json=lines`). */
  jsonLines?: boolean;
}>;

/** A command that does something: it takes `--json` like all of them. */
export function leaf(parent: Command, nameAndArguments: string, description: string): Command {
  return parent
    .command(nameAndArguments)
    .description(description)
    .option('--json', 'print JSON for machines; --json=lines: each row of a list as a line of its own');
}

/** What a list can be narrowed by. `states`: what `--status` takes; `region`, `since`: which rows these options leave. */
export type Narrowing = Readonly<{ states?: readonly string[]; region?: string; since?: string }>;

/** What was given of that, to a list command. */
export type ListOptions = Readonly<{
  json?: boolean;
  limit?: number;
  wide?: boolean;
  status?: string;
  region?: string;
  since?: string;
}>;

/** A command that prints rows. */
export function listing(
  parent: Command,
  nameAndArguments: string,
  description: string,
  { states, region, since }: Narrowing = {},
): Command {
  const command = leaf(parent, nameAndArguments, description)
    .option('--limit <n>', 'at most so many rows, the first ones', rowCount)
    .addOption(wideOption());
  if (states !== undefined) command.addOption(statusOption(states));
  if (region !== undefined) command.option('--region <region>', `only ${region}`);
  return since === undefined ? command : command.addOption(sinceOption(since));
}

/**
 * The rows that `--status` and `--since` leave; what an option is not given for stays. A row that has no instant came at no time, and
 * `--since` leaves it out. @throws CommandFailure
 */
export function narrowed<Row>(
  rows: readonly Row[],
  { status, since: text }: ListOptions,
  {
    now,
    statusOf,
    at,
  }: Readonly<{ now: Temporal.Instant; statusOf?: (row: Row) => string; at: (row: Row) => string | null }>,
): readonly Row[] {
  const since = sinceOf(text, now);
  return rows.filter((row) => {
    if (status !== undefined && statusOf?.(row) !== status) return false;
    const instant = since === undefined ? null : at(row);
    return since === undefined || (instant !== null && epochMilliseconds(instant) >= since);
  });
}

/** `--wide` of a table, or of a list of blocks. */
export function wideOption(): Option {
  return new Option('--wide', 'show whole what is wider than the terminal, or long');
}

function rowCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('must be a whole number from 1.');
}

/** `what`: what has an instant. */
function sinceOption(what: string): Option {
  return new Option(
    '--since <when>',
    `only ${what} since then: an ISO 8601 instant, or a duration back from now (P7D)`,
  );
}

function statusOption(states: readonly string[]): Option {
  return new Option('--status <status>', 'only those in this state').choices(states);
}

/** What every command takes that records something: why it is done. */
export type ActOptions = Readonly<{ json?: boolean; reason?: string; ticket?: string }>;

/** A command that records something: it takes `--reason` and `--ticket`. */
export function act(parent: Command, nameAndArguments: string, description: string): Command {
  return leaf(parent, nameAndArguments, description)
    .option('--reason <text>', 'why, for the record')
    .option('--ticket <text>', 'the ticket that it is done for, for the record');
}

/** Where this command prints to. */
export function outputOf(
  { json = false, limit, wide = false }: Readonly<{ json?: boolean; limit?: number; wide?: boolean }>,
  { write, columns, jsonLines = false }: Pick<CommandTools, 'write' | 'columns' | 'jsonLines'>,
): Output {
  return openOutput(json, write, { limit, jsonLines, columns: wide ? undefined : columns });
}

/** Collects a repeatable option. */
export function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}
