// A month of 6,000 tasks over two providers, decided by the scaling rules: what it launches, wastes, costs and how long tasks wait.
// The baseline keeps a fixed number of instances running for the whole month.
// usage: node --import tsx bench/worker-pools/simulated-month.bench.ts
import { BUSY_MONTH, type Month, type MonthReport, simulateMonth } from '../../test/lab/simulated-month.ts';

const FIXED = 4;

simulateMonth(BUSY_MONTH);
const before = process.cpuUsage();
const report = simulateMonth(BUSY_MONTH);
const { user, system } = process.cpuUsage(before);

console.log(
  `${report.tasks} tasks, ${report.decisions} decisions in ${Math.round((user + system) / 1000)} ms of CPU\n`,
);
print('scaled', BUSY_MONTH, report);

const fixed: Month = {
  ...BUSY_MONTH,
  pools: BUSY_MONTH.pools.map((pool) => ({ ...pool, settings: { ...pool.settings, enabled: false } })),
  staticWorkers: BUSY_MONTH.staticWorkers + FIXED,
  scopes: BUSY_MONTH.scopes.map((scope) => ({ ...scope, architectures: ['amd64'] as const })),
};
const fixedHours = FIXED * fixed.days * 24;
const prices = BUSY_MONTH.pools.map(({ pricePerHour }) => `$${(fixedHours * pricePerHour).toFixed(2)}`);
print(`${FIXED} instances on all month: ${fixedHours} hours, ${prices.join(' or ')}`, fixed, simulateMonth(fixed));

function print(title: string, month: Month, { pools, scopes }: MonthReport): void {
  console.log(title);
  console.table(
    Object.fromEntries(
      [...pools].map(([name, pool]) => [
        name,
        {
          launches: pool.launches,
          failed: pool.failedLaunches,
          interrupted: pool.interruptions,
          peak: pool.peak,
          'hours used': hours(pool.usedSeconds),
          'hours idle': hours(pool.idleSeconds),
          'cost $': pool.cost.toFixed(2),
        },
      ]),
    ),
  );
  console.table(
    Object.fromEntries(
      month.scopes.map(({ name, pools: links }) => {
        const waits = scopes.get(name)!.waitSeconds;
        const target = links.map(({ targetLatencySeconds }) => targetLatencySeconds).join(' / ');
        return [
          name,
          { 'target s': target, 'median wait s': waits.median, 'p95 wait s': waits.p95, 'longest wait s': waits.most },
        ];
      }),
    ),
  );
}

function hours(seconds: number): number {
  return Math.round(seconds / 360) / 10;
}
