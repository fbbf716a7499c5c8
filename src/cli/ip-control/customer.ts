import { type Command, InvalidArgumentError, Option } from 'commander';
import { DIRECTORY_ID } from '../../commands/ip-control/directory.ts';
import type { Registered } from '../../commands/ip-control/customer-state.ts';
import { checkWebhookUrl } from '../../domain/ip-control/webhook-url.ts';
import { PREFIX_LIMIT } from '../../commands/ip-control/prefix-limit.ts';
import type { CustomerSettings } from '../../events/ip-control/vocabulary.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import type { Application } from '../../application/application.ts';
import { findCustomer } from '../lookup.ts';
import { accepted, operatorContext, usage } from '../output.ts';
import {
  endEarlierSecrets,
  rotateWebhookSecret,
  type SecretChange,
  secretFields,
  secretLines,
} from './webhook-secret.ts';

const DEFAULTS: CustomerSettings = {
  rateLimitPerMinute: 60,
  allowSynchronous: false,
  allowSourceWhitelist: false,
  trusted: false,
  whitelistLimit: 100,
  evidenceMaxBytes: 5 * 1024 * 1024,
  webhookUrl: null,
};

type SettingOptions = Readonly<{
  rateLimit?: number;
  allowSynchronous?: boolean;
  allowSourceWhitelist?: boolean;
  trusted?: boolean;
  whitelistLimit?: number;
  prefixLimit?: number;
  evidenceMaxBytes?: number;
  webhookUrl?: string;
  rotateWebhookSecret?: boolean;
  immediately?: boolean;
  json?: boolean;
}>;

const NO_CHANGE: SecretChange = { ended: 0 };

/** `customer create | update | list | show`. */
export function addCustomerCommands(program: Command, tools: CommandTools): void {
  const customer = program.command('customer').description('customers and what they may do');
  settingOptions(leaf(customer, 'create <name>', 'create a customer')).action((name: string, options: SettingOptions) =>
    tools.withApplication(async (application) => {
      const settings = { ...DEFAULTS, ...settingsOf(options) };
      const context = operatorContext(application.ids);
      const reserved = accepted(
        await application.directory.handle(
          DIRECTORY_ID,
          { type: 'ReserveCustomerName', data: { name, settings } },
          context,
        ),
      );
      const reservation = [...reserved.state.customers].find(([, taken]) => taken.name === name);
      const [customerId, { listName }] = reservation ?? [0, { listName: '' }];
      const data = { customerId, name, listName, settings };
      accepted(await application.customers.handle(customerId, { type: 'RegisterCustomer', data }, context));
      const change =
        settings.webhookUrl === null ? NO_CHANGE : await rotateWebhookSecret(application, customerId, false, context);
      outputOf(options, tools).object({ id: customerId, name, ...secretFields(change) }, [
        `customer ${name} created (id ${customerId}); its lists are Svc-${listName}-…`,
        ...secretLines(change),
      ]);
    }),
  );
  settingOptions(leaf(customer, 'update <customer>', 'change what a customer may do; only what is named changes'))
    .option(
      '--rotate-webhook-secret',
      'sign webhooks with a new secret, printed once, and for a day with the one before too',
    )
    .option('--immediately', 'sign webhooks with the newest secret alone from now on')
    .action((name: string, options: SettingOptions) =>
      tools.withApplication((application) => update(application, name, options, tools)),
    );
  leaf(customer, 'list', 'list customers').action((options: { json?: boolean }) =>
    tools.withApplication(async (application) => {
      const { customers } = (await application.directory.state(DIRECTORY_ID)).state;
      const states = await Promise.all([...customers.keys()].map((id) => application.customers.state(id)));
      const rows = states.flatMap(({ state }) => (state.phase === 'registered' ? [summary(state)] : []));
      outputOf(options, tools).table(
        ['id', 'name', 'rate_limit', 'allow_synchronous', 'allow_source_whitelist', 'webhook_url'],
        rows,
      );
    }),
  );
  leaf(customer, 'show <customer>', 'show a customer').action((name: string, options: { json?: boolean }) =>
    tools.withApplication(async (application) => {
      const state = await findCustomer(application, name);
      const tokens = [...state.tokens.values()].map(({ tokenId, label }) => ({ id: tokenId, label }));
      const subnets = [...state.subnets.values()].map(({ subnetId, cidr }) => ({ id: subnetId, cidr }));
      outputOf(options, tools).object({ ...summary(state), tokens, subnets });
    }),
  );
}

function settingOptions(command: Command): Command {
  return command
    .option('--rate-limit <n>', 'requests per minute', wholeNumber(1))
    .option('--allow-synchronous', 'may ask for the push inside the request (--no-…: may not)')
    .addOption(new Option('--no-allow-synchronous').hideHelp())
    .option('--allow-source-whitelist', 'may use the source whitelist (--no-…: may not)')
    .addOption(new Option('--no-allow-source-whitelist').hideHelp())
    .option('--trusted', 'whitelist submissions need no review (--no-…: they do)')
    .addOption(new Option('--no-trusted').hideHelp())
    .option('--whitelist-limit <n>', 'whitelist entries', wholeNumber(0))
    .option('--prefix-limit <n>', 'prefixes of each list in a region (10000)', wholeNumber(1))
    .option('--evidence-max-bytes <n>', 'size of an evidence file', wholeNumber(1))
    .option('--webhook-url <url>', 'where completed commits are told; none for nowhere');
}

function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d{1,15}$/.test(text) && number >= least) return number;
    throw new InvalidArgumentError(`must be a whole number from ${least}.`);
  };
}

function settingsOf(options: SettingOptions): Partial<CustomerSettings> {
  const webhookUrl = options.webhookUrl === 'none' ? null : options.webhookUrl;
  const problem = typeof webhookUrl === 'string' ? checkWebhookUrl(webhookUrl) : undefined;
  if (problem !== undefined) throw usage(`--webhook-url ${problem}`);
  const named = {
    rateLimitPerMinute: options.rateLimit,
    allowSynchronous: options.allowSynchronous,
    allowSourceWhitelist: options.allowSourceWhitelist,
    trusted: options.trusted,
    whitelistLimit: options.whitelistLimit,
    prefixLimit: options.prefixLimit,
    evidenceMaxBytes: options.evidenceMaxBytes,
    webhookUrl,
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}

async function update(
  application: Application,
  name: string,
  options: SettingOptions,
  tools: CommandTools,
): Promise<void> {
  const before = await findCustomer(application, name);
  const { customerId } = before;
  const context = operatorContext(application.ids);
  const command = { type: 'ChangeCustomerSettings', data: { changes: settingsOf(options) } } as const;
  const answer = accepted(await application.customers.handle(customerId, command, context));
  const after = answer.state.phase === 'registered' ? answer.state : before;
  const needsSecret = after.settings.webhookUrl !== null && after.webhookSecretId === undefined;
  const immediately = options.immediately === true;
  const rotates = options.rotateWebhookSecret === true || needsSecret;
  const change = rotates
    ? await rotateWebhookSecret(application, customerId, immediately, context)
    : immediately
      ? await endEarlierSecrets(application, after, context)
      : NO_CHANGE;
  const said = [
    ...(answer.events.length === 0 ? [] : [`customer ${after.name} updated`]),
    ...(options.rotateWebhookSecret === true ? [`webhook secret of ${after.name} rotated`] : []),
    ...secretLines(change),
  ];
  outputOf(options, tools).object(
    { ...summary(after), ...secretFields(change) },
    said.length === 0 ? [`customer ${after.name} unchanged`] : said,
  );
}

function summary({ customerId, name, listName, settings }: Registered) {
  return {
    id: customerId,
    name,
    list_name: listName,
    rate_limit: settings.rateLimitPerMinute,
    allow_synchronous: settings.allowSynchronous,
    allow_source_whitelist: settings.allowSourceWhitelist,
    trusted: settings.trusted,
    whitelist_limit: settings.whitelistLimit,
    prefix_limit: settings.prefixLimit ?? PREFIX_LIMIT,
    evidence_max_bytes: settings.evidenceMaxBytes,
    webhook_url: settings.webhookUrl,
  };
}
