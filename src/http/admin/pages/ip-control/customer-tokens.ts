import type { Application } from '../../../../application/application.ts';
import {
  disableToken,
  enableToken,
  issueToken,
  listTokens,
  revokeToken,
} from '../../../../application/ip-control/tokens.ts';
import { isRefusal } from '../../../../kernel/decider.ts';
import type { CustomerView } from '../../../../projections/ip-control/customer-view.ts';
import { mayDo } from '../../access.ts';
import { type CustomersApi, customersApiAddress } from '../../customers-api.ts';
import { fieldOf, notFoundPage, type PageAnswer, type PageAsk, type PageRoute } from '../page.ts';
import { listQueryOf } from '../parts/list.tsx';
import {
  customerTokensPage,
  type CustomerTokensView,
  NO_TOKEN_FORM,
  revokePage,
  type TokenForm,
} from './customer-tokens-page.tsx';
import { type CustomerPagesDependencies, formErrors, refusedPage, withCustomer } from './customers.ts';

export type TokenPagesDependencies = CustomerPagesDependencies &
  Pick<Application, 'catchUp'> &
  Readonly<{
    views: Pick<Application['views'], 'tokens'>;
    customersApi: CustomersApi;
  }>;

const CHANGES = {
  disable: { change: disableToken, text: 'is refused until it is enabled again.' },
  enable: { change: enableToken, text: 'is worth again what it was.' },
  revoke: { change: revokeToken, text: 'is worth nothing any more.' },
} as const;

/** The pages of customers' tokens. */
export function customerTokenPages(application: TokenPagesDependencies): readonly PageRoute[] {
  return [
    {
      method: 'GET',
      path: '/customers/{id}/tokens',
      scope: 'read',
      handle: (ask) => withCustomer(ask, application, (customer) => tokensPage(customer, ask, application)),
    },
    {
      method: 'POST',
      path: '/customers/{id}/tokens',
      scope: 'tokens:write',
      needsFreshPassword: true,
      handle: (ask) => withCustomer(ask, application, (customer) => issue(customer, ask, application)),
    },
    {
      method: 'GET',
      path: '/customers/{id}/tokens/{token}/revoke',
      scope: 'tokens:write',
      handle: (ask) => withCustomer(ask, application, (customer) => askAgain(customer, ask, application)),
    },
    ...(['disable', 'enable', 'revoke'] as const).map((verb): PageRoute => ({
      method: 'POST',
      path: `/customers/{id}/tokens/{token}/${verb}`,
      scope: 'tokens:write',
      handle: (ask) => withCustomer(ask, application, (customer) => changeToken(verb, customer, ask, application)),
    })),
  ];
}

async function tokensPage(
  customer: CustomerView,
  { principal, query: fields }: PageAsk,
  application: TokenPagesDependencies,
  shown: Partial<Pick<CustomerTokensView, 'values' | 'errors' | 'issued'>> = {},
): Promise<PageAnswer> {
  const tokens = await listTokens(customer.customerId, application);
  if (isRefusal(tokens)) return refusedPage(tokens);
  const mayIssue = mayDo(principal, 'tokens:write');
  const now = application.clock.now();
  const query = listQueryOf(fields, '');
  const view = { customer, tokens, query, mayIssue, now, values: NO_TOKEN_FORM, errors: {} };
  return { page: customerTokensPage({ ...view, ...shown }) };
}

async function issue(customer: CustomerView, ask: PageAsk, application: TokenPagesDependencies): Promise<PageAnswer> {
  const { form, context, request } = ask;
  const values: TokenForm = {
    label: fieldOf(form, 'label').trim(),
    expires: fieldOf(form, 'expires').trim(),
    allowed_addresses: fieldOf(form, 'allowed_addresses').trim(),
    read_only: fieldOf(form, 'read_only') === 'true',
  };
  const wanted = {
    customer: customer.customerId,
    label: values.label,
    expires: values.expires === '' ? undefined : values.expires,
    readOnly: values.read_only,
    allowedAddresses: values.allowed_addresses.split(/[\s,]+/).filter((text) => text !== ''),
  };
  const issued = await issueToken(wanted, context, application);
  if (isRefusal(issued)) return tokensPage(customer, ask, application, { values, errors: formErrors(issued) });
  await application.shown();
  const { protocol, secure, hostname } = request;
  const asked = { protocol, secure, hostname, host: request.get('host') };
  const api = customersApiAddress(asked, application.customersApi);
  return tokensPage(customer, ask, application, { issued: { token: issued.token, api } });
}

async function askAgain(
  customer: CustomerView,
  { params }: PageAsk,
  application: TokenPagesDependencies,
): Promise<PageAnswer> {
  const tokens = await listTokens(customer.customerId, application);
  if (isRefusal(tokens)) return refusedPage(tokens);
  const token = tokens.find(({ tokenId }) => tokenId === params['token']);
  if (token === undefined) return notFoundPage('There is no such token of this customer.');
  const left = tokens.filter((other) => other !== token && !other.isDisabled).length;
  return { page: revokePage({ customer, token, left, now: application.clock.now() }) };
}

async function changeToken(
  verb: keyof typeof CHANGES,
  { customerId, tokens }: CustomerView,
  { params, context }: PageAsk,
  application: TokenPagesDependencies,
): Promise<PageAnswer> {
  const token = tokens.find(({ tokenId }) => tokenId === params['token']);
  if (token === undefined) return notFoundPage('There is no such token of this customer.');
  const { change, text } = CHANGES[verb];
  const changed = await change({ tokenId: token.tokenId, customer: customerId }, context, application);
  if (isRefusal(changed)) return refusedPage(changed);
  await application.shown();
  const name = token.label === '' ? token.tokenId : token.label;
  return { goTo: `/admin/customers/${customerId}/tokens`, message: { kind: 'ok', text: `The token ${name} ${text}` } };
}
