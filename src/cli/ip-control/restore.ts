import type { Command } from 'commander';
import { DIRECTORY_ID } from '../../commands/ip-control/directory.ts';
import { isRestored, type Restored } from '../../commands/ip-control/restore.ts';
import { streamName } from '../../kernel/stream-name.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import type { Application } from '../../application/application.ts';
import { findRegion } from '../lookup.ts';
import { accepted, CommandFailure, counted, EXIT, operatorContext } from '../output.ts';
import { type RegionBeyondLog, regionBeyondLog, type RouterBeyondLog } from './restore-status.ts';

type AcceptOptions = Readonly<{ region?: string; json?: boolean }>;

const NOT_RESTORED = 'the log is no restored one: routers hold what it says, and nothing else';
const SAID: Readonly<Record<Restored['because'], string>> = {
  operator: 'said by an operator',
  'log-older-than-views': 'the views had seen more than the log holds',
};

/** `restore status | accept`. */
export function addRestoreCommands(program: Command, tools: CommandTools): void {
  const restore = program.command('restore').description('after the log was put back from an older copy');
  leaf(restore, 'status', 'what routers hold and the log does not explain; changes nothing').action(
    (options: { json?: boolean }) => tools.withApplication((application) => showStatus(application, options, tools)),
  );
  leaf(restore, 'accept', 'have routers hold what the log says again, and nothing else')
    .option('--region <region>', 'only those of one region')
    .action((options: AcceptOptions) => tools.withApplication((application) => accept(application, options, tools)));
}

async function showStatus(
  application: Application,
  options: Readonly<{ json?: boolean }>,
  tools: CommandTools,
): Promise<void> {
  const { state } = await application.directory.state(DIRECTORY_ID);
  const output = outputOf(options, tools);
  if (state.restored === undefined) return output.object({ restored: false, regions: [] }, [NOT_RESTORED]);
  const { because } = state.restored;
  const { at, actor } = await beginning(application, state.restored);
  const regions = await Promise.all(
    [...state.regions].map(async ([regionId, region]): Promise<RegionBeyondLog> =>
      isRestored(state, regionId)
        ? regionBeyondLog(application, state, regionId, region)
        : { region, restored: false, routers: [] },
    ),
  );
  output.object({ restored: true, because, since: at, by: actor, regions }, [
    `the log was restored: recorded ${at} by ${actor} (${SAID[because]})`,
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

/** Who has recorded it, and when. */
async function beginning(
  application: Application,
  { revision }: Restored,
): Promise<Readonly<{ at: string; actor: string }>> {
  for await (const [event] of application.store.read(streamName('directory', DIRECTORY_ID), revision - 1n))
    if (event !== undefined) return event.metadata;
  throw new Error(`the directory has no event at revision ${revision}`);
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

async function accept(application: Application, options: AcceptOptions, tools: CommandTools): Promise<void> {
  const regionId = options.region === undefined ? undefined : (await findRegion(application, options.region)).regionId;
  const command = { type: 'AcceptRestore', data: { regionId } } as const;
  const { events, state } = accepted(
    await application.directory.handle(DIRECTORY_ID, command, operatorContext(application.ids)),
  );
  const ids = events.flatMap((event) => (event.type === 'RestoreAccepted' ? event.data.regionIds : []));
  const names = ids.map((id) => state.regions.get(id) ?? String(id));
  const left = [...state.regions].filter(([id]) => isRestored(state, id)).map(([, name]) => name);
  const lines = [
    ...(events.length === 0 ? [`there is nothing to accept${options.region === undefined ? '' : ' there'}`] : []),
    ...names.map((name) => `region ${name}: routers are to hold what the log says, and nothing else`),
    ...(left.length === 0 ? [] : [`still restored: ${left.join(', ')}`]),
  ];
  outputOf(options, tools).object({ restored: state.restored !== undefined, accepted: names, left }, lines);
}
