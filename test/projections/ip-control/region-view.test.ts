import { test } from 'uvu';
import type { AdministratorEvent } from '../../../src/events/ip-control/administrator.ts';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import type { RegionEvent } from '../../../src/events/ip-control/region.ts';
import { administratorProjection } from '../../../src/projections/ip-control/administrator-view.ts';
import { regionProjection } from '../../../src/projections/ip-control/region-view.ts';
import { subnetProjection } from '../../../src/projections/ip-control/subnet-view.ts';
import { recordedInOrder, specifyProjection } from '../../specification.ts';

const NOON = '2026-11-27T12:00:00Z';

// Regions and their routers

const created: RegionEvent = { type: 'RegionCreated', data: { regionId: 1, name: 'ams' } };
const added = (router: string, options: Record<string, string> = {}): RegionEvent => ({
  type: 'RouterAdded',
  data: { regionId: 1, router, driver: 'file', options },
});
const removed = (router: string): RegionEvent => ({ type: 'RouterRemoved', data: { regionId: 1, router } });
const given = (...events: readonly RegionEvent[]) =>
  specifyProjection(regionProjection).given(...recordedInOrder(events, NOON, 0, 'region-1'));

test('a region is shown with its routers, in the order in which they came', () => {
  given(created).shows('1', { regionId: 1, name: 'ams', routers: [] });
  given(created, added('core2', { path: '/a' }), added('core1')).shows('1', {
    regionId: 1,
    name: 'ams',
    routers: [
      { name: 'core2', driver: 'file', options: { path: '/a' } },
      { name: 'core1', driver: 'file', options: {} },
    ],
  });
});

test('a removed router is shown no more, and may come back', () => {
  given(created, added('core1', { path: '/a' }), removed('core1')).shows('1', {
    regionId: 1,
    name: 'ams',
    routers: [],
  });
  given(created, added('core1', { path: '/a' }), removed('core1'), added('core1', { path: '/b' })).shows('1', {
    regionId: 1,
    name: 'ams',
    routers: [{ name: 'core1', driver: 'file', options: { path: '/b' } }],
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
  givenSubnets(assigned).shows('4', { ...subnet, customerId: 7 });
  givenSubnets(assigned).shows('5', undefined);
  givenSubnets(assigned, released).shows('4', undefined);
});

// Administrators

test('an administrator is shown with where the secret is, and since when', () => {
  const event: AdministratorEvent = {
    type: 'AdministratorCreated',
    data: { name: 'ada', secretId: 'administrator-ada' },
  };
  specifyProjection(administratorProjection)
    .given(...recordedInOrder([event], NOON, 0, 'administrator-ada'))
    .shows('ada', { name: 'ada', secretId: 'administrator-ada', createdAt: '2026-11-27T12:00:00.000+00:00' });
});

test.run();
