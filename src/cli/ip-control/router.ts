import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import {
  addRouter,
  removeRouter,
  ROUTER_STATUSES,
  routerStandings,
  testRouter,
} from '../../application/ip-control/routers.ts';
import {
  act,
  type ActOptions,
  collect,
  type CommandTools,
  leaf,
  listing,
  type ListOptions,
  narrowed,
  outputOf,
} from '../command.ts';
import { accepted, CommandFailure, EXIT, operatorContext } from '../output.ts';
import { addRouterUpkeepCommands, keyValues, routerNameOf } from './router-maintenance.ts';

type AddOptions = ActOptions & Readonly<{ driver: string; option: readonly string[]; repair: boolean }>;

/** `router add | list | remove | test | update | drain | disable | enable | check | prune`. */
export function addRouterCommands(program: Command, tools: CommandTools): void {
  const router = program.command('router').description('routers that lists are pushed to');
  addAddCommand(router, tools);
  listing(router, 'list', 'list routers', {
    states: ROUTER_STATUSES,
    region: 'those of one region',
    since: 'those added',
  }).action((options: ListOptions) =>
    tools.withApplication(async (application) => {
      const routers = accepted(await routerStandings(options.region, application));
      const wanted = narrowed(routers, options, {
        now: application.clock.now(),
        statusOf: ({ status }) => status,
        at: ({ addedAt }) => addedAt,
      });
      const rows = wanted.map((one) => ({
        region: one.region,
        name: one.router,
        driver: one.driver,
        state: one.phase,
        status: one.status,
        last_seen: one.lastSeen,
        created_at: one.addedAt,
        repair: one.repair,
        drifted: one.drifted,
        unowned: one.unowned,
        options: one.options,
      }));
      outputOf(options, tools).table(['region', 'name', 'driver', 'status', 'last_seen', 'options'], rows);
    }),
  );
  act(router, 'remove <region-or-router> [router]', 'stop deploying to a router; what it holds stays as it is').action(
    (first: string, second: string | undefined, options: ActOptions) =>
      tools.withApplication(async (application) => {
        const context = operatorContext(application.ids, options);
        const removed = accepted(await removeRouter(routerNameOf(first, second), context, application));
        const { region, router: name } = removed;
        outputOf(options, tools).object({ name, region }, [`router ${name} removed from region ${region}`]);
      }),
  );
  leaf(
    router,
    'test <region-or-router> [router]',
    'connect, log in and see whether lists can be written; changes nothing',
  ).action((first: string, second: string | undefined, options: { json?: boolean }) =>
    tools.withApplication(async (application) => {
      const { router: name, problem } = accepted(await testRouter(routerNameOf(first, second), application));
      if (problem !== undefined)
        throw new CommandFailure(EXIT.failed, problem.code, `router ${name}: ${problem.because}`);
      outputOf(options, tools).object({ name, reachable: true }, [
        `router ${name}: reachable, and lists can be written`,
      ]);
    }),
  );
  addRouterUpkeepCommands(router, tools);
}

function addAddCommand(router: Command, tools: CommandTools): void {
  act(router, 'add <region> <name>', 'add a router to a region')
    .requiredOption('--driver <driver>', 'how edgeward talks to it')
    .option('--option <key=value>', 'an option of the driver; repeatable', collect, [])
    .option('--no-repair', 'only tell what others change in our lists on it, and leave it')
    .addHelpText('after', () => driversHelp(tools.routerDrivers))
    .action((region: string, name: string, { driver, option, repair, ...options }: AddOptions) =>
      tools.withApplication(async (application) => {
        const wanted = { region, router: name, driver, options: withAbsolutePath(driver, keyValues(option)), repair };
        const dependencies = { ...application, makeFolder: (path: string) => mkdir(path, { recursive: true }) };
        const added = accepted(await addRouter(wanted, operatorContext(application.ids, options), dependencies));
        const shown = { name, region: added.region, driver, options: wanted.options };
        outputOf(options, tools).object(shown, [`router ${name} added to region ${added.region}`]);
      }),
    );
}

function driversHelp(drivers: CommandTools['routerDrivers']): string {
  const lines = drivers.flatMap(({ driver, options }) => {
    const width = Math.max(...options.map(({ name }) => name.length));
    return [
      '',
      `Options of driver ${driver} (--option key=value):`,
      ...options.map(({ name, meaning, required, onlyWith }) => {
        const notes = [...(required ? ['required'] : []), ...(onlyWith === undefined ? [] : [`with ${onlyWith}`])];
        return `  ${name.padEnd(width)}  ${meaning}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`;
      }),
    ];
  });
  return lines.join('\n');
}

/** A path means what it means where the command is given, wherever the server runs. */
function withAbsolutePath(driver: string, options: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { path } = options;
  return driver === 'file' && path !== undefined && path !== '' ? { ...options, path: resolve(path) } : options;
}
