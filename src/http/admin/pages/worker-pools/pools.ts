import type { Application } from '../../../../application/application.ts';
import { architectureRows, poolDecisions } from '../../../../application/worker-pools/pool-overview.ts';
import { poolDays, poolUsage, type PoolUsage } from '../../../../application/worker-pools/pool-usage.ts';
import { editPool, listPools, showPool } from '../../../../application/worker-pools/pools.ts';
import { launchWorkers, listWorkers } from '../../../../application/worker-pools/workers.ts';
import { type Month, monthBounds, monthOf } from '../../../../domain/worker-pools/months.ts';
import { isRefusal } from '../../../../kernel/decider.ts';
import type { WorkerPoolView } from '../../../../projections/worker-pools/worker-pool-view.ts';
import { mayDo } from '../../access.ts';
import { fieldOf, type PageAnswer, type PageAsk, type PageRoute } from '../page.ts';
import type { FormErrors } from '../parts/form.tsx';
import { listQueryOf } from '../parts/list.tsx';
import { poolListPage } from './pool-list.tsx';
import {
  NO_POOL,
  type PoolChangesDependencies,
  notDone,
  onePool,
  poolChangePages,
  poolOf,
  sentence,
} from './pool-changes.ts';
import { NEW } from './pool-parts.tsx';
import { poolPage } from './pool-page.tsx';

export type PoolPagesDependencies = PoolChangesDependencies &
  Pick<Application, 'ids' | 'workersUrl' | 'store'> &
  Readonly<{ views: Pick<Application['views'], 'scopes' | 'scopeUsage' | 'openWork'> }>;

const MONTHS_SHOWN = 6;
const DECISIONS_SHOWN = 20;
const LAUNCHED_MAX = 1_000;

/** Pools of workers: how they stand, why, and what is done about it. */
export function poolPages(application: PoolPagesDependencies): readonly PageRoute[] {
  const one = onePool(application);
  return [
    { method: 'GET', path: '/worker-pools', scope: 'read', handle: (ask) => list(ask, application) },
    ...poolChangePages(application),
    {
      method: 'GET',
      path: '/worker-pools/{pool}',
      scope: 'read',
      handle: async (ask) => {
        const name = ask.params['pool'] ?? '';
        const pool = await showPool(name, application);
        if (!isRefusal(pool)) return show(pool, ask, application);
        // The form of a new pool was here once: where no pool is called so, links that were kept lead to it.
        return name === 'new' ? { goTo: NEW } : NO_POOL;
      },
    },
    one('POST', '/enable', 'pools:write', (pool, ask) => enable(pool, true, ask, application)),
    one('POST', '/disable', 'pools:write', (pool, ask) => enable(pool, false, ask, application)),
    one('POST', '/launch', 'pools:operate', (pool, ask) => launch(pool, ask, application)),
  ];
}

async function list({ principal, query }: PageAsk, application: PoolPagesDependencies): Promise<PageAnswer> {
  const pools = await listPools(application);
  const [month = ''] = monthsBefore(application, 1);
  const [architectures, used] = await Promise.all([
    architectureRows(application),
    Promise.all(pools.map(({ record }) => poolUsage(record.name, month, application))),
  ]);
  const rows = pools.flatMap((pool, index) => {
    const usage = used[index];
    return usage === undefined || isRefusal(usage) ? [] : [{ pool, usage }];
  });
  return {
    page: poolListPage({
      architectures,
      rows,
      query: listQueryOf(query, ''),
      mayWrite: mayDo(principal, 'pools:write'),
    }),
  };
}

/** This month and those before it, the newest first. */
function monthsBefore({ clock }: Pick<Application, 'clock'>, many: number): readonly Month[] {
  const months = [monthOf(clock.now().epochMilliseconds)];
  while (months.length < many) months.push(monthOf(monthBounds(months.at(-1) ?? '').start - 1));
  return months;
}

async function show(
  pool: WorkerPoolView,
  { principal, query }: PageAsk,
  application: PoolPagesDependencies,
  errors: FormErrors = {},
): Promise<PageAnswer> {
  const { name } = pool.record;
  const [usage, days, workers, decisions] = await Promise.all([
    Promise.all(monthsBefore(application, MONTHS_SHOWN).map((month) => poolUsage(name, month, application))),
    poolDays(name, application),
    listWorkers({ pool: name }, application),
    poolDecisions(name, DECISIONS_SHOWN, application),
  ]);
  return {
    page: poolPage({
      pool,
      usage: usage.filter((month): month is PoolUsage => !isRefusal(month)).filter(isOfInterest),
      days,
      workers,
      query: listQueryOf(query, ''),
      decisions,
      mayWrite: mayDo(principal, 'pools:write'),
      mayOperate: mayDo(principal, 'pools:operate'),
      now: application.clock.now(),
      errors,
    }),
  };
}

/** This month, and those before it in which something ran. */
function isOfInterest({ used_seconds: used }: PoolUsage, index: number): boolean {
  return index === 0 || used > 0;
}

async function enable(
  pool: WorkerPoolView,
  enabled: boolean,
  { context }: PageAsk,
  application: PoolPagesDependencies,
): Promise<PageAnswer> {
  const { name } = pool.record;
  const edited = await editPool(name, { enabled }, { dryRun: false }, context, application);
  if (isRefusal(edited)) return notDone(edited);
  await application.shown();
  const text = [`${name} is ${enabled ? 'enabled' : 'disabled'}.`, ...edited.notes.map(sentence)].join(' ');
  return { goTo: poolOf(pool), message: { kind: 'ok', text } };
}

async function launch(pool: WorkerPoolView, ask: PageAsk, application: PoolPagesDependencies): Promise<PageAnswer> {
  const { name } = pool.record;
  const text = fieldOf(ask.form, 'count').trim();
  const many = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (many < 1 || many > LAUNCHED_MAX)
    return show(pool, ask, application, { count: `It must be a whole number from 1 to ${LAUNCHED_MAX}.` });
  const launched = await launchWorkers(name, many, ask.context, application);
  if (isRefusal(launched)) return show(pool, ask, application, { '': sentence(launched.because) });
  await application.shown();
  const done = `${launched.workers.length} launched: ${launched.workers.slice(0, 10).join(', ')}${many > 10 ? ' …' : ''}.`;
  return {
    goTo: poolOf(pool),
    message: { kind: 'ok', text: [done, ...launched.notes.map(sentence)].join(' ') },
  };
}
