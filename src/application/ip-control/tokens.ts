import { createHash } from 'node:crypto';
import type { CommandContext } from '../../commands/aggregate.ts';
import { isRefusal, type Refusal } from '../../kernel/decider.ts';
import type { Application } from '../application.ts';
import { allCustomers, type CustomerLookup, findCustomer, notFound } from './lookups.ts';

/** A token as it is shown: never what is sent with requests. */
export type CustomersToken = Readonly<{ tokenId: string; customer: string; label: string }>;

const TOKEN_BYTES = 32;

/** Issues a token for a customer by name or number. `token` is what requests are sent with: only its hash is kept, so that it is shown once. */
export async function issueToken(
  { customer: nameOrNumber, label }: Readonly<{ customer: string; label: string }>,
  context: CommandContext,
  dependencies: Pick<Application, 'directory' | 'customers' | 'ids'>,
): Promise<Readonly<{ tokenId: string; token: string }> | Refusal> {
  const { customers, ids } = dependencies;
  const customer = await findCustomer(nameOrNumber, dependencies);
  if (isRefusal(customer)) return customer;
  const tokenId = ids.uuid();
  const token = `edw_${Buffer.from(ids.random(TOKEN_BYTES)).toString('base64url')}`;
  const sha256 = createHash('sha256').update(token).digest('hex');
  const command = { type: 'IssueApiToken', data: { tokenId, label, sha256 } } as const;
  const answer = await customers.handle(customer.customerId, command, context);
  return isRefusal(answer) ? answer : { tokenId, token };
}

/** The tokens of all customers, or of one by name or number. */
export async function listTokens(
  customer: string | undefined,
  lookup: CustomerLookup,
): Promise<readonly CustomersToken[] | Refusal> {
  const only = customer === undefined ? undefined : await findCustomer(customer, lookup);
  if (only !== undefined && isRefusal(only)) return only;
  const states = only === undefined ? await allCustomers(lookup) : [only];
  return states.flatMap(({ name, tokens }) =>
    [...tokens.values()].map(({ tokenId, label }) => ({ tokenId, customer: name, label })),
  );
}

/** Makes a token worthless, whichever customer has it. */
export async function revokeToken(
  tokenId: string,
  context: CommandContext,
  lookup: CustomerLookup,
): Promise<Readonly<{ tokenId: string; customer: string }> | Refusal> {
  const owner = (await allCustomers(lookup)).find(({ tokens }) => tokens.has(tokenId));
  if (owner === undefined) return notFound(`token ${tokenId} not found.`, 'token');
  const command = { type: 'RevokeApiToken', data: { tokenId } } as const;
  const answer = await lookup.customers.handle(owner.customerId, command, context);
  return isRefusal(answer) ? answer : { tokenId, customer: owner.name };
}
