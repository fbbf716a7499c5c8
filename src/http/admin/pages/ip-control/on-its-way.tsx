import type { Temporal } from '@js-temporal/polyfill';
import type { JSX } from 'preact';
import type { OnItsWay } from '../../../../application/ip-control/overview.ts';
import { Badge } from '../parts/badge.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Code, When } from '../parts/text.tsx';
import { RunButton } from './run-button.tsx';

/** Lists that are on their way to routers, with what hastens them. */
export function OnItsWayTable({
  rows,
  now,
  mayRun,
}: Readonly<{ rows: readonly OnItsWay[]; now: Temporal.Instant; mayRun: boolean }>): JSX.Element {
  const columns: readonly Column<OnItsWay>[] = [
    {
      key: 'customer',
      name: 'Customer',
      cell: ({ change, customer }) => <a href={`/admin/customers/${change.customerId}`}>{customer}</a>,
    },
    { key: 'list', name: 'List', cell: ({ change }) => <Code>{change.list}</Code> },
    {
      key: 'region',
      name: 'Region',
      cell: ({ change, region }) => <a href={`/admin/regions/${change.regionId}`}>{region}</a>,
    },
    { key: 'addresses', name: 'Addresses', isNumber: true, cell: ({ pending }) => pending ?? null },
    { key: 'since', name: 'Since', cell: ({ since }) => (since === null ? null : <When at={since} now={now} />) },
    { key: 'state', name: 'State', cell: ({ change }) => <WorkState change={change} /> },
    { key: 'next', name: 'Next try', cell: ({ nextTry }) => <NextTry at={nextTry} now={now} /> },
    ...(mayRun ? [RUN_COLUMN] : []),
  ];
  return (
    <Table
      caption="On its way to routers"
      columns={columns}
      rows={rows}
      keyOf={({ change }) => `${change.customerId}/${change.regionId}/${change.list}`}
      empty="Everything that was changed is on the routers."
    />
  );
}

/** What is due is asked for when due commits are looked for next. */
function NextTry({ at, now }: Readonly<{ at: string | undefined; now: Temporal.Instant }>): JSX.Element {
  if (at === undefined) return <span class="dim">–</span>;
  return Date.parse(at) <= now.epochMilliseconds ? <>due</> : <When at={at} now={now} />;
}

/** What is being deployed already can not be hastened. */
const RUN_COLUMN: Column<OnItsWay> = {
  key: 'actions',
  name: 'Actions',
  isHeadingHidden: true,
  cell: ({ change }) => {
    if (change.failingOn !== undefined) return <RunButton of={change} label="Try now" />;
    return change.carriedSince === null ? <RunButton of={change} label="Deploy now" /> : null;
  },
};

/** The quiet period asks for no action of an operator. */
export function WorkState({ change }: Readonly<{ change: OnItsWay['change'] }>): JSX.Element {
  const { failingOn, carriedSince } = change;
  if (failingOn !== undefined) return <Badge state="bad">{`failing on ${failingOn.join(', ') || 'no router'}`}</Badge>;
  return carriedSince === null ? <Badge state="busy">quiet period</Badge> : <Badge state="busy">deploying</Badge>;
}
