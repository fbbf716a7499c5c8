import { test } from 'uvu';
import { type ScopeCommand, scopeDecider } from '../../../src/commands/worker-pools/scope.ts';
import type { ScopeEvent } from '../../../src/events/worker-pools/scope.ts';
import { specify } from '../../specification.ts';

const { given } = specify(scopeDecider);

const limits = { target_max_seconds_per_month: null, target_latency_seconds: 600 };
const terms = { scope: 'debian', pool: 'spot', priority: 5, limits };
const created: ScopeEvent = { type: 'ScopeCreated', data: { scope: 'debian' } };
const added: ScopeEvent = { type: 'ScopeWorkerPoolAdded', data: terms };

const say = (because: string): ScopeCommand => ({
  type: 'RecordScalingRefusal',
  data: { architecture: 's390x', unmet: 1, because, at: '2026-11-27T20:50:00.000+00:00' },
});

test('a scope is created once', () => {
  given()
    .when({ type: 'CreateScope', data: { scope: 'debian' } })
    .yields(created);
  given(created)
    .when({ type: 'CreateScope', data: { scope: 'debian' } })
    .yieldsNothing();
});

test('a pool is added with its terms; added again, it stays as it is', () => {
  const add: ScopeCommand = { type: 'AddScopeWorkerPool', data: { pool: 'spot', priority: 5, limits } };
  given(created).when(add).yields(added);
  given(created, added)
    .when({ type: 'AddScopeWorkerPool', data: { pool: 'spot', priority: 9, limits } })
    .yieldsNothing();
  given().when(add).isRefused('scope-not-found');
});

test('an edit changes what it names', () => {
  given(created, added)
    .when({ type: 'EditScopeWorkerPool', data: { pool: 'spot', priority: 9 } })
    .yields({ type: 'ScopeWorkerPoolEdited', data: { ...terms, priority: 9 } });
  given(created, added)
    .when({ type: 'EditScopeWorkerPool', data: { pool: 'spot', limits: { ...limits, target_latency_seconds: null } } })
    .yields({ type: 'ScopeWorkerPoolEdited', data: { ...terms, limits: { ...limits, target_latency_seconds: null } } });
  given(created, added)
    .when({ type: 'EditScopeWorkerPool', data: { pool: 'spot', priority: 5, limits } })
    .yieldsNothing();
  given(created)
    .when({ type: 'EditScopeWorkerPool', data: { pool: 'spot', priority: 9 } })
    .isRefused('scope-worker-pool-not-found', 'scope debian has no worker pool spot.');
});

test('a pool is removed, once', () => {
  const removed: ScopeEvent = { type: 'ScopeWorkerPoolRemoved', data: { scope: 'debian', pool: 'spot' } };
  given(created, added)
    .when({ type: 'RemoveScopeWorkerPool', data: { pool: 'spot' } })
    .yields(removed);
  given(created, added, removed)
    .when({ type: 'RemoveScopeWorkerPool', data: { pool: 'spot' } })
    .yieldsNothing();
});

test('a scope that nothing uses is deleted, and its name may be used again', () => {
  const deleted: ScopeEvent = { type: 'ScopeDeleted', data: { scope: 'debian' } };
  given(created)
    .when({ type: 'DeleteScope', data: { usedBy: [] } })
    .yields(deleted);
  given(created, added)
    .when({ type: 'DeleteScope', data: { usedBy: ['2 work requests'] } })
    .isRefused('scope-in-use', 'scope debian is in use: worker pool spot, 2 work requests.');
  given(created, deleted)
    .when({ type: 'DeleteScope', data: { usedBy: [] } })
    .isRefused('scope-not-found');
  given(created, deleted)
    .when({ type: 'CreateScope', data: { scope: 'debian' } })
    .yields(created);
});

test('work that no pool could be asked for is said once per reason', () => {
  const refused: ScopeEvent = {
    type: 'ScopeScalingRefused',
    data: {
      scope: 'debian',
      architecture: 's390x',
      unmet: 1,
      because: 'no pool',
      refusedAt: '2026-11-27T20:50:00.000+00:00',
    },
  };
  given(created).when(say('no pool')).yields(refused);
  given(created, refused).when(say('no pool')).yieldsNothing();
  given(created, refused, added).when(say('no pool')).yields(refused);
});

test.run();
