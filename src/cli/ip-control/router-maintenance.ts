import type { Command } from 'commander';
import type { RouterName } from '../../application/ip-control/lookups.ts';
import {
  type CheckedRouter,
  checkRouters,
  chooseRouterRepair,
  disableRouter,
  enableRouter,
  pruneRouter,
} from '../../application/ip-control/router-maintenance.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import { accepted, CommandFailure, counted, EXIT, operatorContext, usage } from '../output.ts';

type Options = Readonly<{ json?: boolean }>;
type CheckOptions = Options & Readonly<{ all?: boolean }>;

/** `router update | disable | enable | check | prune`. */
export function addRouterUpkeepCommands(router: Command, tools: CommandTools): void {
  leaf(router, 'update <region-or-router> [router]', 'choose whether drift on a router is put right')
    .option('--repair', 'put right what others have changed in our lists')
    .option('--no-repair', 'only tell what others have changed')
    .action((first: string, second: string | undefined, options: Options & Readonly<{ repair?: boolean }>) =>
      tools.withApplication(async (application) => {
        const { repair } = options;
        if (repair === undefined) throw usage('--repair or --no-repair must be given.');
        const wanted = { ...routerNameOf(first, second), repair };
        const context = operatorContext(application.ids);
        const { region, router: name } = accepted(await chooseRouterRepair(wanted, context, application));
        outputOf(options, tools).object({ name, region, repair }, [
          `router ${name}: drift is ${repair ? 'put right' : 'told, and left'}`,
        ]);
      }),
    );
  leaf(router, 'disable <region-or-router> [router]', 'pass a router over: commits are complete without it').action(
    (first: string, second: string | undefined, options: Options) =>
      tools.withApplication(async (application) => {
        const context = operatorContext(application.ids);
        const disabled = accepted(await disableRouter(routerNameOf(first, second), context, application));
        const { region, router: name } = disabled;
        outputOf(options, tools).object({ name, region, state: 'disabled' }, [`router ${name} is disabled`]);
      }),
  );
  addEnableCommand(router, tools);
  addCheckCommand(router, tools);
  addPruneCommand(router, tools);
}

/** `<router>`, or `<region> <router>`. */
export function routerNameOf(first: string, second: string | undefined): RouterName {
  return second === undefined ? { router: first } : { region: first, router: second };
}

function addEnableCommand(router: Command, tools: CommandTools): void {
  leaf(
    router,
    'enable <region-or-router> [router]',
    'bring a disabled router up to date; then commits count it again',
  ).action((first: string, second: string | undefined, options: Options) =>
    tools.withApplication(async (application) => {
      const context = operatorContext(application.ids);
      const enabled = accepted(await enableRouter(routerNameOf(first, second), context, application));
      const { region, router: name, phase } = enabled;
      if (phase === 'catching-up') {
        const because = `router ${name} is enabled, and is still being brought up to date; commits do not wait for it until then.`;
        throw new CommandFailure(EXIT.failed, 'catching-up', because);
      }
      const { caughtUp } = enabled;
      const shown = { name, region, state: 'enabled', ...caughtUp };
      outputOf(options, tools).object(shown, [
        caughtUp === undefined
          ? `router ${name} is enabled`
          : `router ${name} is enabled and up to date: ${counted(caughtUp.lists, 'list')} compared, ${caughtUp.changed} changed`,
      ]);
    }),
  );
}

function addCheckCommand(router: Command, tools: CommandTools): void {
  leaf(router, 'check [region-or-router] [router]', 'compare a router with what it should hold, now')
    .option('--all', 'every router that is not disabled')
    .action((first: string | undefined, second: string | undefined, options: CheckOptions) =>
      tools.withApplication(async (application) => {
        if ((first === undefined) !== (options.all === true)) throw usage('name one router, or give --all.');
        const which = first === undefined ? 'all' : routerNameOf(first, second);
        const checked = accepted(await checkRouters(which, operatorContext(application.ids), application));
        const output = outputOf(options, tools);
        if (output.json) {
          const rows = checked.map((one) => {
            const { region, router: name, ...result } = one;
            return { region, router: name, ...countsOf([one]), ...result };
          });
          output.object(first === undefined ? { routers: rows, ...countsOf(checked) } : (rows[0] ?? {}));
        } else for (const one of checked) output.object({}, linesOf(one));
        const isBad = checked.some(
          ({ problems, repaired, drifted }) => problems.length > 0 || repaired.length < drifted.length,
        );
        if (isBad) throw new CommandFailure(EXIT.failed, 'not-as-it-should-be', 'not every router is as it should be.');
      }),
    );
}

function addPruneCommand(router: Command, tools: CommandTools): void {
  leaf(
    router,
    'prune <region-or-router> [router]',
    'remove lists with our prefix that belong to no customer; router check names them',
  ).action((first: string, second: string | undefined, options: Options) =>
    tools.withApplication(async (application) => {
      const context = operatorContext(application.ids);
      const pruned = accepted(await pruneRouter(routerNameOf(first, second), context, application));
      const { region, router: name, removed = [], unowned = [], problems = [] } = pruned;
      outputOf(options, tools).object({ name, region, removed, unowned, problems }, [
        `router ${name}: ${removed.length} of ${counted(unowned.length, 'list')} removed`,
        ...removed.map((list) => `  - ${list}`),
        ...problems.map((problem) => `  ! ${problem}`),
      ]);
      if (removed.length < unowned.length || problems.length > 0)
        throw new CommandFailure(EXIT.failed, 'not-pruned', `router ${name}: not all of it could be done.`);
    }),
  );
}

function countsOf(checked: readonly CheckedRouter[]) {
  const sum = (of: (one: CheckedRouter) => readonly string[]): number =>
    checked.reduce((total, one) => total + of(one).length, 0);
  return {
    drifted_count: sum(({ drifted }) => drifted),
    repaired_count: sum(({ repaired }) => repaired),
    unowned_count: sum(({ unowned }) => unowned),
  };
}

function linesOf({ router, lists, underWay, drifted, repaired, unowned, problems }: CheckedRouter): readonly string[] {
  const right = new Set(repaired);
  return [
    `${router}: ${counted(lists, 'list')} compared, ${drifted.length} drifted, ${repaired.length} repaired; ${underWay} left to commits under way; ${unowned.length} without a customer`,
    ...drifted.map((list) => `  ${right.has(list) ? 'repaired' : 'drifted'} ${list}`),
    ...unowned.map((list) => `  unowned ${list}`),
    ...problems.map((problem) => `  ! ${problem}`),
  ];
}
