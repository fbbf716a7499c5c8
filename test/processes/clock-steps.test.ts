import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { CustomerEvent } from '../../src/events/ip-control/customer.ts';
import { isHandled } from '../../src/kernel/event.ts';
import {
  quietPeriod,
  type QuietPeriodState,
  type RequestCommitDuty,
} from '../../src/processes/ip-control/quiet-period.ts';
import { openProcess } from '../../src/processes/process-manager.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { commitCompleted, commitFailed, commitRequested, disabled } from '../commands/ip-control/customer-examples.ts';
import { recorded } from '../specification.ts';

const [QUIET, QUIET_MAX, RETRIES, INTERVAL] = [120, 300, [60, 300], 20];
const KEY = '7/1/BLACKHOLE';
/** What was seen long ago is remembered to a thousandth, and a round begins a little after its time. */
const TOLERANCE = 1;

const process = quietPeriod({
  quietMilliseconds: QUIET * 1000,
  quietMillisecondsMax: QUIET_MAX * 1000,
  retryMilliseconds: RETRIES.map((seconds) => seconds * 1000),
});
const handles = new Set<string>(process.handles);
type Watched = Parameters<typeof process.evolve>[1];

/** Something happened: the seconds of true time at which it did, and whether the process that runs now was there. */
type Known = { at: number; isLive: boolean };

/** The naive model: it knows the true time of everything, and no clock. */
type Truth = {
  newest: Known | undefined;
  oldest: Known | undefined;
  failed: (Known & { attempt: number }) | undefined;
};

/** One customer's stream and the process that watches it, under a wall clock that anybody may set, from one process of the system to the next. */
async function openWorld() {
  const clock = createManualClock('2026-11-27T20:50:00Z');
  const truth: Truth = { newest: undefined, oldest: undefined, failed: undefined };
  const requests: string[] = [];
  let [state, position, at, fails]: [QuietPeriodState | undefined, bigint, string, boolean] = [
    undefined,
    0n,
    '',
    false,
  ];
  let startedAt = 0;
  let running = start();
  const now = (): number => clock.monotonicMilliseconds() / 1000;

  return {
    requests,
    failNext: () => void (fails = true),
    change: () => {
      append(disabled(['192.0.2.1']));
      truth.newest = { at: now(), isLive: true };
      truth.oldest ??= truth.newest;
    },
    step: (seconds: number) => clock.setWallClock(clock.now().add({ seconds })),
    pass: async (seconds: number) => {
      for (let second = 0; second < seconds; second += 1) {
        await clock.advance({ seconds: 1 });
        await quiet();
        const [due] = dueTimes('latest');
        if (due !== undefined) assert.ok(now() <= due + INTERVAL + TOLERANCE, `due at ${due}, not asked at ${now()}`);
      }
    },
    restart: async (downSeconds: number, step: number) => {
      await running.stop();
      await clock.advance({ seconds: downSeconds });
      clock.setWallClock(clock.now().add({ seconds: step }));
      for (const known of [truth.newest, truth.oldest, truth.failed]) if (known !== undefined) known.isLive = false;
      startedAt = now();
      running = start();
      await quiet();
    },
    close: () => running.stop(),
  };

  function start() {
    const runner = openProcess(process, pay, {
      states: { get: async () => state, list: async () => (state === undefined ? [] : [{ key: KEY, view: state }]) },
      store: { end: async () => position },
      clock,
      log: silent,
      reached: async () => true,
      concurrency: 4,
      everyMilliseconds: INTERVAL * 1000,
    });
    const stop = new AbortController();
    const ended = runner.run(stop.signal, new AbortController().signal);
    return {
      touched: runner.touched,
      stop: () => {
        stop.abort();
        return ended;
      },
    };
  }

  /** A stream's instants never run backwards, whatever the clock does. */
  function append(event: CustomerEvent): void {
    position += 1n;
    const told = recorded(event, clock.nowText() < at ? at : clock.nowText(), { revision: position });
    at = told.metadata.at;
    if (!isHandled<Watched>(handles, told)) throw new Error(`${event.type} is not watched`);
    state = process.evolve(state, told, KEY);
    running.touched([KEY], position);
  }

  async function pay({ id }: RequestCommitDuty): Promise<void> {
    const [due, isKnown] = dueTimes('earliest');
    assert.ok(due !== undefined, `${id} is owed`);
    if (isKnown) assert.ok(now() >= due, `due at ${due}, asked at ${now()} already`);
    requests.push(id);
    append(commitRequested());
    truth.newest = truth.oldest = undefined;
    const attempt = (truth.failed?.attempt ?? 0) + 1;
    append(fails ? commitFailed({ attempt }) : commitCompleted({ attempt }));
    truth.failed = fails ? { at: now(), isLive: true, attempt } : undefined;
    fails = false;
  }

  /** When it is due, by true time; for the latest, what was there before this process began as it began. */
  function dueTimes(which: 'earliest' | 'latest'): readonly [due: number | undefined, isKnown: boolean] {
    const { newest, oldest, failed } = truth;
    const delays: [Known, number][] = [];
    if (newest !== undefined) delays.push([newest, QUIET]);
    if (oldest !== undefined) delays.push([oldest, QUIET_MAX]);
    if (failed !== undefined) delays.push([failed, RETRIES[Math.min(failed.attempt, RETRIES.length) - 1] ?? 0]);
    if (delays.length === 0) return [undefined, true];
    const from = ({ at: true_, isLive }: Known): number => (isLive || which === 'earliest' ? true_ : startedAt);
    return [Math.min(...delays.map(([known, delay]) => from(known) + delay)), delays.every(([{ isLive }]) => isLive)];
  }
}

const silent = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (fields: object, message: string) => {
    throw new Error(message, { cause: fields });
  },
  child: () => silent,
};

async function quiet(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
}

const HOUR = 3_600;

test('the clock is set back an hour while a change waits: it is asked for when it has been quiet', async () => {
  const world = await openWorld();
  world.change();
  await world.pass(10);
  world.step(-HOUR);
  await world.pass(QUIET + INTERVAL);
  assert.is(world.requests.length, 1);
  // Their instants in the stream stand still for an hour.
  for (let nth = 2; nth <= 4; nth += 1) {
    world.change();
    await world.pass(QUIET - 1);
    assert.is(world.requests.length, nth - 1);
    await world.pass(INTERVAL + 1);
    assert.is(world.requests.length, nth);
  }
  await world.close();
});

test('the clock is set back an hour while the server is stopped: what waits counts from its start', async () => {
  const world = await openWorld();
  world.change();
  await world.restart(5, -HOUR);
  await world.pass(QUIET + INTERVAL);
  assert.is(world.requests.length, 1);
  await world.close();
});

test('the clock is set forward an hour: nothing is asked for before its time', async () => {
  const world = await openWorld();
  world.change();
  world.step(HOUR);
  await world.pass(60);
  world.change();
  world.step(HOUR);
  await world.pass(QUIET - 1);
  assert.is(world.requests.length, 0);
  await world.pass(INTERVAL + 1);
  assert.is(world.requests.length, 1);
  await world.close();
});

test('a server that was stopped for longer than the quiet period asks at once', async () => {
  const world = await openWorld();
  world.change();
  await world.restart(QUIET, 0);
  assert.is(world.requests.length, 1);
  await world.close();
});

test('whatever is done to the clock, a commit is asked for in time, and never before', async () => {
  const step = fc.integer({ min: -2 * HOUR, max: 2 * HOUR });
  const action = fc.oneof(
    { weight: 3, arbitrary: fc.constant({ type: 'change' } as const) },
    {
      weight: 3,
      arbitrary: fc.record({ type: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 150 }) }),
    },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('step' as const), seconds: step }) },
    { weight: 1, arbitrary: fc.constant({ type: 'failNext' } as const) },
    {
      weight: 1,
      arbitrary: fc.record({
        type: fc.constant('restart' as const),
        down: fc.integer({ min: 0, max: 400 }),
        seconds: step,
      }),
    },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 4, maxLength: 25, size: 'max' }), async (actions) => {
      const world = await openWorld();
      try {
        for (const act of actions) {
          if (act.type === 'change') world.change();
          else if (act.type === 'pass') await world.pass(act.seconds);
          else if (act.type === 'step') world.step(act.seconds);
          else if (act.type === 'failNext') world.failNext();
          else await world.restart(act.down, act.seconds);
        }
        await world.pass(QUIET_MAX + INTERVAL);
      } finally {
        await world.close();
      }
    }),
    { numRuns: 60 },
  );
});

test.run();
