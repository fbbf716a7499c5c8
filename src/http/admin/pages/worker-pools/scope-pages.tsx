import type { Temporal } from '@js-temporal/polyfill';
import type { JSX } from 'preact';
import type { ScopeView } from '../../../../projections/worker-pools/scope-view.ts';
import type { Page } from '../page.ts';
import { Badge } from '../parts/badge.tsx';
import { Field, Form, type FormErrors } from '../parts/form.tsx';
import { Filter, List, listAddress, type ListQuery } from '../parts/list.tsx';
import { Live } from '../parts/live.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { count, When } from '../parts/text.tsx';
import { MarkedUsed } from './pool-parts.tsx';

const PATH = '/admin/scopes';
const LIST = { name: 'Scopes', href: PATH } as const;

const addressOf = (scope: string): string => `${PATH}/${encodeURIComponent(scope)}`;

/** A scope, and the hours that its tasks have taken this month, by pool. */
export type ScopeRow = Readonly<{ scope: ScopeView; hours: ReadonlyMap<string, number> }>;

type PoolOfScope = Readonly<{ pool: string; priority: number; limits: Limits; hours: number }>;
type Limits = ScopeView['pools'][string]['limits'];

const COLUMNS: readonly Column<ScopeRow>[] = [
  {
    key: 'scope',
    name: 'Scope',
    sortBy: ({ scope: { scope } }) => scope,
    cell: ({ scope: { scope } }) => <a href={addressOf(scope)}>{scope}</a>,
  },
  {
    key: 'pools',
    name: 'Pools',
    sortBy: ({ scope: { pools } }) => Object.keys(pools).length,
    cell: ({ scope: { pools } }) => Object.keys(pools).toSorted().join(', ') || null,
  },
  {
    key: 'hours',
    name: 'Task hours this month',
    isNumber: true,
    sortBy: ({ hours }) => sumOf(hours),
    cell: ({ hours }) => decimal(sumOf(hours)),
  },
  {
    key: 'waits',
    name: 'Work that no pool takes',
    sortBy: ({ scope: { refused } }) => Object.keys(refused).length,
    cell: ({ scope }) => <Refused scope={scope} />,
  },
];

function sumOf(hours: ScopeRow['hours']): number {
  return [...hours.values()].reduce((sum, own) => sum + own, 0);
}

function decimal(hours: number): string {
  const tenths = Math.round(hours * 10);
  return `${count(Math.floor(tenths / 10))}.${tenths % 10}`;
}

function Refused({ scope: { refused } }: Readonly<{ scope: ScopeView }>): JSX.Element {
  const reasons = Object.entries(refused);
  if (reasons.length === 0) return <span class="dim">–</span>;
  return <Badge state="warn">{reasons.map(([architecture]) => architecture).join(', ')}</Badge>;
}

/** All scopes. */
export function scopeListPage({ rows, query }: Readonly<{ rows: readonly ScopeRow[]; query: ListQuery }>): Page {
  const table = (
    <List
      path={PATH}
      query={query}
      holds={({ scope: { scope, pools } }) => [scope, ...Object.keys(pools)]}
      noun="scope"
      caption="Scopes"
      columns={COLUMNS}
      rows={rows}
      keyOf={({ scope: { scope } }) => scope}
      empty="No scopes yet. One is created by “edgeward scope create”, or by the administration API."
    />
  );
  return {
    title: 'Scopes',
    parts: { scopes: table },
    body: (
      <>
        <div class="bar">
          <Filter path={PATH} query={query} label="Scope or pool" />
        </div>
        <Live id="scopes" topic="pools" at={listAddress(PATH, query.fields, {})}>
          {table}
        </Live>
      </>
    ),
  };
}

export type ScopePageView = Readonly<{ row: ScopeRow; mayWrite: boolean; now: Temporal.Instant }>;

/** One scope: the pools that it uses, by priority, and why work waits that none of them takes. */
export function scopePage({ row, mayWrite, now }: ScopePageView): Page {
  const { scope: view, hours } = row;
  const { scope, pools, refused } = view;
  const rows = Object.entries(pools)
    .map(([pool, terms]) => ({ pool, ...terms, hours: hours.get(pool) ?? 0 }))
    .sort((a, b) => b.priority - a.priority);
  const standing = (
    <>
      <Table
        caption={`Pools of ${scope}`}
        columns={poolColumns(scope, mayWrite)}
        rows={rows}
        keyOf={({ pool }) => pool}
        empty="This scope uses no pool: its work waits for workers that have none."
      />
      {Object.entries(refused).map(([architecture, { because, at }]) => (
        <p key={architecture}>
          <Badge state="warn">{architecture}</Badge> {because}, <When at={at} now={now} />
        </p>
      ))}
    </>
  );
  return {
    title: scope,
    crumbs: [LIST],
    parts: { scope: standing },
    body: (
      <Live id="scope" topic="pools" at={addressOf(scope)}>
        {standing}
      </Live>
    ),
  };
}

function poolColumns(scope: string, mayWrite: boolean): readonly Column<PoolOfScope>[] {
  const columns: readonly Column<PoolOfScope>[] = [
    {
      key: 'pool',
      name: 'Pool',
      cell: ({ pool }) => <a href={`/admin/worker-pools/${encodeURIComponent(pool)}`}>{pool}</a>,
    },
    { key: 'priority', name: 'Priority', isNumber: true, cell: ({ priority }) => priority },
    {
      key: 'hours',
      name: 'Task hours this month',
      isNumber: true,
      cell: ({ hours, limits: { target_max_seconds_per_month: target } }) => (
        <MarkedUsed used={hours * 3600} target={target} shown={decimal(hours)} />
      ),
    },
    {
      key: 'target',
      name: 'Target hours a month',
      isNumber: true,
      cell: ({ limits: { target_max_seconds_per_month: target } }) => (target === null ? null : decimal(target / 3600)),
    },
    {
      key: 'latency',
      name: 'Target latency, s',
      isNumber: true,
      cell: ({ limits: { target_latency_seconds: latency } }) => latency,
    },
  ];
  if (!mayWrite) return columns;
  const edit: Column<PoolOfScope> = {
    key: 'actions',
    name: 'Actions',
    isHeadingHidden: true,
    cell: ({ pool }) => (
      <a href={`${addressOf(scope)}/worker-pools/${encodeURIComponent(pool)}`} aria-label={`Edit ${pool}`}>
        Edit
      </a>
    ),
  };
  return [...columns, edit];
}

/** The fields of the form, as they were typed. */
export type TermsValues = Readonly<Record<'priority' | 'target' | 'latency', string>>;

/** The terms on which a scope uses a pool, to be changed. */
export function termsPage({
  scope,
  pool,
  values,
  errors,
}: Readonly<{ scope: string; pool: string; values: TermsValues; errors: FormErrors }>): Page {
  const none = 'Empty: no limit.';
  return {
    title: `${pool} in ${scope}`,
    crumbs: [LIST, { name: scope, href: addressOf(scope) }],
    ...(Object.keys(errors).length > 0 ? { status: 422 } : {}),
    body: (
      <Form
        action={`${addressOf(scope)}/worker-pools/${encodeURIComponent(pool)}`}
        errors={errors}
        submit="Save"
        cancel={addressOf(scope)}
      >
        <Field
          name="priority"
          label="Priority"
          type="number"
          value={values.priority}
          errors={errors}
          hint="Pools of a higher priority are asked first."
          isRequired
        />
        <Field
          name="target"
          label="Target of instance-seconds a month"
          type="number"
          value={values.target}
          errors={errors}
          hint={none}
          more={{ min: 0 }}
        />
        <Field
          name="latency"
          label="Target of seconds before the last waiting work is dispatched"
          type="number"
          value={values.latency}
          errors={errors}
          hint={none}
          more={{ min: 0 }}
        />
      </Form>
    ),
  };
}
