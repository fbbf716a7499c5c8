import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { waitSeconds, workersFor } from '../../../../src/domain/worker-pools/scaling/demand.ts';
import { decideScaling } from '../../../../src/domain/worker-pools/scaling/decision.ts';
import { booting, busy, idle, launched, link, pending, pool, scene, worker } from '../../../lab/scaling-scene.ts';

const debian = { name: 'debian', pools: [link('spot')] };

test('enough workers are launched that the last pending task starts within the target latency', () => {
  const decision = decideScaling(
    scene({ pools: [pool('spot')], scopes: [debian], queue: [pending('debian', 40, 300)] }),
  );
  // Each starts a task at once, one after 300 s and one after 600 s.
  assert.equal(launched(decision), { spot: 14 });
  assert.equal(
    decision.launches[0]?.because,
    'scope debian has 40 pending amd64 tasks (3.3 h of work) and no worker to run them',
  );
  assert.equal(decision.refusals, []);
  assert.equal(decision.terminations, []);
});

test('a tighter latency launches more, and without one the queue has an hour', () => {
  assert.equal(launchedWithin(0), { spot: 40 });
  assert.equal(launchedWithin(300), { spot: 20 });
  assert.equal(launchedWithin(null), { spot: 4 });
});

test('one short task with nobody to run it gets one worker', () => {
  const decision = decideScaling(scene({ pools: [pool('spot')], scopes: [debian], queue: [pending('debian', 1, 5)] }));
  assert.equal(launched(decision), { spot: 1 });
});

test('an empty queue launches nothing', () => {
  assert.equal(decideScaling(scene({ pools: [pool('spot')], scopes: [debian] })), {
    launches: [],
    terminations: [],
    refusals: [],
  });
});

test('what is idle, booting or free in time is counted before anything is launched', () => {
  const decision = decideScaling(
    scene({
      pools: [pool('spot')],
      scopes: [debian],
      workers: [
        worker('spot-001', 'spot', idle()),
        worker('spot-002', 'spot', booting(30)),
        worker('spot-003', 'spot', busy('debian', 200)),
        worker('spot-004', 'spot', busy('debian', 7200)),
      ],
      queue: [pending('debian', 40, 300)],
    }),
  );
  assert.equal(launched(decision), { spot: 11 });
  assert.equal(
    decision.launches[0]?.because,
    'scope debian has 40 pending amd64 tasks (3.3 h of work): with 3 workers the last would wait 65 min, its target is 10 min',
  );
});

test('workers without a pool rank before every pool', () => {
  const decision = decideScaling(
    scene({
      pools: [pool('spot')],
      scopes: [debian],
      workers: [worker('static', null, idle()), worker('spot-001', 'spot', idle(7200))],
      queue: [pending('debian', 1, 300)],
    }),
  );
  assert.equal(launched(decision), {});
  assert.equal(
    decision.terminations.map(({ worker: name, code }) => [name, code]),
    [['spot-001', 'idle']],
  );
});

test('a worker without a pool is no use for another architecture', () => {
  const decision = decideScaling(
    scene({
      pools: [pool('spot')],
      scopes: [debian],
      workers: [worker('static', null, idle(), ['arm64'])],
      queue: [pending('debian', 1, 300)],
    }),
  );
  assert.equal(launched(decision), { spot: 1 });
});

test('the pool with the higher priority is launched first, the next one takes what it can not', () => {
  const decision = decideScaling(
    scene({
      pools: [pool('cheap', { maxActiveInstances: 3 }), pool('dear')],
      scopes: [{ name: 'debian', pools: [link('dear', { priority: 1 }), link('cheap', { priority: 5 })] }],
      queue: [pending('debian', 5, 900)],
    }),
  );
  assert.equal(launched(decision), { cheap: 3, dear: 2 });
});

test('a pool with a looser latency is only launched for longer waits', () => {
  const scopes = [
    {
      name: 'debian',
      pools: [
        link('cheap', { priority: 5, targetLatencySeconds: 600 }),
        link('dear', { priority: 1, targetLatencySeconds: 3600 }),
      ],
    },
  ];
  const pools = [pool('cheap', { maxActiveInstances: 1 }), pool('dear')];
  const short = decideScaling(scene({ pools, scopes, queue: [pending('debian', 4, 900)] }));
  assert.equal(launched(short), { cheap: 1 });
  assert.equal(
    short.refusals.map(({ pool: name, unmet, code }) => [name, unmet, code]),
    [
      ['cheap', 3, 'max-active-instances'],
      ['dear', 3, 'latency-met'],
    ],
  );
  const long = decideScaling(scene({ pools, scopes, queue: [pending('debian', 50, 900)] }));
  assert.equal(launched(long), { cheap: 1, dear: 9 });
});

test('a disabled pool launches nothing, and its workers go on', () => {
  const decision = decideScaling(
    scene({
      pools: [pool('spot', { enabled: false })],
      scopes: [debian],
      workers: [worker('spot-001', 'spot', idle())],
      queue: [pending('debian', 30, 900)],
    }),
  );
  assert.equal(launched(decision), {});
  assert.equal(decision.terminations, []);
  assert.equal(
    decision.refusals.map(({ code, because }) => [code, because]),
    [['pool-disabled', 'spot is disabled']],
  );
});

test('no pool supports the architecture: that is said', () => {
  const decision = decideScaling(
    scene({ pools: [pool('spot')], scopes: [debian], queue: [pending('debian', 2, 60, 's390x')] }),
  );
  assert.equal(decision.refusals, [
    {
      scope: 'debian',
      architecture: 's390x',
      unmet: 1,
      pool: null,
      code: 'no-pool',
      because: 'none of the pools of scope debian supports s390x',
    },
  ]);
});

test('a pool that is not instance-wide is for its own scope; an instance-wide one is for all', () => {
  const queue = [pending('ubuntu', 1, 60)];
  assert.equal(launched(decideScaling(scene({ pools: [pool('spot')], scopes: [debian], queue }))), {});
  assert.equal(
    launched(decideScaling(scene({ pools: [pool('spot', { instanceWide: true })], scopes: [debian], queue }))),
    { spot: 1 },
  );
});

test('max_active_instances counts every instance there is, ending ones too', () => {
  const decision = decideScaling(
    scene({
      pools: [pool('spot', { maxActiveInstances: 4 })],
      scopes: [debian],
      workers: [
        worker('spot-001', 'spot', { state: 'terminating' }),
        worker('spot-002', 'spot', busy('debian', 9000)),
        worker('spot-003', 'spot', booting(10)),
      ],
      queue: [pending('debian', 30, 900)],
    }),
  );
  assert.equal(launched(decision), { spot: 1 });
  assert.equal(decision.refusals[0]?.because, 'spot has its 4 active instances (max_active_instances)');
});

test('a limit that was lowered below what runs kills nothing and starts nothing', () => {
  const workers = Array.from({ length: 5 }, (_, index) => worker(`spot-00${index}`, 'spot', idle()));
  const decision = decideScaling(
    scene({
      pools: [pool('spot', { maxActiveInstances: 2 })],
      scopes: [debian],
      workers,
      queue: [pending('debian', 30, 900)],
    }),
  );
  assert.equal(launched(decision), {});
  assert.equal(decision.terminations, []);
});

test('a pool that has used its month starts nothing, ends what is idle, and lets running tasks end', () => {
  const decision = decideScaling(
    scene({
      pools: [pool('spot', { targetMaxSecondsPerMonth: 36_000, usedSeconds: 36_000 })],
      scopes: [debian],
      workers: [worker('spot-001', 'spot', idle()), worker('spot-002', 'spot', busy('debian', 900))],
      queue: [pending('debian', 30, 900)],
    }),
  );
  assert.equal(launched(decision), {});
  assert.equal(
    decision.terminations.map(({ worker: name, afterTask, code }) => [name, afterTask, code]),
    [
      ['spot-001', false, 'month-spent'],
      ['spot-002', true, 'month-spent'],
    ],
  );
  assert.equal(
    decision.refusals.map(({ code }) => code),
    ['pool-month-spent'],
  );
});

test('a rest of the month is used as far as it goes', () => {
  // One instance boots for 120 s and runs a task of 880 s.
  assert.equal(launchedWithLeft(120), {});
  assert.equal(launchedWithLeft(121), { spot: 1 });
  assert.equal(launchedWithLeft(1000), { spot: 1 });
  assert.equal(launchedWithLeft(3500), { spot: 4 });
  assert.equal(launchedWithLeft(90_000), { spot: 30 });
});

test('a scope that has used its month in a pool gets nothing from it; others do', () => {
  const scopes = [
    { name: 'debian', pools: [link('spot', { targetMaxSecondsPerMonth: 3600, usedSeconds: 3600 })] },
    { name: 'ubuntu', pools: [link('spot')] },
  ];
  const decision = decideScaling(
    scene({
      pools: [pool('spot', { instanceWide: true })],
      scopes,
      queue: [pending('debian', 3, 900), pending('ubuntu', 2, 900)],
    }),
  );
  assert.equal(
    decision.launches.map(({ scope, count }) => [scope, count]),
    [['ubuntu', 2]],
  );
  assert.equal(
    decision.refusals.map(({ scope, code }) => [scope, code]),
    [['debian', 'scope-month-spent']],
  );
});

test('a rest of a scope’s month bounds what is launched for it', () => {
  const scopes = [{ name: 'debian', pools: [link('spot', { targetMaxSecondsPerMonth: 4000, usedSeconds: 2000 })] }];
  const decision = decideScaling(scene({ pools: [pool('spot')], scopes, queue: [pending('debian', 30, 900)] }));
  assert.equal(launched(decision), { spot: 3 });
  assert.equal(
    decision.refusals.map(({ code, unmet }) => [code, unmet]),
    [['scope-month-spent', 27]],
  );
});

test('scopes that share a pool are served by turns, the one that holds the fewest workers first', () => {
  const scopes = ['debian', 'kali', 'ubuntu'].map((name) => ({ name, pools: [link('spot')] }));
  const decision = decideScaling(
    scene({
      pools: [pool('spot', { instanceWide: true, maxActiveInstances: 10 })],
      scopes,
      workers: [1, 2, 3, 4].map((number) => worker(`spot-00${number}`, 'spot', busy('debian', 9000))),
      queue: [pending('debian', 1000, 900), pending('kali', 1, 900), pending('ubuntu', 400, 900)],
    }),
  );
  assert.equal(
    decision.launches.map(({ scope, count }) => [scope, count]),
    [
      ['debian', 1],
      ['kali', 1],
      ['ubuntu', 4],
    ],
  );
});

test('a scope with a choice makes way for one without', () => {
  const decision = decideScaling(
    scene({
      pools: [
        pool('both', { maxActiveInstances: 1, architectures: ['amd64', 'arm64'] }),
        pool('amd', { maxActiveInstances: 1 }),
      ],
      scopes: [
        { name: 'a', pools: [link('both', { priority: 9 }), link('amd', { priority: 1 })] },
        { name: 'b', pools: [link('both')] },
      ],
      queue: [pending('a', 1, 60), pending('b', 1, 60, 'arm64')],
    }),
  );
  assert.equal(
    decision.launches.map(({ scope, pool: name }) => [scope, name]),
    [
      ['a', 'amd'],
      ['b', 'both'],
    ],
  );
});

test('workers idle for max_idle_seconds end, the longest idle first, unless the queue needs them', () => {
  const workers = [
    worker('spot-001', 'spot', idle(4000)),
    worker('spot-002', 'spot', idle(5000)),
    worker('spot-003', 'spot', idle(3599)),
  ];
  const ended = (queue: number) =>
    decideScaling(
      scene({ pools: [pool('spot')], scopes: [debian], workers, queue: [pending('debian', queue, 900)] }),
    ).terminations.map(({ worker: name }) => name);
  assert.equal(ended(0), ['spot-002', 'spot-001']);
  assert.equal(ended(1), ['spot-002', 'spot-001']);
  assert.equal(ended(2), ['spot-002']);
  assert.equal(ended(3), []);
});

test('a worker of an ephemeral pool ends after its one task, and counts for one task', () => {
  const decision = decideScaling(
    scene({
      pools: [pool('spot', { ephemeral: true })],
      scopes: [debian],
      workers: [
        worker('spot-001', 'spot', idle(5, 1)),
        worker('spot-002', 'spot', idle(5, 0)),
        worker('spot-003', 'spot', busy('debian', 10)),
      ],
      queue: [pending('debian', 4, 60)],
    }),
  );
  assert.equal(launched(decision), { spot: 3 });
  assert.equal(
    decision.terminations.map(({ worker: name, code }) => [name, code]),
    [['spot-001', 'ephemeral-done']],
  );
});

test('an instance that does not come up is given up and replaced', () => {
  const decision = decideScaling(
    scene({
      pools: [pool('spot')],
      scopes: [debian],
      workers: [worker('spot-001', 'spot', booting(1800))],
      queue: [pending('debian', 1, 60)],
    }),
  );
  assert.equal(
    decision.terminations.map(({ worker: name, code }) => [name, code]),
    [['spot-001', 'boot-timed-out']],
  );
  assert.equal(launched(decision), { spot: 1 });
});

test('a pool whose launches fail is left alone for a while, and the next one is asked', () => {
  const decision = decideScaling(
    scene({
      pools: [pool('cheap', { launchesFromMilliseconds: 1_800_000_090_000 }), pool('dear')],
      scopes: [{ name: 'debian', pools: [link('cheap', { priority: 2 }), link('dear', { priority: 1 })] }],
      queue: [pending('debian', 1, 60)],
    }),
  );
  assert.equal(launched(decision), { dear: 1 });
});

test('the number of workers for a latency and the wait with a number of workers belong together', () => {
  const tasks = [pending('debian', 40, 300), pending('debian', 7, 45)];
  for (let workers = 1; workers <= 47; workers += 1) {
    const wait = waitSeconds(tasks, workers);
    assert.ok(workersFor(tasks, wait) <= workers);
    if (wait > 0) assert.ok(workersFor(tasks, wait - 1) > workers);
  }
  assert.equal(waitSeconds(tasks, 47), 0);
  assert.equal(waitSeconds(tasks, 0), Number.POSITIVE_INFINITY);
});

function launchedWithin(targetLatencySeconds: number | null): Readonly<Record<string, number>> {
  const scopes = [{ name: 'debian', pools: [link('spot', { targetLatencySeconds })] }];
  return launched(decideScaling(scene({ pools: [pool('spot')], scopes, queue: [pending('debian', 40, 300)] })));
}

function launchedWithLeft(seconds: number): Readonly<Record<string, number>> {
  return launched(
    decideScaling(
      scene({
        pools: [pool('spot', { targetMaxSecondsPerMonth: 100_000, usedSeconds: 100_000 - seconds })],
        scopes: [{ name: 'debian', pools: [link('spot', { targetLatencySeconds: 0 })] }],
        queue: [pending('debian', 30, 880)],
      }),
    ),
  );
}

test.run();
