import type { Command } from 'commander';
import type { WithArchive, WithApplication } from '../application/application.ts';
import { openOutput, type Output } from './output.ts';

/** What every command group gets. */
export type CommandTools = Readonly<{
  withApplication: WithApplication;
  withArchive: WithArchive;
  write: (text: string) => void;
}>;

/** A command that does something: it takes `--json` like all of them. */
export function leaf(parent: Command, nameAndArguments: string, description: string): Command {
  return parent.command(nameAndArguments).description(description).option('--json', 'print JSON for machines');
}

/** Where this command prints to. */
export function outputOf(options: Readonly<{ json?: boolean }>, { write }: Pick<CommandTools, 'write'>): Output {
  return openOutput(options.json ?? false, write);
}

/** Collects a repeatable option. */
export function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}
