import { type Command, Option } from 'commander';
import {
  chooseDeployPolicy,
  createRegion,
  DEPLOY_POLICIES,
  listRegions,
  regionsCreatedAt,
  removeRegion,
} from '../../application/ip-control/regions.ts';
import type { DeployPolicy } from '../../events/ip-control/vocabulary.ts';
import { act, type ActOptions, type CommandTools, listing, type ListOptions, narrowed, outputOf } from '../command.ts';
import { accepted, operatorContext } from '../output.ts';

/** `region create | update | remove | list`. */
export function addRegionCommands(program: Command, tools: CommandTools): void {
  const region = program.command('region').description('groups of routers that hold the same lists');
  act(region, 'create <name>', 'create a region')
    .addOption(policyOption())
    .action((name: string, options: ActOptions & Readonly<{ deployPolicy?: DeployPolicy }>) =>
      tools.withApplication(async (application) => {
        const wanted = { name, deployPolicy: options.deployPolicy };
        const created = accepted(await createRegion(wanted, operatorContext(application.ids, options), application));
        const { regionId: id, deployPolicy } = created;
        outputOf(options, tools).object({ id, name, deploy_policy: deployPolicy }, [
          `region ${name} created (id ${id})`,
        ]);
      }),
    );
  act(region, 'update <region>', 'change how commits treat the routers of a region')
    .addOption(policyOption().makeOptionMandatory())
    .action((given: string, options: ActOptions & Readonly<{ deployPolicy: DeployPolicy }>) =>
      tools.withApplication(async (application) => {
        const wanted = { region: given, deployPolicy: options.deployPolicy };
        const updated = accepted(
          await chooseDeployPolicy(wanted, operatorContext(application.ids, options), application),
        );
        const { regionId: id, name, deployPolicy } = updated;
        outputOf(options, tools).object({ id, name, deploy_policy: deployPolicy }, [`region ${name}: ${deployPolicy}`]);
      }),
    );
  act(region, 'remove <region>', 'remove a region that no router and no subnet uses').action(
    (given: string, options: ActOptions) =>
      tools.withApplication(async (application) => {
        const removed = accepted(await removeRegion(given, operatorContext(application.ids, options), application));
        const { regionId: id, name } = removed;
        outputOf(options, tools).object({ id, name }, [`region ${name} removed`]);
      }),
  );
  listing(region, 'list', 'list regions', { since: 'those created' }).action((options: ListOptions) =>
    tools.withApplication(async (application) => {
      const createdAt = await regionsCreatedAt(application);
      const regions = (await listRegions(application)).map(({ regionId, name, routers, deployPolicy }) => ({
        id: regionId,
        name,
        routers,
        deploy_policy: deployPolicy,
        created_at: createdAt.get(regionId) ?? null,
      }));
      const now = application.clock.now();
      const rows = narrowed(regions, options, { now, at: ({ created_at: at }) => at });
      outputOf(options, tools).table(['id', 'name', 'routers', 'deploy_policy'], rows);
    }),
  );
}

function policyOption(): Option {
  const meaning = 'each: every router takes a list for itself; all-or-nothing: they take it when all of them can';
  return new Option('--deploy-policy <policy>', meaning).choices(DEPLOY_POLICIES);
}
