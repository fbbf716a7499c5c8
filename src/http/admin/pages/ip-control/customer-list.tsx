import type { JSX } from 'preact';
import type { CustomerRow } from '../../../../application/ip-control/customer-lists.ts';
import type { WebhookStanding } from '../../../../application/ip-control/webhook-deliveries.ts';
import type { Page } from '../page.ts';
import { Badge } from '../parts/badge.tsx';
import { Filter, type ListQuery, Pager, sortingOf } from '../parts/list.tsx';
import { Live } from '../parts/live.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Code } from '../parts/text.tsx';

const PATH = '/admin/customers';

export type CustomerListView = Readonly<{
  query: ListQuery;
  rows: readonly CustomerRow[];
  /** By number, of the rows that have a webhook. */
  webhooks: ReadonlyMap<number, WebhookStanding>;
  total: number;
  next: string | undefined;
  mayCreate: boolean;
  /** Where this very page is, with its filter. */
  address: string;
}>;

const COLUMNS: readonly Column<CustomerRow>[] = [
  {
    key: 'name',
    name: 'Name',
    sortBy: ({ customer }) => customer.name,
    cell: ({ customer: { customerId, name } }) => <a href={`${PATH}/${customerId}`}>{name}</a>,
  },
  {
    key: 'list',
    name: 'List name',
    sortBy: ({ customer }) => customer.listName,
    cell: ({ customer }) => <Code>{customer.listName}</Code>,
  },
  { key: 'subnets', name: 'Subnets', isNumber: true, cell: ({ subnets }) => subnets },
  { key: 'addresses', name: 'Addresses', isNumber: true, cell: ({ counts }) => counts.total },
  { key: 'disabled', name: 'Disabled', isNumber: true, cell: ({ counts }) => counts.disabled },
  {
    key: 'pending',
    name: 'Pending',
    isNumber: true,
    cell: ({ counts }) =>
      counts.pending === 0n ? counts.pending : <Badge state="busy">{counts.pending.toString()}</Badge>,
  },
  { key: 'allowed', name: 'Allowed', cell: ({ customer }) => <Allowed settings={customer.settings} /> },
  {
    key: 'rate',
    name: 'Requests/min',
    isNumber: true,
    cell: ({ customer }) => customer.settings.rateLimitPerMinute,
  },
];

/** Whether what customers are told arrives; those that are told nothing have none. */
function webhookColumn(standings: CustomerListView['webhooks']): Column<CustomerRow> {
  return {
    key: 'webhook',
    name: 'Webhook',
    cell: ({ customer: { customerId, settings } }) => {
      if (settings.webhookUrl === null) return <span class="dim">none</span>;
      switch (standings.get(customerId) ?? 'none') {
        case 'delivering':
          return <Badge state="ok">delivering</Badge>;
        case 'failing':
          return <Badge state="bad">failing</Badge>;
        case 'none':
          return <Badge state="off">nothing told yet</Badge>;
      }
    },
  };
}

/** What a customer may do beyond what all may. */
function Allowed({ settings }: Readonly<{ settings: CustomerRow['customer']['settings'] }>): JSX.Element {
  const words = [
    settings.allowSynchronous ? 'synchronous' : '',
    settings.allowSourceWhitelist ? 'whitelist' : '',
    settings.trusted ? 'trusted' : '',
  ].filter((word) => word !== '');
  return words.length === 0 ? <span class="dim">–</span> : <>{words.join(', ')}</>;
}

/** All customers. */
export function customerListPage({ query, rows, webhooks, total, next, mayCreate, address }: CustomerListView): Page {
  const empty =
    query.q === ''
      ? 'No customers yet. A customer is created here, or by “edgeward customer create”.'
      : 'No customer has this in its name or list name.';
  const table = (
    <>
      <Table
        caption="Customers"
        columns={[...COLUMNS, webhookColumn(webhooks)]}
        rows={rows}
        keyOf={({ customer }) => String(customer.customerId)}
        sorting={sortingOf(PATH, query)}
        empty={empty}
      />
      <Pager path={PATH} query={query} next={next} total={total} noun="customer" />
    </>
  );
  return {
    title: 'Customers',
    parts: { 'customer-list': table },
    body: (
      <>
        <div class="bar">
          <Filter path={PATH} query={query} label="Name or list name" />
          {mayCreate ? (
            <a class="button primary" href={`${PATH}/new`}>
              New customer
            </a>
          ) : null}
        </div>
        <Live id="customer-list" topic="customers" at={address}>
          {table}
        </Live>
      </>
    ),
  };
}
