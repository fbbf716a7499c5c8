import { type Command, InvalidArgumentError, Option } from 'commander';
import type { WithArchive, WithApplication } from '../application/application.ts';
import type { CloudDriver } from '../ports/clouds.ts';
import { openOutput, type Output } from './output.ts';

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
  const command = parent
    .command(nameAndArguments)
    .description(description)
    .option('--json', 'print JSON for machines; --json=lines: each row of a list as a line of its own');
  if (!/^(?:list|events)\b/.test(nameAndArguments)) return command;
  return command.option('--limit <n>', 'at most so many rows, the first ones', rowCount).addOption(wideOption());
}

/** `--wide` of a table, or of a list of blocks. */
export function wideOption(): Option {
  return new Option('--wide', 'show whole what is wider than the terminal, or long');
}

function rowCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('must be a whole number from 1.');
}

/** `--since` of a list. `what`: what has an instant. */
export function sinceOption(what: string): Option {
  return new Option(
    '--since <when>',
    `only ${what} since then: an ISO 8601 instant, or a duration back from now (P7D)`,
  );
}

/** `--status` of a list. */
export function statusOption(states: readonly string[]): Option {
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
