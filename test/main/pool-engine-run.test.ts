import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { runEngine } from '../lab/pool-engine-run.ts';

/** A whole month, 720, takes hours. */
const hours = Number(process.env['ENGINE_RUN_HOURS'] ?? 2);

test('with faults of every kind and a server killed each hour nothing is leaked, nothing unaccounted and no bound passed', async () => {
  const report = await runEngine({ seed: 20_261_128, hours, pools: 20, tasksPerHour: 120 });
  if (hours > 2) console.log(report);
  assert.ok(report.launched > 10, `${report.launched} instances`);
  assert.is(report.leaked, 0);
  assert.is(report.accountedSeconds, report.paidSeconds);
  assert.is(report.boundsPassed, 0);
  assert.is(report.kills, hours);
  assert.ok(report.failedRecords > 20, `${report.failedRecords} records`);
  assert.is(report.unfinished, 0);
  assert.ok(report.finished > 60, `${report.finished} tasks`);
});

test.run();
