import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Router } from '../../commands/ip-control/region-state.ts';
import { RouterFailure } from '../../ports/routers.ts';
import { collect, type CommandTools, leaf, outputOf } from '../command.ts';
import type { Application } from '../../application/application.ts';
import { allRegions, findRegion, findRouter } from '../lookup.ts';
import { accepted, CommandFailure, EXIT, operatorContext, usage } from '../output.ts';
import { addRouterUpkeepCommands, chooseRepair } from './router-maintenance.ts';

type AddOptions = Readonly<{ driver: string; option: readonly string[]; repair: boolean; json?: boolean }>;

const TEST_MILLISECONDS = 30_000;

/** `router add | list | remove | test | update | disable | enable | check | prune`. */
export function addRouterCommands(program: Command, tools: CommandTools): void {
  const router = program.command('router').description('routers that lists are pushed to');
  leaf(router, 'add <region> <name>', 'add a router to a region')
    .requiredOption('--driver <driver>', 'how edgeward talks to it')
    .option('--option <key=value>', 'an option of the driver; repeatable', collect, [])
    .option('--no-repair', 'only tell what others change in our lists on it, and leave it')
    .action((region: string, name: string, options: AddOptions) =>
      tools.withApplication(async (application) => {
        const { regionId, name: regionName } = await findRegion(application, region);
        const given = { router: name, driver: options.driver, options: keyValues(options.option) };
        const added: Router = { ...given, options: withAbsolutePath(given) };
        await checkOptions(application, added);
        if (added.driver === 'file' && added.options['path'] !== undefined)
          mkdirSync(added.options['path'], { recursive: true });
        accepted(
          await application.regions.handle(
            regionId,
            { type: 'AddRouter', data: added },
            operatorContext(application.ids),
          ),
        );
        if (!options.repair) await chooseRepair(application, { regionId, router: name }, false);
        const shown = { name, region: regionName, driver: options.driver, options: added.options };
        outputOf(options, tools).object(shown, [`router ${name} added to region ${regionName}`]);
      }),
    );
  leaf(router, 'list', 'list routers')
    .option('--region <region>', 'only those of one region')
    .action((options: { region?: string; json?: boolean }) =>
      tools.withApplication(async (application) => {
        const regions =
          options.region === undefined
            ? await allRegions(application)
            : [await findRegion(application, options.region)];
        const rows = regions.flatMap(({ name: region, routers }) =>
          [...routers.values()].map(({ router: name, driver, options: own, phase, repair, drifts, unowned }) => ({
            region,
            name,
            driver,
            state: phase,
            repair,
            drifted: [...drifts.keys()].sort(),
            unowned,
            options: own,
          })),
        );
        outputOf(options, tools).table(['region', 'name', 'driver', 'state', 'options'], rows);
      }),
    );
  leaf(router, 'remove <region-or-router> [router]', 'stop deploying to a router; what it holds stays as it is').action(
    (first: string, second: string | undefined, options: { json?: boolean }) =>
      tools.withApplication(async (application) => {
        const { region, router: found } = await findRouter(application, first, second);
        const command = { type: 'RemoveRouter', data: { router: found.router } } as const;
        accepted(await application.regions.handle(region.regionId, command, operatorContext(application.ids)));
        outputOf(options, tools).object({ name: found.router, region: region.name }, [
          `router ${found.router} removed from region ${region.name}`,
        ]);
      }),
  );
  addTestCommand(router, tools);
  addRouterUpkeepCommands(router, tools);
}

function addTestCommand(router: Command, tools: CommandTools): void {
  leaf(
    router,
    'test <region-or-router> [router]',
    'connect, log in and see whether lists can be written; changes nothing',
  ).action((first: string, second: string | undefined, options: { json?: boolean }) =>
    tools.withApplication(async (application) => {
      const { router: found } = await findRouter(application, first, second);
      await testRouter(application, found);
      outputOf(options, tools).object({ name: found.router, reachable: true }, [
        `router ${found.router}: reachable, and lists can be written`,
      ]);
    }),
  );
}

function keyValues(pairs: readonly string[]): Readonly<Record<string, string>> {
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

/** A path means what it means where the command is given, wherever the server runs. */
function withAbsolutePath({ driver, options }: Router): Readonly<Record<string, string>> {
  const { path } = options;
  return driver === 'file' && path !== undefined && path !== '' ? { ...options, path: resolve(path) } : options;
}

/** Opening a driver checks its options and connects to nothing. */
async function checkOptions(application: Application, { router: name, driver, options }: Router): Promise<void> {
  try {
    await application.openRouter({ name, driver, options }).close();
  } catch (error) {
    if (error instanceof RouterFailure) throw new CommandFailure(EXIT.usage, error.code, error.message);
    throw error;
  }
}

async function testRouter(application: Application, { router: name, driver, options }: Router): Promise<void> {
  const opened = application.openRouter({ name, driver, options });
  try {
    await opened.check(AbortSignal.timeout(TEST_MILLISECONDS));
  } catch (error) {
    if (error instanceof RouterFailure)
      throw new CommandFailure(EXIT.failed, error.code, `router ${name}: ${error.message}`);
    throw error;
  } finally {
    await opened.close();
  }
}
