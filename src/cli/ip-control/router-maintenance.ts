import type { Command } from 'commander';
import type { RouterCheckResult } from '../../events/ip-control/router-upkeep.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import type { Application } from '../../application/application.ts';
import { allRegions, findRouter } from '../lookup.ts';
import { accepted, CommandFailure, counted, EXIT, operatorContext, usage } from '../output.ts';

type Options = Readonly<{ json?: boolean }>;
type CheckOptions = Options & Readonly<{ all?: boolean }>;
type Target = Readonly<{ regionId: number; region: string; router: string }>;

/** `router update | disable | enable | check | prune`. */
export function addRouterUpkeepCommands(router: Command, tools: CommandTools): void {
  leaf(router, 'update <region-or-router> [router]', 'choose whether drift on a router is put right')
    .option('--repair', 'put right what others have changed in our lists')
    .option('--no-repair', 'only tell what others have changed')
    .action((first: string, second: string | undefined, options: Options & Readonly<{ repair?: boolean }>) =>
      tools.withApplication(async (application) => {
        if (options.repair === undefined) throw usage('--repair or --no-repair must be given.');
        const target = await targetOf(application, first, second);
        await chooseRepair(application, target, options.repair);
        outputOf(options, tools).object({ name: target.router, region: target.region, repair: options.repair }, [
          `router ${target.router}: drift is ${options.repair ? 'put right' : 'told, and left'}`,
        ]);
      }),
    );
  leaf(router, 'disable <region-or-router> [router]', 'pass a router over: commits are complete without it').action(
    (first: string, second: string | undefined, options: Options) =>
      tools.withApplication(async (application) => {
        const { regionId, region, router: name } = await targetOf(application, first, second);
        const command = { type: 'DisableRouter', data: { router: name } } as const;
        accepted(await application.regions.handle(regionId, command, operatorContext(application.ids)));
        outputOf(options, tools).object({ name, region, state: 'disabled' }, [`router ${name} is disabled`]);
      }),
  );
  leaf(
    router,
    'enable <region-or-router> [router]',
    'bring a disabled router up to date; then commits count it again',
  ).action((first: string, second: string | undefined, options: Options) =>
    tools.withApplication((application) => enable(application, first, second, options, tools)),
  );
  leaf(router, 'check [region-or-router] [router]', 'compare a router with what it should hold, now')
    .option('--all', 'every router that is not disabled')
    .action((first: string | undefined, second: string | undefined, options: CheckOptions) =>
      tools.withApplication((application) => check(application, first, second, options, tools)),
    );
  leaf(
    router,
    'prune <region-or-router> [router]',
    'remove lists with our prefix that belong to no customer; router check names them',
  ).action((first: string, second: string | undefined, options: Options) =>
    tools.withApplication(async (application) => {
      const target = await targetOf(application, first, second);
      const [result] = await checked(application, [target], true);
      const { removed = [], unowned = [], problems = [] } = result ?? {};
      outputOf(options, tools).object({ name: target.router, region: target.region, removed, unowned, problems }, [
        `router ${target.router}: ${removed.length} of ${counted(unowned.length, 'list')} removed`,
        ...removed.map((list) => `  - ${list}`),
        ...problems.map((problem) => `  ! ${problem}`),
      ]);
      if (removed.length < unowned.length || problems.length > 0)
        throw new CommandFailure(EXIT.failed, 'not-pruned', `router ${target.router}: not all of it could be done.`);
    }),
  );
}

/** Records whether drift on a router is put right. */
export async function chooseRepair(
  application: Application,
  { regionId, router }: Pick<Target, 'regionId' | 'router'>,
  repair: boolean,
): Promise<void> {
  const command = { type: 'ChooseRouterRepair', data: { router, repair } } as const;
  accepted(await application.regions.handle(regionId, command, operatorContext(application.ids)));
}

async function targetOf(application: Application, first: string, second: string | undefined): Promise<Target> {
  const { region, router } = await findRouter(application, first, second);
  return { regionId: region.regionId, region: region.name, router: router.router };
}

async function enable(
  application: Application,
  first: string,
  second: string | undefined,
  options: Options,
  tools: CommandTools,
): Promise<void> {
  const { region, router } = await findRouter(application, first, second);
  const { router: name } = router;
  const shown = { name, region: region.name };
  if (router.phase === 'enabled') {
    outputOf(options, tools).object({ ...shown, state: 'enabled' }, [`router ${name} is enabled`]);
    return;
  }
  const answer = await application.routerChecks.enable(
    { regionId: region.regionId, router: name },
    operatorContext(application.ids),
  );
  const caughtUp = answer === undefined ? undefined : accepted(answer);
  if (caughtUp === undefined) {
    const because = `router ${name} is enabled, and is still being brought up to date; commits do not wait for it until then.`;
    throw new CommandFailure(EXIT.failed, 'catching-up', because);
  }
  const { lists, changed } = caughtUp;
  outputOf(options, tools).object({ ...shown, state: 'enabled', lists, changed }, [
    `router ${name} is enabled and up to date: ${counted(lists, 'list')} compared, ${changed} changed`,
  ]);
}

async function check(
  application: Application,
  first: string | undefined,
  second: string | undefined,
  options: CheckOptions,
  tools: CommandTools,
): Promise<void> {
  if ((first === undefined) !== (options.all === true)) throw usage('name one router, or give --all.');
  const targets =
    first === undefined ? await enabledRouters(application) : [await targetOf(application, first, second)];
  const rows = await checked(application, targets, false);
  const output = outputOf(options, tools);
  if (output.json) output.object(first === undefined ? { routers: rows, ...sumOf(rows) } : (rows[0] ?? {}));
  else for (const row of rows) output.object({}, linesOf(row));
  const isBad = rows.some(({ problems, repaired, drifted }) => problems.length > 0 || repaired.length < drifted.length);
  if (isBad) throw new CommandFailure(EXIT.failed, 'not-as-it-should-be', 'not every router is as it should be.');
}

async function enabledRouters(application: Application): Promise<readonly Target[]> {
  return (await allRegions(application)).flatMap(({ regionId, name: region, routers }) =>
    [...routers.values()].flatMap(({ router, phase }) => (phase === 'disabled' ? [] : [{ regionId, region, router }])),
  );
}

async function checked(
  application: Application,
  targets: readonly Target[],
  prune: boolean,
): Promise<readonly CheckRow[]> {
  const answers = await application.routerChecks.check(targets, prune, operatorContext(application.ids));
  return targets.map(({ region, router }, at) => {
    const answer = answers[at];
    if (answer === undefined)
      throw new CommandFailure(EXIT.failed, 'in-progress', `router ${router} is still being checked.`);
    const result = accepted(answer);
    return { region, router, ...countsOf(result), ...result };
  });
}

type CheckRow = Readonly<{ region: string; router: string }> & Counts & RouterCheckResult;
type Counts = Readonly<{ drifted_count: number; repaired_count: number; unowned_count: number }>;

function countsOf({ drifted, repaired, unowned }: RouterCheckResult): Counts {
  return { drifted_count: drifted.length, repaired_count: repaired.length, unowned_count: unowned.length };
}

function sumOf(rows: readonly Counts[]): Counts {
  const sum = (of: (row: Counts) => number): number => rows.reduce((total, row) => total + of(row), 0);
  return {
    drifted_count: sum((row) => row.drifted_count),
    repaired_count: sum((row) => row.repaired_count),
    unowned_count: sum((row) => row.unowned_count),
  };
}

function linesOf({ router, ...result }: RouterCheckResult & Readonly<{ router: string }>): readonly string[] {
  const { lists, underWay, drifted, repaired, unowned, problems } = result;
  const right = new Set(repaired);
  return [
    `${router}: ${counted(lists, 'list')} compared, ${drifted.length} drifted, ${repaired.length} repaired; ${underWay} left to commits under way; ${unowned.length} without a customer`,
    ...drifted.map((list) => `  ${right.has(list) ? 'repaired' : 'drifted'} ${list}`),
    ...unowned.map((list) => `  unowned ${list}`),
    ...problems.map((problem) => `  ! ${problem}`),
  ];
}
