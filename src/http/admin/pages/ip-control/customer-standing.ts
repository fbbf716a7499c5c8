import type { Application } from '../../../../application/application.ts';
import { chooseCustomerStanding, removeCustomer } from '../../../../application/ip-control/customers.ts';
import { subnetRows } from '../../../../application/ip-control/customer-lists.ts';
import { usedEntries } from '../../../../domain/ip-control/source-whitelist-ledger.ts';
import { type Refusal } from '../../../../kernel/decider.ts';
import type { PageAnswer, PageRoute } from '../page.ts';
import { withCustomer } from './customers.ts';
import { removeCustomerPage } from './customer-standing-page.tsx';

export type CustomerStandingDependencies = Pick<Application, 'directory' | 'customers' | 'views'> &
  Readonly<{
    /** Resolves when the views show everything that was recorded until now. */
    shown: () => Promise<void>;
  }>;

const SCOPE = 'customers:write';

/** Customers are disabled, enabled, and removed. */
export function customerStandingPages(application: CustomerStandingDependencies): readonly PageRoute[] {
  return [
    ...(['disable', 'enable'] as const).map((name): PageRoute => ({
      method: 'POST',
      path: `/customers/{id}/${name}`,
      scope: SCOPE,
      handle: (ask) =>
        withCustomer(ask, application, async ({ customerId }) => {
          const standing = name === 'disable' ? 'disabled' : 'enabled';
          const chosen = await chooseCustomerStanding({ customer: customerId, standing }, ask.context, application);
          const text =
            name === 'disable'
              ? 'Its tokens are refused from now on. What is on routers stays.'
              : 'Its tokens are of use again.';
          return done(chosen, `/admin/customers/${customerId}`, text, application);
        }),
    })),
    {
      method: 'GET',
      path: '/customers/{id}/remove',
      scope: SCOPE,
      handle: (ask) =>
        withCustomer(ask, application, async (customer) => {
          const rows = await subnetRows(customer.customerId, application);
          const whitelist = (await application.views.sourceWhitelists.get(String(customer.customerId)))?.whitelist;
          const disabled = rows.reduce((sum, { counts }) => sum + counts.disabled, 0n);
          const requests = whitelist === undefined ? 0 : usedEntries(whitelist);
          return { page: removeCustomerPage({ customer, subnets: rows.length, disabled, requests }) };
        }),
    },
    {
      method: 'POST',
      path: '/customers/{id}/remove',
      scope: SCOPE,
      handle: (ask) =>
        withCustomer(ask, application, async ({ customerId, name }) => {
          const removed = await removeCustomer({ customer: customerId, force: true }, ask.context, application);
          return done(removed, '/admin/customers', `${name} is removed.`, application);
        }),
    },
  ];
}

async function done(
  outcome: object | Refusal,
  goTo: string,
  text: string,
  { shown }: CustomerStandingDependencies,
): Promise<PageAnswer> {
  if ('because' in outcome) return { problem: { status: 409, title: 'Not done', because: outcome.because } };
  await shown();
  return { goTo, message: { kind: 'ok', text } };
}
