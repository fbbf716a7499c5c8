import { Argument, type Command } from 'commander';
import { deleteAsset, ensureAsset, listAssets, showAsset, testAsset } from '../../application/worker-pools/assets.ts';
import { assetCategories, checkAsset } from '../../domain/worker-pools/documents.ts';
import type { AssetCategory } from '../../events/worker-pools/asset-records.ts';
import {
  act,
  type ActOptions,
  type CommandTools,
  leaf,
  listing,
  type ListOptions,
  narrowed,
  outputOf,
} from '../command.ts';
import { accepted, CommandFailure, EXIT, operatorContext } from '../output.ts';
import { readDocument } from './documents.ts';
import { printEnsured, taken, yamlLines } from './print.ts';

/** `asset create | list | show | test | delete`. */
export function addAssetCommands(program: Command, tools: CommandTools): void {
  const group = program.command('asset').description('accounts and credentials that worker pools use');
  act(group, 'create', 'ensure that an asset is as it is given; its credentials go to the secret store')
    .addArgument(new Argument('<category>').choices(assetCategories()))
    .requiredOption('--data <file>', 'the asset, YAML or JSON; - for standard input')
    .action(async (category: AssetCategory, options: ActOptions & Readonly<{ data: string }>) => {
      const given = taken(checkAsset(category, await readDocument('--data', options.data), tools.cloudDrivers));
      const { name } = given.record;
      await tools.withApplication(async (application) => {
        const changed = accepted(await ensureAsset(given, operatorContext(application.ids, options), application));
        printEnsured(outputOf(options, tools), { what: `${category} ${name}`, name, ...changed, dryRun: false });
      });
    });
  listing(group, 'list', 'list assets', { since: 'those created' }).action((options: ListOptions) =>
    tools.withApplication(async (application) => {
      const assets = await listAssets(application);
      const wanted = narrowed(assets, options, { now: application.clock.now(), at: ({ createdAt }) => createdAt });
      const rows = wanted.map((view) => ({
        name: view.name,
        category: view.category,
        provider_type: view.providerType,
        credentials: options.json === true ? view.credentialNames : view.credentialNames.join(',') || null,
        created_at: view.createdAt,
      }));
      outputOf(options, tools).table(['name', 'category', 'provider_type', 'credentials'], rows);
    }),
  );
  leaf(group, 'show <name>', 'show an asset without its secrets, as YAML').action(
    (name: string, options: { json?: boolean }) =>
      tools.withApplication(async (application) => {
        const view = accepted(await showAsset(name, application));
        const { category, providerType, configuration, credentialNames, createdAt } = view;
        const shown = {
          name,
          category,
          ...(providerType === null ? {} : { provider_type: providerType }),
          configuration,
          credentials: Object.fromEntries(credentialNames.map((field) => [field, 'secret'])),
          created_at: createdAt,
        };
        outputOf(options, tools).object(shown, yamlLines(shown));
      }),
  );
  leaf(group, 'test <name>', 'ask the provider whether an account works; nothing is changed there').action(
    (name: string, options: { json?: boolean }) =>
      tools.withApplication(async (application) => {
        const tested = accepted(await testAsset(name, new AbortController().signal, application));
        if (!tested.works) throw new CommandFailure(EXIT.failed, tested.code, tested.because);
        outputOf(options, tools).object({ name, works: true }, [`${name} works`]);
      }),
  );
  act(group, 'delete <name>', 'delete an asset that nothing uses, and its credentials').action(
    (name: string, options: ActOptions) =>
      tools.withApplication(async (application) => {
        accepted(await deleteAsset(name, operatorContext(application.ids, options), application));
        outputOf(options, tools).object({ name, deleted: true }, [`asset ${name} deleted`]);
      }),
  );
}
