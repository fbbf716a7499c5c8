import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { epochMilliseconds } from '../../src/domain/instants.ts';
import type { ProviderAccountEvent } from '../../src/events/worker-pools/provider-account.ts';
import type { WorkRequestEvent } from '../../src/events/worker-pools/work-request.ts';
import type { WorkerPoolEvent } from '../../src/events/worker-pools/worker-pool.ts';
import type { WorkerEvent } from '../../src/events/worker-pools/worker.ts';
import { type Circumstances, explainPaidSeconds, type PaidSeconds, type Span } from '../lab/engine/paid-seconds.ts';
import { recordedInOrder } from '../specification.ts';

type Told = WorkerEvent | WorkerPoolEvent | WorkRequestEvent | ProviderAccountEvent;

const of = { worker: 'spot-001', pool: 'spot', run: 'one' } as const;
const MIDNIGHT = '2026-11-01T00:00:00Z';

function at(time: string): string {
  return `2026-11-01T${time}Z`;
}

function pool(ephemeral = false): Told {
  const limits = { max_active_instances: 4, target_max_seconds_per_month: null, max_idle_seconds: 600 };
  const record = {
    name: 'spot',
    provider_account: 'hcloud',
    enabled: true,
    architectures: ['amd64' as const],
    static_metadata: {},
    specifications: {
      provider_type: 'hetzner' as const,
      server_type: 'cx32',
      image_name: 'debian-13',
      enable_ipv4: true,
      enable_ipv6: true,
      worker_install_source: 'release' as const,
    },
    instance_wide: true,
    ephemeral,
    limits,
    apt_authentication: null,
  };
  return { type: 'WorkerPoolCreated', data: { pool: 'spot', record } };
}

/** Created at midnight, ready two minutes later. */
const READY: readonly Told[] = [
  { type: 'InstanceCreated', data: { ...of, instanceCreatedAt: MIDNIGHT, workerPoolData: {} } },
  { type: 'WorkerConnected', data: { ...of, dynamicMetadata: {}, connectedAt: at('00:02:00') } },
];

function decided(time: string, code: string): Told {
  const nothing = { code, because: 'the decision says so' };
  const data = { pool: 'spot', decidedAt: at(time), launches: [], terminations: [], refusals: [], nothing };
  return { type: 'WorkerPoolScalingDecided', data };
}

function endWanted(time: string, code: string): Told {
  const data = { ...of, code, because: 'it is', forced: false, requestedAt: at(time) };
  return { type: 'InstanceTerminationRequested', data };
}

function gone(time: string): Told {
  const data = { ...of, instanceCreatedAt: MIDNIGHT, terminatedAt: at(time), because: 'it ended' };
  return { type: 'InstanceTerminated', data };
}

function submitted(time: string): Told {
  const work = { id: 'w', scope: 'debian', architecture: 'amd64' as const, pool: null, payload: null };
  return { type: 'WorkRequestSubmitted', data: { ...work, expectedSeconds: 60, submittedAt: at(time) } };
}

function begun(time: string): readonly Told[] {
  const start = { startedAt: at(time) };
  return [
    { type: 'WorkRequestStarted', data: { id: 'w', worker: 'spot-001', run: 'one', attempt: 1, ...start } },
    { type: 'TaskStarted', data: { ...of, task: 'w', scope: 'debian', expectedSeconds: 60, ...start } },
  ];
}

function done(from: string, time: string): Told {
  const span = { startedAt: at(from), finishedAt: at(time) };
  return { type: 'TaskFinished', data: { ...of, task: 'w', scope: 'debian', outcome: 'finished', ...span } };
}

async function explained(...events: readonly Told[]): Promise<PaidSeconds> {
  return explainedIn({ away: [], until: Infinity }, ...events);
}

async function explainedIn(circumstances: Circumstances, ...events: readonly Told[]): Promise<PaidSeconds> {
  async function* pages() {
    yield recordedInOrder(events, MIDNIGHT, 0, 'whichever');
  }
  return explainPaidSeconds(pages(), circumstances);
}

function between(from: string, to: string): Span {
  return { from: epochMilliseconds(at(from)), to: epochMilliseconds(at(to)) };
}

test('an instance boots, works, idles and is ended: each second has its reason', async () => {
  const { seconds, unexplained } = await explained(
    pool(),
    ...READY,
    submitted('00:03:00'),
    ...begun('00:03:01'),
    done('00:03:01', '00:05:00'),
    decided('00:06:00', 'nothing-pending'),
    endWanted('00:16:00', 'idle'),
    gone('00:16:30'),
  );
  assert.equal(unexplained, []);
  assert.equal(seconds, {
    booting: 120,
    busy: 119,
    'within max_idle_seconds': 61 + 600,
    'its end is about to be decided': 60,
    'ending: idle': 30,
  });
});

test('what idles for longer than its pool allows, and is not needed, is not explained', async () => {
  const { seconds, unexplained } = await explained(
    pool(),
    ...READY,
    decided('00:03:00', 'nothing-pending'),
    gone('01:00:00'),
  );
  assert.is(seconds.unexplained, 58 * 60 - 600 - 120);
  assert.match(unexplained.join(), 'says nothing-pending');
});

test('what is decided to end is explained until that can be recorded, and no longer', async () => {
  const end = { worker: 'spot-001', afterTask: false, code: 'idle', because: 'idle' };
  const decision = { pool: 'spot', decidedAt: at('00:14:00'), launches: [], terminations: [end], refusals: [] };
  const until = (time: string) =>
    explained(pool(), ...READY, { type: 'WorkerPoolScalingDecided', data: decision }, gone(time));
  assert.equal((await until('00:16:00')).unexplained, []);
  assert.is((await until('00:17:00')).seconds.unexplained, 60);
});

test('what the decision in force says is needed may idle for longer', async () => {
  const { seconds, unexplained } = await explained(
    pool(),
    ...READY,
    decided('00:03:00', 'enough-workers'),
    gone('01:00:00'),
  );
  assert.equal(unexplained, []);
  assert.is(seconds['needed by pending work'], 48 * 60);
});

test('an instance that idles beside work that waits is not explained', async () => {
  const { seconds, unexplained } = await explained(
    pool(),
    ...READY,
    submitted('00:03:00'),
    ...begun('00:08:00'),
    gone('00:09:00'),
  );
  assert.is(seconds.unexplained, 300);
  assert.match(unexplained.join(), 'beside work that waits');
});

test('an ephemeral worker that has run its task is explained for a moment only', async () => {
  const ran = [submitted('00:02:00'), ...begun('00:02:00'), done('00:02:00', '00:03:00')];
  const { seconds } = await explained(pool(true), ...READY, ...ran, gone('00:08:00'));
  assert.is(seconds['its end is about to be decided'], 120);
  assert.is(seconds.unexplained, 180);
});

test('an end that is wanted and does not come is explained only where the provider has refused it', async () => {
  const wanted = [pool(), ...READY, endWanted('00:03:00', 'month-spent')];
  const silent = await explained(...wanted, gone('01:00:00'));
  assert.is(silent.seconds.unexplained, 57 * 60 - 180);
  const because = { call: 'terminate' as const, code: 'end-refused', because: 'it is protected' };
  const failed: Told = { type: 'ProviderCallFailed', data: { ...of, ...because, failedAt: at('00:03:10') } };
  const refused = await explained(...wanted, failed, gone('01:00:00'));
  assert.equal(refused.unexplained, []);
  assert.is(refused.seconds['ending: month-spent'], 57 * 60);
});

test('an instance that never gets ready is explained for as long as its pool gives it, and until its end can be decided', async () => {
  const { seconds, unexplained } = await explained(pool(), ...READY.slice(0, 1), gone('00:35:00'));
  assert.equal(seconds, { booting: 1_800, 'its end is about to be decided': 120, unexplained: 180 });
  assert.match(unexplained.join(), 'boots for longer');
});

test('while no server runs nothing falls due, and what was due is due by so much later', async () => {
  const idle = [
    pool(),
    ...READY,
    decided('00:03:00', 'nothing-pending'),
    endWanted('00:17:30', 'idle'),
    gone('00:17:30'),
  ];
  // It may end from 00:12:00 on: the decision after that, a minute later at most, was made by nobody.
  const [before, after] = [between('00:05:00', '00:07:30'), between('00:12:30', '00:15:00')];
  assert.is((await explained(...idle)).seconds.unexplained, 210);
  assert.is((await explainedIn({ away: [before], until: Infinity }, ...idle)).seconds.unexplained, 210);
  assert.is((await explainedIn({ away: [before, after], until: Infinity }, ...idle)).seconds.unexplained, 60);
});

test('a silent worker is explained until it can be given up, by a server that may have begun after that', async () => {
  const silent: Told = { type: 'WorkerFellSilent', data: { ...of, at: at('00:03:00') } };
  const log = [pool(), ...READY, silent, gone('00:15:00')];
  assert.is((await explained(...log)).seconds.unexplained, 6 * 60);
  const away = [between('00:08:00', '00:10:00')];
  const { seconds, unexplained } = await explainedIn({ away, until: Infinity }, ...log);
  assert.is(seconds.silent, 12 * 60);
  assert.equal(unexplained, []);
});

test('of a log that grows on, what runs and what waits is judged so far', async () => {
  const log = [pool(), ...READY, submitted('00:03:00')];
  const until = (time: string) => explainedIn({ away: [], until: epochMilliseconds(at(time)) }, ...log);
  assert.equal((await until('00:05:00')).unexplained, []);
  assert.is((await until('00:05:30')).seconds.unexplained, 150);
});

test('an instance that was found beside the runs has seconds of its own', async () => {
  const found = { providerAccount: 'hcloud', ...of, run: 'other', instance: {}, seconds: 90 };
  const data = { ...found, createdAt: MIDNIGHT, endedAt: at('00:01:30') };
  const { seconds } = await explained(pool(), { type: 'UnknownInstanceEnded', data });
  assert.equal(seconds, { 'unknown, found and ended': 90 });
});

test.run();
