import type { Command } from 'commander';
import { DIRECTORY_ID } from '../commands/ip-control/directory.ts';
import { type CommandTools, leaf, outputOf } from './command.ts';
import { allRegions } from './lookup.ts';
import { accepted, operatorContext } from './output.ts';

/** `region create | list`. */
export function addRegionCommands(program: Command, tools: CommandTools): void {
  const region = program.command('region').description('groups of routers that hold the same lists');
  leaf(region, 'create <name>', 'create a region').action((name: string, options: { json?: boolean }) =>
    tools.withHouse(async (house) => {
      const context = operatorContext(house.ids);
      const reserved = accepted(
        await house.directory.handle(DIRECTORY_ID, { type: 'ReserveRegionName', data: { name } }, context),
      );
      const regionId = [...reserved.state.regions].find(([, taken]) => taken === name)?.[0] ?? 0;
      accepted(await house.regions.handle(regionId, { type: 'CreateRegion', data: { regionId, name } }, context));
      outputOf(options, tools).object({ id: regionId, name }, [`region ${name} created (id ${regionId})`]);
    }),
  );
  leaf(region, 'list', 'list regions').action((options: { json?: boolean }) =>
    tools.withHouse(async (house) => {
      const rows = (await allRegions(house)).map(({ regionId, name, routers }) => ({
        id: regionId,
        name,
        routers: routers.size,
      }));
      outputOf(options, tools).table(['id', 'name', 'routers'], rows);
    }),
  );
}
