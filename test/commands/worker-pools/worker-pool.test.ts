import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { activeSlots, launchesRest } from '../../../src/commands/worker-pools/pool-state.ts';
import {
  type AssetFacts,
  type WorkerPoolCommand,
  workerPoolDecider,
} from '../../../src/commands/worker-pools/worker-pool.ts';
import type { PoolChanges, PoolRecord } from '../../../src/events/worker-pools/pool-record.ts';
import type { WorkerPoolEvent } from '../../../src/events/worker-pools/worker-pool.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { specify, stateAfter } from '../../specification.ts';

const { given } = specify(workerPoolDecider);

const AT = '2026-11-27T20:50:00.000+00:00';
const NO_LIMITS = { target_max_seconds_per_month: null, target_latency_seconds: null };

const account: AssetFacts = { name: 'aws-main', category: 'cloud-provider-account', providerType: 'aws' };
const hetznerAccount: AssetFacts = { name: 'hcloud', category: 'cloud-provider-account', providerType: 'hetzner' };
const nightly: AssetFacts = { name: 'nightly', category: 'apt-authentication', providerType: null };
const assets = [account, hetznerAccount, nightly];

const record: PoolRecord = {
  name: 'spot',
  provider_account: 'aws-main',
  enabled: true,
  architectures: ['amd64'],
  static_metadata: {},
  specifications: {
    provider_type: 'aws',
    launch_templates: [{ ImageId: 'ami-1', InstanceType: 'm7i.large', BlockStorageOptimized: false }],
    instance_market_type: 'spot',
    worker_install_source: 'release',
  },
  instance_wide: true,
  ephemeral: false,
  limits: { max_active_instances: 3, target_max_seconds_per_month: null, max_idle_seconds: 3600 },
  apt_authentication: null,
};

const needed: PoolChanges = {
  provider_account: 'aws-main',
  architectures: ['amd64'],
  specifications: record.specifications,
  limits: record.limits,
};

const created: WorkerPoolEvent = { type: 'WorkerPoolCreated', data: { pool: 'spot', record } };

function edited(changes: PoolChanges): WorkerPoolEvent {
  return { type: 'WorkerPoolEdited', data: { pool: 'spot', changes } };
}

function ensure(changes: PoolChanges): WorkerPoolCommand {
  return { type: 'EnsureWorkerPool', data: { pool: 'spot', given: changes, assets } };
}

function edit(changes: PoolChanges): WorkerPoolCommand {
  return { type: 'EditWorkerPool', data: { changes, assets } };
}

function admitted(scope: string): WorkerPoolEvent {
  return { type: 'WorkerPoolScopeAdmitted', data: { pool: 'spot', scope, priority: 0, limits: NO_LIMITS } };
}

function admit(scope: string): WorkerPoolCommand {
  return { type: 'AdmitScope', data: { scope, priority: 0, limits: NO_LIMITS } };
}

function reserved(number: number, run: string, reservedAt = AT): WorkerPoolEvent {
  const worker = `spot-00${number}`;
  const { provider_account, architectures, specifications, ephemeral, apt_authentication } = record;
  const request = { provider_account, architectures, specifications, ephemeral, apt_authentication };
  return {
    type: 'InstanceReserved',
    data: { pool: 'spot', worker, number, run, because: 'asked', reservedAt, request },
  };
}

function released(
  number: number,
  run: string,
  outcome: 'terminated' | 'launch-failed' = 'terminated',
  at = AT,
): WorkerPoolEvent {
  const worker = `spot-00${number}`;
  return { type: 'InstanceReleased', data: { pool: 'spot', worker, number, run, outcome, releasedAt: at } };
}

function reserve(runs: readonly string[], partly = false): WorkerPoolCommand {
  return { type: 'ReserveInstances', data: { runs, because: 'asked', at: AT, partly } };
}

test('a pool is created with the defaults of the specification', () => {
  const { limits: _given, ...withoutLimits } = needed;
  const limits = { max_active_instances: null, target_max_seconds_per_month: null, max_idle_seconds: 3600 };
  given()
    .when(ensure(withoutLimits))
    .yields({ type: 'WorkerPoolCreated', data: { pool: 'spot', record: { ...record, limits } } });
});

test('all that a new pool lacks is told at once', () => {
  given()
    .when(ensure({}))
    .isRefused(
      'bad-worker-pool',
      [
        'provider_account is required: a string (the cloud-provider-account asset with the details of the provider account)',
        'architectures is required: a list (task architectures supported by workers of the pool)',
        'specifications is required: an object',
      ].join('\n'),
    );
});

test('a pool is ensured twice and changes nothing the second time', () => {
  given(created).when(ensure(needed)).yieldsNothing();
  given(created).when(ensure({})).yieldsNothing();
});

test('ensuring a pool that exists changes only what is given and differs', () => {
  given(created)
    .when(ensure({ ...needed, enabled: false }))
    .yields(edited({ enabled: false }));
});

test('an edit changes only what it names', () => {
  given(created)
    .when(edit({ architectures: ['amd64', 'arm64'], ephemeral: false }))
    .yields(edited({ architectures: ['amd64', 'arm64'] }));
  given(created)
    .when(edit({ limits: record.limits }))
    .yieldsNothing();
  given(created).when(edit({})).yieldsNothing();
  given()
    .when(edit({ enabled: false }))
    .isRefused('worker-pool-not-found');
});

test('the provider account is there, and of the provider that the specifications name', () => {
  given()
    .when(ensure({ ...needed, provider_account: 'gone' }))
    .isRefused('provider-account-not-found', 'cloud-provider-account gone not found.');
  given()
    .when(ensure({ ...needed, provider_account: 'nightly' }))
    .isRefused('provider-account-not-found');
  given()
    .when(ensure({ ...needed, provider_account: 'hcloud' }))
    .isRefused('bad-provider-type', 'provider account hcloud is of hetzner, and specifications.provider_type is aws.');
  given(created)
    .when(edit({ provider_account: 'hcloud' }))
    .isRefused('bad-provider-type');
});

test('the apt authentication is there and is one', () => {
  given()
    .when(ensure({ ...needed, apt_authentication: 'nightly' }))
    .yields({
      type: 'WorkerPoolCreated',
      data: { pool: 'spot', record: { ...record, apt_authentication: 'nightly' } },
    });
  given(created)
    .when(edit({ apt_authentication: 'aws-main' }))
    .isRefused('apt-authentication-not-found');
  given(created, edited({ apt_authentication: 'nightly' }))
    .when(edit({ apt_authentication: null }))
    .yields(edited({ apt_authentication: null }));
});

test('a pool that is not instance-wide has one scope', () => {
  const own = edited({ instance_wide: false });
  given(created, own).when(admit('debian')).yields(admitted('debian'));
  given(created, own, admitted('debian')).when(admit('debian')).yieldsNothing();
  given(created, own, admitted('debian'))
    .when(admit('kali'))
    .isRefused('worker-pool-taken', 'spot is not instance-wide and belongs to scope debian.');
  given(created, own, admitted('debian'))
    .when({ type: 'ReleaseScope', data: { scope: 'debian' } })
    .yields({ type: 'WorkerPoolScopeReleased', data: { pool: 'spot', scope: 'debian' } });
  given(created, admitted('debian')).when(admit('kali')).yields(admitted('kali'));
});

test('instance_wide can not be turned off while two scopes use the pool', () => {
  given(created, admitted('debian'), admitted('kali'))
    .when(edit({ instance_wide: false }))
    .isRefused('worker-pool-in-use', 'spot is used by scopes debian, kali: instance_wide false allows one.');
  given(created, admitted('debian'))
    .when(edit({ instance_wide: false }))
    .yields(edited({ instance_wide: false }));
});

test('a place keeps what its agent is to run, where the metadata say it as text', () => {
  const [event] = [reserved(1, 'a')];
  assert.ok(event?.type === 'InstanceReserved' && event.data.request !== undefined);
  const { request, ...data } = event.data;
  given(created, edited({ static_metadata: { exec: 'build --all' } }))
    .when(reserve(['a']))
    .yields({ type: 'InstanceReserved', data: { ...data, request: { ...request, exec: 'build --all' } } });
  given(created, edited({ static_metadata: { exec: 5 } }))
    .when(reserve(['a']))
    .yields(event);
});

test('places are taken up to max_active_instances and not one more', () => {
  given(created)
    .when(reserve(['a', 'b', 'c']))
    .yields(reserved(1, 'a'), reserved(2, 'b'), reserved(3, 'c'));
  given(created, reserved(1, 'a'), reserved(2, 'b'))
    .when(reserve(['c', 'd']))
    .isRefused('max-active-instances-in-use', 'spot has 2 of 3 active instances: no room for 2 more.');
  given(created, reserved(1, 'a'), reserved(2, 'b'))
    .when(reserve(['c', 'd'], true))
    .yields(reserved(3, 'c'));
  given(created, reserved(1, 'a'), reserved(2, 'b'), reserved(3, 'c'))
    .when(reserve(['d'], true))
    .isRefused('max-active-instances-in-use');
});

test('a stopped worker is used again, the lowest first', () => {
  given(created, reserved(1, 'a'), reserved(2, 'b'), reserved(3, 'c'), released(2, 'b'), released(1, 'a'))
    .when(reserve(['d', 'e']))
    .yields(reserved(1, 'd'), reserved(2, 'e'));
});

test('a disabled pool launches nothing, and its places are given back', () => {
  const off = edited({ enabled: false });
  given(created, reserved(1, 'a'), off)
    .when(reserve(['b']))
    .isRefused('worker-pool-disabled');
  given(created, reserved(1, 'a'), off)
    .when({ type: 'ReleaseInstance', data: { run: 'a', outcome: 'terminated', at: AT } })
    .yields(released(1, 'a'));
});

test('a place is given back once', () => {
  given(created, reserved(1, 'a'), released(1, 'a'))
    .when({ type: 'ReleaseInstance', data: { run: 'a', outcome: 'terminated', at: AT } })
    .yieldsNothing();
});

test('lowering the bound below what runs is accepted: nothing is ended, nothing new starts', () => {
  const limits = { ...record.limits, max_active_instances: 1 };
  given(created, reserved(1, 'a'), reserved(2, 'b')).when(edit({ limits })).yields(edited({ limits }));
  given(created, reserved(1, 'a'), reserved(2, 'b'), edited({ limits }))
    .when(reserve(['c'], true))
    .isRefused('max-active-instances-in-use', 'spot has 2 of 1 active instances: no room for 1 more.');
});

test('a pool is not deleted while workers run, and they are named', () => {
  given(created, reserved(1, 'a'), reserved(2, 'b'))
    .when({ type: 'DeleteWorkerPool', data: { force: false } })
    .isRefused(
      'worker-pool-in-use',
      'spot has active workers: spot-001, spot-002. Terminate them first, or use --force.',
    );
  given(created, reserved(1, 'a'), admitted('debian'))
    .when({ type: 'DeleteWorkerPool', data: { force: true } })
    .yields({ type: 'WorkerPoolDeleted', data: { pool: 'spot', scopes: ['debian'], running: ['spot-001'] } });
  given(created, reserved(1, 'a'), released(1, 'a'))
    .when({ type: 'DeleteWorkerPool', data: { force: false } })
    .yields({ type: 'WorkerPoolDeleted', data: { pool: 'spot', scopes: [], running: [] } });
});

test('a deleted pool takes back the places of what still ends, and is not created again before', () => {
  const deleted: WorkerPoolEvent = {
    type: 'WorkerPoolDeleted',
    data: { pool: 'spot', scopes: [], running: ['spot-001'] },
  };
  given(created, reserved(1, 'a'), deleted)
    .when(ensure(needed))
    .isRefused('worker-pool-in-use', 'instances of a deleted pool spot are still ending: spot-001.');
  given(created, reserved(1, 'a'), deleted)
    .when({ type: 'ReleaseInstance', data: { run: 'a', outcome: 'terminated', at: AT } })
    .yields(released(1, 'a'));
  given(created, reserved(1, 'a'), deleted, released(1, 'a')).when(ensure(needed)).yields(created);
});

test('a scaling decision is kept with its reasons, and again only when it does something or refuses otherwise', () => {
  const refusals = [
    { scope: 'debian', architecture: 'amd64', unmet: 2, code: 'pool-disabled', because: 'spot is disabled' },
  ];
  const data = { decidedAt: AT, launches: [], terminations: [], refusals };
  const kept: WorkerPoolEvent = { type: 'WorkerPoolScalingDecided', data: { pool: 'spot', ...data } };
  const later = '2026-11-27T20:51:00.000+00:00';
  given(created).when({ type: 'RecordScalingDecision', data }).yields(kept);
  given(created)
    .when({ type: 'RecordScalingDecision', data: { ...data, refusals: [] } })
    .yieldsNothing();
  given(created, kept)
    .when({
      type: 'RecordScalingDecision',
      data: { ...data, decidedAt: later, refusals: [{ ...refusals[0]!, unmet: 9 }] },
    })
    .yieldsNothing();
  const launches = [{ scope: 'debian', architecture: 'amd64', count: 1, because: 'a queue' }];
  given(created, kept)
    .when({ type: 'RecordScalingDecision', data: { ...data, decidedAt: later, launches } })
    .yields({ type: 'WorkerPoolScalingDecided', data: { pool: 'spot', ...data, decidedAt: later, launches } });
  given(created, kept)
    .when({ type: 'RecordScalingDecision', data: { ...data, decidedAt: later, refusals: [] } })
    .yields({ type: 'WorkerPoolScalingDecided', data: { pool: 'spot', ...data, decidedAt: later, refusals: [] } });
});

test('failed launches one after another wait longer each time, at most 15 minutes', () => {
  const events: WorkerPoolEvent[] = [created];
  const waits: number[] = [];
  for (let failure = 1; failure <= 7; failure += 1) {
    const reservedAt = AT.replace('20:50:00', `20:50:0${failure}`);
    events.push(reserved(1, `run${failure}`, reservedAt), released(1, `run${failure}`, 'launch-failed'));
    waits.push((launchesRest(stateAfter(workerPoolDecider, ...events)) ?? 0) / 1000);
  }
  assert.equal(waits, [30, 60, 120, 240, 480, 900, 900]);
  events.push(reserved(1, 'ok'), released(1, 'ok'));
  assert.is(launchesRest(stateAfter(workerPoolDecider, ...events)), undefined);
});

test('launches of one decision that fail together are one failure', () => {
  const runs = ['a', 'b', 'c'].map((run, index) => ({ run, number: index + 1 }));
  const failed = [
    created,
    ...runs.map(({ run, number }) => reserved(number, run)),
    ...runs.map(({ run, number }) => released(number, run, 'launch-failed')),
  ];
  assert.is(stateAfter(workerPoolDecider, ...failed).failures?.count, 1);
  const later = AT.replace('20:50', '20:55');
  const again = [...failed, reserved(1, 'd', later), released(1, 'd', 'launch-failed', later)];
  assert.is(stateAfter(workerPoolDecider, ...again).failures?.count, 2);
});

function failedWith(code: string, accountRevision?: string): WorkerPoolEvent {
  const failure = { code, because: 'why', ...(accountRevision === undefined ? {} : { accountRevision }) };
  const data = { pool: 'spot', worker: 'spot-001', number: 1, run: 'a', releasedAt: AT, failure };
  return { type: 'InstanceReleased', data: { ...data, outcome: 'launch-failed' } };
}

function pauseSeconds(events: readonly WorkerPoolEvent[], accountRevision = '4'): number | undefined {
  const rest = launchesRest(stateAfter(workerPoolDecider, ...events), accountRevision);
  return rest === undefined ? undefined : rest / 1000;
}

test('each kind of failure has its own pause: capacity minutes, a quota longer, what only an edit mends until that edit', () => {
  const after = (code: string) => pauseSeconds([created, reserved(1, 'a'), failedWith(code, '4')]);
  assert.is(after('no-capacity'), 180);
  assert.is(after('quota-exceeded'), 900);
  assert.is(after('rejected'), 30);
  assert.is(after('bad-specifications'), Number.POSITIVE_INFINITY);
  assert.is(
    after('user-data-too-large'),
    30,
    'it may be the repository that is shortened, which is no edit of the pool',
  );
  assert.is(after('login-refused'), Number.POSITIVE_INFINITY);
  const login = [created, reserved(1, 'a'), failedWith('login-refused', '4')];
  assert.is(pauseSeconds(login, '5'), undefined, 'the account has been edited');
  assert.is(pauseSeconds([...login, edited({ enabled: false })]), undefined, 'the pool has been edited');
});

test('an instance that never got ready is a failed launch; a launch that was withdrawn is none', () => {
  const why = { code: 'boot-timed-out', because: 'not ready in time' };
  const data = { pool: 'spot', worker: 'spot-001', number: 1, run: 'a', releasedAt: AT, failure: why };
  const neverReady: WorkerPoolEvent = { type: 'InstanceReleased', data: { ...data, outcome: 'terminated' } };
  const ended = stateAfter(workerPoolDecider, created, reserved(1, 'a'), neverReady);
  assert.is(ended.failures?.code, 'boot-timed-out');
  assert.is(stateAfter(workerPoolDecider, created, reserved(1, 'a'), failedWith('withdrawn')).failures, undefined);
});

test('whatever is asked in whatever order, active instances never pass the bound that stood when they were taken', () => {
  const command: fc.Arbitrary<WorkerPoolCommand> = fc.oneof(
    fc
      .array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { minLength: 1, maxLength: 4 })
      .chain((runs) => fc.boolean().map((partly) => reserve([...new Set(runs)], partly))),
    fc
      .constantFrom('a', 'b', 'c', 'd', 'e', 'f')
      .map((run): WorkerPoolCommand => ({ type: 'ReleaseInstance', data: { run, outcome: 'terminated', at: AT } })),
    fc
      .option(fc.nat({ max: 4 }), { nil: null })
      .map((most) => edit({ limits: { ...record.limits, max_active_instances: most } })),
    fc.boolean().map((enabled) => edit({ enabled })),
  );
  fc.assert(
    fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
      let state = workerPoolDecider.evolve(workerPoolDecider.initial, created);
      for (const asked of commands) {
        const decision = workerPoolDecider.decide(asked, state);
        if (isRefusal(decision)) continue;
        const most = state.record?.limits.max_active_instances ?? Number.POSITIVE_INFINITY;
        for (const event of decision) state = workerPoolDecider.evolve(state, event);
        const took = decision.some(({ type }) => type === 'InstanceReserved');
        if (took) assert.ok(activeSlots(state).length <= most);
        const again = workerPoolDecider.decide(asked, state);
        assert.ok(isRefusal(again) || again.length === 0, `${asked.type} asked again says something new`);
        assert.is(new Set(state.slots.map(({ worker }) => worker)).size, state.slots.length);
      }
    }),
  );
});

test.run();
