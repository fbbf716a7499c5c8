import type { Command } from 'commander';
import { leaf, outputOf } from '../command.ts';

/** A data directory, and whether it was made just now. */
export type Initialized = Readonly<{ directory: string; made: boolean }>;

/** `init`. */
export function addInitCommand(
  program: Command,
  tools: Readonly<{ init: () => Promise<Initialized>; write: (text: string) => void }>,
): void {
  leaf(program, 'init', 'make the data directory with an empty history; one that is there stays as it is').action(
    async (options: { json?: boolean }) => {
      const { directory, made } = await tools.init();
      outputOf(options, tools).object({ directory, made }, [
        made ? `data directory ${directory} made` : `data directory ${directory} is there: nothing was changed`,
      ]);
    },
  );
}
