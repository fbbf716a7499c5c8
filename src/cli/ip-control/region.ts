import { type Command, Option } from 'commander';
import {
  chooseDeployPolicy,
  createRegion,
  DEPLOY_POLICIES,
  listRegions,
} from '../../application/ip-control/regions.ts';
import type { DeployPolicy } from '../../events/ip-control/vocabulary.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import { accepted, operatorContext } from '../output.ts';

/** `region create | update | list`. */
export function addRegionCommands(program: Command, tools: CommandTools): void {
  const region = program.command('region').description('groups of routers that hold the same lists');
  leaf(region, 'create <name>', 'create a region')
    .addOption(policyOption())
    .action((name: string, options: Readonly<{ deployPolicy?: DeployPolicy; json?: boolean }>) =>
      tools.withApplication(async (application) => {
        const wanted = { name, deployPolicy: options.deployPolicy };
        const created = accepted(await createRegion(wanted, operatorContext(application.ids), application));
        const { regionId: id, deployPolicy } = created;
        outputOf(options, tools).object({ id, name, deploy_policy: deployPolicy }, [
          `region ${name} created (id ${id})`,
        ]);
      }),
    );
  leaf(region, 'update <region>', 'change how commits treat the routers of a region')
    .addOption(policyOption().makeOptionMandatory())
    .action((given: string, options: Readonly<{ deployPolicy: DeployPolicy; json?: boolean }>) =>
      tools.withApplication(async (application) => {
        const wanted = { region: given, deployPolicy: options.deployPolicy };
        const updated = accepted(await chooseDeployPolicy(wanted, operatorContext(application.ids), application));
        const { regionId: id, name, deployPolicy } = updated;
        outputOf(options, tools).object({ id, name, deploy_policy: deployPolicy }, [`region ${name}: ${deployPolicy}`]);
      }),
    );
  leaf(region, 'list', 'list regions').action((options: { json?: boolean }) =>
    tools.withApplication(async (application) => {
      const rows = (await listRegions(application)).map(({ regionId, name, routers, deployPolicy }) => ({
        id: regionId,
        name,
        routers,
        deploy_policy: deployPolicy,
      }));
      outputOf(options, tools).table(['id', 'name', 'routers', 'deploy_policy'], rows);
    }),
  );
}

function policyOption(): Option {
  const meaning = 'each: every router takes a list for itself; all-or-nothing: they take it when all of them can';
  return new Option('--deploy-policy <policy>', meaning).choices(DEPLOY_POLICIES);
}
