import type { Command } from 'commander';
import { compareViews, type ViewsBesideFold } from '../../application/operations/compare-views.ts';
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
  )
    .option('--views', 'compare each saved view with a fold of the log as well; beside a running server too')
    .action((options: { json?: boolean; views?: boolean }) =>
      tools.withArchive(async (archive) => {
        const progress = openProgress('verify', options.json !== true);
        const ofLog = await verify(archive, progress.show).finally(progress.stop);
        const { events, streams, commits, evidence } = ofLog;
        const views =
          options.views === true ? await archive.withViews((beside) => compareAll(beside, options)) : undefined;
        const problems = [...ofLog.problems, ...(views?.problems ?? [])];
        const ofViews =
          views === undefined ? {} : { views: { compared: views.compared, not_built: [...views.notBuilt] } };
        outputOf(options, tools).object(
          { ok: problems.length === 0, events, streams, commits, evidence, ...ofViews, problems },
          [
            ...problems,
            ...(views === undefined ? [] : linesOf(views)),
            `${events} events in ${streams} streams, ${commits} commits and ${evidence} files of evidence checked: ${problems.length} problems`,
          ],
        );
        if (problems.length > 0)
          throw new CommandFailure(EXIT.failed, 'verification-failed', `${problems.length} problems found.`);
      }),
    );
}

function compareAll(views: ViewsBesideFold, { json }: { json?: boolean }) {
  const progress = openProgress('views', json !== true);
  return compareViews(views, progress.show).finally(progress.stop);
}

function linesOf({ compared, notBuilt }: Awaited<ReturnType<typeof compareViews>>): readonly string[] {
  const missing = notBuilt.length === 0 ? '' : `; not built yet in this version: ${notBuilt.join(', ')}`;
  return [`${compared} views compared with a fold of the log${missing}`];
}
