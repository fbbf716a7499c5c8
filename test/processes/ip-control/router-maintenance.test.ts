import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { RegionEvent } from '../../../src/events/ip-control/region.ts';
import { isHandled, type RecordedEvent } from '../../../src/kernel/event.ts';
import { routerMaintenance } from '../../../src/processes/ip-control/router-maintenance.ts';
import { dutiesAfter, recordedInOrder, specifyProcess } from '../../specification.ts';

const NOW = '2026-11-27T12:00:00Z';
const handles = new Set<string>(routerMaintenance.handles);
type Watched = Parameters<typeof routerMaintenance.keysOf>[0];

const about = { regionId: 3, router: 'core1' };
const disabled: RegionEvent = { type: 'RouterDisabled', data: about };
const enabled: RegionEvent = { type: 'RouterEnabled', data: about };
const caughtUp: RegionEvent = { type: 'RouterCaughtUp', data: { ...about, lists: 4, changed: 1 } };
const removed: RegionEvent = { type: 'RouterRemoved', data: about };
const catchUp = { type: 'CatchUpRouter', data: about } as const;

function watched(events: readonly RegionEvent[]): readonly Watched[] {
  const all: readonly RecordedEvent[] = recordedInOrder(events, NOW, 0, 'region-3');
  return all.filter((event): event is Watched => isHandled(handles, event));
}

function given(...events: readonly RegionEvent[]) {
  return specifyProcess(routerMaintenance).given(...watched(events));
}

function requested(checkId: string, prune = false): RegionEvent {
  return { type: 'RouterCheckRequested', data: { ...about, checkId, prune } };
}

function checked(checkId: string): RegionEvent {
  const result = { lists: 1, underWay: 0, drifted: [], repaired: [], unowned: [], removed: [], problems: [] };
  return { type: 'RouterChecked', data: { ...about, checkId, ...result } };
}

test('a router that is enabled owes to be brought up to date, for as long as it is not', () => {
  given(disabled).at(NOW).owesNothing();
  given(disabled, enabled).at(NOW).owes(catchUp);
  given(disabled, enabled).at('2027-11-27T12:00:00Z').owes(catchUp);
  given(disabled, enabled, caughtUp).isOver();
});

test('disabled again or removed, it owes nothing', () => {
  given(disabled, enabled, disabled).isOver();
  given(disabled, enabled, removed).isOver();
  given(requested('k1'), removed).isOver();
});

test('each time that it is enabled is another duty', () => {
  const first = dutiesAfter(routerMaintenance, watched([disabled, enabled]), NOW);
  const second = dutiesAfter(routerMaintenance, watched([disabled, enabled, disabled, enabled]), NOW);
  assert.is.not(first[0]?.id, second[0]?.id);
});

function check(checkId: string, prune = false) {
  return { type: 'CheckRouter', data: { ...about, checkId, prune } } as const;
}

test('each check that is asked for is made, whatever else there is to do', () => {
  given(requested('k1')).at(NOW).owes(check('k1'));
  given(requested('k1'), requested('k2', true)).at(NOW).owes(check('k1'), check('k2', true));
  given(requested('k1'), enabled, requested('k2'), checked('k1')).at(NOW).owes(check('k2'), catchUp);
  given(requested('k1'), checked('k1')).isOver();
  given(requested('k1')).wakesAt('never');
});

test.run();
