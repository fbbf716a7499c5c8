import type { Command } from 'commander';
import { rebuildProjections } from '../../application/operations/projections.ts';
import { type CommandTools, leaf, listing, type ListOptions, outputOf } from '../command.ts';
import { accepted, usage } from '../output.ts';
import { openProgress } from '../progress.ts';

/** `projections list | rebuild`. */
export function addProjectionCommands(program: Command, tools: CommandTools): void {
  const projections = program.command('projections').description('the views, which can be rebuilt from the events');
  listing(projections, 'list', 'list projections and how far they are').action((options: ListOptions) =>
    tools.withApplication(async (application) => {
      outputOf(options, tools).table(
        ['name', 'version', 'position', 'behind'],
        [...(await application.projections.status())],
      );
    }),
  );
  leaf(
    projections,
    'rebuild [names...]',
    'build views again beside the old ones, then swap; works while the server runs',
  )
    .option('--all', 'every projection')
    .action((names: readonly string[], options: { all?: boolean; json?: boolean }) =>
      tools.withApplication(async (application) => {
        if ((options.all === true) === names.length > 0) throw usage('name projections, or give --all.');
        const progress = openProgress('rebuild', options.json !== true);
        const wanted = options.all === true ? 'all' : names;
        const answer = await rebuildProjections(wanted, progress.show, application).finally(progress.stop);
        const { rebuilt } = accepted(answer);
        outputOf(options, tools).object({ rebuilt }, [`rebuilt: ${rebuilt.join(', ')}`]);
      }),
    );
}
