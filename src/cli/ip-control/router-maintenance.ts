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
import { drainRouter, reconfigureRouter } from '../../application/ip-control/router-changes.ts';
import { act, type ActOptions, collect, type CommandTools, outputOf } from '../command.ts';
import { counted } from '../../domain/counted.ts';
import { accepted, CommandFailure, EXIT, operatorContext, usage } from '../output.ts';

type CheckOptions = ActOptions & Readonly<{ all?: boolean }>;

/** `router update | drain | disable | enable | check | prune`. */
export function addRouterUpkeepCommands(router: Command, tools: CommandTools): void {
  addUpdateCommand(router, tools);
  addDrainCommand(router, tools);
  act(router, 'disable <region-or-router> [router]', 'pass a router over: commits are complete without it').action(
    (first: string, second: string | undefined, options: ActOptions) =>
      tools.withApplication(async (application) => {
        const context = operatorContext(application.ids, options);
        const disabled = accepted(await disableRouter(routerNameOf(first, second), context, application));
        const { region, router: name } = disabled;
        outputOf(options, tools).object({ name, region, state: 'disabled' }, [`router ${name} is disabled`]);
      }),
  );
  addEnableCommand(router, tools);
  addCheckCommand(router, tools);
  addPruneCommand(router, tools);
}

type UpdateOptions = ActOptions &
  Readonly<{ option: readonly string[]; unset: readonly string[]; force?: boolean; repair?: boolean }>;

function addUpdateCommand(router: Command, tools: CommandTools): void {
  act(router, 'update <region-or-router> [router]', 'change how a router is spoken to, once that was tried')
    .option(
      '--option <key=value>',
      'an option of the driver: address, user, key, host key, time limits; repeatable',
      collect,
      [],
    )
    .option('--unset <key>', 'an option that is to have its default again; repeatable', collect, [])
    .option('--force', 'take the options also where the router can not be reached with them')
    .option('--repair', 'put right what others have changed in our lists')
    .option('--no-repair', 'only tell what others have changed')
    .action((first: string, second: string | undefined, options: UpdateOptions) =>
      tools.withApplication(async (application) => {
        const { repair } = options;
        const unset = Object.fromEntries(options.unset.map((key) => [key, null]));
        const changes = { ...keyValues(options.option), ...unset };
        const isReconfigured = Object.keys(changes).length > 0;
        if (repair === undefined && !isReconfigured)
          throw usage('--option, --unset, --repair or --no-repair must be given.');
        const context = operatorContext(application.ids, options);
        const name = routerNameOf(first, second);
        const wanted = { ...name, options: changes, force: options.force === true };
        const changed = isReconfigured ? accepted(await reconfigureRouter(wanted, context, application)) : undefined;
        const chosen =
          repair === undefined
            ? undefined
            : accepted(await chooseRouterRepair({ ...name, repair }, context, application));
        const { region, router: its } = changed ?? chosen ?? { region: '', router: first };
        const shown = { ...(changed && { options: changed.options }), ...(repair === undefined ? {} : { repair }) };
        outputOf(options, tools).object({ name: its, region, ...shown }, [
          ...(changed === undefined ? [] : changedLines(changed)),
          ...(repair === undefined ? [] : [`router ${its}: drift is ${repair ? 'put right' : 'told, and left'}`]),
        ]);
      }),
    );
}

function changedLines({ router, isChanged }: Readonly<{ router: string; isChanged: boolean }>): readonly string[] {
  if (!isChanged) return [`router ${router} unchanged`];
  return [
    `router ${router} updated`,
    `edgeward router check ${router} compares its lists now; else the next drift scan does`,
  ];
}

function addDrainCommand(router: Command, tools: CommandTools): void {
  act(
    router,
    'drain <region-or-router> [router]',
    'disable a router and take all our lists off it, so that it can be removed',
  ).action((first: string, second: string | undefined, options: ActOptions) =>
    tools.withApplication(async (application) => {
      const context = operatorContext(application.ids, options);
      const drained = accepted(await drainRouter(routerNameOf(first, second), context, application));
      const { region, router: name, removed, problems } = drained;
      outputOf(options, tools).object({ name, region, state: 'disabled', removed, problems }, [
        `router ${name} is disabled; ${counted(removed.length, 'list')} taken off`,
        ...removed.map((list) => `  - ${list}`),
        ...problems.map((problem) => `  ! ${problem}`),
      ]);
      if (problems.length > 0)
        throw new CommandFailure(EXIT.failed, 'not-drained', `router ${name}: not all lists could be taken off.`);
    }),
  );
}

/** `<router>`, or `<region> <router>`. */
export function routerNameOf(first: string, second: string | undefined): RouterName {
  return second === undefined ? { router: first } : { region: first, router: second };
}

/** What `--option` says, by name. @throws CommandFailure */
export function keyValues(pairs: readonly string[]): Readonly<Record<string, string>> {
  const options = new Map<string, string>();
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at < 1) throw usage(`--option ${pair} must look like key=value.`);
    const key = pair.slice(0, at);
    if (options.has(key)) throw usage(`--option ${key} is given twice.`);
    options.set(key, pair.slice(at + 1));
  }
  return Object.fromEntries(options);
}

function addEnableCommand(router: Command, tools: CommandTools): void {
  act(
    router,
    'enable <region-or-router> [router]',
    'bring a disabled router up to date; then commits count it again',
  ).action((first: string, second: string | undefined, options: ActOptions) =>
    tools.withApplication(async (application) => {
      const context = operatorContext(application.ids, options);
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
  act(router, 'check [region-or-router] [router]', 'compare a router with what it should hold, now')
    .option('--all', 'every router that is not disabled')
    .action((first: string | undefined, second: string | undefined, options: CheckOptions) =>
      tools.withApplication(async (application) => {
        if ((first === undefined) !== (options.all === true)) throw usage('name one router, or give --all.');
        const which = first === undefined ? 'all' : routerNameOf(first, second);
        const checked = accepted(await checkRouters(which, operatorContext(application.ids, options), application));
        const output = outputOf(options, tools);
        if (output.json) {
          const rows = checked.map((one) => {
            const { region, router: name, lists, underWay, drifted, repaired, unowned, removed, problems } = one;
            const result = { lists, under_way: underWay, drifted, repaired, unowned, removed, problems };
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
  act(
    router,
    'prune <region-or-router> [router]',
    'remove lists with our prefix that belong to no customer; router check names them',
  ).action((first: string, second: string | undefined, options: ActOptions) =>
    tools.withApplication(async (application) => {
      const context = operatorContext(application.ids, options);
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
