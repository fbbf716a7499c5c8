import type { CommandContext } from '../../commands/aggregate.ts';
import type { Registered } from '../../commands/ip-control/customer-state.ts';
import { DIRECTORY_ID } from '../../commands/ip-control/directory.ts';
import { PREFIX_LIMIT } from '../../commands/ip-control/prefix-limit.ts';
import { checkWebhookUrl } from '../../domain/ip-control/webhook-url.ts';
import type { CustomerSettings } from '../../events/ip-control/vocabulary.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import { invariant } from '../../kernel/invariant.ts';
import type { Application } from '../application.ts';
import { allCustomers, type CustomerLookup, findCustomer } from './lookups.ts';
import { endEarlierWebhookSecrets, rotateWebhookSecret, type WebhookSecretChange } from './webhook-secrets.ts';

type CustomerDependencies = Pick<Application, 'directory' | 'customers' | 'secrets' | 'ids'>;

/** A customer and what it may do; the prefix limit is that of each list in a region. */
export type CustomerAccount = Readonly<{
  customerId: number;
  name: string;
  listName: string;
  settings: Omit<CustomerSettings, 'prefixLimit'> & Readonly<{ prefixLimit: number }>;
}>;

/** A customer with what belongs to it. */
export type CustomerDetails = CustomerAccount &
  Readonly<{
    tokens: readonly Readonly<{ tokenId: string; label: string }>[];
    subnets: readonly Readonly<{ subnetId: number; cidr: string }>[];
  }>;

export type CustomerUpdate = Readonly<{
  /** Its name or number. */
  customer: string;
  /** Only what is named changes. */
  changes: Partial<CustomerSettings>;
  /** Sign webhooks with a new secret, and for a day with the one before too. */
  rotateWebhookSecret: boolean;
  /** Sign webhooks with the newest secret alone from now on. */
  immediately: boolean;
}>;

const DEFAULTS: CustomerSettings = {
  rateLimitPerMinute: 60,
  allowSynchronous: false,
  allowSourceWhitelist: false,
  trusted: false,
  whitelistLimit: 100,
  evidenceMaxBytes: 5 * 1024 * 1024,
  webhookUrl: null,
};

const NO_CHANGE: WebhookSecretChange = { ended: 0 };

/** Creates a customer: reserves its name, registers it, and makes its webhook secret where it has a webhook. What is not set has its default. */
export async function createCustomer(
  { name, settings: chosen }: Readonly<{ name: string; settings: Partial<CustomerSettings> }>,
  context: CommandContext,
  dependencies: CustomerDependencies,
): Promise<Readonly<{ customer: CustomerAccount; webhookSecrets: WebhookSecretChange }> | Refusal> {
  const { directory, customers } = dependencies;
  const settings = { ...DEFAULTS, ...chosen };
  const badUrl = webhookUrlRefusal(settings);
  if (badUrl !== undefined) return badUrl;
  const command = { type: 'ReserveCustomerName', data: { name, settings } } as const;
  const reserved = await directory.handle(DIRECTORY_ID, command, context);
  if (isRefusal(reserved)) return reserved;
  const [reservation] = reserved.events;
  invariant(reservation?.type === 'CustomerNameReserved', 'a new name is reserved');
  const { customerId, listName } = reservation.data;
  const data = { customerId, name, listName, settings };
  const registered = await customers.handle(customerId, { type: 'RegisterCustomer', data }, context);
  if (isRefusal(registered)) return registered;
  const webhookSecrets =
    settings.webhookUrl === null
      ? NO_CHANGE
      : await rotateWebhookSecret({ customerId, immediately: false }, context, dependencies);
  if (isRefusal(webhookSecrets)) return webhookSecrets;
  return { customer: accountOf(data), webhookSecrets };
}

/** Changes what a customer may do, and its webhook secrets. A customer that gets its first webhook gets a secret with it. */
export async function updateCustomer(
  { customer: nameOrNumber, changes, rotateWebhookSecret: isAskedFor, immediately }: CustomerUpdate,
  context: CommandContext,
  dependencies: CustomerDependencies,
): Promise<Readonly<{ customer: CustomerAccount; isChanged: boolean; webhookSecrets: WebhookSecretChange }> | Refusal> {
  const before = await findCustomer(nameOrNumber, dependencies);
  if (isRefusal(before)) return before;
  const badUrl = webhookUrlRefusal(changes);
  if (badUrl !== undefined) return badUrl;
  const { customerId } = before;
  const command = { type: 'ChangeCustomerSettings', data: { changes } } as const;
  const answer = await dependencies.customers.handle(customerId, command, context);
  if (isRefusal(answer)) return answer;
  const after = answer.state.phase === 'registered' ? answer.state : before;
  const needsSecret = after.settings.webhookUrl !== null && after.webhookSecretId === undefined;
  const webhookSecrets =
    isAskedFor || needsSecret
      ? await rotateWebhookSecret({ customerId, immediately }, context, dependencies)
      : immediately
        ? await endEarlierWebhookSecrets(after, context, dependencies)
        : NO_CHANGE;
  if (isRefusal(webhookSecrets)) return webhookSecrets;
  return { customer: accountOf(after), isChanged: answer.events.length > 0, webhookSecrets };
}

/** All customers, by number. */
export async function listCustomers(lookup: CustomerLookup): Promise<readonly CustomerAccount[]> {
  return (await allCustomers(lookup)).map(accountOf);
}

/** A customer by name or number, with its tokens and subnets. */
export async function showCustomer(nameOrNumber: string, lookup: CustomerLookup): Promise<CustomerDetails | Refusal> {
  const state = await findCustomer(nameOrNumber, lookup);
  if (isRefusal(state)) return state;
  const tokens = [...state.tokens.values()].map(({ tokenId, label }) => ({ tokenId, label }));
  const subnets = [...state.subnets.values()].map(({ subnetId, cidr }) => ({ subnetId, cidr }));
  return { ...accountOf(state), tokens, subnets };
}

function accountOf({
  customerId,
  name,
  listName,
  settings,
}: Pick<Registered, 'customerId' | 'name' | 'listName' | 'settings'>): CustomerAccount {
  const prefixLimit = settings.prefixLimit ?? PREFIX_LIMIT;
  return { customerId, name, listName, settings: { ...settings, prefixLimit } };
}

function webhookUrlRefusal({ webhookUrl }: Partial<CustomerSettings>): Refusal | undefined {
  const problem = typeof webhookUrl === 'string' ? checkWebhookUrl(webhookUrl) : undefined;
  return problem === undefined ? undefined : refuse('bad-webhook-url', problem, 'webhookUrl');
}
