import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BUSY_MONTH, type Month, simulateMonth } from '../../../lab/simulated-month.ts';

const month = simulateMonth(BUSY_MONTH);

test('in a month of thousands of tasks every task is run and no running task is killed', () => {
  const wanted = BUSY_MONTH.scopes.reduce((sum, { tasks }) => sum + tasks, 0);
  const repeated = [...month.pools.values()].reduce((sum, { interruptions }) => sum + interruptions, 0);
  assert.ok(month.tasks >= wanted && month.tasks <= wanted + repeated, `${month.tasks} of ${wanted}`);
  assert.is(month.killedByScaling, 0);
});

test('pools stay within their instances and their month', () => {
  for (const { settings } of BUSY_MONTH.pools) {
    const { peak, usedSeconds, launches } = month.pools.get(settings.name)!;
    assert.ok(launches > 0);
    assert.ok(peak <= settings.maxActiveInstances!, `${settings.name} had ${peak} instances`);
    assert.ok(usedSeconds <= settings.targetMaxSecondsPerMonth!, `${settings.name} used ${usedSeconds} seconds`);
  }
});

test('most tasks start within the target latency, failures and interruptions included', () => {
  assert.ok(month.scopes.get('debian')!.waitSeconds.p95 <= 1_800);
  assert.ok(month.scopes.get('kali')!.waitSeconds.p95 <= 600);
});

test('the same month comes out the same', () => {
  assert.equal(simulateMonth(BUSY_MONTH), month);
});

test('a month whose target is too small is overrun by what was running, and no more', () => {
  const target = 60_000;
  const tight: Month = {
    ...BUSY_MONTH,
    days: 3,
    scopes: BUSY_MONTH.scopes.map((scope) => ({ ...scope, tasks: scope.tasks / 10 })),
    pools: BUSY_MONTH.pools.map((pool) => ({
      ...pool,
      settings: { ...pool.settings, targetMaxSecondsPerMonth: target },
    })),
  };
  const report = simulateMonth(tight);
  assert.is(report.killedByScaling, 0);
  for (const [name, { usedSeconds, peak }] of report.pools) {
    assert.ok(usedSeconds >= target * 0.95, `${name} uses what it has: ${usedSeconds}`);
    // Each running instance may end the task that it has.
    assert.ok(usedSeconds <= target + peak * 10_000, `${name} used ${usedSeconds} seconds`);
  }
});

test('a steady load makes no flapping: instances are launched once and stay', () => {
  const steady: Month = {
    ...BUSY_MONTH,
    days: 2,
    staticWorkers: 0,
    pools: BUSY_MONTH.pools.slice(0, 1).map((pool) => ({ ...pool, launchFailures: 0 })),
    scopes: [{ ...BUSY_MONTH.scopes[1]!, tasks: 0 }],
  };
  const report = simulateMonth(
    steady,
    Array.from({ length: 2 * 24 * 12 }, (_, index) => ({ at: index * 300, seconds: 580 })),
  );
  const pool = report.pools.get('hetzner')!;
  assert.is(report.tasks, 576);
  assert.ok(pool.launches <= 3, `${pool.launches} launches`);
  assert.equal(pool.terminations, { idle: pool.launches });
});

test.run();
