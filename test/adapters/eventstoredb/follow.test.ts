import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { systemClock } from '../../../src/adapters/clock.ts';
import { createLog } from '../../../src/adapters/log.ts';
import type { RecordedEvent } from '../../../src/kernel/event.ts';
import { BEGINNING, type EventStore, NO_STREAM } from '../../../src/ports/event-store.ts';
import { notes, numberedNotes } from '../../contracts/sample-events.ts';
import { type EventStoreStandIn, startEventStoreStandIn } from '../../support/stores/eventstoredb-stand-in/stand-in.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { all, following, openStore, textsOf } from './opening.ts';
import { stranger } from './strangers.ts';

type Context = { server: EventStoreStandIn; store: EventStore };

const test = suite<Context>('following EventStoreDB, when not all goes well');

test.before.each(async (context) => {
  context.server = await startEventStoreStandIn();
  context.store = await openStore({ port: context.server.port });
});
test.after.each(async ({ server, store }) => {
  await store.close();
  await server.stop();
});

test('a subscription that is cut, again and again, gives each event once', async ({ server, store }) => {
  const follower = following(store, BEGINNING, 3_000);
  for (let first = 0; first < 3_000; first += 100) {
    await store.append('customer-1', BigInt(first) - 1n, numberedNotes('customer-1', 100, first));
    if (first % 500 === 0) {
      await waitUntil('some came', () => follower.seen.length > first);
      server.cut();
    }
  }
  await follower.ended;
  assert.equal(textsOf(follower.seen), numbers(0, 3_000));
});

test('it goes on when the server was away for a while', async ({ server, store }) => {
  const follower = following(store, BEGINNING);
  await store.append('customer-1', NO_STREAM, notes('customer-1', 'before'));
  await waitUntil('the first came', () => follower.seen.length === 1);
  await server.stop();
  await server.start();
  await store.append('customer-1', 0n, notes('customer-1', 'after'));
  await waitUntil('the second came', () => follower.seen.length === 2);
  follower.stop();
  await follower.ended;
  assert.equal(textsOf(follower.seen), ['before', 'after']);
});

test('what a server delivers twice is handed on once', async ({ server, store }) => {
  server.faults.deliveries = 3;
  const follower = following(store, BEGINNING, 50);
  await store.append('customer-1', NO_STREAM, numberedNotes('customer-1', 50));
  await follower.ended;
  assert.equal(textsOf(follower.seen), numbers(0, 50));
});

test('a subscription that has fallen silent is noticed, though its connection stands', async ({ server, store }) => {
  const follower = following(store, BEGINNING);
  await store.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
  await waitUntil('the first came', () => follower.seen.length === 1);
  server.faults.silentSubscriptions = true;
  await store.append('customer-1', 0n, notes('customer-1', 'b'));
  await waitUntil('another subscription', () => server.calls.filter(({ method }) => method === 'subscribe').length > 1);
  server.faults.silentSubscriptions = false;
  await waitUntil('the second came', () => follower.seen.length === 2);
  follower.stop();
  await follower.ended;
});

test('a quiet log is no fault', async ({ server, store }) => {
  const follower = following(store, BEGINNING);
  await store.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
  await waitUntil(
    'asked for the end of the log a few times',
    () => server.calls.filter(({ method }) => method === 'read-all').length > 4,
  );
  follower.stop();
  await follower.ended;
  assert.is(server.calls.filter(({ method }) => method === 'subscribe').length, 1);
});

test('the streams of others are passed over, by followers, readers and the end of the log', async ({
  server,
  store,
}) => {
  stranger(server.log, 'order-1', 300);
  const { position } = await store.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
  stranger(server.log, '$stats-127.0.0.1:2113', 300);
  stranger(server.log, 'customers-1', 10);
  assert.is(await store.end(), position);
  assert.equal(textsOf(await all(store.readAll(BEGINNING))), ['a']);
  for (const named of ['order-1', '$stats-127.0.0.1:2113', 'customers-1'])
    assert.equal(await all(store.read(named)), [], 'nothing of ours has that name');
  const follower = following(store, BEGINNING, 2);
  await waitUntil('the first came', () => follower.seen.length === 1);
  await store.append('region-1', NO_STREAM, notes('region-1', 'b'));
  await follower.ended;
  assert.equal(textsOf(follower.seen), ['a', 'b']);
});

test('how far the log was looked through is told, also when nothing of ours is there; it is a place to start from', async ({
  server,
  store,
}) => {
  const { position } = await store.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
  stranger(server.log, 'order-1', 2_500);
  const follower = following(store, position);
  await waitUntil('it was told', () => follower.passed.length > 0 && (follower.passed.at(-1) ?? 0n) > position);
  const passed = follower.passed.at(-1) ?? 0n;
  const next = await store.append('customer-1', 0n, notes('customer-1', 'b'));
  await waitUntil('the next came', () => follower.seen.length === 1);
  follower.stop();
  await follower.ended;
  assert.ok(next.position > passed);
  const again = following(store, passed, 1);
  await again.ended;
  assert.equal(textsOf(again.seen), ['b']);
  for (let index = 1; index < follower.passed.length; index += 1) {
    assert.ok((follower.passed[index] ?? 0n) > (follower.passed[index - 1] ?? 0n));
  }
});

test('a subscription that is made anew starts where the log was looked through, not at the last event of ours', async ({
  server,
  store,
}) => {
  const { position } = await store.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
  stranger(server.log, 'order-1', 3_000);
  const follower = following(store, BEGINNING);
  await waitUntil('it was told', () => (follower.passed.at(-1) ?? 0n) > position + 100_000n);
  server.cut();
  await waitUntil(
    'another subscription',
    () => server.calls.filter(({ method }) => method === 'subscribe').length === 2,
  );
  const from = server.calls.findLast(({ method }) => method === 'subscribe')?.from;
  assert.ok(typeof from === 'bigint' && from > position + 100_000n, String(from));
  follower.stop();
  await follower.ended;
});

test('a checkpoint that lies beyond events which are still to come is not told, and nobody begins there', async ({
  server,
  store,
}) => {
  const { position } = await store.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
  stranger(server.log, 'order-1', 10);
  server.faults.checkpointsAhead = true;
  const follower = following(store, BEGINNING);
  await waitUntil('the first came', () => follower.seen.length === 1);
  server.faults.withheld = ({ stream }) => stream === 'customer-2';
  await store.append('customer-2', NO_STREAM, notes('customer-2', 'b'));
  await store.append('customer-1', 0n, notes('customer-1', 'c'));
  await waitUntil('what came after it came', () => follower.seen.length === 2);
  assert.ok(follower.passed.every((passed) => passed <= position));
  follower.stop();
  await follower.ended;
});

test('a follower hears whether the log is followed, and is there again as soon as any other call gets through', async ({
  server,
  store,
}) => {
  const follower = following(store, BEGINNING);
  await store.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
  await waitUntil('it is followed', () => follower.followed.at(-1) === true && follower.seen.length === 1);
  await server.stop();
  await waitUntil('it is not', () => follower.followed.at(-1) === false);
  await server.start();
  await store.append('customer-1', 0n, notes('customer-1', 'b'));
  await waitUntil('it is again', () => follower.followed.at(-1) === true && follower.seen.length === 2);
  follower.stop();
  await follower.ended;
});

test('what others have written is looked through once, forwards, from where somebody has looked before', async ({
  server,
}) => {
  const strangers = 20_000;
  const writer = await openStore({ port: server.port });
  const { position } = await writer.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
  stranger(server.log, 'order-1', strangers, 1_000);
  await writer.close();
  const looked = server.log.all().at(-900)?.position ?? 0n;

  const informed = await openStore({ port: server.port, lookedThrough: () => Promise.resolve(looked) });
  server.faults.scannedPerSecond = 40_000;
  const before = server.passedOver();
  assert.is(await informed.end(), looked, 'nothing of ours comes after it');
  assert.ok(server.passedOver() - before <= 14_000, 'no more than the short way back, and the last stretch');
  const known = server.passedOver();
  for (let asked = 0; asked < 5; asked += 1) assert.is(await informed.end(), looked);
  assert.equal(await all(informed.readAll(looked)), []);
  const next = await informed.append('customer-1', 0n, notes('customer-1', 'b'));
  assert.is(await informed.end(), next.position);
  const follower = following(informed, looked, 1);
  await follower.ended;
  assert.ok(server.passedOver() - known <= 1_000, 'and nothing twice');
  await informed.close();

  server.faults.scannedPerSecond = 4_000;
  stranger(server.log, 'order-1', strangers, 1_000);
  const uninformed = await openStore({ port: server.port, answerMilliseconds: 500 });
  assert.is(await uninformed.end(), next.position, 'found forwards, though a server says nothing for long');
  assert.equal(textsOf(await all(uninformed.readAll(position))), ['b']);
  await uninformed.close();
});

test('how far another look of this process has come is told at once, though a quiet server sends no checkpoint', async ({
  server,
}) => {
  const writer = await openStore({ port: server.port });
  const { position } = await writer.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
  stranger(server.log, 'order-1', 500);
  await writer.close();
  const store = await openStore({ port: server.port });
  await store.end();
  const follower = following(store, position);
  await waitUntil('it was told', () => follower.passed.length > 0);
  assert.equal(follower.passed, [server.log.all().at(-1)?.position]);
  follower.stop();
  await follower.ended;
  await store.close();
});

test('a long look through what others have written is told every ten seconds, with how far it is', async ({
  server,
}) => {
  const writer = await openStore({ port: server.port });
  await writer.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
  await writer.close();
  stranger(server.log, 'order-1', 16_000, 1_000);
  server.faults.scannedPerSecond = 20_000;
  const lines: string[] = [];
  // Ten seconds of this clock pass while a thousand records are looked through.
  const monotonicMilliseconds = () => systemClock.monotonicMilliseconds() + 10 * server.passedOver();
  const store = await openStore({
    port: server.port,
    // By this clock every call is slow.
    answerMilliseconds: 1_000_000_000,
    patienceMilliseconds: 1_000_000_000,
    clock: { ...systemClock, monotonicMilliseconds },
    log: createLog({ level: 'info', destination: (line) => void lines.push(line) }),
  });
  await store.end();
  const told = lines.flatMap((line) => /looking through what others have written.*: (\d+) %/.exec(line)?.[1] ?? []);
  assert.ok(told.length > 1, lines.join(''));
  assert.equal(
    told,
    told.toSorted((one, other) => Number(one) - Number(other)),
  );
  assert.ok(told.every((percent) => Number(percent) <= 100));
  await store.close();
});

test('what comes after a position where no record begins is found without a look through what others have written', async ({
  server,
  store,
}) => {
  const places: bigint[] = [];
  for (const [index, text] of ['a', 'b', 'c', 'd'].entries()) {
    stranger(server.log, 'order-1', 3_000, 1_000);
    places.push((await store.append('customer-1', BigInt(index) - 1n, notes('customer-1', text))).position);
  }
  const [, , third = 0n, last = 0n] = places;
  const before = server.passedOver();
  // As a page of one event asks, for it and for what is around it; and pages that follow what is newest.
  assert.equal(textsOf(await firstPage(store.readAll(third - 1n))), ['c']);
  assert.equal(textsOf(await firstPage(store.readAll(third - 1_001n))), ['c']);
  const follower = following(store, last - 200n, 1);
  await follower.ended;
  assert.equal(textsOf(follower.seen), ['d']);
  // Those behind the event are read on before the server hears that it was enough.
  const passed = server.passedOver() - before;
  assert.ok(passed <= 2 * 3_000 + 100, `${passed} records of others`);
});

test('a scan that says nothing for longer than an answer may take gets on, and gives all events', async ({
  server,
}) => {
  const writer = await openStore({ port: server.port });
  await writer.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
  stranger(server.log, 'order-1', 4_000, 1_000);
  await writer.append('customer-1', 0n, notes('customer-1', 'b'));
  stranger(server.log, 'order-1', 10);
  server.faults.scannedPerSecond = 4_000;
  for (const tellsCaughtUp of [true, false]) {
    server.faults.tellsCaughtUp = tellsCaughtUp;
    const store = await openStore({ port: server.port, answerMilliseconds: 300, patienceMilliseconds: 3_000 });
    assert.equal(textsOf(await all(store.readAll(BEGINNING))), ['a', 'b']);
    await store.close();
  }
  await writer.close();
});

test('a consumer that takes its time holds the server up, not the memory', async ({ server, store }) => {
  for (let first = 0; first < 20_000; first += 2_000) {
    await store.append('customer-1', BigInt(first) - 1n, numberedNotes('customer-1', 2_000, first));
  }
  const stop = new AbortController();
  let largest = 0;
  let count = 0;
  for await (const page of store.follow(BEGINNING, stop.signal)) {
    largest = Math.max(largest, page.length);
    count += page.length;
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
    if (count === 20_000) stop.abort();
  }
  assert.is(count, 20_000);
  assert.ok(largest <= 512, `a page of ${largest}`);
  assert.is(server.calls.filter(({ method }) => method === 'subscribe').length, 1);
});

/** The first page alone. */
async function firstPage(pages: AsyncIterable<readonly RecordedEvent[]>): Promise<readonly RecordedEvent[]> {
  for await (const page of pages) return page.slice(0, 1);
  return [];
}

function numbers(from: number, to: number): readonly string[] {
  return Array.from({ length: to - from }, (_, index) => String(from + index));
}

test.run();
