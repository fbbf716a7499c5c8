import type { Command } from 'commander';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import { notFound, usage } from '../output.ts';
import { openProgress } from '../progress.ts';

/** `projections list | rebuild`. */
export function addProjectionCommands(program: Command, tools: CommandTools): void {
  const projections = program.command('projections').description('the views, which can be rebuilt from the events');
  leaf(projections, 'list', 'list projections and how far they are').action((options: { json?: boolean }) =>
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
    'build views anew beside the old ones, then swap; works while the server runs',
  )
    .option('--all', 'every projection')
    .action((names: readonly string[], options: { all?: boolean; json?: boolean }) =>
      tools.withApplication(async (application) => {
        if ((options.all === true) === names.length > 0) throw usage('name projections, or give --all.');
        const wanted = options.all === true ? application.projections.names : names;
        for (const name of wanted)
          if (!application.projections.names.includes(name)) throw notFound(`projection ${name} not found.`);
        const progress = openProgress('rebuild', options.json !== true);
        try {
          await application.projections.rebuild(wanted, progress.show);
        } finally {
          progress.stop();
        }
        outputOf(options, tools).object({ rebuilt: wanted }, [`rebuilt: ${wanted.join(', ')}`]);
      }),
    );
}
