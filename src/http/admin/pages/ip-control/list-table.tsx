import type { Temporal } from '@js-temporal/polyfill';
import type { JSX } from 'preact';
import type { ListStanding } from '../../../../application/ip-control/list-standing.ts';
import { type Column, Table } from '../parts/table.tsx';
import { Code, When } from '../parts/text.tsx';
import { CommitBadge } from './commit-list.tsx';
import { WorkState } from './on-its-way.tsx';

/** Lists with what is on the routers of them: of a customer by region, of a region by customer. */
export function ListTable({
  of,
  lists,
  empty,
  now,
}: Readonly<{
  of: 'customer' | 'region';
  lists: readonly ListStanding[];
  empty: string;
  now: Temporal.Instant;
}>): JSX.Element {
  const columns = [of === 'customer' ? REGION : CUSTOMER, ...listColumns(now)];
  return (
    <Table
      caption="Lists"
      columns={columns}
      rows={lists}
      keyOf={({ customerId, regionId, list }) => `${customerId}/${regionId}/${list}`}
      empty={empty}
    />
  );
}

const REGION: Column<ListStanding> = {
  key: 'region',
  name: 'Region',
  cell: ({ regionId, region }) => <a href={`/admin/regions/${regionId}`}>{region}</a>,
};

const CUSTOMER: Column<ListStanding> = {
  key: 'customer',
  name: 'Customer',
  cell: ({ customerId, customer }) => <a href={`/admin/customers/${customerId}`}>{customer}</a>,
};

function listColumns(now: Temporal.Instant): readonly Column<ListStanding>[] {
  return [
    { key: 'list', name: 'List', cell: ({ prefixListName }) => <Code>{prefixListName}</Code> },
    { key: 'prefixes', name: 'Prefixes', isNumber: true, cell: ({ prefixes }) => prefixes },
    {
      key: 'commit',
      name: 'Last commit',
      cell: ({ commit }) =>
        commit === undefined ? (
          <span class="dim">none yet</span>
        ) : (
          <a href={`/admin/commits/${commit.commitSetId}`}>
            <When at={commit.requestedAt} now={now} />
          </a>
        ),
    },
    { key: 'state', name: 'State', cell: (list) => <ListState list={list} /> },
  ];
}

/** A change that no commit carries yet, or one that fails, is more than how far the newest commit is. */
function ListState({ list: { change, commit } }: Readonly<{ list: ListStanding }>): JSX.Element | null {
  const isToBeCarried = change !== undefined && (change.failingOn !== undefined || change.carriedSince === null);
  if (isToBeCarried) return <WorkState change={change} />;
  return commit === undefined ? null : <CommitBadge commit={commit} />;
}
