import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import type { RouterOutcome } from '../../../src/events/ip-control/vocabulary.ts';
import { isHandled, type RecordedEvent } from '../../../src/kernel/event.ts';
import { waitingSeconds } from '../../../src/domain/ip-control/waiting-changes.ts';
import {
  type WaitingChangeView,
  waitingChangeProjection,
} from '../../../src/projections/ip-control/waiting-change-view.ts';
import { recordedInOrder, specifyProjection } from '../../specification.ts';
import {
  commitCompleted,
  commitFailed,
  commitRequested,
  disabled,
  enabled,
  released,
} from '../../commands/ip-control/customer-examples.ts';

const handles = new Set<string>(waitingChangeProjection.handles);
type Shown = Parameters<typeof waitingChangeProjection.keysOf>[0];

/** One event a minute, from 12:00 on. */
function given(...events: readonly CustomerEvent[]) {
  const all: readonly RecordedEvent[] = recordedInOrder(events, '2026-11-27T12:00:00Z', 60);
  return specifyProjection(waitingChangeProjection).given(
    ...all.filter((event): event is Shown => isHandled(handles, event)),
  );
}

const at = (minute: number): string => `2026-11-27T12:0${minute}:00.000+00:00`;
const list = { customerId: 7, regionId: 1, list: 'BLACKHOLE' } as const;
const waiting = (carriedSince: string | null, waitingSince: string | null): WaitingChangeView => ({
  ...list,
  carriedSince,
  waitingSince,
});
const KEY = '7/1/BLACKHOLE';

test('the oldest change waits since it was made, whatever is changed after it', () => {
  given(disabled(['192.0.2.1']), enabled(['192.0.2.1']), disabled(['192.0.2.2'])).shows(KEY, waiting(null, at(0)));
  given(released(1, '192.0.2.0/24', ['192.0.2.1'])).shows(KEY, waiting(null, at(0)));
  given(released(1, '192.0.2.0/24')).shows(KEY, undefined);
});

test('it waits until a commit that carries it is on all routers', () => {
  const one = [disabled(['192.0.2.1']), commitRequested()];
  given(...one).shows(KEY, waiting(at(0), null));
  given(...one, commitCompleted()).shows(KEY, undefined);
  const failing = { ...waiting(at(0), null), failingOn: ['core1'] };
  given(...one, commitFailed()).shows(KEY, failing);
  given(...one, commitFailed(), disabled(['192.0.2.2']), commitRequested({ attempt: 2 })).shows(KEY, failing);
});

test('a commit that fails although no change waits leaves which routers do not hold the list, until one completes', () => {
  const failing = { ...waiting(null, null), failingOn: ['core1'] };
  given(commitRequested(), commitFailed()).shows(KEY, failing);
  given(commitRequested(), commitFailed(), disabled(['192.0.2.2'])).shows(KEY, { ...failing, waitingSince: at(2) });
  given(commitRequested(), commitFailed(), commitRequested({ attempt: 2 }), commitCompleted()).shows(KEY, undefined);
});

test('what is changed while a commit is under way waits for the next one', () => {
  const both = [disabled(['192.0.2.1']), commitRequested(), disabled(['192.0.2.2'])];
  given(...both).shows(KEY, waiting(at(0), at(2)));
  given(...both, commitCompleted()).shows(KEY, waiting(null, at(2)));
  given(
    ...both,
    commitCompleted(),
    commitRequested({ commitSetId: 'c2' }),
    commitCompleted({ commitSetId: 'c2' }),
  ).shows(KEY, undefined);
});

function withOutcomes(event: CustomerEvent, outcomes: readonly RouterOutcome[]): CustomerEvent {
  return event.type === 'CommitFailed' ? { ...event, data: { ...event.data, outcomes: [...outcomes] } } : event;
}

test('which routers did not take the newest commit is known until one is complete', () => {
  const outcomes: readonly RouterOutcome[] = [
    { router: 'core1', result: 'confirmed', untouched: false, milliseconds: 5 },
    { router: 'core2', result: 'failed', untouched: true, because: 'too-large: no', milliseconds: 5 },
    { router: 'core3', result: 'failed', untouched: true, because: 'unreachable', milliseconds: 5, counts: false },
  ];
  const failed = [disabled(['192.0.2.1']), commitRequested(), withOutcomes(commitFailed(), outcomes)];
  const failing = { ...waiting(at(0), null), failingOn: ['core2'] };
  given(...failed).shows(KEY, failing);
  given(...failed, commitRequested({ attempt: 2 })).shows(KEY, failing);
  given(
    ...failed,
    disabled(['192.0.2.2']),
    commitRequested({ attempt: 2 }),
    disabled(['192.0.2.3']),
    commitCompleted({ attempt: 2 }),
  ).shows(KEY, waiting(null, at(5)));
});

test('regions wait each on its own', () => {
  const two = given(disabled(['192.0.2.1']), disabled(['198.51.100.1'], 2));
  two.shows(KEY, waiting(null, at(0)));
  two.shows('7/2/BLACKHOLE', { ...waiting(null, at(1)), regionId: 2 });
});

test('its age is in whole seconds, and never less than none', () => {
  const now = Date.parse(at(5));
  assert.is(waitingSeconds(waiting(at(0), at(2)), now), 300);
  assert.is(waitingSeconds(waiting(null, at(2)), now + 999), 180);
  assert.is(waitingSeconds(waiting(null, at(7)), now), 0);
});

test.run();
