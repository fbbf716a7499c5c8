import type { Command } from 'commander';
import { type PoolUsage, poolsUsage, poolUsage, type UsageAccount } from '../../application/worker-pools/pool-usage.ts';
import { isMonth, monthOf } from '../../domain/worker-pools/months.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import { counted } from '../../domain/counted.ts';
import { accepted, usage } from '../output.ts';

const BAR_CELLS = 20;

/** `worker_pool usage [pool] [--month YYYY-MM] [--csv]`. */
export function addUsageCommand(group: Command, tools: CommandTools): void {
  leaf(group, 'usage [pool]', 'instance run-time of a month (UTC) against its targets; without a name, of all pools')
    .option('--month <month>', 'YYYY-MM; default: this month')
    .option('--csv', 'print CSV (RFC 4180): a row for each pool, then one for each of its scopes')
    .action((pool: string | undefined, options: { month?: string; csv?: boolean; json?: boolean }) => {
      if (options.csv === true && options.json === true)
        throw usage('--csv and --json are two formats: give one of them.');
      return tools.withApplication(async (application) => {
        const thisMonth = monthOf(application.clock.now().epochMilliseconds);
        const month = options.month ?? thisMonth;
        if (!isMonth(month)) throw usage(`--month must be a year and a month such as ${thisMonth}, not ${month}.`);
        if (pool === undefined) {
          const reports = await poolsUsage(month, application);
          if (options.csv === true) tools.write(csv(reports));
          else outputOf(options, tools).object({ month, worker_pools: reports }, linesOfAll(month, reports));
          return;
        }
        const report = accepted(await poolUsage(pool, month, application));
        if (options.csv === true) tools.write(csv([report]));
        else outputOf(options, tools).object(report, lines(report));
      });
    });
}

/** Names of pools and scopes need no quotes: they are letters, digits and dashes. What there is none of is empty. */
function csv(reports: readonly PoolUsage[]): string {
  const rows = reports.flatMap((report) => {
    const { month, worker_pool: pool } = report;
    const accounts = [
      { scope: '', account: report },
      ...report.scopes.map((scope) => ({ scope: scope.scope, account: scope })),
    ];
    return accounts.map((row) => ({ month, pool, ...row }));
  });
  const cells = rows.map(({ month, pool, scope, account }) => [
    month,
    pool,
    scope,
    account.used_seconds,
    account.target_max_seconds_per_month ?? '',
    account.projected_seconds ?? '',
  ]);
  const header = ['month', 'worker_pool', 'scope', 'used_seconds', 'target_max_seconds_per_month', 'projected_seconds'];
  return [header, ...cells].map((row) => `${row.join(',')}\r\n`).join('');
}

function lines(report: PoolUsage): readonly string[] {
  const table = accountTable([
    { name: `pool ${report.worker_pool}`, account: report },
    ...report.scopes.map((scope) => ({ name: `scope ${scope.scope}`, account: scope })),
  ]);
  return [heading(report.month, report.running_instances), ...table];
}

function linesOfAll(month: string, reports: readonly PoolUsage[]): readonly string[] {
  const sum = (of: (report: PoolUsage) => number): number => reports.reduce((all, report) => all + of(report), 0);
  const all = {
    used_seconds: sum((report) => report.used_seconds),
    target_max_seconds_per_month: null,
    projected_seconds: reports.some((report) => report.projected_seconds === null)
      ? null
      : sum((report) => report.projected_seconds ?? 0),
  };
  const rows = reports.map((report) => ({ name: `pool ${report.worker_pool}`, account: report }));
  const table = accountTable([...rows, { name: 'all pools', account: all }]);
  return [
    heading(
      month,
      sum((report) => report.running_instances),
    ),
    ...table,
  ];
}

function heading(month: string, running: number): string {
  return `${month} (UTC), ${counted(running, 'instance')} running`;
}

function accountTable(accounts: readonly Readonly<{ name: string; account: UsageAccount }>[]): readonly string[] {
  const rows = accounts.map(({ name, account }) => [
    name,
    hours(account.used_seconds),
    account.target_max_seconds_per_month === null ? '-' : hours(account.target_max_seconds_per_month),
    account.projected_seconds === null ? '-' : hours(account.projected_seconds),
    bar(account),
  ]);
  const all = [['', 'used', 'target', 'projected', ''], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

/** `[#####+++............]  25 %`: used, and (`+`) what is projected, of the target. */
function bar({
  used_seconds: used,
  target_max_seconds_per_month: target,
  projected_seconds: projected,
}: UsageAccount): string {
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
