import { Argument, type Command } from 'commander';
import { differences } from '../../commands/worker-pools/difference.ts';
import { keepAsset } from '../../commands/worker-pools/keep-asset.ts';
import {
  ASSET_CATEGORIES,
  ASSET_DATA,
  type AssetCategory,
  type AssetRecord,
  type Credentials,
} from '../../events/worker-pools/asset-records.ts';
import { check, type Checked } from '../../events/worker-pools/document-checks.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import { accepted, notFound, operatorContext } from '../output.ts';
import { readDocument } from './documents.ts';
import { printEnsured, problemsFailure, yamlLines } from './print.ts';

/** What drivers log in with. Other names are kept as they are; a driver says what it misses. */
const EXPECTED_CREDENTIALS = { aws: ['access_key_id', 'secret_access_key'], hetzner: ['api_token'] } as const;

/** `asset create | list | show`. */
export function addAssetCommands(program: Command, tools: CommandTools): void {
  const group = program.command('asset').description('accounts and credentials that worker pools use');
  leaf(group, 'create', 'ensure that an asset is as it is given; its credentials go to the secret store')
    .addArgument(new Argument('<category>').choices([...ASSET_CATEGORIES]))
    .requiredOption('--data <file>', 'the asset, YAML or JSON; - for standard input')
    .action(async (category: AssetCategory, options: { data: string; json?: boolean }) => {
      const { record, credentials } = recordOf(category, await readDocument('--data', options.data));
      await tools.withApplication(async (application) => {
        const before = (await application.assets.state(record.name)).state;
        const answer = accepted(await keepAsset(record, credentials, operatorContext(application.ids), application));
        const replaced = answer.events.some(({ type }) => type === 'AssetCredentialsReplaced');
        printEnsured(outputOf(options, tools), {
          what: `${category} ${record.name}`,
          name: record.name,
          created: before.record === undefined,
          differences: [
            ...differences(before.record ?? {}, answer.state.record ?? {}),
            ...(replaced ? [{ path: 'credentials', before: 'secret', after: 'another secret' }] : []),
          ],
          notes: notes(record),
          dryRun: false,
        });
      });
    });
  leaf(group, 'list', 'list assets').action((options: { json?: boolean }) =>
    tools.withApplication(async (application) => {
      await application.catchUp();
      const rows = (await application.views.assets.list()).map(({ view }) => ({
        name: view.name,
        category: view.category,
        provider_type: view.providerType,
        credentials: options.json === true ? view.credentialNames : view.credentialNames.join(',') || null,
      }));
      outputOf(options, tools).table(['name', 'category', 'provider_type', 'credentials'], rows);
    }),
  );
  leaf(group, 'show <name>', 'show an asset without its secrets, as YAML').action(
    (name: string, options: { json?: boolean }) =>
      tools.withApplication(async (application) => {
        await application.catchUp();
        const view = await application.views.assets.get(name);
        if (view === undefined) throw notFound(`asset ${name} not found.`);
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
}

type GivenAsset = Readonly<{ record: AssetRecord; credentials: Credentials }>;

function recordOf(category: AssetCategory, data: unknown): GivenAsset {
  if (category === 'cloud-provider-account') {
    const { name, provider_type, configuration, credentials } = taken(
      check(ASSET_DATA[category], category, data, { confidential: true }),
    );
    const credential_names = Object.keys(credentials).toSorted();
    return { record: { category, name, provider_type, configuration, credential_names }, credentials };
  }
  const { name, configuration, credentials } = taken(
    check(ASSET_DATA[category], category, data, { confidential: true }),
  );
  const secrets = credentials === undefined ? {} : { ...credentials };
  const credential_names = Object.keys(secrets).toSorted();
  return { record: { category, name, configuration, credential_names }, credentials: secrets };
}

function taken<T>(checked: Checked<T>): T {
  if (checked.ok) return checked.value;
  throw problemsFailure(checked.problems);
}

function notes(record: AssetRecord): readonly string[] {
  if (record.category !== 'cloud-provider-account') return [];
  const missing = EXPECTED_CREDENTIALS[record.provider_type].filter((name) => !record.credential_names.includes(name));
  return missing.length === 0
    ? []
    : [`an account at ${record.provider_type} logs in with ${missing.join(' and ')}, which is not there`];
}
