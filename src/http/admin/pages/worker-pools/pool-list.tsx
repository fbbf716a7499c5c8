import type { ArchitectureRow } from '../../../../application/worker-pools/pool-overview.ts';
import type { PoolUsage } from '../../../../application/worker-pools/pool-usage.ts';
import type { WorkerPoolView } from '../../../../projections/worker-pools/worker-pool-view.ts';
import type { Page } from '../page.ts';
import { Live } from '../parts/live.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { count } from '../parts/text.tsx';
import { addressOf, hours, mostOf, ofMost, PATH, PoolState, targetOf } from './pool-parts.tsx';

export type PoolRow = Readonly<{ pool: WorkerPoolView; usage: PoolUsage }>;

export type PoolListView = Readonly<{
  architectures: readonly ArchitectureRow[];
  rows: readonly PoolRow[];
  mayWrite: boolean;
}>;

const ARCHITECTURE_COLUMNS: readonly Column<ArchitectureRow>[] = [
  { key: 'architecture', name: 'Architecture', cell: ({ architecture }) => architecture },
  { key: 'connected', name: 'Connected', isNumber: true, cell: ({ connected }) => connected },
  { key: 'busy', name: 'Busy', isNumber: true, cell: ({ busy }) => busy },
  { key: 'idle', name: 'Idle', isNumber: true, cell: ({ idle }) => idle },
  { key: 'waiting', name: 'Work waiting', isNumber: true, cell: ({ waiting }) => waiting },
];

const POOL_COLUMNS: readonly Column<PoolRow>[] = [
  {
    key: 'pool',
    name: 'Pool',
    cell: ({ pool: { record } }) => <a href={addressOf(record.name)}>{record.name}</a>,
  },
  { key: 'state', name: 'State', cell: ({ pool }) => <PoolState pool={pool} /> },
  { key: 'provider', name: 'Provider', cell: ({ pool: { record } }) => record.specifications.provider_type },
  { key: 'account', name: 'Account', cell: ({ pool: { record } }) => record.provider_account },
  { key: 'architectures', name: 'Architectures', cell: ({ pool: { record } }) => record.architectures.join(', ') },
  {
    key: 'active',
    name: 'Active',
    isNumber: true,
    cell: ({ pool: { active, record } }) => ofMost(count(active.length), mostOf(record.limits.max_active_instances)),
  },
  {
    key: 'hours',
    name: 'Hours this month',
    isNumber: true,
    cell: ({ usage }) => ofMost(hours(usage.used_seconds), targetOf(usage.target_max_seconds_per_month)),
  },
];

/** All pools, and how the workers of each architecture stand. */
export function poolListPage({ architectures, rows, mayWrite }: PoolListView): Page {
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
      <Table
        caption="Worker pools"
        columns={POOL_COLUMNS}
        rows={rows}
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
        {mayWrite ? (
          <p>
            <a class="button primary" href={`${PATH}/new`}>
              New pool
            </a>
          </p>
        ) : null}
        <Live id="pools" topic="pools" at={PATH}>
          {tables}
        </Live>
      </>
    ),
  };
}
