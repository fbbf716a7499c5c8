import type { Command } from 'commander';
import { type PoolUsage, poolUsage, type UsageAccount } from '../../application/worker-pools/pool-usage.ts';
import { isMonth, monthOf } from '../../domain/worker-pools/months.ts';
import { type CommandTools, leaf, outputOf } from '../command.ts';
import { accepted, usage } from '../output.ts';

const BAR_CELLS = 20;

/** `worker_pool usage <pool> [--month YYYY-MM]`. */
export function addUsageCommand(group: Command, tools: CommandTools): void {
  leaf(group, 'usage <pool>', 'instance run-time of a month (UTC) against its targets; running instances up to now')
    .option('--month <month>', 'YYYY-MM; default: this month')
    .action((pool: string, options: { month?: string; json?: boolean }) =>
      tools.withApplication(async (application) => {
        const thisMonth = monthOf(application.clock.now().epochMilliseconds);
        const month = options.month ?? thisMonth;
        if (!isMonth(month)) throw usage(`--month must be a year and a month such as ${thisMonth}, not ${month}.`);
        const report = accepted(await poolUsage(pool, month, application));
        outputOf(options, tools).object(report, lines(report));
      }),
    );
}

function lines(report: PoolUsage): readonly string[] {
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
