import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RangeMap } from '../../../src/addresses/range-map.ts';
import { RangeSet } from '../../../src/addresses/range-set.ts';
import { parseRangeTexts } from '../../../src/addresses/range-text.ts';
import { openAggregate } from '../../../src/commands/aggregate.ts';
import { customerDecider, type CustomerCommand } from '../../../src/commands/ip-control/customer.ts';
import type { CustomerState } from '../../../src/commands/ip-control/customer-state.ts';
import { regionAddresses } from '../../../src/domain/ip-control/address-ledger.ts';
import { termFrom } from '../../../src/domain/ip-control/disabled-term.ts';
import type { CustomerEvent } from '../../../src/events/ip-control/customer.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { isHandled, type RecordedEvent } from '../../../src/kernel/event.ts';
import type { Log } from '../../../src/ports/log.ts';
import { AppendTooLarge, type EventStore } from '../../../src/ports/event-store.ts';
import {
  type EndDisabledTermDuty,
  expiry,
  type ExpiryState,
  performEndDisabledTerm,
} from '../../../src/processes/ip-control/expiry.ts';
import { openProcess } from '../../../src/processes/process-manager.ts';
import { openEmbeddedLog } from '../../support/stores/embedded-log.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { recorded, specifyProcess } from '../../specification.ts';
import {
  assigned,
  disable,
  disabled,
  disabledFor,
  enable,
  enabled,
  list,
  NOON,
  registered,
  released,
  termChanged,
  termEnded,
} from '../../commands/ip-control/customer-examples.ts';
import { Temporal } from '@js-temporal/polyfill';

const handles = new Set<string>(expiry.handles);
type Watched = Parameters<typeof expiry.keysOf>[0];
const BYTES_MAX = 1_000;
const MINUTES = (minutes: number) => ({
  until: `2026-11-27T12:${minutes}:00.000+00:00`,
  milliseconds: minutes * 60_000,
});

function given(...history: readonly (readonly [time: string, event: CustomerEvent])[]) {
  const events = history.map(([time, event], index): RecordedEvent =>
    recorded(event, `2026-11-27T${time}Z`, { revision: BigInt(index) }),
  );
  return specifyProcess(expiry).given(...events.filter((event): event is Watched => isHandled(handles, event)));
}

/** What is owed at a time of the day: how many addresses, until when. */
function owedAt(events: readonly (readonly [time: string, event: CustomerEvent])[], time: string): readonly string[] {
  let state: ExpiryState | undefined;
  for (const [index, [at, event]] of events.entries()) {
    const told: RecordedEvent = recorded(event, `2026-11-27T${at}Z`, { revision: BigInt(index) });
    if (isHandled<Watched>(handles, told)) state = expiry.evolve(state, told, '7');
  }
  if (state === undefined) return [];
  const now = Temporal.Instant.from(`2026-11-27T${time}Z`).epochMilliseconds;
  return expiry
    .owed(state, ({ at }) => now - Temporal.Instant.from(at).epochMilliseconds)
    .map(({ data }) => `${RangeSet.from(data.ranges).toJSON().join(' ')} until ${data.until}`);
}

test('the end is owed when its time is over, and not a moment before', () => {
  const history = [['12:00:00', disabledFor(MINUTES(30), ['192.0.2.1'])]] as const;
  assert.equal(owedAt(history, '12:29:59.999'), []);
  assert.equal(owedAt(history, '12:30:00'), ['192.0.2.1 until 2026-11-27T12:30:00.000+00:00']);
  given(...history).wakesAt('2026-11-27T12:30:00Z');
});

test('what is disabled for good, enabled, made permanent, or gone with its subnet is not watched', () => {
  given(['12:00:00', disabled(['192.0.2.1'])]).isOver();
  const until = ['12:00:00', disabledFor(MINUTES(30), ['192.0.2.1'])] as const;
  given(until, ['12:01:00', enabled(['192.0.2.1'])]).isOver();
  given(until, ['12:01:00', termChanged(undefined, ['192.0.2.1'])]).isOver();
  given(until, ['12:01:00', released(1, '192.0.2.0/24', ['192.0.2.1'])]).isOver();
  given(until, ['12:30:00', termEnded(['192.0.2.1'])]).isOver();
});

test('a later call counts from itself on', () => {
  const history = [
    ['12:00:00', disabledFor(MINUTES(30), ['192.0.2.1-192.0.2.2'])],
    ['12:10:00', termChanged(NOON, ['192.0.2.2'])],
  ] as const;
  assert.equal(owedAt(history, '12:30:00'), ['192.0.2.1 until 2026-11-27T12:30:00.000+00:00']);
});

test('what several calls have disabled until the same instant ends at once, each part not before its own time', () => {
  const history = [
    ['12:00:00', disabledFor(MINUTES(30), ['192.0.2.1'])],
    ['12:00:01', disabledFor({ ...MINUTES(30), milliseconds: 1_799_000 }, ['192.0.2.4'])],
    // The wall clock was set back between the calls: the last one has the same end, and more time until then.
    ['12:10:00', disabledFor(MINUTES(30), ['192.0.2.9'])],
  ] as const;
  assert.equal(owedAt(history, '12:30:00'), ['192.0.2.1 192.0.2.4 until 2026-11-27T12:30:00.000+00:00']);
  assert.equal(owedAt(history, '12:40:00'), ['192.0.2.1 192.0.2.4 192.0.2.9 until 2026-11-27T12:30:00.000+00:00']);
});

test('what thousands of calls have disabled is looked at once, whenever it ends', () => {
  const [calls, at] = [4_000, '2026-11-27T12:00:00.000Z'];
  let looks = 0;
  class WatchedMap<V> extends RangeMap<V> {
    override *entries() {
      for (const entry of super.entries()) {
        looks += 1;
        yield entry;
      }
    }
  }
  const entries = Array.from({ length: calls }, (_, call) => {
    const address = BigInt(0x0a00_0000 + 2 * call);
    return {
      first: address,
      last: address,
      value: { until: `${call % 3_000}`, from: { position: call, at }, milliseconds: 1 },
    };
  });
  const duties = expiry.owed({ customerId: 7, regions: new Map([[1, new WatchedMap(entries)]]) }, () => 1);
  assert.is(duties.length, 3_000);
  assert.is(duties.flatMap(({ data }) => data.ranges).length, calls);
  assert.is(new Set(duties.map(({ id }) => id)).size, duties.length);
  assert.is(looks, calls);
});

// Random histories, under a clock that anybody may set

const CELLS = ['192.0.2.0', '192.0.2.1', '192.0.2.2', '192.0.2.3'];
/** A round of the process and the millisecond of the manual clock. */
const TOLERANCE_SECONDS = 1;

type Step =
  | Readonly<{ do: 'disable'; cells: readonly number[]; minutes: number | undefined }>
  | Readonly<{ do: 'enable'; cells: readonly number[] }>
  | Readonly<{ do: 'pass'; seconds: number }>
  | Readonly<{ do: 'set'; seconds: number }>
  | Readonly<{ do: 'kill' }>;

const cells = fc.uniqueArray(fc.nat(CELLS.length - 1), { minLength: 1, maxLength: 4 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('disable' as const),
    cells,
    minutes: fc.constantFrom(undefined, 1, 2, 5),
  }),
  fc.record({ do: fc.constant('enable' as const), cells }),
  // Whole minutes make different calls end at the same instant.
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      seconds: fc.oneof(fc.constant(60), fc.integer({ min: 1, max: 200 })),
    }),
  },
  fc.record({
    do: fc.constant('set' as const),
    seconds: fc.oneof(fc.constantFrom(-60, 60), fc.integer({ min: -7_200, max: 7_200 })),
  }),
  fc.constant({ do: 'kill' as const }),
);

/**
 * The naive model: an address, and the second of true time at which it is enabled by itself. Since a kill, what is there is known by the
 * wall clock alone. A call that names the very instant that is known changes nothing, and so does not count from itself on.
 */
type Truth = Map<number, { until: string | undefined; ends: number | undefined; isLive: boolean }>;

async function openWorld() {
  const clock = createManualClock('2026-11-27T12:00:00Z');
  const truth: Truth = new Map();
  let state: ExpiryState | undefined;
  let customer: CustomerState = customerDecider.initial;
  let [position, at] = [0n, ''];
  for (const event of [registered(), assigned(1, '192.0.2.0/24')]) append(event);
  let running = start();
  const now = (): number => clock.monotonicMilliseconds() / 1000;

  return {
    ask,
    truth,
    now,
    set: (seconds: number) => clock.setWallClock(clock.now().add({ seconds })),
    term: (minutes: number) => {
      const term = termFrom(Temporal.Duration.from({ minutes }), clock.now());
      if ('problem' in term) throw new Error(term.problem);
      return term;
    },
    pass: async (seconds: number) => {
      for (let second = 0; second < seconds; second += 1) {
        await clock.advance({ seconds: 1 });
        for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
        for (const [cell, { ends, isLive }] of truth)
          if (isLive && ends !== undefined)
            assert.ok(now() < ends + TOLERANCE_SECONDS, `${CELLS[cell]} ends at ${ends}, and at ${now()} has not`);
      }
    },
    kill: async () => {
      await running.stop();
      for (const [cell, known] of truth) truth.set(cell, { ...known, isLive: false });
      running = start();
      await new Promise((resolve) => void setImmediate(resolve));
    },
    disabledNow: (): RangeSet | undefined =>
      customer.phase === 'registered' ? customer.ledger.get(1)?.disabled : undefined,
    close: () => running.stop(),
  };

  function ask(command: CustomerCommand): readonly CustomerEvent[] {
    const events = customerDecider.decide(command, customer);
    if (isRefusal(events)) throw new Error(events.because);
    for (const event of events) append(event);
    return events;
  }

  function append(event: CustomerEvent): void {
    position += 1n;
    const told: RecordedEvent = recorded(event, clock.nowText() < at ? at : clock.nowText(), { revision: position });
    at = told.metadata.at;
    customer = customerDecider.evolve(customer, { ...event, revision: position });
    if (!isHandled<Watched>(handles, told)) return;
    state = throughStore(expiry.evolve(state, told, '7'));
    running.touched(['7'], position);
  }

  function start() {
    const runner = openProcess(expiry, pay, {
      states: { get: async () => state, list: async () => (state === undefined ? [] : [{ key: '7', view: state }]) },
      store: { end: async () => position },
      clock,
      log: silent,
      reached: async () => true,
      concurrency: 4,
    });
    const stop = new AbortController();
    const ended = runner.run(stop.signal, new AbortController().signal);
    return { touched: runner.touched, stop: () => (stop.abort(), ended) };
  }

  async function pay({ data }: EndDisabledTermDuty): Promise<void> {
    const { regionId, until, ranges } = data;
    const addresses = RangeSet.from(ranges);
    for (const event of ask({ type: 'EndDisabledTerm', data: { regionId, until, addresses } })) {
      if (event.type !== 'AddressesEnabled') throw new Error(event.type);
      for (const [cell, text] of CELLS.entries()) {
        if (!addresses.toJSON().some((range) => holds(range, text))) continue;
        const known = truth.get(cell);
        assert.ok(known?.ends !== undefined, `${text} is disabled for a time`);
        if (known.isLive) assert.ok(now() >= known.ends, `${text} ends at ${known.ends}, and has at ${now()} already`);
        truth.delete(cell);
      }
    }
  }
}

const silent: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (fields) => assert.unreachable(JSON.stringify(fields)),
  child: () => silent,
};

function throughStore(state: ExpiryState | undefined): ExpiryState | undefined {
  const stored = expiry.stored;
  if (state === undefined || stored === undefined) return state;
  return stored.decode(JSON.parse(JSON.stringify(stored.encode(state))));
}

function holds(range: string, text: string): boolean {
  const [first = '', last = first] = range.split('-');
  return first <= text && text <= last;
}

test('whatever is disabled until when, each address is enabled at its time, by the time that really passed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 25 }), async (steps) => {
      const world = await openWorld();
      try {
        for (const next of steps) {
          if (next.do === 'pass') await world.pass(next.seconds);
          else if (next.do === 'set') world.set(next.seconds);
          else if (next.do === 'kill') await world.kill();
          else {
            const target = list(...next.cells.map((cell) => CELLS[cell] ?? ''));
            if (next.do === 'enable') {
              world.ask(enable(target));
              for (const cell of next.cells) world.truth.delete(cell);
              continue;
            }
            const term = next.minutes === undefined ? undefined : world.term(next.minutes);
            world.ask(disable(target, false, term));
            const ends = next.minutes === undefined ? undefined : world.now() + next.minutes * 60;
            for (const cell of next.cells) {
              const known = world.truth.get(cell);
              if (known === undefined || known.until !== term?.until)
                world.truth.set(cell, { until: term?.until, ends, isLive: true });
            }
          }
          const expected = list(...[...world.truth.keys()].map((cell) => CELLS[cell] ?? ''));
          assert.equal(world.disabledNow()?.toJSON(), expected.mode === 'list' ? expected.set.toJSON() : []);
        }
      } finally {
        await world.close();
      }
    }),
    {
      numRuns: 60,
      examples: [
        [
          [
            { do: 'disable', cells: [1], minutes: 2 },
            { do: 'set', seconds: 60 },
            { do: 'disable', cells: [1], minutes: 1 },
            { do: 'pass', seconds: 61 },
            { do: 'enable', cells: [0] },
          ],
        ],
      ],
    },
  );
});

test('what is more than the store takes at once ends in smaller parts', async () => {
  const log = await openEmbeddedLog();
  const texts = Array.from({ length: 120 }, (_, at) => `192.0.2.${at * 2}`);
  await log.append('customer-7', registered(), assigned(1, '192.0.2.0/24'), disabledFor(NOON, texts));
  const append: EventStore['append'] = (stream, expected, events) => {
    const bytes = JSON.stringify(events.map(({ data }) => data)).length;
    return bytes > BYTES_MAX
      ? Promise.reject(new AppendTooLarge(stream, bytes, BYTES_MAX))
      : log.store.append(stream, expected, events);
  };
  const customers = openAggregate(customerDecider, log.dependencies({ store: { ...log.store, append } }));
  const perform = performEndDisabledTerm({
    customers,
    regions: { state: async () => ({ state: { phase: 'absent' } }) },
  });
  const ranges = [...parseRangeTexts(texts).ranges()];
  const data = { customerId: 7, regionId: 1, until: NOON.until, ranges };
  await perform({ type: 'EndDisabledTerm', id: '7/1@3', data }, new AbortController().signal);
  const { state } = await customers.state(7);
  assert.ok(state.phase === 'registered' && regionAddresses(state.ledger, 1).disabled.isEmpty);
  assert.ok(regionAddresses(state.ledger, 1).terms.isEmpty);
  await log.close();
});

test.run();
