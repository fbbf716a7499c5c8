import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { runWithFailingRecords } from '../lab/failing-records.ts';

const launches = Number(process.env['FAILING_RECORDS_LAUNCHES'] ?? 1_000);

test(`of ${launches} launches, with one failing record in ten and a server broken off each minute, no instance is leaked`, async () => {
  const report = await runWithFailingRecords({ seed: 20_261_129, launches, pools: 10 });
  assert.ok(report.failedRecords > launches / 5, `${report.failedRecords} of ${report.records} records failed`);
  assert.ok(report.restarts >= 2, `${report.restarts} restarts`);
  assert.is(report.created, launches);
  assert.is(report.leaked, 0);
  assert.is(report.placesTaken, 0);
  assert.is(report.accountedSeconds, report.paidSeconds);
});

test.run();
