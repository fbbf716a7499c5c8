import type { JSX } from 'preact';
import {
  type FoundThing,
  search,
  type SearchDependencies,
  type SearchHits,
  type SubnetHit,
} from '../../../../application/ip-control/search.ts';
import type { CustomerName } from '../../../../application/ip-control/customer-lists.ts';
import { fieldOf, type Page, type PageAnswer, type PageRoute } from '../page.ts';
import { Badge } from '../parts/badge.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Code } from '../parts/text.tsx';
import { routerAt } from './region-pages.tsx';
import { StageBadge } from './review-list.tsx';

const customerAt = ({ customerId }: CustomerName): string => `/admin/customers/${customerId}`;

const subnetAt = ({ subnetId }: SubnetHit): string => `/admin/subnets/${subnetId}`;

/** From an address, a name or a number to the page of what has it; at once where there is one hit. */
export function searchPages(application: SearchDependencies): readonly PageRoute[] {
  return [
    {
      method: 'GET',
      path: '/search',
      scope: 'read',
      handle: async ({ query }) => {
        const text = fieldOf(query, 'q').trim();
        const hits = text === '' ? { customers: [], subnets: [], things: [] } : await search(text, application);
        return onlyHit(hits) ?? { page: searchPage(text, hits) };
      },
    },
  ];
}

/** How an address stands is said on the page of hits: there one subnet alone is no reason to go on. */
function onlyHit({ customers, subnets, things }: SearchHits): PageAnswer | undefined {
  if (customers.length + subnets.length + things.length !== 1) return undefined;
  const [thing] = things;
  if (thing !== undefined) return { goTo: thingAt(thing) };
  const [customer] = customers;
  if (customer !== undefined) return { goTo: customerAt(customer) };
  const [subnet] = subnets;
  if (subnet === undefined || subnet.address !== undefined) return undefined;
  return { goTo: subnetAt(subnet) };
}

function thingAt(thing: FoundThing): string {
  switch (thing.kind) {
    case 'region':
      return `/admin/regions/${thing.regionId}`;
    case 'router':
      return routerAt(thing.regionId, thing.name);
    case 'account':
      return `/admin/accounts/${encodeURIComponent(thing.name)}`;
    case 'commit':
      return `/admin/commits/${thing.commitSetId}`;
    case 'request':
      return `/admin/whitelist/${thing.requestId}`;
    case 'token':
      return `/admin/customers/${thing.customerId}/tokens`;
    case 'event':
      return `/admin/events/${thing.position}`;
  }
}

const KINDS: Readonly<Record<FoundThing['kind'], string>> = {
  region: 'region',
  router: 'router',
  account: 'account',
  commit: 'commit',
  request: 'whitelist request',
  token: 'token',
  event: 'event',
};

const THING_COLUMNS: readonly Column<FoundThing>[] = [
  { key: 'name', name: 'Name', cell: (thing) => <a href={thingAt(thing)}>{thing.name}</a> },
  { key: 'kind', name: 'What it is', cell: ({ kind }) => KINDS[kind] },
  {
    key: 'stands',
    name: 'How it stands',
    cell: (thing) =>
      thing.kind !== 'request' ? null : (
        <>
          <StageBadge stage={thing.stage} /> <Code>{thing.list}</Code>
        </>
      ),
  },
];

const CUSTOMER: Column<CustomerName> = {
  key: 'name',
  name: 'Customer',
  cell: (customer) => <a href={customerAt(customer)}>{customer.name}</a>,
};

const CUSTOMER_COLUMNS: readonly Column<CustomerName>[] = [
  CUSTOMER,
  { key: 'list', name: 'List name', cell: ({ listName }) => <Code>{listName}</Code> },
];

const SUBNET_COLUMNS: readonly Column<SubnetHit>[] = [
  {
    key: 'subnet',
    name: 'Subnet',
    cell: (subnet) => (
      <a href={subnetAt(subnet)}>
        <Code>{subnet.cidr}</Code>
      </a>
    ),
  },
  { key: 'customer', name: 'Customer', cell: ({ customer }) => CUSTOMER.cell(customer) },
  { key: 'state', name: 'Address', cell: ({ address }) => <AddressState address={address} /> },
  {
    key: 'list',
    name: 'List on the routers',
    cell: ({ address }) => (address?.list === undefined ? null : <Code>{address.list}</Code>),
  },
];

function AddressState({ address }: Pick<SubnetHit, 'address'>): JSX.Element {
  if (address === undefined) return <span class="dim">–</span>;
  const wanted = address.isDisabled ? <Badge state="off">disabled</Badge> : <Badge state="ok">enabled</Badge>;
  return (
    <>
      <Code>{address.text}</Code> {wanted}{' '}
      {address.isPending ? <Badge state="busy">on its way to routers</Badge> : null}
    </>
  );
}

/** What was found for a text. */
export function searchPage(text: string, { customers, subnets, things }: SearchHits): Page {
  const empty =
    text === ''
      ? 'An address or CIDR finds the subnets that hold it, and the whitelist requests for it; a name finds customers, regions, routers and accounts; a number finds the commit, the whitelist request or the token that has it, or the event at this position.'
      : 'Nothing has this: no subnet holds it as an address or CIDR, no whitelist request is for it, no name holds it, and nothing has it as its number.';
  const isNothing = customers.length + subnets.length + things.length === 0;
  return {
    title: text === '' ? 'Search' : `Search: ${text.length > 60 ? `${text.slice(0, 60)}…` : text}`,
    body: (
      <>
        {isNothing ? <p class="empty">{empty}</p> : null}
        {subnets.length === 0 ? null : (
          <Table
            caption="Subnets"
            columns={SUBNET_COLUMNS}
            rows={subnets}
            keyOf={({ subnetId }) => String(subnetId)}
            empty={empty}
          />
        )}
        {customers.length === 0 ? null : (
          <Table
            caption="Customers"
            columns={CUSTOMER_COLUMNS}
            rows={customers}
            keyOf={({ customerId }) => String(customerId)}
            empty={empty}
          />
        )}
        {things.length === 0 ? null : (
          <Table caption="Others" columns={THING_COLUMNS} rows={things} keyOf={thingAt} empty={empty} />
        )}
      </>
    ),
  };
}
