import { createHash } from 'node:crypto';
import { Temporal } from '@js-temporal/polyfill';
import { isAddressProblem } from '../../addresses/address-problem.ts';
import { formatCidr, parseCidr } from '../../addresses/cidr.ts';
import type { CommandContext } from '../../commands/aggregate.ts';
import type { ApiToken, Registered } from '../../commands/ip-control/customer-state.ts';
import { writtenText } from '../../domain/instants.ts';
import { isRefusal, type Refusal, refuse } from '../../kernel/decider.ts';
import type { TokenView } from '../../projections/ip-control/token-view.ts';
import type { Application } from '../application.ts';
import { isNamedBy, severalBegin } from '../ids-by-prefix.ts';
import { allCustomers, type CustomerLookup, findCustomer, notFound } from './lookups.ts';

/** What a token is to be for, and to be allowed. */
export type WantedToken = Readonly<{
  customer: string | number;
  label: string;
  /** An ISO 8601 instant with offset, or a duration from now on. */
  expires?: string | undefined;
  readOnly?: boolean | undefined;
  /** CIDRs that requests may come from; anywhere where none is named. */
  allowedAddresses?: readonly string[] | undefined;
}>;

/** A token as it is shown: never what is sent with requests. `prefix`: null for those that were issued before there were prefixes. */
export type CustomersToken = Omit<TokenView, 'customerId'> & Readonly<{ customer: string }>;

const TOKEN_BYTES = 32;
/** `edw_` and six characters. */
const PREFIX_LENGTH = 10;

/** Issues a token for a customer by name or number. `token` is what requests are sent with: only its hash is kept, so that it is shown once. */
export async function issueToken(
  { customer: nameOrNumber, label, expires, readOnly = false, allowedAddresses = [] }: WantedToken,
  context: CommandContext,
  dependencies: Pick<Application, 'directory' | 'customers' | 'ids' | 'clock'>,
): Promise<Readonly<{ tokenId: string; token: string }> | Refusal> {
  const { customers, ids, clock } = dependencies;
  const customer = await findCustomer(nameOrNumber, dependencies);
  if (isRefusal(customer)) return customer;
  const expiresAt = expires === undefined ? undefined : expiryOf(expires, clock.now());
  if (typeof expiresAt === 'object') return expiresAt;
  const allowed = cidrsOf(allowedAddresses);
  if (isRefusal(allowed)) return allowed;
  const tokenId = ids.uuid();
  const token = `edw_${Buffer.from(ids.random(TOKEN_BYTES)).toString('base64url')}`;
  const sha256 = createHash('sha256').update(token).digest('hex');
  const terms = {
    prefix: token.slice(0, PREFIX_LENGTH),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(readOnly ? { readOnly } : {}),
    ...(allowed.length === 0 ? {} : { allowedAddresses: [...allowed] }),
  };
  const command = { type: 'IssueApiToken', data: { tokenId, label, sha256, ...terms } } as const;
  const answer = await customers.handle(customer.customerId, command, context);
  return isRefusal(answer) ? answer : { tokenId, token };
}

/** In UTC, as events write instants. */
function expiryOf(text: string, now: Temporal.Instant): string | Refusal {
  let expires: Temporal.ZonedDateTime;
  try {
    expires = /^[+-]?P/i.test(text)
      ? now.toZonedDateTimeISO('UTC').add(Temporal.Duration.from(text))
      : Temporal.Instant.from(text).toZonedDateTimeISO('UTC');
  } catch {
    return badExpiry('must be an instant with an offset, or a duration, such as P90D.');
  }
  if (expires.epochMilliseconds <= now.epochMilliseconds) return badExpiry('must be in the future.');
  return writtenText(expires.toInstant());
}

function badExpiry(because: string): Refusal {
  return refuse('bad-token-expiry', because, 'expires');
}

function cidrsOf(texts: readonly string[]): readonly string[] | Refusal {
  const cidrs: string[] = [];
  for (const text of texts) {
    const cidr = parseCidr(text);
    if (isAddressProblem(cidr)) return refuse('bad-allowed-address', cidr.problem, 'allowed_addresses');
    cidrs.push(formatCidr(cidr));
  }
  return cidrs;
}

/** The tokens of all customers, or of one by name or number. */
export async function listTokens(
  customer: string | number | undefined,
  dependencies: CustomerLookup &
    Pick<Application, 'catchUp'> &
    Readonly<{ views: Pick<Application['views'], 'tokens'> }>,
): Promise<readonly CustomersToken[] | Refusal> {
  const only = customer === undefined ? undefined : await findCustomer(customer, dependencies);
  if (only !== undefined && isRefusal(only)) return only;
  const states = only === undefined ? await allCustomers(dependencies) : [only];
  await dependencies.catchUp();
  const owned = states.flatMap(({ name, tokens }) => [...tokens.values()].map(({ sha256 }) => ({ name, sha256 })));
  const shown = await Promise.all(
    owned.map(async ({ name, sha256 }) => {
      const view = await dependencies.views.tokens.get(sha256);
      return view === undefined ? [] : [{ ...view, customer: name }];
    }),
  );
  return shown.flat();
}

/** A token by its id, the beginning of its id, or its visible prefix; of one customer, by name or number, where that is named. */
export type NamedToken = Readonly<{ tokenId: string; customer?: string | number | undefined }>;

type OwnToken = Readonly<{ tokenId: string; customer: string }>;

/** Makes a token worthless, whichever customer has it. */
export function revokeToken(
  named: NamedToken,
  context: CommandContext,
  lookup: CustomerLookup,
): Promise<OwnToken | Refusal> {
  return changeToken(named, 'RevokeApiToken', context, lookup);
}

/** Makes a token worthless until it is enabled again. */
export function disableToken(
  named: NamedToken,
  context: CommandContext,
  lookup: CustomerLookup,
): Promise<OwnToken | Refusal> {
  return changeToken(named, 'DisableApiToken', context, lookup);
}

/** Makes a token that was disabled worth again what it was before. */
export function enableToken(
  named: NamedToken,
  context: CommandContext,
  lookup: CustomerLookup,
): Promise<OwnToken | Refusal> {
  return changeToken(named, 'EnableApiToken', context, lookup);
}

async function changeToken(
  named: NamedToken,
  type: 'RevokeApiToken' | 'DisableApiToken' | 'EnableApiToken',
  context: CommandContext,
  lookup: CustomerLookup,
): Promise<OwnToken | Refusal> {
  const found = await findToken(named, lookup);
  if (isRefusal(found)) return found;
  const { owner, token } = found;
  const command = { type, data: { tokenId: token.tokenId } } as const;
  const answer = await lookup.customers.handle(owner.customerId, command, context);
  return isRefusal(answer) ? answer : { tokenId: token.tokenId, customer: owner.name };
}

async function findToken(
  { tokenId: named, customer }: NamedToken,
  lookup: CustomerLookup,
): Promise<Readonly<{ owner: Registered; token: ApiToken }> | Refusal> {
  const own = customer === undefined ? undefined : await findCustomer(customer, lookup);
  if (own !== undefined && isRefusal(own)) return own;
  const owners = own === undefined ? await allCustomers(lookup) : [own];
  const found = owners.flatMap((owner) =>
    [...owner.tokens.values()].filter((token) => isNamed(token, named)).map((token) => ({ owner, token })),
  );
  const [only, another] = found;
  if (only === undefined) return notFound(`token ${named} not found.`, 'token');
  if (another === undefined) return only;
  const candidates = found.map(({ owner, token: { tokenId: id, label } }) => ({
    id,
    about: label === '' ? owner.name : `${owner.name}, ${label}`,
  }));
  return refuse('ambiguous-token', severalBegin(named, 'tokens', candidates), 'token');
}

function isNamed({ tokenId, prefix }: ApiToken, named: string): boolean {
  return isNamedBy(tokenId, named) || (named !== '' && prefix === named);
}
