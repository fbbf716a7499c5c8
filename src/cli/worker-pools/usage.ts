import type { Command } from 'commander';
import type { Application } from '../../application/application.ts';
import { epochMilliseconds } from '../../domain/instants.ts';
import { isMonth, type Month, monthOf } from '../../domain/worker-pools/months.ts';
import { projectedMilliseconds } from '../../projections/worker-pools/month-projection.ts';
import { poolMonthMilliseconds } from '../../projections/worker-pools/pool-usage-view.ts';
import { scopeMonthMilliseconds } from '../../projections/worker-pools/scope-usage-view.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import { notFound, usage } from '../output.ts';

type Account = Readonly<{
  used_seconds: number;
  target_max_seconds_per_month: number | null;
  projected_seconds: number | null;
}>;

/** `worker_pool usage <pool> [--month YYYY-MM]`. */
export function addUsageCommand(group: Command, tools: CommandTools): void {
  leaf(group, 'usage <pool>', 'instance run-time of a month (UTC) against its targets; running instances up to now')
    .option('--month <month>', 'YYYY-MM; default: this month')
    .action((pool: string, options: { month?: string; json?: boolean }) =>
      tools.withApplication(async (application) => {
        await application.catchUp();
        const now = application.clock.now().epochMilliseconds;
        const month = options.month ?? monthOf(now);
        if (!isMonth(month)) throw usage(`--month must be a year and a month such as ${monthOf(now)}, not ${month}.`);
        const report = await usageOf(application, pool, month, now);
        outputOf(options, tools).object(report, lines(report));
      }),
    );
}

async function usageOf(application: Application, pool: string, month: Month, now: number) {
  const view = await application.views.workerPools.get(pool);
  const runs = await application.views.poolUsage.get(pool);
  // What a deleted pool has used stays on the books.
  if (view === undefined && runs === undefined) throw notFound(`worker pool ${pool} not found.`);
  const since = view === undefined ? 0 : epochMilliseconds(view.createdAt);
  const account = (milliseconds: number, target: number | null): Account => {
    const projected = projectedMilliseconds(milliseconds, month, since, now);
    return {
      used_seconds: milliseconds / 1000,
      target_max_seconds_per_month: target,
      projected_seconds: projected === undefined ? null : projected / 1000,
    };
  };
  const used = poolMonthMilliseconds(runs, month, now);
  const scopes = await Promise.all(
    (await application.views.scopes.list()).map(async ({ view: scope }) => {
      const own = scopeMonthMilliseconds(await application.views.scopeUsage.get(scope.scope), pool, month, now);
      const terms = scope.pools[pool];
      return {
        isListed: own > 0 || terms !== undefined,
        scope,
        own,
        target: terms?.limits.target_max_seconds_per_month,
      };
    }),
  );
  return {
    worker_pool: pool,
    month,
    running_instances: Object.keys(runs?.running ?? {}).length,
    ...account(used, view?.record.limits.target_max_seconds_per_month ?? null),
    scopes: scopes
      .filter(({ isListed }) => isListed)
      .map(({ scope, own, target }) => ({ scope: scope.scope, ...account(own, target ?? null) })),
  };
}

type Report = Awaited<ReturnType<typeof usageOf>>;

const BAR_CELLS = 20;

function lines(report: Report): readonly string[] {
  const rows = [
    { name: `pool ${report.worker_pool}`, account: report },
    ...report.scopes.map((scope) => ({ name: `scope ${scope.scope}`, account: scope })),
  ].map(({ name, account }) => [
    name,
    hours(account.used_seconds),
    account.target_max_seconds_per_month === null ? '-' : hours(account.target_max_seconds_per_month),
    account.projected_seconds === null ? '-' : hours(account.projected_seconds),
    bar(account),
  ]);
  const all = [['', 'used', 'target', 'projected', ''], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const table = all.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
  const running = report.running_instances;
  return [`${report.month} (UTC), ${running} instance${running === 1 ? '' : 's'} running`, ...table];
}

/** `[#####+++............]  25 %`: used, and (`+`) what is projected, of the target. */
function bar({
  used_seconds: used,
  target_max_seconds_per_month: target,
  projected_seconds: projected,
}: Account): string {
  if (target === null) return '';
  const cells = (seconds: number) =>
    Math.min(BAR_CELLS, target === 0 ? BAR_CELLS : Math.round((seconds / target) * BAR_CELLS));
  const full = cells(used);
  const more = Math.max(0, cells(projected ?? 0) - full);
  const percent = target === 0 ? 100 : Math.round((used / target) * 100);
  return `[${'#'.repeat(full)}${'+'.repeat(more)}${'.'.repeat(BAR_CELLS - full - more)}] ${String(percent).padStart(3)} %`;
}

function hours(seconds: number): string {
  return `${(seconds / 3600).toFixed(1)} h`;
}
