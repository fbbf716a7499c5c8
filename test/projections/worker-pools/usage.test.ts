import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { epochMilliseconds } from '../../../src/domain/instants.ts';
import { monthOf } from '../../../src/domain/worker-pools/months.ts';
import type { ProviderAccountEvent } from '../../../src/events/worker-pools/provider-account.ts';
import type { WorkerEvent } from '../../../src/events/worker-pools/worker.ts';
import type { RecordedEvent } from '../../../src/kernel/event.ts';
import {
  poolDayMilliseconds,
  poolMonthMilliseconds,
  poolUsageProjection,
  type PoolUsageView,
} from '../../../src/projections/worker-pools/pool-usage-view.ts';
import {
  scopeMonthMilliseconds,
  scopeUsageProjection,
  WITHOUT_POOL,
} from '../../../src/projections/worker-pools/scope-usage-view.ts';
import { foldViews, recorded } from '../../specification.ts';

type Runs = Extract<WorkerEvent, { type: 'InstanceCreated' | 'InstanceTerminated' }> | ProviderAccountEvent;
type Tasks = Extract<WorkerEvent, { type: 'TaskStarted' | 'TaskFinished' }>;

const HOUR = 3_600_000;
const SECOND = 1000;
const of = { worker: 'spot-001', pool: 'spot' } as const;

let position = 0n;

function at<E extends Runs | Tasks>(event: E, instant: string): RecordedEvent<E> {
  position += 1n;
  return recorded(event, instant, { stream: 'worker-spot-001', revision: position });
}

function created(run: string, instant: string): RecordedEvent<Runs> {
  return at({ type: 'InstanceCreated', data: { ...of, run, instanceCreatedAt: instant, workerPoolData: {} } }, instant);
}

function gone(run: string, from: string, instant: string): RecordedEvent<Runs> {
  const data = { ...of, run, instanceCreatedAt: from, terminatedAt: instant, because: 'idle' };
  return at({ type: 'InstanceTerminated', data }, instant);
}

function started(task: string, pool: string | null, instant: string): RecordedEvent<Tasks> {
  const data = { worker: 'w', pool, run: null, task, scope: 'debian', expectedSeconds: 60, startedAt: instant };
  return at({ type: 'TaskStarted', data }, instant);
}

function finished(task: string, pool: string | null, from: string, instant: string): RecordedEvent<Tasks> {
  const span = { startedAt: from, finishedAt: instant };
  const data = { worker: 'w', pool, run: null, task, scope: 'debian', outcome: 'finished' as const, ...span };
  return at({ type: 'TaskFinished', data }, instant);
}

function poolUsage(...events: RecordedEvent<Runs>[]): PoolUsageView | undefined {
  return foldViews(poolUsageProjection, events).get('spot');
}

function seconds(view: PoolUsageView | undefined, month: string, now: string): number {
  return poolMonthMilliseconds(view, month, epochMilliseconds(now)) / SECOND;
}

test('a running instance is counted from its creation up to now', () => {
  const view = poolUsage(created('a', '2026-11-27T20:00:00Z'));
  assert.is(seconds(view, '2026-11', '2026-11-27T20:00:00Z'), 0);
  assert.is(seconds(view, '2026-11', '2026-11-27T20:30:00Z'), 1800);
  assert.is(seconds(view, '2026-12', '2026-11-27T20:30:00Z'), 0);
});

test('an instance that is gone is counted to its end, whatever the time is now', () => {
  const view = poolUsage(
    created('a', '2026-11-27T20:00:00Z'),
    gone('a', '2026-11-27T20:00:00Z', '2026-11-27T21:00:00Z'),
  );
  for (const now of ['2026-11-27T21:00:00Z', '2027-05-01T00:00:00Z']) assert.is(seconds(view, '2026-11', now), 3600);
});

test('an instance over the end of a month is counted in both, split at midnight UTC', () => {
  const from = '2026-10-31T23:00:00Z';
  const running = poolUsage(created('a', from));
  assert.is(seconds(running, '2026-10', '2026-11-01T02:00:00Z'), 3600);
  assert.is(seconds(running, '2026-11', '2026-11-01T02:00:00Z'), 7200);
  const ended = poolUsage(created('a', from), gone('a', from, '2026-11-01T02:00:00Z'));
  assert.is(seconds(ended, '2026-10', '2026-11-05T00:00:00Z'), 3600);
  assert.is(seconds(ended, '2026-11', '2026-11-05T00:00:00Z'), 7200);
});

test('an instance that runs a whole month and more fills that month, leap February included', () => {
  const from = '2028-01-20T12:00:00Z';
  const ended = poolUsage(created('a', from), gone('a', from, '2028-03-02T00:00:00Z'));
  const now = '2028-04-01T00:00:00Z';
  assert.is(seconds(ended, '2028-01', now), 11.5 * 86_400);
  assert.is(seconds(ended, '2028-02', now), 29 * 86_400);
  assert.is(seconds(ended, '2028-03', now), 86_400);
});

function hoursByDay(view: PoolUsageView | undefined, now: string): Record<string, number> {
  const days = poolDayMilliseconds(view, epochMilliseconds(now));
  return Object.fromEntries(
    days.filter((day) => day.milliseconds > 0).map((day) => [day.day, day.milliseconds / HOUR]),
  );
}

test('each day has the hours of what ended and of what still runs', () => {
  const from = '2026-11-26T22:00:00Z';
  const view = poolUsage(
    created('a', from),
    created('b', '2026-11-27T12:00:00Z'),
    gone('a', from, '2026-11-27T06:00:00Z'),
  );
  assert.equal(hoursByDay(view, '2026-11-28T01:00:00Z'), { '2026-11-26': 2, '2026-11-27': 18, '2026-11-28': 1 });
  assert.is(poolDayMilliseconds(view, epochMilliseconds('2026-11-28T01:00:00Z')).length, 31, 'days without any too');
});

test('a month of days is kept, however long something ran, and however many days there were', () => {
  const from = '2026-01-01T00:00:00Z';
  const long = poolUsage(created('a', from), gone('a', from, '2026-11-28T00:00:00Z'));
  assert.is(Object.keys(long?.days ?? {}).length, 31);
  assert.is(long?.days['2026-11-27'], 24 * HOUR);
  const next = poolUsage(
    created('a', from),
    gone('a', from, '2026-11-28T00:00:00Z'),
    created('b', '2026-11-28T00:00:00Z'),
    gone('b', '2026-11-28T00:00:00Z', '2026-11-28T01:00:00Z'),
  );
  assert.equal(Object.keys(next?.days ?? {}).slice(-2), ['2026-11-27', '2026-11-28']);
  assert.is(Object.keys(next?.days ?? {}).length, 31);
});

test('a termination that is told again is one account', () => {
  const from = '2026-11-27T20:00:00Z';
  const once = poolUsage(created('a', from), gone('a', from, '2026-11-27T21:00:00Z'));
  const twice = poolUsage(
    created('a', from),
    gone('a', from, '2026-11-27T21:00:00Z'),
    gone('a', from, '2026-11-27T22:00:00Z'),
  );
  assert.equal(once?.months, { '2026-11': HOUR });
  assert.equal(twice?.months, { '2026-11': HOUR });
});

test('a clock that was set back counts nothing, and nothing negative', () => {
  const from = '2026-11-27T20:00:00Z';
  assert.is(seconds(poolUsage(created('a', from)), '2026-11', '2026-11-27T19:00:00Z'), 0);
  assert.equal(poolUsage(created('a', from), gone('a', from, from))?.months, {});
});

test('the host’s time zone changes no account', () => {
  const before = process.env['TZ'];
  const from = '2026-10-31T23:00:00Z';
  try {
    for (const zone of ['Pacific/Kiritimati', 'America/St_Johns']) {
      process.env['TZ'] = zone;
      const view = poolUsage(created('a', from), gone('a', from, '2026-11-01T01:00:00Z'));
      assert.equal(view?.months, { '2026-10': HOUR, '2026-11': HOUR });
    }
  } finally {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  }
});

test('the months of any runs add up to the runs; applying any of the events again changes nothing', () => {
  const span = fc.tuple(fc.integer({ min: 0, max: 2_000_000 }), fc.integer({ min: 0, max: 6_000_000 }));
  fc.assert(
    fc.property(fc.array(span, { minLength: 1, maxLength: 6 }), fc.nat(), (spans, cut) => {
      const start = epochMilliseconds('2026-09-20T00:00:00Z');
      const events = spans.flatMap(([offset, length], index) => {
        const from = instantText(start + offset * SECOND);
        const to = instantText(start + (offset + length) * SECOND);
        return [created(`run${index}`, from), gone(`run${index}`, from, to)];
      });
      const view = poolUsage(...events)!;
      const sum = Object.values(view.months).reduce((total, milliseconds) => total + milliseconds, 0);
      assert.is(
        sum,
        spans.reduce((total, [, length]) => total + length * SECOND, 0),
      );
      const again = events
        .slice(cut % events.length)
        .reduce<PoolUsageView | undefined>((known, event) => poolUsageProjection.evolve(known, event, 'spot'), view);
      assert.equal(again, view);
    }),
    { numRuns: 50 },
  );
});

test('a scope’s tasks are counted from start to end, by pool; idle and booting time is nobody’s', () => {
  const view = foldViews(scopeUsageProjection, [
    started('t1', 'spot', '2026-10-31T23:50:00Z'),
    finished('t1', 'spot', '2026-10-31T23:50:00Z', '2026-11-01T00:20:00Z'),
    finished('t1', 'spot', '2026-10-31T23:50:00Z', '2026-11-01T00:40:00Z'),
    started('t2', null, '2026-11-01T00:30:00Z'),
    started('t3', 'spot', '2026-11-01T01:00:00Z'),
  ]).get('debian');
  const now = epochMilliseconds('2026-11-01T01:30:00Z');
  assert.is(scopeMonthMilliseconds(view, 'spot', '2026-10', now) / SECOND, 600);
  assert.is(scopeMonthMilliseconds(view, 'spot', '2026-11', now) / SECOND, 1200 + 1800);
  assert.is(scopeMonthMilliseconds(view, WITHOUT_POOL, '2026-11', now) / SECOND, 3600);
  assert.is(monthOf(now), '2026-11');
});

/** An instant as events write it: `2026-11-27T20:50:00.123+00:00`. */
function instantText(epoch: number): string {
  return new Date(epoch).toISOString().replace('Z', '+00:00');
}

test.run();
