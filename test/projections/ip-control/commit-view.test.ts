import { test } from 'uvu';
import { contentOf } from '../../../src/domain/ip-control/commit-content.ts';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import { isHandled, type RecordedEvent } from '../../../src/kernel/event.ts';
import { commitProjection } from '../../../src/projections/ip-control/commit-view.ts';
import {
  commitCompleted,
  commitFailed,
  commitHeldUp,
  commitRequested,
  commitSliceDeployed,
  COMPLETED_AT,
} from '../../commands/ip-control/customer-examples.ts';
import { recordedInOrder, specifyProjection } from '../../specification.ts';

const handles = new Set<string>(commitProjection.handles);
type Shown = Parameters<typeof commitProjection.keysOf>[0];

/** One event a minute, from 12:00 on. */
function given(...events: readonly CustomerEvent[]) {
  const all: readonly RecordedEvent[] = recordedInOrder(events, '2026-11-27T12:00:00Z', 60);
  return specifyProjection(commitProjection).given(...all.filter((event): event is Shown => isHandled(handles, event)));
}

const requested = {
  commitSetId: 'c1',
  customerId: 7,
  regionId: 1,
  list: 'BLACKHOLE',
  status: 'deploying',
  attempt: 1,
  reason: 'quiet',
  position: 0,
  requestedAt: '2026-11-27T12:00:00.000+00:00',
  requestedBy: 'system:specification',
  completedAt: null,
  content: null,
  outcomes: [],
  progress: null,
  waitsFor: [],
} as const;
const outcome = (result: 'confirmed' | 'failed') => ({ router: 'core1', result, untouched: false, milliseconds: 12 });
const content = contentOf(['192.0.2.1/32']);

test('a requested commit is being deployed', () => {
  given(commitRequested()).shows('c1', requested);
});

test('its outcome is shown router by router', () => {
  const settled = { ...requested, completedAt: COMPLETED_AT, content };
  given(commitRequested(), commitCompleted()).shows('c1', {
    ...settled,
    status: 'success',
    outcomes: [outcome('confirmed')],
  });
  given(commitRequested(), commitFailed()).shows('c1', { ...settled, status: 'failed', outcomes: [outcome('failed')] });
});

test('a retry is the same commit set: its first request counts, and its last outcome is shown until there is another', () => {
  given(commitRequested(), commitFailed(), commitRequested({ attempt: 2 }, 'retry')).shows('c1', {
    ...requested,
    attempt: 2,
    reason: 'retry',
    content,
    outcomes: [outcome('failed')],
  });
});

test('commit sets are shown each on its own', () => {
  const both = given(commitRequested(), commitCompleted(), commitRequested({ commitSetId: 'c2' }));
  both.shows('c2', { ...requested, commitSetId: 'c2', position: 2, requestedAt: '2026-11-27T12:02:00.000+00:00' });
  both.shows('c3', undefined);
});

test('a list that comes in slices shows how far it has come, and who is waited for, until it is settled', () => {
  const [asked, slice] = [commitRequested(), commitSliceDeployed(1200, 5000)];
  given(asked, slice).shows('c1', { ...requested, progress: { done: 1200, total: 5000 } });
  given(asked, slice, commitRequested({ attempt: 2 })).shows('c1', {
    ...requested,
    attempt: 2,
    progress: { done: 1200, total: 5000 },
  });
  given(asked, commitHeldUp(['core2'])).shows('c1', { ...requested, waitsFor: ['core2'] });
  given(asked, slice, commitCompleted()).shows('c1', {
    ...requested,
    status: 'success',
    completedAt: COMPLETED_AT,
    content,
    outcomes: [outcome('confirmed')],
  });
});

test.run();
