import { test } from 'uvu';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import { isHandled, type RecordedEvent } from '../../../src/kernel/event.ts';
import { type WorkCommit, workProjection, type WorkView } from '../../../src/projections/ip-control/work-view.ts';
import {
  commitCompleted,
  commitFailed,
  commitRequested,
  disabled,
  released,
} from '../../commands/ip-control/customer-examples.ts';
import { recordedInOrder, specifyProjection } from '../../specification.ts';

const handles = new Set<string>(workProjection.handles);
type Shown = Parameters<typeof workProjection.keysOf>[0];

/** One event a minute, from 12:00 on. */
function given(...events: readonly CustomerEvent[]) {
  const all: readonly RecordedEvent[] = recordedInOrder(events, '2026-11-27T12:00:00Z', 60);
  return specifyProjection(workProjection).given(...all.filter((event): event is Shown => isHandled(handles, event)));
}

const at = (minute: number): string => `2026-11-27T12:0${minute}:00.000+00:00`;
const KEY = '7/1/BLACKHOLE';
const change = disabled(['192.0.2.1']);
const list = { customerId: 7, regionId: 1, list: 'BLACKHOLE' } as const;
const waiting: WorkView = { ...list, since: at(0), waitingSince: at(0), changedAt: at(0), commit: null };
const commit: WorkCommit = {
  commitSetId: 'c1',
  attempt: 1,
  phase: 'deploying',
  requestedAt: at(1),
  failures: 0,
  failedAt: null,
  failingOn: [],
  progress: null,
  waitsFor: [],
};
const carried: WorkView = { ...list, since: at(0), waitingSince: null, changedAt: null, commit };

test('a list with a change is work since its oldest one; the newest tells how long the quiet period lasts', () => {
  given(change).shows(KEY, waiting);
  given(change, disabled(['192.0.2.2'])).shows(KEY, { ...waiting, changedAt: at(1) });
  given(released(1, '192.0.2.0/24')).shows(KEY, undefined);
});

test('a commit carries it until it is on all routers', () => {
  given(change, commitRequested()).shows(KEY, carried);
  given(change, commitRequested(), commitCompleted()).shows(KEY, undefined);
  given(change, commitRequested(), disabled(['192.0.2.2'])).shows(KEY, {
    ...carried,
    waitingSince: at(2),
    changedAt: at(2),
  });
  given(change, commitRequested(), disabled(['192.0.2.2']), commitCompleted()).shows(KEY, {
    ...waiting,
    since: at(2),
    waitingSince: at(2),
    changedAt: at(2),
  });
});

test('a commit that has failed says when and on which routers, until it gets through', () => {
  const failed = { ...commit, phase: 'failed', failures: 1, failedAt: at(2), failingOn: ['core1'] } as const;
  given(change, commitRequested(), commitFailed()).shows(KEY, { ...carried, commit: failed });
  given(change, commitRequested(), commitFailed(), commitRequested({ attempt: 2 })).shows(KEY, {
    ...carried,
    commit: { ...failed, phase: 'deploying', attempt: 2, requestedAt: at(3) },
  });
  const second = [commitRequested({ commitSetId: 'c2' }), commitFailed({ commitSetId: 'c2' })];
  const failedAgain = { ...failed, commitSetId: 'c2', failures: 2, requestedAt: at(3), failedAt: at(4) };
  given(change, commitRequested(), commitFailed(), ...second).shows(KEY, { ...carried, commit: failedAgain });
});

test('a slow commit says how far it is, and whom it waits for', () => {
  const which = { commitSetId: 'c1', regionId: 1, list: 'BLACKHOLE', attempt: 1 } as const;
  const slice: CustomerEvent = { type: 'CommitSliceDeployed', data: { ...which, done: 3, total: 9 } };
  const heldUp: CustomerEvent = { type: 'CommitHeldUp', data: { ...which, routers: ['core2'] } };
  given(change, commitRequested(), slice, heldUp).shows(KEY, {
    ...carried,
    commit: { ...commit, progress: { done: 3, total: 9 }, waitsFor: ['core2'] },
  });
  given(slice).shows(KEY, undefined);
});

test.run();
