import { test } from 'uvu';
import { regionDecider } from '../../../src/commands/ip-control/region.ts';
import type { RegionEvent } from '../../../src/events/ip-control/region.ts';
import { specify } from '../../specification.ts';

const { given } = specify(regionDecider);

const created: RegionEvent = { type: 'RegionCreated', data: { regionId: 3, name: 'ams' } };
const router = { router: 'core1', driver: 'file', options: { path: '/srv/lists' } };
const added: RegionEvent = { type: 'RouterAdded', data: { regionId: 3, ...router } };
const removed: RegionEvent = { type: 'RouterRemoved', data: { regionId: 3, router: 'core1' } };

test('a region is created once', () => {
  given()
    .when({ type: 'CreateRegion', data: { regionId: 3, name: 'ams' } })
    .yields(created);
  given(created)
    .when({ type: 'CreateRegion', data: { regionId: 3, name: 'ams' } })
    .yieldsNothing();
});

test('before it is created it has no routers', () => {
  given().when({ type: 'AddRouter', data: router }).isRefused('region-not-found', 'region not found.');
  given()
    .when({ type: 'RemoveRouter', data: { router: 'core1' } })
    .isRefused('region-not-found');
});

test('a router is added, and the event names the region', () => {
  given(created).when({ type: 'AddRouter', data: router }).yields(added);
});

test('adding the same router again says nothing new, however its options are ordered', () => {
  const options = { host: '192.0.2.1', user: 'edge' };
  const ssh: RegionEvent = { type: 'RouterAdded', data: { regionId: 3, router: 'r2', driver: 'frr', options } };
  given(created, ssh)
    .when({ type: 'AddRouter', data: { router: 'r2', driver: 'frr', options: { user: 'edge', host: '192.0.2.1' } } })
    .yieldsNothing();
});

test('a name that another router has is refused', () => {
  const because = 'region ams has a router core1 already.';
  given(created, added)
    .when({ type: 'AddRouter', data: { ...router, driver: 'bird' } })
    .isRefused('router-name-taken', because);
  given(created, added)
    .when({ type: 'AddRouter', data: { ...router, options: { path: '/srv/other' } } })
    .isRefused('router-name-taken', because);
});

test('router names keep to characters that files, secrets and messages take', () => {
  for (const name of ['', 'a b', '-core', '.hidden', 'a/b', 'core\n1', 'x'.repeat(65), 'röuter']) {
    given(created)
      .when({ type: 'AddRouter', data: { ...router, router: name } })
      .isRefused('bad-router-name');
  }
  for (const name of ['a', 'core1.ams-2_b', 'X'.repeat(64)]) {
    given(created)
      .when({ type: 'AddRouter', data: { ...router, router: name } })
      .yields({ type: 'RouterAdded', data: { regionId: 3, ...router, router: name } });
  }
});

test('a router is removed once, and its name is free again', () => {
  given(created, added)
    .when({ type: 'RemoveRouter', data: { router: 'core1' } })
    .yields(removed);
  given(created, added, removed)
    .when({ type: 'RemoveRouter', data: { router: 'core1' } })
    .isRefused('router-not-found', 'region ams has no router core1.');
  given(created, added, removed)
    .when({ type: 'AddRouter', data: { ...router, driver: 'bird' } })
    .yields({ type: 'RouterAdded', data: { regionId: 3, ...router, driver: 'bird' } });
});

test('a removal begins once the region has no router; then it takes none, until it is called off', () => {
  const named = { regionId: 3, name: 'ams' };
  const begun: RegionEvent = { type: 'RegionRemovalBegan', data: named };
  const calledOff: RegionEvent = { type: 'RegionRemovalCalledOff', data: named };
  const begin = { type: 'BeginRegionRemoval', data: {} } as const;
  const callOff = { type: 'CallOffRegionRemoval', data: {} } as const;
  given().when(begin).isRefused('region-not-found');
  given(created, added).when(begin).isRefused('region-in-use', 'region ams has 1 router: remove them first.');
  given(created, added, removed).when(begin).yields(begun);
  given(created, begun).when(begin).yieldsNothing();
  given(created, begun)
    .when({ type: 'AddRouter', data: router })
    .isRefused('region-not-found', 'region ams is being removed.');
  given(created, begun)
    .when({ type: 'CreateRegion', data: { regionId: 3, name: 'ams' } })
    .yieldsNothing();
  given(created, begun).when(callOff).yields(calledOff);
  given(created, begun, calledOff).when(callOff).yieldsNothing();
  given(created, begun, calledOff).when({ type: 'AddRouter', data: router }).yields(added);
});

test.run();
