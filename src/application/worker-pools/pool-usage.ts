import { epochMilliseconds } from '../../domain/instants.ts';
import type { Month } from '../../domain/worker-pools/months.ts';
import { isRefusal, type Refusal } from '../../kernel/decider.ts';
import { poolDayMilliseconds, poolMonthMilliseconds } from '../../projections/worker-pools/pool-usage-view.ts';
import type { ScopeView } from '../../projections/worker-pools/scope-view.ts';
import { scopeMonthMilliseconds } from '../../projections/worker-pools/scope-usage-view.ts';
import { projectedMilliseconds } from '../../projections/worker-pools/usage-months.ts';
import type { Application } from '../application.ts';
import { poolNotFound } from './pools.ts';

/** Instance run-time in a month; null where there is no target, and in a month that has not begun. */
export type UsageAccount = Readonly<{
  used_seconds: number;
  target_max_seconds_per_month: number | null;
  projected_seconds: number | null;
}>;

/** What a pool has used in a month, and each of its scopes of it. */
export type PoolUsage = UsageAccount &
  Readonly<{
    worker_pool: string;
    month: Month;
    running_instances: number;
    scopes: readonly (Readonly<{ scope: string }> & UsageAccount)[];
  }>;

/** Instance run-time of a pool in one day (UTC). */
export type PoolDay = Readonly<{ day: string; used_seconds: number }>;

export type PoolUsageDependencies = Pick<Application, 'catchUp' | 'clock'> &
  Readonly<{ views: Pick<Application['views'], 'workerPools' | 'poolUsage' | 'scopes' | 'scopeUsage'> }>;

/** The accounts of all pools for a month, by name; what a deleted pool has used in it stays on the books. */
export async function poolsUsage(month: Month, dependencies: PoolUsageDependencies): Promise<readonly PoolUsage[]> {
  const { catchUp, views } = dependencies;
  await catchUp();
  const there = (await views.workerPools.list()).map(({ key }) => key);
  const ever = (await views.poolUsage.list()).map(({ key }) => key);
  const accounts: PoolUsage[] = [];
  for (const pool of [...new Set([...there, ...ever])].toSorted()) {
    const account = await poolUsage(pool, month, dependencies);
    if (isRefusal(account)) continue;
    if (there.includes(pool) || account.used_seconds > 0) accounts.push(account);
  }
  return accounts;
}

/** The account of a pool for a month; running instances count up to now. */
export async function poolUsage(
  pool: string,
  month: Month,
  { catchUp, clock, views }: PoolUsageDependencies,
): Promise<Refusal | PoolUsage> {
  await catchUp();
  const now = clock.now().epochMilliseconds;
  const view = await views.workerPools.get(pool);
  const runs = await views.poolUsage.get(pool);
  // What a deleted pool has used stays on the books.
  if (view === undefined && runs === undefined) return poolNotFound(pool);
  const since = view === undefined ? 0 : epochMilliseconds(view.createdAt);
  const account = (milliseconds: number, target: number | null): UsageAccount => {
    const projected = projectedMilliseconds(milliseconds, month, since, now);
    return {
      used_seconds: milliseconds / 1000,
      target_max_seconds_per_month: target,
      projected_seconds: projected === undefined ? null : projected / 1000,
    };
  };
  const scopes = await Promise.all(
    (await views.scopes.list()).map(async ({ view: { scope, pools } }) => {
      const own = scopeMonthMilliseconds(await views.scopeUsage.get(scope), pool, month, now);
      const terms = pools[pool];
      if (own === 0 && terms === undefined) return [];
      return [{ scope, ...account(own, terms?.limits.target_max_seconds_per_month ?? null) }];
    }),
  );
  return {
    worker_pool: pool,
    month,
    running_instances: Object.keys(runs?.running ?? {}).length,
    ...account(poolMonthMilliseconds(runs, month, now), view?.record.limits.target_max_seconds_per_month ?? null),
    scopes: scopes.flat(),
  };
}

/** What instances of a pool have run by day, the oldest of a month of days first; running ones count up to now. */
export async function poolDays(
  pool: string,
  { clock, views }: Pick<Application, 'clock'> & Readonly<{ views: Pick<Application['views'], 'poolUsage'> }>,
): Promise<readonly PoolDay[]> {
  const days = poolDayMilliseconds(await views.poolUsage.get(pool), clock.now().epochMilliseconds);
  return days.map(({ day, milliseconds }) => ({ day, used_seconds: milliseconds / 1000 }));
}

/** The hours that tasks of a scope have taken in a month, by pool; running tasks count up to now. */
export async function scopeHours(
  { scope, pools }: Pick<ScopeView, 'scope' | 'pools'>,
  month: Month,
  { clock, views }: Pick<Application, 'clock'> & Readonly<{ views: Pick<Application['views'], 'scopeUsage'> }>,
): Promise<ReadonlyMap<string, number>> {
  const now = clock.now().epochMilliseconds;
  const usage = await views.scopeUsage.get(scope);
  const names = new Set([...Object.keys(pools), ...Object.keys(usage?.pools ?? {})]);
  return new Map([...names].map((pool) => [pool, scopeMonthMilliseconds(usage, pool, month, now) / HOUR_MILLISECONDS]));
}

const HOUR_MILLISECONDS = 3_600_000;
