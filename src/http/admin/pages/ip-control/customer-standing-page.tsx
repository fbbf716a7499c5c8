import type { JSX } from 'preact';
import type { CustomerView } from '../../../../projections/ip-control/customer-view.ts';
import type { Page } from '../page.ts';
import { Badge } from '../parts/badge.tsx';
import { ActionButton, Form } from '../parts/form.tsx';
import { count, countOf } from '../parts/text.tsx';

/** Whether a customer may act. */
export function StandingBadge({ standing }: Pick<CustomerView, 'standing'>): JSX.Element {
  if (standing === 'enabled') return <Badge state="ok">enabled</Badge>;
  return <Badge state="off">disabled: its tokens are refused</Badge>;
}

/** What administrators do with a customer as a whole. */
export function StandingActions({ customer: { customerId, standing } }: Readonly<{ customer: CustomerView }>) {
  const base = `/admin/customers/${customerId}`;
  return (
    <>
      {standing === 'disabled' ? (
        <ActionButton action={`${base}/enable`} id="enable" label="Enable" />
      ) : (
        <ActionButton action={`${base}/disable`} id="disable" label="Disable" />
      )}
      <a class="button" href={`${base}/remove`}>
        Remove customer
      </a>
    </>
  );
}

/** Asks once more before a customer is removed, with what goes with it. */
export function removeCustomerPage({
  customer: { customerId, name, tokens },
  subnets,
  disabled,
  requests,
}: Readonly<{ customer: CustomerView; subnets: number; disabled: bigint; requests: number }>): Page {
  const base = `/admin/customers/${customerId}`;
  return {
    title: `Remove ${name}`,
    crumbs: [
      { name: 'Customers', href: '/admin/customers' },
      { name, href: base },
    ],
    body: (
      <>
        <p>This can not be undone. With it go at once:</p>
        <ul>
          <li>{countOf(tokens.length, 'token')}</li>
          <li>
            {countOf(subnets, 'subnet')}, in which{' '}
            {disabled === 1n ? '1 address is' : `${count(disabled)} addresses are`} disabled
          </li>
          <li>{countOf(requests, 'whitelist request')}</li>
        </ul>
        <p>The next commits empty its lists on the routers. Its history stays, and its name is never given again.</p>
        <Form action={`${base}/remove`} errors={{}} submit={`Remove ${name}`} cancel={base} isDangerous />
      </>
    ),
  };
}
