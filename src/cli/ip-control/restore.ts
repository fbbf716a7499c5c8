import type { Command } from 'commander';
import {
  acceptRestore,
  type RegionBeyondLog,
  type RestoreStatus,
  restoreStatus,
  type RouterBeyondLog,
} from '../../application/ip-control/restore.ts';
import { act, type ActOptions, type CommandTools, leaf, outputOf } from '../command.ts';
import { counted } from '../../domain/counted.ts';
import { accepted, CommandFailure, EXIT, operatorContext } from '../output.ts';

type AcceptOptions = ActOptions & Readonly<{ region?: string }>;

const NOT_RESTORED = 'the log is no restored one: routers hold what it says, and nothing else';
const SAID: Readonly<Record<Extract<RestoreStatus, { restored: true }>['because'], string>> = {
  operator: 'said by an operator',
  'log-older-than-views': 'the views had seen more than the log holds',
};

/** `restore status | accept`. */
export function addRestoreCommands(program: Command, tools: CommandTools): void {
  const restore = program.command('restore').description('after the log was put back from an older copy');
  leaf(restore, 'status', 'what routers hold and the log does not explain; changes nothing').action(
    (options: { json?: boolean }) =>
      tools.withApplication(async (application) => showStatus(await restoreStatus(application), options, tools)),
  );
  act(restore, 'accept', 'have routers hold what the log says again, and nothing else')
    .option('--region <region>', 'only those of one region')
    .action((options: AcceptOptions) =>
      tools.withApplication(async (application) => {
        const context = operatorContext(application.ids, options);
        const acceptance = accepted(await acceptRestore(options.region, context, application));
        const { isNew, restored, accepted: names, left } = acceptance;
        outputOf(options, tools).object({ restored, accepted: names, left }, [
          ...(isNew ? [] : [`there is nothing to accept${options.region === undefined ? '' : ' there'}`]),
          ...names.map((name) => `region ${name}: routers are to hold what the log says, and nothing else`),
          ...(left.length === 0 ? [] : [`still restored: ${left.join(', ')}`]),
        ]);
      }),
    );
}

function showStatus(status: RestoreStatus, options: Readonly<{ json?: boolean }>, tools: CommandTools): void {
  const output = outputOf(options, tools);
  if (!status.restored) return output.object({ restored: false, regions: [] }, [NOT_RESTORED]);
  const { because, since, by, regions } = status;
  output.object({ restored: true, because, since, by, regions }, [
    `the log was restored: recorded ${since} by ${by} (${SAID[because]})`,
    ...regions.flatMap(linesOfRegion),
  ]);
  const unseen = regions.flatMap(({ routers }) => routers.filter(({ problem }) => problem !== undefined));
  if (unseen.length > 0)
    throw new CommandFailure(
      EXIT.failed,
      'not-seen',
      `not every router could be seen: ${unseen.map(({ router }) => router).join(', ')}.`,
    );
}

function linesOfRegion({ region, restored, routers }: RegionBeyondLog): readonly string[] {
  if (!restored) return [`region ${region}: accepted`];
  return [`region ${region}: ${counted(routers.length, 'router')}`, ...routers.flatMap(linesOfRouter)];
}

function linesOfRouter({ router, lists, disabled, problem }: RouterBeyondLog): readonly string[] {
  if (disabled === true) return [`  ${router}: disabled, not asked`];
  const seen =
    lists.length === 0 && problem === undefined ? [`  ${router}: nothing that the log does not explain`] : [];
  return [
    ...seen,
    ...lists.flatMap(({ list, customer, prefixes }) => [
      `  ${router}: ${list} (${customer ?? 'of no customer that the log knows'}): ${counted(prefixes.length, 'block')}`,
      ...prefixes.map((prefix) => `    ${prefix}`),
    ]),
    ...(problem === undefined ? [] : [`  ${router}: ! ${problem}`]),
  ];
}
