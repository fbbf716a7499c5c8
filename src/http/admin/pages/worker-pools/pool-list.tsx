import type { ArchitectureRow } from '../../../../application/worker-pools/pool-overview.ts';
import type { PoolUsage } from '../../../../application/worker-pools/pool-usage.ts';
import type { WorkerPoolView } from '../../../../projections/worker-pools/worker-pool-view.ts';
import type { Page } from '../page.ts';
import { Filter, List, listAddress, type ListQuery } from '../parts/list.tsx';
import { Live } from '../parts/live.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { count } from '../parts/text.tsx';
import { addressOf, hours, MarkedUsed, mostOf, NEW, ofMost, PATH, PoolState, targetOf } from './pool-parts.tsx';

export type PoolRow = Readonly<{ pool: WorkerPoolView; usage: PoolUsage }>;

export type PoolListView = Readonly<{
  architectures: readonly ArchitectureRow[];
  rows: readonly PoolRow[];
  query: ListQuery;
  mayWrite: boolean;
}>;

const ARCHITECTURE_COLUMNS: readonly Column<ArchitectureRow>[] = [
  { key: 'architecture', name: 'Architecture', cell: ({ architecture }) => architecture },
  { key: 'connected', name: 'Connected', isNumber: true, cell: ({ connected }) => connected },
  { key: 'busy', name: 'Busy', isNumber: true, cell: ({ busy }) => busy },
  { key: 'idle', name: 'Idle', isNumber: true, cell: ({ idle }) => idle },
  { key: 'waiting', name: 'Work waiting', isNumber: true, cell: ({ waiting }) => waiting },
];

/** A column of words of a pool's record. */
function named(key: string, name: string, of: (record: WorkerPoolView['record']) => string): Column<PoolRow> {
  return { key, name, sortBy: ({ pool }) => of(pool.record), cell: ({ pool }) => of(pool.record) };
}

const POOL_COLUMNS: readonly Column<PoolRow>[] = [
  {
    key: 'pool',
    name: 'Pool',
    sortBy: ({ pool }) => pool.record.name,
    cell: ({ pool: { record } }) => <a href={addressOf(record.name)}>{record.name}</a>,
  },
  {
    key: 'state',
    name: 'State',
    sortBy: ({ pool: { record, failure } }) => Number(record.enabled) + Number(failure !== null),
    cell: ({ pool }) => <PoolState pool={pool} />,
  },
  named('provider', 'Provider', ({ specifications }) => specifications.provider_type),
  named('account', 'Account', ({ provider_account: account }) => account),
  named('architectures', 'Architectures', ({ architectures }) => architectures.join(', ')),
  {
    key: 'active',
    name: 'Active',
    isNumber: true,
    sortBy: ({ pool }) => pool.active.length,
    cell: ({ pool: { active, record } }) => ofMost(count(active.length), mostOf(record.limits.max_active_instances)),
  },
  {
    key: 'hours',
    name: 'Hours this month',
    isNumber: true,
    sortBy: ({ usage }) => usage.used_seconds,
    cell: ({ usage: { used_seconds: used, target_max_seconds_per_month: target } }) => (
      <MarkedUsed used={used} target={target} shown={ofMost(hours(used), targetOf(target))} />
    ),
  },
];

/** All pools, and how the workers of each architecture stand. */
export function poolListPage({ architectures, rows, query, mayWrite }: PoolListView): Page {
  const tables = (
    <>
      <h2>By architecture</h2>
      <Table
        caption="Workers by architecture"
        columns={ARCHITECTURE_COLUMNS}
        rows={architectures}
        keyOf={({ architecture }) => architecture}
        empty="No worker is connected and no work waits."
      />
      <h2>Pools</h2>
      <List
        path={PATH}
        query={query}
        caption="Worker pools"
        columns={POOL_COLUMNS}
        rows={rows}
        holds={({ pool: { record } }) => [record.name, record.provider_account, ...record.architectures]}
        noun="pool"
        keyOf={({ pool }) => pool.record.name}
        empty="No pools yet. One is created here, by “edgeward worker_pool create”, or by the administration API."
      />
    </>
  );
  return {
    title: 'Worker pools',
    parts: { pools: tables },
    body: (
      <>
        <div class="bar">
          <Filter path={PATH} query={query} label="Name, account or architecture" />
          {mayWrite ? (
            <a class="button primary" href={NEW}>
              New pool
            </a>
          ) : null}
        </div>
        <Live id="pools" topic="pools" at={listAddress(PATH, query.fields, {})}>
          {tables}
        </Live>
      </>
    ),
  };
}
