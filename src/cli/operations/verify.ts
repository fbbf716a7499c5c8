import type { Command } from 'commander';
import { verify } from '../../application/operations/verify.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import { CommandFailure, EXIT } from '../output.ts';
import { openProgress } from '../progress.ts';

/** `verify`. */
export function addVerifyCommand(program: Command, tools: CommandTools): void {
  leaf(
    program,
    'verify',
    "check the store, every stream's hash chain, what streams say of one another, every commit's content and every file of evidence",
  ).action((options: { json?: boolean }) =>
    tools.withArchive(async (archive) => {
      const progress = openProgress('verify', options.json !== true);
      const { events, streams, commits, evidence, problems } = await verify(archive, progress.show).finally(
        progress.stop,
      );
      outputOf(options, tools).object({ ok: problems.length === 0, events, streams, commits, evidence, problems }, [
        ...problems,
        `${events} events in ${streams} streams, ${commits} commits and ${evidence} files of evidence checked: ${problems.length} problems`,
      ]);
      if (problems.length > 0)
        throw new CommandFailure(EXIT.failed, 'verification-failed', `${problems.length} problems found.`);
    }),
  );
}
