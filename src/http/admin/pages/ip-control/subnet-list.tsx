import type { JSX } from 'preact';
import type { ListedSubnet, SubnetListRow } from '../../../../application/ip-control/subnet-maps.ts';
import type { Page } from '../page.ts';
import { Badge } from '../parts/badge.tsx';
import { Filter, type ListQuery, Pager, sortingOf } from '../parts/list.tsx';
import { Live } from '../parts/live.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Code, count } from '../parts/text.tsx';

const PATH = '/admin/subnets';

const COLUMNS: readonly Column<SubnetListRow>[] = [
  {
    key: 'subnet',
    name: 'Subnet',
    sortBy: ({ cidr }) => cidr,
    cell: ({ subnetId, cidr }) => (
      <a href={`${PATH}/${subnetId}`}>
        <Code>{cidr}</Code>
      </a>
    ),
  },
  {
    key: 'customer',
    name: 'Customer',
    sortBy: ({ customer }) => customer.name,
    cell: ({ customer }) => <CustomerLink customer={customer} />,
  },
  { key: 'region', name: 'Region', cell: ({ region }) => region },
  { key: 'asn', name: 'AS', isNumber: true, cell: ({ asn }) => String(asn) },
  { key: 'metro', name: 'Metro', cell: ({ metro }) => metro },
  { key: 'total', name: 'Addresses', isNumber: true, cell: ({ counts }) => counts.total },
  { key: 'enabled', name: 'Enabled', isNumber: true, cell: ({ counts }) => counts.total - counts.disabled },
  { key: 'disabled', name: 'Disabled', isNumber: true, cell: ({ counts }) => counts.disabled },
  {
    key: 'pending',
    name: 'Pending',
    isNumber: true,
    cell: ({ counts }) =>
      counts.pending === 0n ? counts.pending : <Badge state="busy">{count(counts.pending)}</Badge>,
  },
];

function CustomerLink({ customer: { customerId, name } }: Pick<ListedSubnet, 'customer'>): JSX.Element {
  return <a href={`/admin/customers/${customerId}`}>{name}</a>;
}

export type SubnetListView = Readonly<{
  query: ListQuery;
  rows: readonly SubnetListRow[];
  total: number;
  next: string | undefined;
  /** Where this very page is, with its filter. */
  address: string;
}>;

/** All subnets, in the order of their addresses or of their customers' names. */
export function subnetListPage({ query, rows, total, next, address }: SubnetListView): Page {
  const table = (
    <>
      <Table
        caption="Subnets"
        columns={COLUMNS}
        rows={rows}
        keyOf={({ subnetId }) => String(subnetId)}
        sorting={sortingOf(PATH, query)}
        empty={
          query.q === ''
            ? 'No subnets yet. One is assigned to a customer on its tab Subnets.'
            : 'No subnet holds or overlaps this, begins with it, or belongs to a customer of this name.'
        }
      />
      <Pager path={PATH} query={query} next={next} total={total} noun="subnet" />
    </>
  );
  return {
    title: 'Subnets',
    parts: { 'all-subnets': table },
    body: (
      <>
        <div class="bar">
          <Filter path={PATH} query={query} label="Address, CIDR or customer" />
        </div>
        <Live id="all-subnets" topic="customers" at={address}>
          {table}
        </Live>
      </>
    ),
  };
}
