import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { PaidSeconds } from '../lab/engine/paid-seconds.ts';
import { runEngine } from '../lab/pool-engine-run.ts';

/** A whole month is 720; a run that is interrupted ends after the hour that it is in, and is judged so far. */
const hours = Number(process.env['ENGINE_RUN_HOURS'] ?? 2);
/** So often a long run says what it can't explain so far. */
const EXPLAINED_HOURS = 12;

async function progress(hour: number, explained: () => Promise<PaidSeconds>): Promise<void> {
  if (hours <= 2) return;
  console.log(`${new Date().toISOString()} hour ${hour + 1} of ${hours}`);
  if ((hour + 1) % EXPLAINED_HOURS === 0) console.log('unexplained so far', (await explained()).unexplained);
}

let isStopped = false;
if (hours > 2) process.once('SIGINT', () => void (isStopped = true));

test('with faults of every kind and a server killed each hour nothing is leaked, nothing unaccounted, no bound passed and no second unexplained', async () => {
  const report = await runEngine({
    seed: 20_261_128,
    hours,
    pools: 20,
    tasksPerHour: 60,
    isStopped: () => isStopped,
    progress,
  });
  if (hours > 2) console.dir(report, { depth: 5, maxArrayLength: 20 });
  assert.ok(report.launched > 10, `${report.launched} instances`);
  const hoursRun = isStopped ? report.kills : hours;
  assert.is(report.kills, hoursRun);
  assert.ok(report.failedRecords > hoursRun, `${report.failedRecords} records`);
  assert.ok(Object.keys(report.faults).length > 5, `${Object.keys(report.faults).length} kinds of faults`);
  assert.ok(report.running > 0, 'there is something to compare');
  assert.equal(report.onlyThere, []);
  assert.equal(report.onlyInTheLog, []);
  assert.is(report.leaked, 0);
  assert.is(report.accountedSeconds, report.paidSeconds);
  assert.is(report.boundsPassed, 0);
  assert.equal(report.explained.unexplained, []);
  const { seconds } = report.explained;
  const explainedSeconds = Object.values(seconds).reduce<number>((sum, some = 0) => sum + some, 0);
  assert.is(Math.round(explainedSeconds * 1000), Math.round(report.paidSeconds * 1000));
  assert.ok((seconds.busy ?? 0) > 3_600 * hoursRun, `${seconds.busy} seconds of work`);
  assert.is(report.unfinished, 0);
  assert.ok(report.succeeded > 10 * hoursRun, `${report.succeeded} tasks`);
});

test.run();
