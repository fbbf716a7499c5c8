import { test } from 'uvu';
import {
  type RouterStandingEvent,
  type RouterUpkeep,
  routerUpkeepProjection,
} from '../../../src/projections/ip-control/router-upkeep-view.ts';
import { recordedInOrder, specifyProjection } from '../../specification.ts';

const NOON = '2026-11-27T12:00:00.000+00:00';
const created: RouterStandingEvent = { type: 'RegionCreated', data: { regionId: 1, name: 'ams' } };
const about = (router: string) => ({ regionId: 1, router });
const added = (router: string): RouterStandingEvent => ({
  type: 'RouterAdded',
  data: { ...about(router), driver: 'file', options: {} },
});
const drifted = (router: string, list: string): RouterStandingEvent => ({
  type: 'DriftDetected',
  data: { ...about(router), list, missing: 1, extra: 2, held: { prefixes: 3, sha256: 'x' } },
});
const repaired = (router: string, list: string): RouterStandingEvent => ({
  type: 'DriftRepaired',
  data: { ...about(router), list, how: 'pushed' },
});
const fresh = (name: string): RouterUpkeep => ({
  name,
  phase: 'enabled',
  drifted: [],
  unowned: 0,
  driftedAt: null,
  repairedAt: null,
  unsavedSince: null,
});
const given = (...events: readonly RouterStandingEvent[]) =>
  specifyProjection(routerUpkeepProjection).given(...recordedInOrder(events, NOON, 0, 'region-1'));

test('a new router is enabled and has nothing to tell', () => {
  given(created, added('core1')).shows('1', { region: 'ams', routers: [fresh('core1')] });
});

test('lists that differ are counted once each, until they are right again', () => {
  given(
    created,
    added('core1'),
    added('core2'),
    drifted('core1', 'Svc-A'),
    drifted('core1', 'Svc-B'),
    drifted('core1', 'Svc-A'),
    repaired('core1', 'Svc-A'),
  ).shows('1', {
    region: 'ams',
    routers: [{ ...fresh('core1'), drifted: ['Svc-B'], driftedAt: NOON, repairedAt: NOON }, fresh('core2')],
  });
});

test('since when something is in force on a router that it could not save', () => {
  const notSaved: RouterStandingEvent = { type: 'RouterNotSaved', data: { ...about('core1'), because: 'no room' } };
  const saved: RouterStandingEvent = { type: 'RouterSaved', data: about('core1') };
  given(created, added('core1'), notSaved).shows('1', {
    region: 'ams',
    routers: [{ ...fresh('core1'), unsavedSince: NOON }],
  });
  given(created, added('core1'), notSaved, saved).shows('1', { region: 'ams', routers: [fresh('core1')] });
});

const shows = (phase: RouterUpkeep['phase'], ...events: readonly RouterStandingEvent[]): void =>
  given(created, added('core1'), ...events).shows('1', { region: 'ams', routers: [{ ...fresh('core1'), phase }] });

test('a disabled router, and one that is being brought up to date, are told from one that counts', () => {
  const disabled: RouterStandingEvent = { type: 'RouterDisabled', data: about('core1') };
  const enabled: RouterStandingEvent = { type: 'RouterEnabled', data: about('core1') };
  const caughtUp: RouterStandingEvent = { type: 'RouterCaughtUp', data: { ...about('core1'), lists: 2, changed: 1 } };
  shows('disabled', disabled);
  shows('catching-up', disabled, enabled);
  shows('enabled', disabled, enabled, caughtUp);
});

test('lists that belong to nobody are counted as they were seen last; a router that was removed is gone', () => {
  const seen = (lists: readonly string[]): RouterStandingEvent => ({
    type: 'UnownedListsSeen',
    data: { ...about('core1'), lists: [...lists] },
  });
  given(created, added('core1'), seen(['Svc-X', 'Svc-Y']), seen(['Svc-Y'])).shows('1', {
    region: 'ams',
    routers: [{ ...fresh('core1'), unowned: 1 }],
  });
  given(created, added('core1'), { type: 'RouterRemoved', data: about('core1') }).shows('1', {
    region: 'ams',
    routers: [],
  });
});

test.run();
