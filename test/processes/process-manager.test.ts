import { Temporal } from '@js-temporal/polyfill';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Duty, Perform, Process } from '../../src/kernel/process.ts';
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
function openHouse(setting: Setting = {}) {
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
  const log: Log = { debug: write, info: write, warn: write, error: write, child: () => log };
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
  const application = openHouse({ debts: { a: { rent: 0 }, b: { tax: -60, fine: 0 } } });
  await quiet();
  assert.equal(application.paid.toSorted(), ['fine', 'rent', 'tax']);
  await application.end();
});

test('what an event makes owed is paid at once', async () => {
  const application = openHouse();
  await quiet();
  application.owe('a', { rent: 0 });
  await quiet();
  assert.equal(application.paid, ['rent']);
  application.owe('a', { tax: 0 });
  application.owe('b', { fine: 0 });
  await quiet();
  assert.equal(application.paid, ['rent', 'tax', 'fine']);
  await application.end();
});

test('what becomes owed later is paid when it is, and not before', async () => {
  const application = openHouse({ debts: { a: { rent: 30, tax: 90 } } });
  await application.clock.advance({ seconds: 29 });
  assert.equal(application.paid, []);
  await application.clock.advance({ seconds: 1 });
  await quiet();
  assert.equal(application.paid, ['rent']);
  await application.clock.advance({ seconds: 59 });
  assert.equal(application.paid, ['rent']);
  await application.clock.advance({ seconds: 1 });
  await quiet();
  assert.equal(application.paid, ['rent', 'tax']);
  await application.end();
});

test('an earlier date replaces a later one', async () => {
  const application = openHouse({ debts: { a: { rent: 3_000 } } });
  await quiet();
  application.owe('a', { tax: 5 });
  await quiet();
  await application.clock.advance({ seconds: 5 });
  await quiet();
  assert.equal(application.paid, ['tax']);
  await application.end();
});

test('a month ahead is no problem', async () => {
  const application = openHouse({ debts: { a: { rent: 86_400 * 31 } } });
  await application.clock.advance({ hours: 24 * 31 - 1 });
  assert.equal(application.paid, []);
  await application.clock.advance({ hours: 1 });
  await quiet();
  assert.equal(application.paid, ['rent']);
  await application.end();
});

test('a wall clock that is set forward hastens nothing, one that is set back delays nothing', async () => {
  const application = openHouse({ debts: { a: { rent: 90 } } });
  await quiet();
  application.clock.setWallClock(at(86_400));
  await application.clock.advance({ seconds: 60 });
  await quiet();
  assert.equal(application.paid, []);
  application.clock.setWallClock(at(-86_400));
  await application.clock.advance({ seconds: 30 });
  await quiet();
  assert.equal(application.paid, ['rent']);
  await application.end();
});

// A scheduler

test('a scheduler looks at its rhythm only: at the start, and then every minute', async () => {
  const application = openHouse({ debts: { a: { rent: 0 } }, everyMilliseconds: 60_000 });
  await quiet();
  assert.equal(application.paid, ['rent']);
  application.owe('a', { tax: 0 });
  application.owe('b', { fine: 90 });
  await application.clock.advance({ seconds: 59 });
  await quiet();
  assert.equal(application.paid, ['rent']);
  await application.clock.advance({ seconds: 1 });
  await quiet();
  assert.equal(application.paid, ['rent', 'tax']);
  await application.clock.advance({ seconds: 59 });
  assert.equal(application.paid, ['rent', 'tax']);
  await application.clock.advance({ seconds: 1 });
  await quiet();
  assert.equal(application.paid, ['rent', 'tax', 'fine']);
  await application.end();
});

test('what finds no free place in a round of the scheduler gets one in the same round', async () => {
  const debts = Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`k${n}`, { [`d${n}`]: 0 }]));
  const application = openHouse({ debts, concurrency: 2, everyMilliseconds: 60_000 });
  await quiet();
  await waitUntil('all are paid', () => application.paid.length === 25);
  await application.end();
});

// Failures

test('a payment that fails is tried again after ever longer rests, at most a minute', async () => {
  let isFailing = true;
  const application = openHouse({
    debts: { a: { rent: 0 } },
    perform: async () => {
      if (isFailing) throw new Error('the bank is closed');
    },
  });
  await quiet();
  assert.is(application.begun.length, 1);
  for (const [tries, seconds] of [0.5, 1, 2, 4, 8, 16, 32, 60, 60, 60].entries()) {
    await application.clock.advance({ milliseconds: seconds * 1000 - 1 });
    await quiet();
    assert.is(application.begun.length, tries + 1, `nothing within ${seconds} s`);
    await application.clock.advance({ milliseconds: 1 });
    await quiet();
    assert.is(application.begun.length, tries + 2, `again after ${seconds} s`);
  }
  isFailing = false;
  await application.clock.advance({ seconds: 60 });
  await quiet();
  assert.equal(application.paid, ['rent']);
  assert.is(application.lines.filter((line) => line.includes('could not be paid')).length, 11);
  await application.end();
});

test('a wall clock that is set back delays no second try', async () => {
  let isFailing = true;
  const application = openHouse({
    debts: { a: { rent: -7_200 } },
    perform: async () => {
      if (isFailing) throw new Error('the bank is closed');
    },
  });
  await quiet();
  isFailing = false;
  application.clock.setWallClock(at(-3_600));
  await application.clock.advance({ milliseconds: 500 });
  await quiet();
  assert.equal(application.paid, ['rent']);
  await application.end();
});

test('an event does not shorten the rest after a failure', async () => {
  const application = openHouse({ debts: { a: { rent: 0 } }, perform: () => Promise.reject(new Error('no')) });
  await quiet();
  application.touch('a');
  application.touch('a');
  await quiet();
  assert.is(application.begun.length, 1);
  await application.end();
});

test('one that fails, or hangs, delays no other', async () => {
  const gate = gates();
  const application = openHouse({
    debts: { a: { hanging: 0 }, b: { failing: 0 }, c: { rent: 0 } },
    perform: async (name) => {
      if (name === 'failing') throw new Error('no');
      if (name === 'hanging') await gate.pass(name);
    },
  });
  await quiet();
  application.owe('d', { tax: 0 });
  await quiet();
  assert.equal(application.paid, ['rent', 'tax']);
  gate.open('hanging');
  await quiet();
  assert.equal(application.paid, ['rent', 'tax', 'hanging']);
  await application.end();
});

test('states that can not be read are read later', async () => {
  let failures = 4;
  const fail = async (): Promise<void> => {
    failures -= 1;
    if (failures >= 0) throw new Error('the views are catching up');
  };
  const application = openHouse({ debts: { a: { rent: 0 } }, list: fail, get: fail });
  for (let seconds = 0; seconds < 20 && application.paid.length === 0; seconds += 1) {
    await application.clock.advance({ seconds: 1 });
    await quiet();
  }
  assert.equal(application.paid, ['rent']);
  await application.end();
});

// Once, not twice

test('a duty is not performed again while its settling event is on its way', async () => {
  const gate = gates();
  const pay = openHouse({
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
  const application = openHouse({ debts: { a: { rent: 0 }, b: { rent: 0 } }, perform: () => gate.pass('rent') });
  await quiet();
  assert.equal(application.begun, ['rent']);
  gate.open('rent');
  await quiet();
  assert.equal(application.begun, ['rent']);
  await application.end();
});

test('a duty that is owed still after it was paid is not paid again without a rest', async () => {
  const application = openHouse({
    debts: { a: { rent: 0 } },
    reached: async () => {
      application.owe('a', { rent: 0 });
      return false;
    },
  });
  await quiet();
  assert.is(application.begun.length, 1);
  await application.clock.advance({ milliseconds: 500 });
  await quiet();
  assert.is(application.begun.length, 2);
  await application.end();
});

// Bounds

test('no more than so many are performed at once, first come first served', async () => {
  const gate = gates();
  const names = Array.from({ length: 9 }, (_, n) => `d${n}`);
  const application = openHouse({
    debts: Object.fromEntries(names.map((name, n) => [`k${n}`, { [name]: 0 }])),
    perform: (name) => gate.pass(name),
    concurrency: 3,
  });
  await quiet();
  assert.equal(application.begun, ['d0', 'd1', 'd2']);
  for (const [n, name] of names.entries()) {
    gate.open(name);
    await quiet();
    assert.equal(application.begun, names.slice(0, Math.min(n + 4, 9)));
  }
  assert.equal(application.paid, names);
  assert.is(application.mostUnderWay(), 3);
  await application.end();
});

test('a thousand that wait for two places are not looked at a thousand times each', async () => {
  let looks = 0;
  const debts = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`k${n}`, { [`d${n}`]: 0 }]));
  const application = openHouse({
    debts,
    concurrency: 2,
    get: async () => void (looks += 1),
  });
  await waitUntil('all are paid', () => application.paid.length === 1_000);
  assert.ok(looks < 5_000, `${looks} looks`);
  await application.end();
});

test('one lane never takes the places of the others, however much it is owed', async () => {
  const gate = gates();
  const application = openHouse({
    debts: Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`k${n}`, { [`a${n}`]: 0 }])),
    perform: (name) => (name.startsWith('a') ? gate.pass(name) : Promise.resolve()),
    concurrency: 4,
    partitionConcurrency: 3,
  });
  await quiet();
  assert.equal(application.begun, ['a0', 'a1', 'a2']);
  for (let n = 0; n < 20; n += 1) application.owe(`other${n}`, { [`b${n}`]: 0 });
  await quiet();
  assert.equal(
    application.paid,
    Array.from({ length: 20 }, (_, n) => `b${n}`),
  );
  for (let n = 0; n < 50; n += 1) {
    gate.open(`a${n}`);
    await quiet();
  }
  assert.is(application.paid.length, 70);
  assert.ok(application.mostUnderWay() <= 4);
  await application.end();
});

test('a key that waits in two partitions takes the place of one', async () => {
  const gate = gates();
  const application = openHouse({
    debts: { x: { a0: 0, b0: 0 }, y: { a1: 0, b1: 0 }, z: { a2: 0, b2: 0 } },
    perform: (name) => gate.pass(name),
    concurrency: 2,
    partitionConcurrency: 1,
  });
  await quiet();
  for (let round = 0; round < 6; round += 1) {
    for (const name of application.begun) gate.open(name);
    await quiet();
  }
  assert.equal(application.paid.toSorted(), ['a0', 'a1', 'a2', 'b0', 'b1', 'b2']);
  await application.end();
});

test('when places are scarce the partitions take turns', async () => {
  const gate = gates();
  const names = ['a0', 'a1', 'a2', 'a3', 'b0', 'b1', 'c0'];
  const application = openHouse({
    debts: Object.fromEntries(names.map((name) => [name, { [name]: 0 }])),
    perform: (name) => gate.pass(name),
    concurrency: 1,
    partitionConcurrency: 1,
  });
  await quiet();
  for (let n = 0; n < names.length; n += 1) {
    gate.open(application.begun.at(-1) ?? '');
    await quiet();
  }
  assert.equal(
    application.begun
      .slice(0, 4)
      .map((name) => name.charAt(0))
      .toSorted(),
    ['a', 'a', 'b', 'c'],
  );
  assert.is(application.paid.length, names.length);
  await application.end();
});

// The end

test('stopping begins nothing new and waits for what is under way', async () => {
  const gate = gates();
  const application = openHouse({ debts: { a: { rent: 0 }, b: { tax: 5 } }, perform: (name) => gate.pass(name) });
  await quiet();
  application.stop();
  application.owe('c', { fine: 0 });
  let isEnded = false;
  void application.ended.then(() => (isEnded = true));
  await application.clock.advance({ seconds: 60 });
  await quiet();
  assert.is(isEnded, false);
  gate.open('rent');
  await application.ended;
  assert.equal(application.begun, ['rent']);
  assert.equal(application.paid, ['rent']);
});

test('what does not end by itself is broken off; that is no failure', async () => {
  const application = openHouse({
    debts: { a: { rent: 0 } },
    perform: (_name, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true })),
  });
  await quiet();
  application.stop();
  await quiet();
  application.abort();
  await application.ended;
  assert.equal(application.paid, []);
  assert.equal(application.lines, []);
});

test('a process that is stopped before it starts does nothing', async () => {
  const application = openHouse({ debts: { a: { rent: 0 } } });
  application.stop();
  await application.ended;
  assert.equal(application.begun, []);
});

test.run();
