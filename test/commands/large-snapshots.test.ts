// The state of a customer with very many ranges is kept in parts: the next start is as sound as without, whatever of it was written.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Aggregate, openAggregate, type SnapshotKeeper } from '../../src/commands/aggregate.ts';
import { customerSnapshot } from '../../src/commands/ip-control/customer-snapshot.ts';
import type { CustomerState } from '../../src/commands/ip-control/customer-state.ts';
import { type CustomerCommand, customerDecider } from '../../src/commands/ip-control/customer.ts';
import type { CustomerEvent } from '../../src/events/ip-control/customer.ts';
import { isRefusal } from '../../src/kernel/decider.ts';
import { NO_SNAPSHOTS } from '../../src/main/command-archive.ts';
import type { Snapshots } from '../../src/ports/read-models.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type EmbeddedLog, openEmbeddedLog } from '../support/stores/embedded-log.ts';
import {
  assigned,
  commitCompleted,
  commitRequested,
  disable,
  disabled,
  enabled,
  one,
  registered,
} from './ip-control/customer-examples.ts';

type Customers = Aggregate<CustomerCommand, CustomerState, CustomerEvent> & SnapshotKeeper;

const test = suite<{ log: EmbeddedLog }>('snapshots of large states');
const STREAM = 'customer-7';
const context = { actor: 'token:t1', requestId: 'request-1' };

function scattered(from: number, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `10.0.${(from + at) >> 7}.${2 * ((from + at) & 127)}`);
}

function spread(from: number, count: number, step: number): string[] {
  return Array.from({ length: count }, (_, at) => from + step * at).map((at) => `10.0.${at >> 8}.${at & 255}`);
}

test.before.each(async (state) => {
  state.log = await openEmbeddedLog();
  await state.log.append(
    STREAM,
    registered({ prefixLimit: 1_000_000 }),
    assigned(1, '10.0.0.0/8'),
    disabled(scattered(0, 6_000)),
    disabled(scattered(6_000, 6_000)),
  );
});
test.after.each((state) => state.log.close());

function customersOf(log: EmbeddedLog, changes: Parameters<EmbeddedLog['dependencies']>[0] = {}): Customers {
  return openAggregate(customerDecider, log.dependencies({ snapshotEvery: 5, ...changes }));
}

/** A state as one text. */
function textOf(state: CustomerState): string {
  return JSON.stringify(customerSnapshot.encode(state));
}

/** These texts are so long that a difference is not worth printing. */
function assertSame(actual: string, expected: string): void {
  assert.ok(actual === expected, `${actual.length} characters are not the ${expected.length} that are expected`);
}

async function stateText(customers: Customers): Promise<string> {
  return textOf((await customers.state(7)).state);
}

/** The state as all events make it, without any snapshot. */
async function expectedText(log: EmbeddedLog): Promise<string> {
  return stateText(customersOf(log, { snapshots: NO_SNAPSHOTS }));
}

async function disableOne(customers: Customers, at: number): Promise<void> {
  const answer = await customers.handle(7, disable(one(`10.9.${at >> 8}.${at & 255}`)), context);
  assert.not(isRefusal(answer));
}

/** The parts that the snapshot names, or the one that is given. */
function namesIn(log: EmbeddedLog, json = log.kept.get(STREAM)?.json ?? ''): readonly string[] {
  return [...new Set(/^\{"parts":\["([^\]]*)"\]/.exec(json)?.[1]?.split('","'))];
}

/** Nothing is kept but what the snapshot names. */
function partsAreThoseNamed(log: EmbeddedLog): boolean {
  const kept = log.keptParts.get(STREAM) ?? new Map<string, string>();
  const names = namesIn(log);
  return names.length > 0 && names.length === kept.size && names.every((name) => kept.has(name));
}

/** All that the snapshot names. */
function partsAreThere(log: EmbeddedLog): boolean {
  const names = namesIn(log);
  return names.length > 0 && names.every((name) => log.keptParts.get(STREAM)?.has(name));
}

/** Nothing waits to be deployed: each page is one of what is disabled alone. */
async function deploy(log: EmbeddedLog): Promise<void> {
  await log.append(STREAM, commitRequested(), commitCompleted());
}

/** Another server keeps a snapshot after one more address. */
async function keepAnother(log: EmbeddedLog, address: string): Promise<void> {
  await log.append(STREAM, disabled([address]));
  await deploy(log);
  const { revision } = await everyEvent(log).state(7);
  await everyEvent(log).keepSnapshot(7);
  assert.is(log.kept.get(STREAM)?.revision, revision);
}

function everyEvent(log: EmbeddedLog, snapshots: Snapshots = log.dependencies().snapshots): Customers {
  return customersOf(log, { snapshots, snapshotEvery: 1 });
}

function warnings(log: EmbeddedLog): readonly unknown[] {
  return log.lines.filter(({ level }) => level === 'warn');
}

test('few events with very many ranges are kept, and the next start reads none of them', async ({ log }) => {
  await stateText(customersOf(log, { snapshotEvery: 100 }));
  await waitUntil('the snapshot is kept', () => partsAreThoseNamed(log));
  const { store } = log;
  const read: bigint[] = [];
  const watched = {
    ...store,
    read: (stream: string, after?: bigint) => (read.push(after ?? -1n), store.read(stream, after)),
  };
  const resumed = customersOf(log, { store: watched, snapshotEvery: 100 });
  assertSame(await stateText(resumed), await expectedText(log));
  assert.equal(read, [2n]);
});

test('a snapshot after few changes writes few parts', async ({ log }) => {
  const written: string[] = [];
  const inner = log.dependencies().snapshots;
  const snapshots: Snapshots = {
    ...inner,
    saveParts: (stream, revision, parts) => {
      written.push(...parts.keys());
      return inner.saveParts(stream, revision, parts);
    },
  };
  const customers = customersOf(log, { snapshots });
  await customers.keepSnapshot(7);
  const first = written.splice(0).length;
  const revision = log.kept.get(STREAM)?.revision ?? 0n;
  for (let at = 0; at < 2 * first + 10; at += 1) await disableOne(customers, at);
  await waitUntil(
    'the snapshot is kept',
    () => (log.kept.get(STREAM)?.revision ?? 0n) > revision && partsAreThere(log),
  );
  assert.ok(written.length < first / 2, `${written.length} of ${first} parts`);
  assertSame(await stateText(customersOf(log)), await expectedText(log));
});

test('wherever a snapshot is broken off, the next start is the same, and the next one keeps it whole', async ({
  log,
}) => {
  const inner = log.dependencies().snapshots;
  const expected = await expectedText(log);
  for (let most = 0; ; most += 3) {
    log.kept.clear();
    log.keptParts.clear();
    let left = most;
    const orBroken = async <T>(work: () => Promise<T>): Promise<T> => {
      if (left <= 0) throw new Error('the process is gone');
      left -= 1;
      return work();
    };
    const snapshots: Snapshots = {
      ...inner,
      replace: (...call) => orBroken(() => inner.replace(...call)),
      saveParts: (...call) => orBroken(() => inner.saveParts(...call)),
    };
    await customersOf(log, { snapshots }).keepSnapshot(7);
    const isWhole = log.kept.size > 0;
    const resumed = customersOf(log);
    assertSame(await stateText(resumed), expected);
    await resumed.keepSnapshot(7);
    await waitUntil('the snapshot is kept', () => partsAreThere(log));
    assertSame(await stateText(customersOf(log)), expected);
    if (isWhole) return;
  }
});

for (const [how, damage] of [
  ['is gone', undefined],
  ['is another', 'AQEAAAA='],
] as const) {
  test(`where a part ${how}, the whole stream is read, a warning says so, and all of it is kept anew`, async ({
    log,
  }) => {
    await customersOf(log).keepSnapshot(7);
    const [name = ''] = namesIn(log);
    const parts = log.keptParts.get(STREAM);
    assert.ok(parts !== undefined && parts.has(name));
    if (damage === undefined) parts.delete(name);
    else parts.set(name, damage);
    const customers = customersOf(log);
    assertSame(await stateText(customers), await expectedText(log));
    assert.ok(log.lines.some(({ level, message }) => level === 'warn' && message.includes('could not be used')));
    await customers.keepSnapshot(7);
    await waitUntil('the snapshot is kept', () => partsAreThoseNamed(log) && parts.get(name) !== damage);
    const before = log.lines.length;
    assertSame(await stateText(customersOf(log)), await expectedText(log));
    assert.equal(log.lines.slice(before), []);
  });
}

test('sets that share only some of their chunks are kept so that the next start reads them again', async ({ log }) => {
  await log.append(
    'customer-8',
    registered({ prefixLimit: 1_000_000 }),
    assigned(1, '10.0.0.0/8'),
    disabled(spread(4_000, 6_000, 2)),
    disabled(spread(12_899, 600, 2)),
    disabled(spread(15_466, 1_063, 1)),
    disabled(spread(5_069, 414, 1)),
    commitRequested(),
    disabled(spread(4_798, 323, 1)),
  );
  const { state } = await customersOf(log, { snapshots: NO_SNAPSHOTS }).state(8);
  const expected = textOf(customerSnapshot.decode(JSON.parse(textOf(state))));
  await everyEvent(log).keepSnapshot(8);
  assert.ok(namesIn(log, log.kept.get('customer-8')?.json).length > 0);
  assertSame(textOf((await everyEvent(log).state(8)).state), expected);
  assert.equal(warnings(log), []);
});

for (const saves of [1, 2, 3]) {
  test(`a server that is reading while another keeps ${saves} newer ones reads no event before them`, async ({
    log,
  }) => {
    await deploy(log);
    await everyEvent(log).keepSnapshot(7);
    const { snapshots, store } = log.dependencies();
    let hasBegun = false;
    const overtaken: Snapshots = {
      ...snapshots,
      load: async (stream) => {
        const kept = await snapshots.load(stream);
        if (!hasBegun) {
          hasBegun = true;
          for (let save = 0; save < saves; save += 1) await keepAnother(log, `10.0.${20 * save}.1`);
        }
        return kept;
      },
    };
    const read: bigint[] = [];
    const watched = {
      ...store,
      read: (stream: string, after?: bigint) => (read.push(after ?? -1n), store.read(stream, after)),
    };
    const reading = customersOf(log, { snapshots: overtaken, store: watched });
    assertSame(await stateText(reading), await expectedText(log));
    assert.is(read.length, 1);
    assert.ok(read.every((after) => after >= 0n));
    assert.equal(warnings(log), []);
  });
}

test('of two servers that keep one at the same time neither loses a part to the other', async ({ log }) => {
  await deploy(log);
  await everyEvent(log).keepSnapshot(7);
  const { snapshots } = log.dependencies();
  await log.append(STREAM, enabled(['10.0.0.0']));
  await deploy(log);
  const slow = everyEvent(log, {
    ...snapshots,
    replace: async (...call) => {
      // A state that is as the first one was: it relies on parts that the slow one does without.
      await keepAnother(log, '10.0.0.0');
      // And then ones without parts that the slow one relies on.
      await keepAnother(log, '10.0.40.1');
      await keepAnother(log, '10.0.40.3');
      return snapshots.replace(...call);
    },
  });
  await slow.keepSnapshot(7);
  assert.is(log.kept.get(STREAM)?.revision, (await everyEvent(log).state(7)).revision);
  assert.ok(partsAreThere(log));
  await keepAnother(log, '10.0.0.3');
  await keepAnother(log, '10.0.0.5');
  assert.ok(partsAreThere(log));
  assertSame(await stateText(customersOf(log)), await expectedText(log));
  assert.equal(warnings(log), []);
});

test('a server whose snapshot was replaced by that of another relies on none of its parts', async ({ log }) => {
  await deploy(log);
  const first = everyEvent(log);
  await first.keepSnapshot(7);
  await keepAnother(log, '10.0.0.1');
  await keepAnother(log, '10.0.0.3');
  await keepAnother(log, '10.0.0.5');
  await log.append(STREAM, enabled(['10.0.0.1', '10.0.0.3', '10.0.0.5']));
  await deploy(log);
  // It has all the parts of its own snapshot in memory, and their names.
  assert.not(isRefusal(await first.handle(7, disable(one('10.9.0.1')), context)));
  await first.keepSnapshot(7);
  assert.is(log.kept.get(STREAM)?.revision, (await first.state(7)).revision);
  assert.ok(partsAreThere(log));
});

test('what saves that were broken off have left goes with a later one', async ({ log }) => {
  await deploy(log);
  await everyEvent(log).keepSnapshot(7);
  const first = namesIn(log);
  const { snapshots } = log.dependencies();
  for (let most = 0; most < 6; most += 1) {
    await log.append(STREAM, disabled(Array.from({ length: 40 }, (_, at) => `10.0.${2 * at}.${2 * most + 1}`)));
    let left = most;
    const orBroken = async <T>(work: () => Promise<T>): Promise<T> => {
      if (left <= 0) throw new Error('the process is gone');
      left -= 1;
      return work();
    };
    const breaking = everyEvent(log, {
      ...snapshots,
      replace: (...call) => orBroken(() => snapshots.replace(...call)),
      saveParts: (...call) => orBroken(() => snapshots.saveParts(...call)),
      dropParts: (...call) => orBroken(() => snapshots.dropParts(...call)),
    });
    await breaking.keepSnapshot(7);
  }
  const kept = (): readonly string[] => [...(log.keptParts.get(STREAM)?.keys() ?? [])];
  assert.ok(
    kept().some((name) => !namesIn(log).includes(name)),
    'something was left',
  );
  await keepAnother(log, '10.0.0.33');
  const before = namesIn(log);
  await keepAnother(log, '10.0.0.35');
  assert.ok(partsAreThere(log));
  // Those of the one before stay for whoever is reading it.
  assert.equal(
    kept().filter((name) => !namesIn(log).includes(name) && !before.includes(name)),
    [],
  );
  assert.ok(first.some((name) => !kept().includes(name)));
});

test('a customer that is not large any more has no parts in the end', async ({ log }) => {
  await everyEvent(log).keepSnapshot(7);
  await log.append(STREAM, enabled(scattered(0, 12_000)));
  await deploy(log);
  for (const address of ['10.0.0.1', '10.0.0.3', '10.0.0.5']) await keepAnother(log, address);
  assert.is(log.keptParts.get(STREAM)?.size, 0);
  assertSame(await stateText(customersOf(log)), await expectedText(log));
});

test.run();
