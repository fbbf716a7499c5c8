import type { CommandContext } from '../../commands/aggregate.ts';
import type { Registered } from '../../commands/ip-control/customer-state.ts';
import { DIRECTORY_ID } from '../../commands/ip-control/directory.ts';
import { PREFIX_LIMIT } from '../../domain/ip-control/region-limits.ts';
import { checkWebhookUrl } from '../../domain/ip-control/webhook-url.ts';
import type { CustomerSettings } from '../../events/ip-control/vocabulary.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import { invariant } from '../../kernel/invariant.ts';
import type { Application } from '../application.ts';
import {
  allCustomers,
  customerNamed,
  type CustomerLookup,
  findAnyCustomer,
  findCustomer,
  findRegion,
  type RegionLookup,
} from './lookups.ts';
import { endEarlierWebhookSecrets, rotateWebhookSecret, type WebhookSecretChange } from './webhook-secrets.ts';

type CustomerDependencies = Pick<Application, 'directory' | 'customers' | 'secrets' | 'ids'>;

/** Whether a customer may act. */
export type CustomerStanding = Exclude<Registered['standing'], 'removed'>;

/** A customer and what it may do; the prefix limit is that of each list in a region. */
export type CustomerAccount = Readonly<{
  customerId: number;
  name: string;
  listName: string;
  /** `disabled`: its tokens are refused. */
  standing: Registered['standing'];
  settings: Omit<CustomerSettings, 'prefixLimit'> & Readonly<{ prefixLimit: number }>;
}>;

/** A customer with what belongs to it. */
export type CustomerDetails = CustomerAccount &
  Readonly<{
    tokens: readonly Readonly<{ tokenId: string; label: string }>[];
    subnets: readonly Readonly<{ subnetId: number; cidr: string }>[];
  }>;

export type CustomerUpdate = Readonly<{
  /** Its name or number; a number that is no text is never taken for a name. */
  customer: string | number;
  /** Only what is named changes. */
  changes: Partial<CustomerSettings>;
  /** Sign webhooks with a new secret, and for a day with the one before too. */
  rotateWebhookSecret: boolean;
  /** Sign webhooks with the newest secret alone from now on. */
  immediately: boolean;
}>;

/** What a customer may do where nothing else was chosen. */
export const DEFAULT_SETTINGS: CustomerSettings = {
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
  const settings = { ...DEFAULT_SETTINGS, ...chosen };
  const badUrl = webhookUrlRefusal(settings);
  if (badUrl !== undefined) return badUrl;
  const command = { type: 'ReserveCustomerName', data: { name, settings } } as const;
  const reserved = await directory.handle(DIRECTORY_ID, command, context);
  if (isRefusal(reserved)) return ofRemoved(reserved, name, dependencies);
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
  return { customer: accountOf({ ...data, standing: 'enabled' }), webhookSecrets };
}

/** A name that is taken by a customer that was removed. */
async function ofRemoved(refusal: Refusal, name: string, lookup: CustomerLookup): Promise<Refusal> {
  const taker = refusal.refused === 'customer-name-taken' ? await findAnyCustomer(name, lookup) : refusal;
  if (isRefusal(taker) || taker.standing !== 'removed') return refusal;
  return { ...refusal, because: `customer ${name} was removed: its name stays reserved, as its history has it.` };
}

/** Has a customer's tokens be refused, or be worth again what they were. What is on routers stays. */
export async function chooseCustomerStanding(
  { customer: nameOrNumber, standing }: Readonly<{ customer: string | number; standing: CustomerStanding }>,
  context: CommandContext,
  lookup: CustomerLookup,
): Promise<Readonly<{ customer: CustomerAccount; isChanged: boolean }> | Refusal> {
  const found = await findCustomer(nameOrNumber, lookup);
  if (isRefusal(found)) return found;
  const type = standing === 'disabled' ? 'DisableCustomer' : 'EnableCustomer';
  const answer = await lookup.customers.handle(found.customerId, { type, data: {} }, context);
  if (isRefusal(answer)) return answer;
  return { customer: accountOf({ ...found, standing }), isChanged: answer.events.length > 0 };
}

/**
 * Removes a customer for good: its tokens, whitelist requests and subnets go at once, its lists are emptied by the next commits, its history
 * and its name stay. Refused with `customer-in-use` while it has subnets or whitelist requests, unless that is forced.
 */
export async function removeCustomer(
  { customer: nameOrNumber, force }: Readonly<{ customer: string | number; force: boolean }>,
  context: CommandContext,
  { directory, customers }: CustomerLookup,
): Promise<Readonly<{ customer: CustomerAccount; subnets: number; requests: number; tokens: number }> | Refusal> {
  const found = await findCustomer(nameOrNumber, { directory, customers });
  if (isRefusal(found)) return found;
  const { customerId } = found;
  const answer = await customers.handle(customerId, { type: 'RemoveCustomer', data: { force } }, context);
  if (isRefusal(answer)) return answer;
  let [subnets, requests, tokens] = [0, 0, 0];
  for (const { type, data } of answer.events) {
    if (type === 'ApiTokenRevoked') tokens += 1;
    if (type === 'SourceWhitelistRemoved') requests += 1;
    if (type !== 'SubnetReleased') continue;
    subnets += 1;
    const { subnetId } = data;
    const freed = await directory.handle(
      DIRECTORY_ID,
      { type: 'ReleaseSubnetReservation', data: { subnetId } },
      context,
    );
    if (isRefusal(freed)) return freed;
  }
  return { customer: accountOf({ ...found, standing: 'removed' }), subnets, requests, tokens };
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

/**
 * Makes a customer of that name, never of that number, be as it is given: what is not set has its default, also where the customer has something else. Refused as `createCustomer`; a
 * customer that gets its first webhook gets a secret with it.
 */
export async function ensureCustomer(
  { name, settings: chosen }: Readonly<{ name: string; settings: Partial<CustomerSettings> }>,
  context: CommandContext,
  dependencies: CustomerDependencies,
): Promise<Readonly<{ customer: CustomerAccount; isNew: boolean; webhookSecrets: WebhookSecretChange }> | Refusal> {
  const before = await customerNamed(name, dependencies);
  if (isRefusal(before)) {
    const created = await createCustomer({ name, settings: chosen }, context, dependencies);
    return isRefusal(created) ? created : { ...created, isNew: true };
  }
  const { prefixLimit = PREFIX_LIMIT } = chosen;
  const isLimitSaid = prefixLimit !== (before.settings.prefixLimit ?? PREFIX_LIMIT);
  const changes = { ...DEFAULT_SETTINGS, ...chosen, ...(isLimitSaid ? { prefixLimit } : { prefixLimit: undefined }) };
  const update = { customer: name, changes, rotateWebhookSecret: false, immediately: false };
  const updated = await updateCustomer(update, context, dependencies);
  return isRefusal(updated) ? updated : { ...updated, isNew: false };
}

/** Customers by number, at most `limit` of those behind `after`. Their streams are not read. */
export async function pageCustomers(
  { after, limit }: Readonly<{ after: string | undefined; limit: number }>,
  { directory, views }: Pick<Application, 'directory'> & Readonly<{ views: Pick<Application['views'], 'customers'> }>,
): Promise<readonly CustomerAccount[]> {
  const known = (await directory.state(DIRECTORY_ID)).state.customers;
  const behind = Number(after ?? 0);
  const numbers = [...known.keys()].filter((customerId) => customerId > behind).toSorted((a, b) => a - b);
  const rows: CustomerAccount[] = [];
  // The directory keeps the names of those that were removed: a page is full without them.
  for (let at = 0; at < numbers.length && rows.length < limit; at += limit) {
    const looked = numbers.slice(at, at + limit).map((customerId) => views.customers.get(String(customerId)));
    for (const view of await Promise.all(looked))
      if (view !== undefined && view.standing !== 'removed') rows.push(accountOf(view));
  }
  return rows.slice(0, limit);
}

/** A customer by name or number, and the revision of its stream. */
export async function customerRevision(
  nameOrNumber: string,
  lookup: CustomerLookup,
): Promise<Readonly<{ account: CustomerAccount; revision: bigint }> | Refusal> {
  const found = await findCustomer(nameOrNumber, lookup);
  return isRefusal(found) ? found : revisionOf(found, lookup);
}

/** A customer by its name alone, and the revision of its stream. */
export async function namedCustomerRevision(
  name: string,
  lookup: CustomerLookup,
): Promise<Readonly<{ account: CustomerAccount; revision: bigint }> | Refusal> {
  const found = await customerNamed(name, lookup);
  return isRefusal(found) ? found : revisionOf(found, lookup);
}

async function revisionOf(found: Registered, lookup: CustomerLookup) {
  const { state, revision } = await lookup.customers.state(found.customerId);
  return { account: accountOf(state.phase === 'registered' ? state : found), revision };
}

/** All customers, by number. */
export async function listCustomers(lookup: CustomerLookup): Promise<readonly CustomerAccount[]> {
  return (await allCustomers(lookup)).map(accountOf);
}

/** All customers, or those with a subnet in a region, by its name or number. */
export async function customersOf(
  region: string | undefined,
  lookup: CustomerLookup & RegionLookup,
): Promise<readonly CustomerAccount[] | Refusal> {
  if (region === undefined) return listCustomers(lookup);
  const found = await findRegion(region, lookup);
  if (isRefusal(found)) return found;
  const { subnets } = (await lookup.directory.state(DIRECTORY_ID)).state;
  const there = new Set(
    [...subnets.values()].filter(({ regionId }) => regionId === found.regionId).map(({ customerId }) => customerId),
  );
  return (await listCustomers(lookup)).filter(({ customerId }) => there.has(customerId));
}

/** When each customer was created. */
export async function customersCreatedAt({
  catchUp,
  views,
}: Pick<Application, 'catchUp'> & Readonly<{ views: Pick<Application['views'], 'customers'> }>): Promise<
  ReadonlyMap<number, string>
> {
  await catchUp();
  return new Map((await views.customers.list()).map(({ key, view }) => [Number(key), view.registeredAt]));
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
  standing,
  settings,
}: Pick<Registered, 'customerId' | 'name' | 'listName' | 'standing' | 'settings'>): CustomerAccount {
  const prefixLimit = settings.prefixLimit ?? PREFIX_LIMIT;
  return { customerId, name, listName, standing, settings: { ...settings, prefixLimit } };
}

function webhookUrlRefusal({ webhookUrl }: Partial<CustomerSettings>): Refusal | undefined {
  const problem = typeof webhookUrl === 'string' ? checkWebhookUrl(webhookUrl) : undefined;
  return problem === undefined ? undefined : refuse('bad-webhook-url', problem, 'webhookUrl');
}
