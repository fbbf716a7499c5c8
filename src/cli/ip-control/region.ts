import { type Command, Option } from 'commander';
import { DIRECTORY_ID } from '../../commands/ip-control/directory.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import { type DeployPolicy, deployPolicy as policies } from '../../events/ip-control/vocabulary.ts';
import type { Application } from '../../application/application.ts';
import { allRegions, findRegion } from '../lookup.ts';
import { accepted, operatorContext } from '../output.ts';

type RegionOptions = Readonly<{ deployPolicy?: DeployPolicy; json?: boolean }>;

/** `region create | update | list`. */
export function addRegionCommands(program: Command, tools: CommandTools): void {
  const region = program.command('region').description('groups of routers that hold the same lists');
  leaf(region, 'create <name>', 'create a region')
    .addOption(policyOption())
    .action((name: string, options: RegionOptions) =>
      tools.withApplication(async (application) => {
        const context = operatorContext(application.ids);
        const reserved = accepted(
          await application.directory.handle(DIRECTORY_ID, { type: 'ReserveRegionName', data: { name } }, context),
        );
        const regionId = [...reserved.state.regions].find(([, taken]) => taken === name)?.[0] ?? 0;
        accepted(
          await application.regions.handle(regionId, { type: 'CreateRegion', data: { regionId, name } }, context),
        );
        await choosePolicy(application, regionId, options);
        const { deployPolicy = 'each' } = options;
        outputOf(options, tools).object({ id: regionId, name, deploy_policy: deployPolicy }, [
          `region ${name} created (id ${regionId})`,
        ]);
      }),
    );
  leaf(region, 'update <region>', 'change how commits treat the routers of a region')
    .addOption(policyOption().makeOptionMandatory())
    .action((given: string, options: RegionOptions) =>
      tools.withApplication(async (application) => {
        const { regionId, name } = await findRegion(application, given);
        await choosePolicy(application, regionId, options);
        outputOf(options, tools).object({ id: regionId, name, deploy_policy: options.deployPolicy }, [
          `region ${name}: ${options.deployPolicy}`,
        ]);
      }),
    );
  leaf(region, 'list', 'list regions').action((options: { json?: boolean }) =>
    tools.withApplication(async (application) => {
      const rows = (await allRegions(application)).map(({ regionId, name, routers, deployPolicy }) => ({
        id: regionId,
        name,
        routers: routers.size,
        deploy_policy: deployPolicy,
      }));
      outputOf(options, tools).table(['id', 'name', 'routers', 'deploy_policy'], rows);
    }),
  );
}

function policyOption(): Option {
  const meaning = 'each: every router takes a list for itself; all-or-nothing: they take it when all of them can';
  return new Option('--deploy-policy <policy>', meaning).choices(policies.options);
}

async function choosePolicy(
  application: Application,
  regionId: number,
  { deployPolicy: chosen }: RegionOptions,
): Promise<void> {
  if (chosen === undefined) return;
  const command = { type: 'ChooseDeployPolicy', data: { deployPolicy: chosen } } as const;
  accepted(await application.regions.handle(regionId, command, operatorContext(application.ids)));
}
