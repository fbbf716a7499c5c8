import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { AssetEvent } from '../../../src/events/worker-pools/asset.ts';
import type { ScopeEvent } from '../../../src/events/worker-pools/scope.ts';
import type { WorkerEvent } from '../../../src/events/worker-pools/worker.ts';
import type { WorkerPoolEvent } from '../../../src/events/worker-pools/worker-pool.ts';
import type { Event, RecordedEvent } from '../../../src/kernel/event.ts';
import type { Projection } from '../../../src/kernel/projection.ts';
import { assetProjection } from '../../../src/projections/worker-pools/asset-view.ts';
import { scopeProjection } from '../../../src/projections/worker-pools/scope-view.ts';
import { workerPoolProjection } from '../../../src/projections/worker-pools/worker-pool-view.ts';
import { workerProjection } from '../../../src/projections/worker-pools/worker-view.ts';
import { foldViews, plain, recorded } from '../../specification.ts';

type LaunchEvent = Extract<WorkerEvent, { type: 'InstanceCreated' | 'WorkerConnected' }>;
type PoolEvent = WorkerPoolEvent | LaunchEvent;

const minute = (number: number) => `2026-11-27T20:${String(number).padStart(2, '0')}:00.000+00:00`;
const limits = { target_max_seconds_per_month: null, target_latency_seconds: null };

const record = {
  name: 'spot',
  provider_account: 'hcloud',
  enabled: true,
  architectures: ['amd64' as const],
  static_metadata: { site: 'fsn1' },
  specifications: {
    provider_type: 'hetzner' as const,
    server_type: 'cx32',
    image_name: 'debian-13',
    enable_ipv4: true,
    enable_ipv6: true,
    worker_install_source: 'release' as const,
  },
  instance_wide: true,
  ephemeral: false,
  limits: { max_active_instances: 3, target_max_seconds_per_month: null, max_idle_seconds: 3600 },
  apt_authentication: null,
};

/** Events in order, a minute after each other. */
function inOrder<E extends Event>(events: readonly E[]): RecordedEvent<E>[] {
  return events.map((event, index) => recorded(event, minute(index), { stream: 's', revision: BigInt(index) }));
}

function launch(worker: string, run: string, createdAt: string, cpus: number): readonly LaunchEvent[] {
  const of = { worker, pool: 'spot', run };
  return [
    { type: 'InstanceCreated', data: { ...of, instanceCreatedAt: createdAt, workerPoolData: { id: run } } },
    { type: 'WorkerConnected', data: { ...of, dynamicMetadata: { cpus }, connectedAt: createdAt } },
  ];
}

const poolHistory: readonly PoolEvent[] = [
  { type: 'WorkerPoolCreated', data: { pool: 'spot', record } },
  { type: 'WorkerPoolScopeAdmitted', data: { pool: 'spot', scope: 'kali', priority: 0, limits } },
  { type: 'WorkerPoolScopeAdmitted', data: { pool: 'spot', scope: 'debian', priority: 0, limits } },
  {
    type: 'InstanceReserved',
    data: { pool: 'spot', worker: 'spot-001', number: 1, run: 'a', because: 'x', reservedAt: minute(3) },
  },
  ...launch('spot-001', 'a', minute(4), 2),
  {
    type: 'InstanceReserved',
    data: { pool: 'spot', worker: 'spot-002', number: 2, run: 'b', because: 'x', reservedAt: minute(5) },
  },
  ...launch('spot-002', 'b', minute(6), 8),
  // The older worker speaks again: the pool goes by the most recently launched one.
  {
    type: 'WorkerConnected',
    data: { worker: 'spot-001', pool: 'spot', run: 'a', dynamicMetadata: { cpus: 3 }, connectedAt: minute(7) },
  },
  { type: 'WorkerPoolEdited', data: { pool: 'spot', changes: { enabled: false, architectures: ['amd64', 'arm64'] } } },
  { type: 'WorkerPoolScopeReleased', data: { pool: 'spot', scope: 'kali' } },
  {
    type: 'InstanceReleased',
    data: { pool: 'spot', worker: 'spot-001', number: 1, run: 'a', outcome: 'terminated', releasedAt: minute(9) },
  },
];

test('a pool shows its record, its scopes, its active workers and the metadata of the newest one', () => {
  const view = foldViews(workerPoolProjection, inOrder(poolHistory)).get('spot');
  assert.equal(view?.record, { ...record, enabled: false, architectures: ['amd64', 'arm64'] });
  assert.equal(view?.scopes, ['debian']);
  assert.equal(view?.dynamicMetadata, { cpus: 8 });
  assert.equal(view?.active, [{ worker: 'spot-002', run: 'b', since: minute(5) }]);
  assert.is(view?.createdAt, minute(0));
});

test('a deleted pool is not shown, and is new when it is created again', () => {
  const deleted: WorkerPoolEvent = {
    type: 'WorkerPoolDeleted',
    data: { pool: 'spot', scopes: ['debian'], running: [] },
  };
  const late: WorkerPoolEvent = {
    type: 'InstanceReleased',
    data: { pool: 'spot', worker: 'spot-002', number: 2, run: 'b', outcome: 'terminated', releasedAt: minute(20) },
  };
  assert.is(foldViews(workerPoolProjection, inOrder([...poolHistory, deleted, late])).get('spot'), undefined);
  const again = foldViews(workerPoolProjection, inOrder([...poolHistory, deleted, late, poolHistory[0]!])).get('spot');
  assert.equal(again?.scopes, []);
  assert.equal(again?.dynamicMetadata, {});
});

const of = { worker: 'spot-001', pool: 'spot', run: 'a' };
const workerHistory: readonly WorkerEvent[] = [
  {
    type: 'WorkerRegistered',
    data: { worker: 'spot-001', pool: 'spot', architectures: ['amd64'], registeredAt: minute(0) },
  },
  {
    type: 'InstanceLaunchRequested',
    data: {
      ...of,
      providerAccount: 'hcloud',
      architectures: ['amd64'],
      activationSha256: 'x',
      because: 'x',
      requestedAt: minute(1),
    },
  },
  ...launch('spot-001', 'a', minute(2), 2),
  { type: 'TaskStarted', data: { ...of, task: 't', scope: 'debian', expectedSeconds: 60, startedAt: minute(4) } },
  {
    type: 'TaskFinished',
    data: { ...of, task: 't', scope: 'debian', outcome: 'finished', startedAt: minute(4), finishedAt: minute(5) },
  },
  {
    type: 'InstanceTerminationRequested',
    data: { ...of, code: 'idle', because: 'idle', forced: false, requestedAt: minute(6) },
  },
  {
    type: 'InstanceTerminated',
    data: { ...of, instanceCreatedAt: minute(2), terminatedAt: minute(7), because: 'idle' },
  },
];

test('a worker goes from stopped through its instance back to stopped, and keeps when it was registered', () => {
  const phases = workerHistory.map((_, index) => {
    const view = foldViews(workerProjection, inOrder(workerHistory.slice(0, index + 1))).get('spot-001');
    assert.is(view?.registeredAt, minute(0));
    return view === undefined
      ? ''
      : `${view.phase}${view.task === null ? '' : ' busy'}${view.ending === null ? '' : ' ending'}`;
  });
  assert.equal(phases, ['stopped', 'launching', 'booting', 'ready', 'ready busy', 'ready', 'ready ending', 'stopped']);
  const running = foldViews(workerProjection, inOrder(workerHistory.slice(0, 6))).get('spot-001');
  assert.is(running?.instanceCreatedAt, minute(2));
  assert.equal(running?.workerPoolData, { id: 'a' });
  assert.is(running?.idleSince, minute(5));
  const stopped = foldViews(workerProjection, inOrder(workerHistory)).get('spot-001');
  assert.is(stopped?.instanceCreatedAt, null);
  assert.is(stopped?.workerPoolData, null);
});

const scopeHistory: readonly ScopeEvent[] = [
  { type: 'ScopeCreated', data: { scope: 'debian' } },
  { type: 'ScopeWorkerPoolAdded', data: { scope: 'debian', pool: 'spot', priority: 1, limits } },
  { type: 'ScopeWorkerPoolAdded', data: { scope: 'debian', pool: 'dear', priority: 0, limits } },
  { type: 'ScopeWorkerPoolEdited', data: { scope: 'debian', pool: 'spot', priority: 7, limits } },
  { type: 'ScopeWorkerPoolRemoved', data: { scope: 'debian', pool: 'dear' } },
];

test('a scope shows its pools with what it says about them', () => {
  const view = foldViews(scopeProjection, inOrder(scopeHistory)).get('debian');
  assert.equal(view?.pools, { spot: { priority: 7, limits } });
});

test('a scope shows why its work waits for a pool until it has another one', () => {
  const refused = { scope: 'debian', architecture: 's390x', unmet: 1, because: 'no pool', refusedAt: minute(1) };
  const waiting: readonly ScopeEvent[] = [
    { type: 'ScopeCreated', data: { scope: 'debian' } },
    { type: 'ScopeScalingRefused', data: refused },
  ];
  const added: ScopeEvent = {
    type: 'ScopeWorkerPoolAdded',
    data: { scope: 'debian', pool: 'spot', priority: 1, limits },
  };
  const [before, after] = [waiting, [...waiting, added]].map((history) => foldViews(scopeProjection, inOrder(history)));
  assert.equal(before?.get('debian')?.refused, { s390x: { because: 'no pool', at: minute(1) } });
  assert.equal(after?.get('debian')?.refused, {});
});

test('a scope that was deleted is gone, and one of the same name begins empty', () => {
  const deleted = [...scopeHistory, { type: 'ScopeDeleted', data: { scope: 'debian' } } as const];
  assert.is(foldViews(scopeProjection, inOrder(deleted)).get('debian'), undefined);
  const again = [...deleted, { type: 'ScopeCreated', data: { scope: 'debian' } } as const];
  assert.equal(foldViews(scopeProjection, inOrder(again)).get('debian')?.pools, {});
});

const assetHistory: readonly AssetEvent[] = [
  {
    type: 'AssetCreated',
    data: {
      asset: 'hcloud',
      record: {
        category: 'cloud-provider-account',
        name: 'hcloud',
        provider_type: 'hetzner',
        configuration: {},
        credential_names: ['api_token'],
      },
      secretId: 's1',
    },
  },
  { type: 'AssetConfigured', data: { asset: 'hcloud', configuration: { project: 'x' } } },
  {
    type: 'AssetCredentialsReplaced',
    data: { asset: 'hcloud', secretId: 's2', credentialNames: ['api_token', 'other'] },
  },
];

test('an asset shows which credentials it has, and neither them nor where they are', () => {
  const view = foldViews(assetProjection, inOrder(assetHistory)).get('hcloud');
  assert.equal(view?.credentialNames, ['api_token', 'other']);
  assert.equal(view?.configuration, { project: 'x' });
  assert.not.match(JSON.stringify(view), /s1|s2/);
});

test('replaying any suffix changes nothing', () => {
  suffixesChangeNothing(workerPoolProjection, inOrder(poolHistory));
  suffixesChangeNothing(workerProjection, inOrder(workerHistory));
  suffixesChangeNothing(scopeProjection, inOrder(scopeHistory));
  suffixesChangeNothing(assetProjection, inOrder(assetHistory));
});

function suffixesChangeNothing<E extends Event, V extends object>(
  projection: Projection<E, V>,
  events: readonly RecordedEvent<E | Event>[],
): void {
  const known = new Set<string>(projection.handles);
  const own = events.filter((event): event is RecordedEvent<E> => known.has(event.type));
  const views = foldViews(projection, own);
  for (let from = 0; from < own.length; from += 1) {
    for (const [key, view] of views) {
      const replayed = own
        .slice(from)
        .reduce<V | undefined>((before, event) => projection.evolve(before, event, key), view);
      assert.equal(plain(replayed), plain(view), `${projection.name} from event ${from}`);
    }
  }
}

test.run();
