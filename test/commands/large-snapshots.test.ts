// The state of a customer with very many ranges is kept in parts: the next start is as sound as without, whatever of it was written.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Aggregate, openAggregate, type SnapshotKeeper } from '../../src/commands/aggregate.ts';
import { customerSnapshot } from '../../src/commands/ip-control/customer-snapshot.ts';
import type { CustomerState } from '../../src/commands/ip-control/customer-state.ts';
import { type CustomerCommand, customerDecider } from '../../src/commands/ip-control/customer.ts';
import type { CustomerEvent } from '../../src/events/ip-control/customer.ts';
import { isRefusal } from '../../src/kernel/decider.ts';
import type { Snapshots } from '../../src/ports/read-models.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type EmbeddedLog, openEmbeddedLog } from '../support/stores/embedded-log.ts';
import { assigned, disable, disabled, one, registered } from './ip-control/customer-examples.ts';

type Customers = Aggregate<CustomerCommand, CustomerState, CustomerEvent> & SnapshotKeeper;

const test = suite<{ log: EmbeddedLog }>('snapshots of large states');
const STREAM = 'customer-7';
const context = { actor: 'token:t1', requestId: 'request-1' };

function scattered(from: number, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `10.0.${(from + at) >> 7}.${2 * ((from + at) & 127)}`);
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
  const none = { ...log.dependencies().snapshots, load: async () => undefined, save: async () => undefined };
  return stateText(customersOf(log, { snapshots: { ...none, saveParts: async () => undefined } }));
}

async function disableOne(customers: Customers, at: number): Promise<void> {
  const answer = await customers.handle(7, disable(one(`10.9.${at >> 8}.${at & 255}`)), context);
  assert.not(isRefusal(answer));
}

function namesIn(log: EmbeddedLog): readonly string[] {
  const json = log.kept.get(STREAM)?.json ?? '';
  return /^\{"parts":\["([^\]]*)"\]/.exec(json)?.[1]?.split('","') ?? [];
}

/** Nothing is kept but what the snapshot names. */
function partsAreThoseNamed(log: EmbeddedLog): boolean {
  const kept = log.keptParts.get(STREAM) ?? new Map<string, string>();
  const names = namesIn(log);
  return names.length > 0 && names.length === kept.size && names.every((name) => kept.has(name));
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

test('a snapshot after few changes writes few parts, and deletes those that are named no more', async ({ log }) => {
  const written: string[] = [];
  const inner = log.dependencies().snapshots;
  const snapshots: Snapshots = {
    ...inner,
    saveParts: (stream, revision, parts) => {
      for (const [name, text] of parts) if (text !== undefined) written.push(name);
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
    () => (log.kept.get(STREAM)?.revision ?? 0n) > revision && partsAreThoseNamed(log),
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
    const orBroken = async (work: () => Promise<void>): Promise<void> => {
      if (left <= 0) throw new Error('the process is gone');
      left -= 1;
      return work();
    };
    const snapshots: Snapshots = {
      ...inner,
      save: (...call) => orBroken(() => inner.save(...call)),
      saveParts: (...call) => orBroken(() => inner.saveParts(...call)),
    };
    await customersOf(log, { snapshots }).keepSnapshot(7);
    const isWhole = log.kept.size > 0;
    const resumed = customersOf(log);
    assertSame(await stateText(resumed), expected);
    await resumed.keepSnapshot(7);
    await waitUntil('the snapshot is kept', () => namesIn(log).every((name) => log.keptParts.get(STREAM)?.has(name)));
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

test.run();
