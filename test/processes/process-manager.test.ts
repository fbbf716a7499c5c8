import { Temporal } from '@js-temporal/polyfill';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Duty, Perform, Process } from '../../src/kernel/process.ts';
import { ViewsBehind } from '../../src/ports/event-store.ts';
import type { Log } from '../../src/ports/log.ts';
import { openProcess } from '../../src/processes/process-manager.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { waitUntil } from '../support/wait-until.ts';

/** What is owed for one key: by name, from when on (seconds after the start). */
type Debts = Readonly<Record<string, number>>;
type Payment = Duty<'Pay', { name: string }>;

const START = Temporal.Instant.from('2026-11-27T20:50:00Z');
const BEGUN = { position: 0, at: START.toString() };
const at = (seconds: number): Temporal.Instant => START.add({ milliseconds: Math.round(seconds * 1000) });

const paying: Process<never, Debts, Payment> = {
  name: 'paying',
  version: 1,
  handles: [],
  keysOf: () => [],
  evolve: (state) => state,
  owed: (debts, since) =>
    Object.entries(debts)
      .filter(([, due]) => due * 1000 <= since(BEGUN))
      .map(([name]) => ({ type: 'Pay', id: name, data: { name } })),
  wakesIn: (debts, since) =>
    Object.keys(debts).length === 0 ? undefined : Math.min(...Object.values(debts)) * 1000 - since(BEGUN),
};

type Setting = Readonly<{
  debts?: Readonly<Record<string, Debts>>;
  perform?: (name: string, signal: AbortSignal) => Promise<void>;
  concurrency?: number;
  /** Debts whose names begin with the same letter get no more than so many places. */
  partitionConcurrency?: number;
  everyMilliseconds?: number;
  reached?: (position: bigint) => Promise<boolean>;
  list?: () => Promise<void>;
  get?: (key: string) => Promise<void>;
}>;

/** A process with its debts in memory, under a clock that stands still. A debt that was paid is gone. */
function openPayments(setting: Setting = {}) {
  const clock: ManualClock = createManualClock(START);
  const debts = new Map(Object.entries(setting.debts ?? {}));
  const begun: string[] = [];
  const paid: string[] = [];
  const lines: string[] = [];
  let underWay = 0;
  let mostUnderWay = 0;
  const perform: Perform<Payment> = async ({ data: { name } }, signal) => {
    begun.push(name);
    underWay += 1;
    mostUnderWay = Math.max(mostUnderWay, underWay);
    try {
      await setting.perform?.(name, signal);
      for (const [key, owed] of debts) {
        debts.set(key, Object.fromEntries(Object.entries(owed).filter(([other]) => other !== name)));
      }
      paid.push(name);
    } finally {
      underWay -= 1;
    }
  };
  const process = openProcess(paying, perform, {
    states: {
      list: async () => {
        await setting.list?.();
        return [...debts].map(([key, view]) => ({ key, view }));
      },
      get: async (key) => {
        await setting.get?.(key);
        return debts.get(key);
      },
    },
    store: { end: async () => 1n },
    clock,
    log: logInto(lines),
    reached: setting.reached ?? (async () => true),
    concurrency: setting.concurrency ?? 10,
    ...(setting.partitionConcurrency === undefined
      ? {}
      : {
          partitions: {
            of: ({ data: { name } }: Payment) => name.charAt(0),
            concurrency: setting.partitionConcurrency,
          },
        }),
    ...(setting.everyMilliseconds === undefined ? {} : { everyMilliseconds: setting.everyMilliseconds }),
  });
  const [stop, abort] = [new AbortController(), new AbortController()];
  const ended = process.run(stop.signal, abort.signal);
  return {
    clock,
    begun,
    paid,
    lines,
    mostUnderWay: () => mostUnderWay,
    owe: (key: string, owed: Debts) => {
      debts.set(key, { ...debts.get(key), ...owed });
      process.touched([key], 1n);
    },
    touch: (key: string) => process.touched([key], 1n),
    stop: () => stop.abort(),
    abort: () => abort.abort(new Error('stopped at last')),
    ended,
    end: async () => {
      stop.abort();
      abort.abort();
      await ended;
    },
  };
}

function logInto(lines: string[]): Log {
  const write = (_fields: object, message: string): void => void lines.push(message);
  const log: Log = { debug: () => undefined, info: write, warn: write, error: write, child: () => log };
  return log;
}

/** Lets everything happen that can happen without time passing. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
}

/** Promises that a test settles. */
function gates() {
  const open = new Map<string, () => void>();
  return {
    pass: (name: string) => new Promise<void>((resolve) => void open.set(name, resolve)),
    open: (name: string) => open.get(name)?.(),
    names: () => [...open.keys()],
  };
}

// When duties are looked for

test('what is owed at the start is paid', async () => {
  const payments = openPayments({ debts: { a: { rent: 0 }, b: { tax: -60, fine: 0 } } });
  await quiet();
  assert.equal(payments.paid.toSorted(), ['fine', 'rent', 'tax']);
  await payments.end();
});

test('what an event makes owed is paid at once', async () => {
  const payments = openPayments();
  await quiet();
  payments.owe('a', { rent: 0 });
  await quiet();
  assert.equal(payments.paid, ['rent']);
  payments.owe('a', { tax: 0 });
  payments.owe('b', { fine: 0 });
  await quiet();
  assert.equal(payments.paid, ['rent', 'tax', 'fine']);
  await payments.end();
});

test('what becomes owed later is paid when it is, and not before', async () => {
  const payments = openPayments({ debts: { a: { rent: 30, tax: 90 } } });
  await payments.clock.advance({ seconds: 29 });
  assert.equal(payments.paid, []);
  await payments.clock.advance({ seconds: 1 });
  await quiet();
  assert.equal(payments.paid, ['rent']);
  await payments.clock.advance({ seconds: 59 });
  assert.equal(payments.paid, ['rent']);
  await payments.clock.advance({ seconds: 1 });
  await quiet();
  assert.equal(payments.paid, ['rent', 'tax']);
  await payments.end();
});

test('an earlier date replaces a later one', async () => {
  const payments = openPayments({ debts: { a: { rent: 3_000 } } });
  await quiet();
  payments.owe('a', { tax: 5 });
  await quiet();
  await payments.clock.advance({ seconds: 5 });
  await quiet();
  assert.equal(payments.paid, ['tax']);
  await payments.end();
});

test('a month ahead is no problem', async () => {
  const payments = openPayments({ debts: { a: { rent: 86_400 * 31 } } });
  await payments.clock.advance({ hours: 24 * 31 - 1 });
  assert.equal(payments.paid, []);
  await payments.clock.advance({ hours: 1 });
  await quiet();
  assert.equal(payments.paid, ['rent']);
  await payments.end();
});

test('a wall clock that is set forward hastens nothing, one that is set back delays nothing', async () => {
  const payments = openPayments({ debts: { a: { rent: 90 } } });
  await quiet();
  payments.clock.setWallClock(at(86_400));
  await payments.clock.advance({ seconds: 60 });
  await quiet();
  assert.equal(payments.paid, []);
  payments.clock.setWallClock(at(-86_400));
  await payments.clock.advance({ seconds: 30 });
  await quiet();
  assert.equal(payments.paid, ['rent']);
  await payments.end();
});

// A scheduler

test('a scheduler looks at its rhythm only: at the start, and then every minute', async () => {
  const payments = openPayments({ debts: { a: { rent: 0 } }, everyMilliseconds: 60_000 });
  await quiet();
  assert.equal(payments.paid, ['rent']);
  payments.owe('a', { tax: 0 });
  payments.owe('b', { fine: 90 });
  await payments.clock.advance({ seconds: 59 });
  await quiet();
  assert.equal(payments.paid, ['rent']);
  await payments.clock.advance({ seconds: 1 });
  await quiet();
  assert.equal(payments.paid, ['rent', 'tax']);
  await payments.clock.advance({ seconds: 59 });
  assert.equal(payments.paid, ['rent', 'tax']);
  await payments.clock.advance({ seconds: 1 });
  await quiet();
  assert.equal(payments.paid, ['rent', 'tax', 'fine']);
  await payments.end();
});

test('what finds no free place in a round of the scheduler gets one in the same round', async () => {
  const debts = Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`k${n}`, { [`d${n}`]: 0 }]));
  const payments = openPayments({ debts, concurrency: 2, everyMilliseconds: 60_000 });
  await quiet();
  await waitUntil('all are paid', () => payments.paid.length === 25);
  await payments.end();
});

// Failures

test('a payment that fails is tried again after ever longer rests, at most a minute', async () => {
  let isFailing = true;
  const payments = openPayments({
    debts: { a: { rent: 0 } },
    perform: async () => {
      if (isFailing) throw new Error('the bank is closed');
    },
  });
  await quiet();
  assert.is(payments.begun.length, 1);
  for (const [tries, seconds] of [0.5, 1, 2, 4, 8, 16, 32, 60, 60, 60].entries()) {
    await payments.clock.advance({ milliseconds: seconds * 1000 - 1 });
    await quiet();
    assert.is(payments.begun.length, tries + 1, `nothing within ${seconds} s`);
    await payments.clock.advance({ milliseconds: 1 });
    await quiet();
    assert.is(payments.begun.length, tries + 2, `again after ${seconds} s`);
  }
  isFailing = false;
  await payments.clock.advance({ seconds: 60 });
  await quiet();
  assert.equal(payments.paid, ['rent']);
  assert.is(payments.lines.filter((line) => line.includes('could not be paid')).length, 11);
  await payments.end();
});

test('a wall clock that is set back delays no second try', async () => {
  let isFailing = true;
  const payments = openPayments({
    debts: { a: { rent: -7_200 } },
    perform: async () => {
      if (isFailing) throw new Error('the bank is closed');
    },
  });
  await quiet();
  isFailing = false;
  payments.clock.setWallClock(at(-3_600));
  await payments.clock.advance({ milliseconds: 500 });
  await quiet();
  assert.equal(payments.paid, ['rent']);
  await payments.end();
});

test('an event does not shorten the rest after a failure', async () => {
  const payments = openPayments({ debts: { a: { rent: 0 } }, perform: () => Promise.reject(new Error('no')) });
  await quiet();
  payments.touch('a');
  payments.touch('a');
  await quiet();
  assert.is(payments.begun.length, 1);
  await payments.end();
});

test('one that fails, or hangs, delays no other', async () => {
  const gate = gates();
  const payments = openPayments({
    debts: { a: { hanging: 0 }, b: { failing: 0 }, c: { rent: 0 } },
    perform: async (name) => {
      if (name === 'failing') throw new Error('no');
      if (name === 'hanging') await gate.pass(name);
    },
  });
  await quiet();
  payments.owe('d', { tax: 0 });
  await quiet();
  assert.equal(payments.paid, ['rent', 'tax']);
  gate.open('hanging');
  await quiet();
  assert.equal(payments.paid, ['rent', 'tax', 'hanging']);
  await payments.end();
});

test('states that can not be read are read later', async () => {
  let failures = 4;
  const fail = async (): Promise<void> => {
    failures -= 1;
    if (failures >= 0) throw new Error('the views are catching up');
  };
  const payments = openPayments({ debts: { a: { rent: 0 } }, list: fail, get: fail });
  for (let seconds = 0; seconds < 20 && payments.paid.length === 0; seconds += 1) {
    await payments.clock.advance({ seconds: 1 });
    await quiet();
  }
  assert.equal(payments.paid, ['rent']);
  await payments.end();
});

test('views that catch up for long are waited for without a line of trouble', async () => {
  let isBehind = true;
  const behind = async (): Promise<void> => {
    if (isBehind) throw new ViewsBehind('the views are catching up');
  };
  const payments = openPayments({ debts: { a: { rent: 0 } }, list: behind, get: behind });
  for (let seconds = 0; seconds < 30; seconds += 1) await payments.clock.advance({ seconds: 1 });
  payments.touch('a');
  await quiet();
  isBehind = false;
  for (let seconds = 0; seconds < 30 && payments.paid.length === 0; seconds += 1) {
    await payments.clock.advance({ seconds: 1 });
    await quiet();
  }
  assert.equal(payments.paid, ['rent']);
  assert.equal(payments.lines, []);
  await payments.end();
});

// Once, not twice

test('a duty is not performed again while its settling event is on its way', async () => {
  const gate = gates();
  const pay = openPayments({
    debts: { a: { rent: 0 } },
    perform: async () => undefined,
    reached: async () => {
      await gate.pass('reached');
      return true;
    },
  });
  await quiet();
  // The state still owes it, as its event has not been applied yet.
  pay.owe('a', { rent: 0 });
  pay.touch('a');
  await quiet();
  assert.equal(pay.begun, ['rent']);
  gate.open('reached');
  await quiet();
  await pay.end();
});

test('two states that owe the same duty have it paid once', async () => {
  const gate = gates();
  const payments = openPayments({ debts: { a: { rent: 0 }, b: { rent: 0 } }, perform: () => gate.pass('rent') });
  await quiet();
  assert.equal(payments.begun, ['rent']);
  gate.open('rent');
  await quiet();
  assert.equal(payments.begun, ['rent']);
  await payments.end();
});

test('a duty that is owed still after it was paid is not paid again without a rest', async () => {
  const payments = openPayments({
    debts: { a: { rent: 0 } },
    reached: async () => {
      payments.owe('a', { rent: 0 });
      return false;
    },
  });
  await quiet();
  assert.is(payments.begun.length, 1);
  await payments.clock.advance({ milliseconds: 500 });
  await quiet();
  assert.is(payments.begun.length, 2);
  await payments.end();
});

// Bounds

test('no more than so many are performed at once, first come first served', async () => {
  const gate = gates();
  const names = Array.from({ length: 9 }, (_, n) => `d${n}`);
  const payments = openPayments({
    debts: Object.fromEntries(names.map((name, n) => [`k${n}`, { [name]: 0 }])),
    perform: (name) => gate.pass(name),
    concurrency: 3,
  });
  await quiet();
  assert.equal(payments.begun, ['d0', 'd1', 'd2']);
  for (const [n, name] of names.entries()) {
    gate.open(name);
    await quiet();
    assert.equal(payments.begun, names.slice(0, Math.min(n + 4, 9)));
  }
  assert.equal(payments.paid, names);
  assert.is(payments.mostUnderWay(), 3);
  await payments.end();
});

test('a thousand that wait for two places are not looked at a thousand times each', async () => {
  let looks = 0;
  const debts = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`k${n}`, { [`d${n}`]: 0 }]));
  const payments = openPayments({
    debts,
    concurrency: 2,
    get: async () => void (looks += 1),
  });
  await waitUntil('all are paid', () => payments.paid.length === 1_000);
  assert.ok(looks < 5_000, `${looks} looks`);
  await payments.end();
});

test('one lane never takes the places of the others, however much it is owed', async () => {
  const gate = gates();
  const payments = openPayments({
    debts: Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`k${n}`, { [`a${n}`]: 0 }])),
    perform: (name) => (name.startsWith('a') ? gate.pass(name) : Promise.resolve()),
    concurrency: 4,
    partitionConcurrency: 3,
  });
  await quiet();
  assert.equal(payments.begun, ['a0', 'a1', 'a2']);
  for (let n = 0; n < 20; n += 1) payments.owe(`other${n}`, { [`b${n}`]: 0 });
  await quiet();
  assert.equal(
    payments.paid,
    Array.from({ length: 20 }, (_, n) => `b${n}`),
  );
  for (let n = 0; n < 50; n += 1) {
    gate.open(`a${n}`);
    await quiet();
  }
  assert.is(payments.paid.length, 70);
  assert.ok(payments.mostUnderWay() <= 4);
  await payments.end();
});

test('a key that waits in two partitions takes the place of one', async () => {
  const gate = gates();
  const payments = openPayments({
    debts: { x: { a0: 0, b0: 0 }, y: { a1: 0, b1: 0 }, z: { a2: 0, b2: 0 } },
    perform: (name) => gate.pass(name),
    concurrency: 2,
    partitionConcurrency: 1,
  });
  await quiet();
  for (let round = 0; round < 6; round += 1) {
    for (const name of payments.begun) gate.open(name);
    await quiet();
  }
  assert.equal(payments.paid.toSorted(), ['a0', 'a1', 'a2', 'b0', 'b1', 'b2']);
  await payments.end();
});

test('when places are scarce the partitions take turns', async () => {
  const gate = gates();
  const names = ['a0', 'a1', 'a2', 'a3', 'b0', 'b1', 'c0'];
  const payments = openPayments({
    debts: Object.fromEntries(names.map((name) => [name, { [name]: 0 }])),
    perform: (name) => gate.pass(name),
    concurrency: 1,
    partitionConcurrency: 1,
  });
  await quiet();
  for (let n = 0; n < names.length; n += 1) {
    gate.open(payments.begun.at(-1) ?? '');
    await quiet();
  }
  assert.equal(
    payments.begun
      .slice(0, 4)
      .map((name) => name.charAt(0))
      .toSorted(),
    ['a', 'a', 'b', 'c'],
  );
  assert.is(payments.paid.length, names.length);
  await payments.end();
});

// The end

test('stopping begins nothing new and waits for what is under way', async () => {
  const gate = gates();
  const payments = openPayments({ debts: { a: { rent: 0 }, b: { tax: 5 } }, perform: (name) => gate.pass(name) });
  await quiet();
  payments.stop();
  payments.owe('c', { fine: 0 });
  let isEnded = false;
  void payments.ended.then(() => (isEnded = true));
  await payments.clock.advance({ seconds: 60 });
  await quiet();
  assert.is(isEnded, false);
  gate.open('rent');
  await payments.ended;
  assert.equal(payments.begun, ['rent']);
  assert.equal(payments.paid, ['rent']);
});

test('what does not end by itself is broken off; that is no failure', async () => {
  const payments = openPayments({
    debts: { a: { rent: 0 } },
    perform: (_name, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true })),
  });
  await quiet();
  payments.stop();
  await quiet();
  payments.abort();
  await payments.ended;
  assert.equal(payments.paid, []);
  assert.equal(payments.lines, []);
});

test('stopping does not wait for states that can not be read yet', async () => {
  const gate = gates();
  const payments = openPayments({ debts: { a: { rent: 0 } }, list: () => gate.pass('list') });
  await quiet();
  payments.stop();
  await payments.ended;
  gate.open('list');
  await quiet();
  assert.equal([payments.begun, payments.lines], [[], []]);
});

test('a process that is stopped before it starts does nothing', async () => {
  const payments = openPayments({ debts: { a: { rent: 0 } } });
  payments.stop();
  await payments.ended;
  assert.equal(payments.begun, []);
});

test.run();
