import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Architecture } from '../../../../src/events/worker-pools/architectures.ts';
import { decideScaling, type ScalingDecision } from '../../../../src/domain/worker-pools/scaling/decision.ts';
import type {
  PoolSnapshot,
  ScalingSnapshot,
  ScopeSnapshot,
  WorkerActivity,
} from '../../../../src/domain/worker-pools/scaling/snapshot.ts';
import { carriedOut, launched, link, NOW, pending, pool, scene, total, worker } from '../../../lab/scaling-scene.ts';

const ARCHITECTURES: readonly Architecture[] = ['amd64', 'arm64'];
const POOLS = ['p1', 'p2', 'p3'];
const SCOPES = ['a', 'b', 'c'];

const architectures = fc.subarray([...ARCHITECTURES], { minLength: 1 });
const bound = (most: number) => fc.option(fc.integer({ min: 0, max: most }), { nil: null });

const pools: fc.Arbitrary<readonly PoolSnapshot[]> = fc.tuple(
  ...POOLS.map((name) =>
    fc.record({
      name: fc.constant(name),
      enabled: fc.boolean().map((off) => !off || name === 'p1'),
      architectures,
      instanceWide: fc.boolean(),
      ephemeral: fc.integer({ min: 0, max: 9 }).map((dice) => dice === 0),
      maxActiveInstances: bound(12),
      targetMaxSecondsPerMonth: bound(40_000),
      maxIdleSeconds: fc.constantFrom(0, 600, 3600),
      usedSeconds: fc.integer({ min: 0, max: 30_000 }),
    }),
  ),
);

const latencies = fc.constantFrom(0, 300, 600, 3600, null);

function scopesWith(latency: fc.Arbitrary<number | null>): fc.Arbitrary<readonly ScopeSnapshot[]> {
  const links = fc.subarray([...POOLS]).chain((names) =>
    latency.chain((own) =>
      fc.tuple(
        ...names.map((name) =>
          fc.record({
            pool: fc.constant(name),
            priority: fc.integer({ min: -1, max: 2 }),
            targetMaxSecondsPerMonth: bound(20_000),
            targetLatencySeconds: latency === uniform ? fc.constant(own) : latency,
            usedSeconds: fc.integer({ min: 0, max: 15_000 }),
          }),
        ),
      ),
    ),
  );
  return fc.tuple(...SCOPES.map((name) => fc.record({ name: fc.constant(name), pools: links })));
}

/** Pools that are all alike in what a worker is worth: one latency, as an instance-wide pool has it for all, and no mix of ephemeral and not. */
const uniform = fc.constant(null);

const activity: fc.Arbitrary<WorkerActivity> = fc.oneof(
  fc.record({
    state: fc.constant('booting' as const),
    since: fc.integer({ min: 0, max: 2_000 }).map((ago) => NOW - ago * 1000),
  }),
  fc.record({
    state: fc.constant('idle' as const),
    since: fc.integer({ min: 0, max: 8_000 }).map((ago) => NOW - ago * 1000),
    tasksRun: fc.integer({ min: 0, max: 2 }),
  }),
  fc.record({
    state: fc.constant('busy' as const),
    scope: fc.constantFrom(...SCOPES),
    remainingSeconds: fc.integer({ min: 0, max: 8_000 }),
    draining: fc.integer({ min: 0, max: 9 }).map((dice) => dice === 0),
  }),
  fc.constant({ state: 'terminating' as const }),
);

const queue = fc.array(
  fc
    .tuple(
      fc.constantFrom(...SCOPES),
      fc.integer({ min: 0, max: 60 }),
      fc.integer({ min: 0, max: 2_000 }),
      fc.constantFrom(...ARCHITECTURES),
    )
    .map(([scope, count, seconds, architecture]) => pending(scope, count, seconds, architecture)),
  { maxLength: 6 },
);

const staff = fc.array(fc.tuple(fc.constantFrom(...POOLS, null), activity), { maxLength: 14 });

function snapshots(latency: fc.Arbitrary<number | null> = latencies): fc.Arbitrary<ScalingSnapshot> {
  return fc.tuple(pools, scopesWith(latency), staff, queue).map(([known, scopes, workers, tasks]) =>
    scene({
      pools: latency === uniform ? known.map((one) => ({ ...one, ephemeral: known[0]?.ephemeral ?? false })) : known,
      scopes,
      queue: tasks,
      workers: workers.map(([inPool, doing], index) =>
        worker(`w${index}`, inPool, doing, known.find(({ name }) => name === inPool)?.architectures ?? ['amd64']),
      ),
    }),
  );
}

const RUNS = { numRuns: Number(process.env['PROPERTY_RUNS'] ?? 500) };

test('no bound of a pool or a scope is ever passed', () => {
  fc.assert(
    fc.property(snapshots(), (snapshot) => {
      const decision = decideScaling(snapshot);
      const counts = launched(decision);
      for (const known of snapshot.pools) {
        const count = counts[known.name] ?? 0;
        if (count === 0) continue;
        const active = snapshot.workers.filter(({ pool: name }) => name === known.name).length;
        assert.ok(known.enabled, `${known.name} is disabled`);
        assert.ok(
          active + count <= (known.maxActiveInstances ?? Number.POSITIVE_INFINITY),
          `${known.name} has too many`,
        );
        assert.ok(
          known.usedSeconds < (known.targetMaxSecondsPerMonth ?? Number.POSITIVE_INFINITY),
          `${known.name} is spent`,
        );
      }
      for (const { pool: name, scope, architecture } of decision.launches) {
        const known = snapshot.pools.find((other) => other.name === name)!;
        const terms = snapshot.scopes.find((other) => other.name === scope)?.pools.find((other) => other.pool === name);
        assert.ok(known.architectures.includes(architecture));
        assert.ok(terms !== undefined || known.instanceWide, `${scope} may not use ${name}`);
        assert.ok((terms?.usedSeconds ?? 0) < (terms?.targetMaxSecondsPerMonth ?? Number.POSITIVE_INFINITY));
      }
    }),
    RUNS,
  );
});

test('no running task is killed, and no worker without a pool is ended', () => {
  fc.assert(
    fc.property(snapshots(), (snapshot) => {
      for (const { worker: name, afterTask, because } of decideScaling(snapshot).terminations) {
        const known = snapshot.workers.find((other) => other.name === name)!;
        assert.is.not(known.pool, null);
        assert.is(afterTask, known.activity.state === 'busy');
        assert.is.not(known.activity.state, 'terminating');
        assert.ok(because.length > 0);
      }
    }),
    RUNS,
  );
});

test('every worker that is wanted is there, launched, or refused with a reason', () => {
  fc.assert(
    fc.property(snapshots(), (snapshot) => {
      const decision = decideScaling(snapshot);
      for (const { scope, architecture, count } of snapshot.queue) {
        if (count === 0) continue;
        const isServed =
          snapshot.workers.length > 0 ||
          decision.launches.some((launch) => launch.scope === scope && launch.architecture === architecture);
        const isRefused = decision.refusals.some(
          (refusal) => refusal.scope === scope && refusal.architecture === architecture,
        );
        assert.ok(isServed || isRefused, `nothing is said about ${scope} ${architecture}`);
      }
      for (const refusal of decision.refusals) assert.ok(refusal.because.length > 0 && refusal.unmet > 0);
    }),
    RUNS,
  );
});

test('once carried out, a decision leaves nothing to decide: nothing flaps', () => {
  fc.assert(
    fc.property(snapshots(uniform), (snapshot) => {
      const decision = decideScaling(snapshot);
      // A very long queue is served in steps.
      if (decision.refusals.some(({ code }) => code === 'launches-per-decision')) return;
      const again = decideScaling(carriedOut(snapshot, decision));
      assert.equal(again.launches, []);
      assert.equal(again.terminations, []);
    }),
    RUNS,
  );
});

test('pools with latencies of their own come to rest as well, and nothing that was launched is ended again', () => {
  fc.assert(
    fc.property(snapshots(), (snapshot) => {
      let now = carriedOut(snapshot, decideScaling(snapshot));
      for (let round = 1; ; round += 1) {
        const decision = decideScaling(now);
        for (const ended of decision.terminations) assert.not.match(ended.worker, 'new');
        if (decision.launches.length + decision.terminations.length === 0) return;
        assert.ok(round < 5, 'still launching');
        now = carriedOut(now, decision);
      }
    }),
    RUNS,
  );
});

test('a pool never launches while it ends workers for being idle', () => {
  fc.assert(
    fc.property(snapshots(), (snapshot) => {
      const decision = decideScaling(snapshot);
      const counts = launched(decision);
      for (const { pool: name, code } of decision.terminations) if (code === 'idle') assert.is(counts[name], undefined);
    }),
    RUNS,
  );
});

type Raise = (snapshot: ScalingSnapshot, by: number) => ScalingSnapshot;

const raises: Readonly<Record<string, Raise>> = {
  'a pool’s month': (snapshot, by) =>
    onPool(snapshot, (p) => ({ ...p, targetMaxSecondsPerMonth: plus(p.targetMaxSecondsPerMonth, by) })),
  'a pool’s instances': (snapshot, by) =>
    onPool(snapshot, (p) => ({ ...p, maxActiveInstances: plus(p.maxActiveInstances, by % 20) })),
  'a scope’s month': (snapshot, by) => ({
    ...snapshot,
    scopes: snapshot.scopes.map((scope, at) =>
      at === by % 3
        ? {
            ...scope,
            pools: scope.pools.map((l) => ({ ...l, targetMaxSecondsPerMonth: plus(l.targetMaxSecondsPerMonth, by) })),
          }
        : scope,
    ),
  }),
};

for (const [what, raise] of Object.entries(raises))
  test(`more of ${what} never means fewer workers`, () => {
    fc.assert(
      fc.property(snapshots(uniform), fc.integer({ min: 1, max: 30_000 }), (snapshot, by) => {
        const raised = raise(snapshot, by);
        const before = decideScaling(snapshot);
        const after = decideScaling(raised);
        assert.ok(unmet(after) <= unmet(before), `${unmet(before)} unmet before, ${unmet(after)} after`);
        // A scope that may use what idles already needs no new instance: then more of its month launches less.
        if (what === 'a scope’s month') return;
        const workers = [remaining(snapshot, before), remaining(raised, after)] as const;
        assert.ok(workers[1] >= workers[0], `${workers[0]} workers before, ${workers[1]} after`);
      }),
      RUNS,
    );
  });

test('scopes with the same queue share a bounded pool to within one instance', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 2, max: 9 }), (room, count) => {
      const names = Array.from({ length: count }, (_, index) => `s${index}`);
      const decision = decideScaling(
        scene({
          pools: [pool('p1', { maxActiveInstances: room })],
          scopes: names.map((name) => ({ name, pools: [link('p1')] })),
          queue: names.map((name) => pending(name, 500, 900)),
        }),
      );
      const shares = names.map((name) => decision.launches.find(({ scope }) => scope === name)?.count ?? 0);
      assert.is(total(launched(decision)), room);
      assert.ok(Math.max(...shares) - Math.min(...shares) <= 1, shares.join(' '));
    }),
  );
});

test('the order in which pools and workers are listed does not matter', () => {
  fc.assert(
    fc.property(snapshots(), (snapshot) => {
      const turned = { ...snapshot, pools: snapshot.pools.toReversed(), workers: snapshot.workers.toReversed() };
      assert.equal(total(launched(decideScaling(turned))), total(launched(decideScaling(snapshot))));
    }),
    RUNS,
  );
});

/** Wanted workers that a decision leaves without a place. */
function unmet({ refusals }: ScalingDecision): number {
  const perDemand = new Map(refusals.map((refusal) => [`${refusal.scope} ${refusal.architecture}`, refusal.unmet]));
  return [...perDemand.values()].reduce((sum, count) => sum + count, 0);
}

/** Workers that go on after the decision, and new ones. */
function remaining(snapshot: ScalingSnapshot, decision: ScalingDecision): number {
  const ended = new Set(decision.terminations.map(({ worker: name }) => name));
  const kept = snapshot.workers.filter(
    ({ name, activity: doing }) =>
      !ended.has(name) && doing.state !== 'terminating' && !(doing.state === 'busy' && doing.draining),
  );
  return kept.length + total(launched(decision));
}

function onPool(snapshot: ScalingSnapshot, change: (known: PoolSnapshot) => PoolSnapshot): ScalingSnapshot {
  return { ...snapshot, pools: snapshot.pools.map((known, at) => (at === 0 ? change(known) : known)) };
}

function plus(limit: number | null, by: number): number | null {
  return limit === null ? null : limit + by;
}

test.run();
