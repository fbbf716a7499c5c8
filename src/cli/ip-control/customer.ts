import { customerRecord } from '../../application/ip-control/records.ts';
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  chooseCustomerStanding,
  createCustomer,
  customersCreatedAt,
  customersOf,
  removeCustomer,
  showCustomer,
  updateCustomer,
} from '../../application/ip-control/customers.ts';
import type { WebhookSecretChange } from '../../application/ip-control/webhook-secrets.ts';
import type { CustomerSettings } from '../../events/ip-control/vocabulary.ts';
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
import { counted } from '../../domain/counted.ts';
import { accepted, operatorContext } from '../output.ts';

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
}> &
  ActOptions;

/** `customer create | update | disable | enable | remove | list | show`. */
export function addCustomerCommands(program: Command, tools: CommandTools): void {
  const customer = program.command('customer').description('customers and what they may do');
  settingOptions(act(customer, 'create <name>', 'create a customer')).action((name: string, options: SettingOptions) =>
    tools.withApplication(async (application) => {
      const wanted = { name, settings: settingsOf(options) };
      const created = accepted(await createCustomer(wanted, operatorContext(application.ids, options), application));
      const { customerId, listName } = created.customer;
      outputOf(options, tools).object({ id: customerId, name, ...secretFields(created.webhookSecrets) }, [
        `customer ${name} created (id ${customerId}); its lists are Svc-${listName}-…`,
        ...secretLines(created.webhookSecrets),
      ]);
    }),
  );
  addUpdateCommand(customer, tools);
  addStandingCommands(customer, tools);
  listing(customer, 'list', 'list customers', {
    states: ['enabled', 'disabled'],
    region: 'those with a subnet in one region',
    since: 'those created',
  }).action((options: ListOptions) =>
    tools.withApplication(async (application) => {
      const customers = accepted(await customersOf(options.region, application));
      const createdAt = await customersCreatedAt(application);
      const rows = customers.map((account) => ({
        ...customerRecord(account),
        created_at: createdAt.get(account.customerId) ?? null,
      }));
      outputOf(options, tools).table(
        ['id', 'name', 'rate_limit', 'allow_synchronous', 'allow_source_whitelist', 'webhook_url', 'state'],
        narrowed(rows, options, {
          now: application.clock.now(),
          statusOf: ({ state }) => state,
          at: ({ created_at: at }) => at,
        }),
      );
    }),
  );
  leaf(customer, 'show <customer>', 'show a customer').action((name: string, options: { json?: boolean }) =>
    tools.withApplication(async (application) => {
      const shown = accepted(await showCustomer(name, application));
      const tokens = shown.tokens.map(({ tokenId, label }) => ({ id: tokenId, label }));
      const subnets = shown.subnets.map(({ subnetId, cidr }) => ({ id: subnetId, cidr }));
      outputOf(options, tools).object({ ...customerRecord(shown), tokens, subnets });
    }),
  );
}

function addStandingCommands(customer: Command, tools: CommandTools): void {
  const choices = [
    ['disable', 'disabled', 'refuse the requests of a customer; what is on routers stays'],
    ['enable', 'enabled', 'take the requests of a customer again'],
  ] as const;
  for (const [verb, standing, description] of choices) {
    act(customer, `${verb} <customer>`, description).action((nameOrNumber: string, options: ActOptions) =>
      tools.withApplication(async (application) => {
        const wanted = { customer: nameOrNumber, standing };
        const context = operatorContext(application.ids, options);
        const { customer: chosen, isChanged } = accepted(await chooseCustomerStanding(wanted, context, application));
        outputOf(options, tools).object(customerRecord(chosen), [
          `customer ${chosen.name} ${isChanged ? 'is' : 'was already'} ${standing}`,
        ]);
      }),
    );
  }
  act(customer, 'remove <customer>', 'remove a customer for good; the next commits empty its lists, its history stays')
    .option('--force', 'also its subnets and whitelist requests')
    .action((nameOrNumber: string, options: ActOptions & Readonly<{ force?: boolean }>) =>
      tools.withApplication(async (application) => {
        const wanted = { customer: nameOrNumber, force: options.force === true };
        const context = operatorContext(application.ids, options);
        const { customer: removed, ...counts } = accepted(await removeCustomer(wanted, context, application));
        const { subnets, requests, tokens } = counts;
        outputOf(options, tools).object({ ...customerRecord(removed), subnets, requests, tokens }, [
          `customer ${removed.name} removed, with ${counted(subnets, 'subnet')}, ${counted(requests, 'whitelist request')} and ${counted(tokens, 'token')}`,
          'its lists are emptied by the next commits; edgeward commit list shows them.',
        ]);
      }),
    );
}

function addUpdateCommand(customer: Command, tools: CommandTools): void {
  settingOptions(act(customer, 'update <customer>', 'change what a customer may do; only what is named changes'))
    .option(
      '--rotate-webhook-secret',
      'sign webhooks with a new secret, printed once, and for a day with the one before too',
    )
    .option('--immediately', 'sign webhooks with the newest secret alone from now on')
    .action((nameOrNumber: string, options: SettingOptions) =>
      tools.withApplication(async (application) => {
        const { rotateWebhookSecret = false, immediately = false } = options;
        const wanted = { customer: nameOrNumber, changes: settingsOf(options), rotateWebhookSecret, immediately };
        const updated = accepted(await updateCustomer(wanted, operatorContext(application.ids, options), application));
        const { name } = updated.customer;
        const said = [
          ...(updated.isChanged ? [`customer ${name} updated`] : []),
          ...(rotateWebhookSecret ? [`webhook secret of ${name} rotated`] : []),
          ...secretLines(updated.webhookSecrets),
        ];
        outputOf(options, tools).object(
          { ...customerRecord(updated.customer), ...secretFields(updated.webhookSecrets) },
          said.length === 0 ? [`customer ${name} unchanged`] : said,
        );
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
  const named = {
    rateLimitPerMinute: options.rateLimit,
    allowSynchronous: options.allowSynchronous,
    allowSourceWhitelist: options.allowSourceWhitelist,
    trusted: options.trusted,
    whitelistLimit: options.whitelistLimit,
    prefixLimit: options.prefixLimit,
    evidenceMaxBytes: options.evidenceMaxBytes,
    webhookUrl: options.webhookUrl === 'none' ? null : options.webhookUrl,
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}

function secretLines({ secret, previousUntil, ended }: WebhookSecretChange): readonly string[] {
  return [
    ...(ended === 0 ? [] : [`${counted(ended, 'earlier webhook secret')} ended`]),
    ...(secret === undefined ? [] : [`webhook secret (shown once): ${secret}`]),
    ...(previousUntil === undefined ? [] : [`the one before it signs too until ${previousUntil}, or --immediately`]),
  ];
}

function secretFields({ secret, previousUntil, ended }: WebhookSecretChange) {
  return {
    ...(secret === undefined ? {} : { webhook_secret: secret }),
    ...(previousUntil === undefined ? {} : { previous_webhook_secret_until: previousUntil }),
    ...(ended === 0 ? {} : { ended_webhook_secrets: ended }),
  };
}
