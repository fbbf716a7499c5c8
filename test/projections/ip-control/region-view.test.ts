import { test } from 'uvu';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import type { DirectoryEvent } from '../../../src/events/ip-control/directory.ts';
import type { RegionEvent } from '../../../src/events/ip-control/region.ts';
import { regionProjection } from '../../../src/projections/ip-control/region-view.ts';
import { subnetProjection } from '../../../src/projections/ip-control/subnet-view.ts';
import { recordedInOrder, specifyProjection } from '../../specification.ts';

const NOON = '2026-11-27T12:00:00Z';
/** As the times of events are written. */
const AT = '2026-11-27T12:00:00.000+00:00';

// Regions and their routers

type Shown = Parameters<typeof regionProjection.keysOf>[0];
type RegionChange = Extract<RegionEvent | DirectoryEvent, { type: Shown['type'] }>;

const created: RegionChange = { type: 'RegionCreated', data: { regionId: 1, name: 'ams' } };
const added = (router: string, options: Record<string, string> = {}): RegionChange => ({
  type: 'RouterAdded',
  data: { regionId: 1, router, driver: 'file', options },
});
const removed = (router: string): RegionChange => ({ type: 'RouterRemoved', data: { regionId: 1, router } });
const given = (...events: readonly RegionChange[]) =>
  specifyProjection(regionProjection).given(...recordedInOrder(events, NOON, 0, 'region-1'));

test('a region is shown with its routers, in the order in which they came', () => {
  given(created).shows('1', { regionId: 1, name: 'ams', deployPolicy: 'each', routers: [], createdAt: AT });
  given(created, added('core2', { path: '/a' }), added('core1')).shows('1', {
    regionId: 1,
    name: 'ams',
    deployPolicy: 'each',
    routers: [
      { name: 'core2', driver: 'file', options: { path: '/a' }, repair: true, addedAt: AT },
      { name: 'core1', driver: 'file', options: {}, repair: true, addedAt: AT },
    ],
    createdAt: AT,
  });
});

test('a router is shown with the options that it has now', () => {
  const options = { path: '/b', mode: '0644' };
  given(created, added('core1', { path: '/a' }), {
    type: 'RouterReconfigured',
    data: { regionId: 1, router: 'core1', options },
  }).shows('1', {
    regionId: 1,
    name: 'ams',
    deployPolicy: 'each',
    routers: [{ name: 'core1', driver: 'file', options, repair: true, addedAt: AT }],
    createdAt: AT,
  });
});

test('a region that is no more is not shown', () => {
  given(created, { type: 'RegionNameReleased', data: { regionId: 1, name: 'ams' } }).shows('1', undefined);
});

test('a removed router is shown no more, and may come back', () => {
  given(created, added('core1', { path: '/a' }), removed('core1')).shows('1', {
    regionId: 1,
    name: 'ams',
    deployPolicy: 'each',
    routers: [],
    createdAt: AT,
  });
  given(created, added('core1', { path: '/a' }), removed('core1'), added('core1', { path: '/b' })).shows('1', {
    regionId: 1,
    name: 'ams',
    deployPolicy: 'each',
    routers: [{ name: 'core1', driver: 'file', options: { path: '/b' }, repair: true, addedAt: AT }],
    createdAt: AT,
  });
});

const core1 = (repair: boolean) => ({ name: 'core1', driver: 'file', options: {}, repair, addedAt: AT });

test('what was chosen for a region and a router is shown; a router that comes back is a new one', () => {
  const policy: RegionChange = { type: 'DeployPolicyChosen', data: { regionId: 1, deployPolicy: 'all-or-nothing' } };
  const left: RegionChange = { type: 'RouterRepairChosen', data: { regionId: 1, router: 'core1', repair: false } };
  const shown = { regionId: 1, name: 'ams', deployPolicy: 'all-or-nothing', createdAt: AT } as const;
  given(created, policy, added('core1'), left).shows('1', { ...shown, routers: [core1(false)] });
  given(created, policy, added('core1'), left, removed('core1'), added('core1')).shows('1', {
    ...shown,
    routers: [core1(true)],
  });
});

// Subnets

type SubnetEvent = Extract<CustomerEvent, { type: 'SubnetAssigned' | 'SubnetReleased' }>;
const subnet = { subnetId: 4, cidr: '192.0.2.0/24', regionId: 1, asn: 64_500, metro: 'AMS' };
const assigned: SubnetEvent = { type: 'SubnetAssigned', data: subnet };
const released: SubnetEvent = {
  type: 'SubnetReleased',
  data: { subnetId: 4, cidr: '192.0.2.0/24', regionId: 1, wasDisabled: [] },
};
const givenSubnets = (...events: readonly SubnetEvent[]) =>
  specifyProjection(subnetProjection).given(...recordedInOrder(events, NOON));

test('a subnet is shown with its owner until it is released', () => {
  givenSubnets(assigned).shows('4', { ...subnet, customerId: 7, assignedAt: AT });
  givenSubnets(assigned).shows('5', undefined);
  givenSubnets(assigned, released).shows('4', undefined);
});

test.run();
