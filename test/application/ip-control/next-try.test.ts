import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nextTryOf } from '../../../src/application/ip-control/next-try.ts';
import type { WorkCommit, WorkView } from '../../../src/projections/ip-control/work-view.ts';

const TIMES = { quietMilliseconds: 120_000, retryMilliseconds: [60_000, 300_000] };

const at = (minute: number): string => `2026-11-27T12:${String(minute).padStart(2, '0')}:00Z`;
const failed: WorkCommit = {
  commitSetId: 'c1',
  attempt: 1,
  phase: 'failed',
  requestedAt: at(3),
  failures: 1,
  failedAt: at(4),
  failingOn: ['edge1'],
  progress: null,
  waitsFor: [],
};

function work(more: Partial<WorkView>): WorkView {
  const list = { customerId: 1, regionId: 1, list: 'BLACKHOLE' } as const;
  return { ...list, since: at(0), waitingSince: null, changedAt: null, commit: null, ...more };
}

test('a change is deployed once its customer is quiet, or once the oldest has waited for as long as may be', () => {
  const busy = work({ waitingSince: at(0), changedAt: at(9) });
  assert.is(nextTryOf(busy, TIMES), at(11));
  assert.is(nextTryOf(busy, { ...TIMES, quietMillisecondsMax: 600_000 }), at(10));
});

test('what has failed is tried again, later each time; a newer change may be sooner', () => {
  assert.is(nextTryOf(work({ commit: failed }), TIMES), at(5));
  assert.is(nextTryOf(work({ commit: { ...failed, failures: 2 } }), TIMES), at(9));
  assert.is(nextTryOf(work({ commit: { ...failed, failures: 9 } }), TIMES), at(9), 'the last delay repeats');
  const changed = { waitingSince: at(5), changedAt: at(5) };
  assert.is(nextTryOf(work({ ...changed, commit: { ...failed, failures: 2 } }), TIMES), at(7));
});

test('while it is deployed no next try is known', () => {
  const deploying = { ...failed, phase: 'deploying' } as const;
  assert.is(nextTryOf(work({ changedAt: at(5), commit: deploying }), TIMES), undefined);
});

test.run();
