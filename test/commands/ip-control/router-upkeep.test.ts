import { test } from 'uvu';
import { regionDecider } from '../../../src/commands/ip-control/region.ts';
import type { RegionEvent } from '../../../src/events/ip-control/region.ts';
import { specify } from '../../specification.ts';

const { given } = specify(regionDecider);

const LIST = 'Svc-ACME-BLACKHOLE';
const about = { regionId: 3, router: 'core1' };
const held = { prefixes: 1, sha256: 'a1' };

const created: RegionEvent = { type: 'RegionCreated', data: { regionId: 3, name: 'ams' } };
const added: RegionEvent = { type: 'RouterAdded', data: { ...about, driver: 'file', options: { path: '/srv' } } };
const removed: RegionEvent = { type: 'RouterRemoved', data: about };
const disabled: RegionEvent = { type: 'RouterDisabled', data: about };
const enabled: RegionEvent = { type: 'RouterEnabled', data: about };
const caughtUp: RegionEvent = { type: 'RouterCaughtUp', data: { ...about, lists: 4, changed: 1 } };
const difference = { missing: ['192.0.2.0/24'], extra: [], more: 0 };
const drifted: RegionEvent = {
  type: 'DriftDetected',
  data: { ...about, list: LIST, missing: 1, extra: 0, held, difference },
};
const repaired: RegionEvent = { type: 'DriftRepaired', data: { ...about, list: LIST, how: 'pushed' } };

// How commits treat the routers of a region

test('each router takes a list for itself until all-or-nothing is chosen', () => {
  given(created)
    .when({ type: 'ChooseDeployPolicy', data: { deployPolicy: 'each' } })
    .yieldsNothing();
  given(created)
    .when({ type: 'ChooseDeployPolicy', data: { deployPolicy: 'all-or-nothing' } })
    .yields({ type: 'DeployPolicyChosen', data: { regionId: 3, deployPolicy: 'all-or-nothing' } });
  given()
    .when({ type: 'ChooseDeployPolicy', data: { deployPolicy: 'each' } })
    .isRefused('region-not-found');
});

// Maintenance

test('a router is disabled once, and enabled once', () => {
  given(created, added)
    .when({ type: 'DisableRouter', data: { router: 'core1' } })
    .yields(disabled);
  given(created, added, disabled)
    .when({ type: 'DisableRouter', data: { router: 'core1' } })
    .yieldsNothing();
  given(created, added, disabled)
    .when({ type: 'EnableRouter', data: { router: 'core1' } })
    .yields(enabled);
  given(created, added)
    .when({ type: 'EnableRouter', data: { router: 'core1' } })
    .yieldsNothing();
  given(created, added, disabled, enabled)
    .when({ type: 'EnableRouter', data: { router: 'core1' } })
    .yieldsNothing();
});

test('a router that is being brought up to date can be disabled again; only then is there something to catch up with', () => {
  const record = { type: 'RecordRouterCaughtUp', data: { router: 'core1', since: 3n, lists: 4, changed: 1 } } as const;
  given(created, added, disabled, enabled).when(record).yields(caughtUp);
  given(created, added, disabled, enabled)
    .when({ type: 'DisableRouter', data: { router: 'core1' } })
    .yields(disabled);
  given(created, added, disabled).when(record).yieldsNothing();
  given(created, added, disabled, enabled, caughtUp).when(record).yieldsNothing();
  given(created, added, disabled, enabled, disabled, enabled).when(record).yieldsNothing();
});

test('a router that the region does not have is refused by name', () => {
  for (const type of ['DisableRouter', 'EnableRouter'] as const) {
    given(created, added, removed)
      .when({ type, data: { router: 'core1' } })
      .isRefused('router-not-found', 'region ams has no router core1.');
  }
});

test('whether drift is put right is chosen for each router; at first it is', () => {
  given(created, added)
    .when({ type: 'ChooseRouterRepair', data: { router: 'core1', repair: true } })
    .yieldsNothing();
  given(created, added)
    .when({ type: 'ChooseRouterRepair', data: { router: 'core1', repair: false } })
    .yields({ type: 'RouterRepairChosen', data: { ...about, repair: false } });
});

// Checks that operators ask for

test('a check is asked for once and ends once', () => {
  const requested: RegionEvent = { type: 'RouterCheckRequested', data: { ...about, checkId: 'k1', prune: false } };
  const result = { lists: 1, underWay: 0, drifted: [], repaired: [], unowned: [], removed: [], problems: [] };
  const checked: RegionEvent = { type: 'RouterChecked', data: { ...about, checkId: 'k1', ...result } };
  const record = { type: 'RecordRouterChecked', data: { router: 'core1', checkId: 'k1', ...result } } as const;
  given(created, added)
    .when({ type: 'RequestRouterCheck', data: { router: 'core1', checkId: 'k1', prune: false } })
    .yields(requested);
  given(created, added, requested).when(record).yields(checked);
  given(created, added, requested, checked).when(record).yieldsNothing();
  given(created, added).when(record).yieldsNothing();
});

// Drift

test('drift is told once for each content that is found, not at each look', () => {
  const record = {
    type: 'RecordDrift',
    data: { router: 'core1', list: LIST, missing: 1, extra: 0, held, difference },
  } as const;

  given(created, added).when(record).yields(drifted);
  given(created, added, drifted).when(record).yieldsNothing();
  const other = { ...record.data, extra: 2, held: { prefixes: 3, sha256: 'b2' } };
  given(created, added, drifted)
    .when({ type: 'RecordDrift', data: other })
    .yields({ type: 'DriftDetected', data: { regionId: 3, ...other } });
  given(created, added, drifted, repaired).when(record).yields(drifted);
});

test('a list is right again only when it was not', () => {
  const record = { type: 'RecordDriftRepaired', data: { router: 'core1', list: LIST, how: 'pushed' } } as const;
  given(created, added).when(record).yieldsNothing();
  given(created, added, drifted).when(record).yields(repaired);
  given(created, added, drifted, repaired).when(record).yieldsNothing();
});

function see(...lists: readonly string[]) {
  return { type: 'RecordUnownedLists', data: { router: 'core1', lists } } as const;
}

test('lists that belong to nobody are told once for each set of them, whatever their order, and when they are gone', () => {
  const seen: RegionEvent = { type: 'UnownedListsSeen', data: { ...about, lists: ['Svc-A', 'Svc-B'] } };
  const gone: RegionEvent = { type: 'UnownedListsSeen', data: { ...about, lists: [] } };
  given(created, added).when(see()).yieldsNothing();
  given(created, added).when(see('Svc-B', 'Svc-A')).yields(seen);
  given(created, added, seen).when(see('Svc-A', 'Svc-B')).yieldsNothing();
  given(created, added, seen).when(see()).yields(gone);
});

test('what a router could not save is told once, until it is saved', () => {
  const notSaved: RegionEvent = { type: 'RouterNotSaved', data: { ...about, because: 'not-saved: no room' } };
  const saved: RegionEvent = { type: 'RouterSaved', data: about };
  const tell = { type: 'RecordRouterNotSaved', data: { router: 'core1', because: 'not-saved: no room' } } as const;
  const clear = { type: 'RecordRouterSaved', data: { router: 'core1' } } as const;
  given(created, added).when(clear).yieldsNothing();
  given(created, added).when(tell).yields(notSaved);
  given(created, added, notSaved).when(tell).yieldsNothing();
  given(created, added, notSaved).when(clear).yields(saved);
  given(created, added, notSaved, saved).when(tell).yields(notSaved);
});

test('what was known of a router goes with it', () => {
  given(created, added, drifted, removed, added)
    .when({ type: 'RecordDriftRepaired', data: { router: 'core1', list: LIST, how: 'pushed' } })
    .yieldsNothing();
  given(created, added, disabled, removed, added)
    .when({ type: 'EnableRouter', data: { router: 'core1' } })
    .yieldsNothing();
});

test.run();
