import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  AppendInDoubt,
  AppendTooLarge,
  BEGINNING,
  type EventStore,
  NO_STREAM,
  StoreUnavailable,
  WrongExpectedRevision,
} from '../../../src/ports/event-store.ts';
import { notes, numberedNotes } from '../../contracts/sample-events.ts';
import { startEventStoreCluster } from '../../support/stores/eventstoredb-stand-in/cluster.ts';
import { type EventStoreStandIn, startEventStoreStandIn } from '../../support/stores/eventstoredb-stand-in/stand-in.ts';
import { all, failureOf, openStore, textsOf } from './opening.ts';

type Context = { server: EventStoreStandIn; store: EventStore };

const test = suite<Context>('appends to EventStoreDB, when not all goes well');

test.before.each(async (context) => {
  context.server = await startEventStoreStandIn();
  context.store = await openStore({ port: context.server.port });
});
test.after.each(async ({ server, store }) => {
  await store.close();
  await server.stop();
});

for (const fault of [
  'cut-after-append',
  'cut-before-append',
  'no-answer',
  'ignored',
  'timeout',
  'not-ready',
] as const) {
  test(`an append that meets '${fault}' is made once, and answered`, async ({ server, store }) => {
    await store.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
    server.faults.appends.push(fault, fault);
    const answer = await store.append('customer-1', 0n, notes('customer-1', 'b', 'c'));
    assert.is(answer.revision, 2n);
    assert.is(answer.position, server.log.all().at(-1)?.position);
    assert.equal(textsOf(await all(store.read('customer-1'))), ['a', 'b', 'c']);
  });
}

test('an append is a success when it is found to be made, also behind the events of others', async ({
  server,
  store,
}) => {
  server.faults.appends.push('cut-after-append');
  const events = notes('customer-1', 'a');
  const other = await openStore({ port: server.port });
  const appending = store.append('customer-1', NO_STREAM, events);
  const overtaking = other.append('customer-1', 0n, notes('customer-1', 'b'));
  assert.is((await appending).revision, 0n);
  await failureOf(overtaking);
  assert.is(textsOf(await all(store.read('customer-1')))[0], 'a');
  await other.close();
});

test('connections that break under load lose nothing and double nothing', async ({ server, store }) => {
  const streams = Array.from({ length: 40 }, (_, index) => `customer-${index}`);
  const appends = streams.map(async (stream) => {
    for (let revision = 0; revision < 25; revision += 1) {
      const text = `${stream}/${revision} ${'x'.repeat(2_000)}`;
      await store.append(stream, BigInt(revision) - 1n, notes(stream, text));
    }
  });
  const cutting = (async () => {
    for (let cuts = 0; cuts < 5; cuts += 1) {
      const before = server.log.all().length;
      server.cut();
      for (let turn = 0; turn < 10_000 && server.log.all().length < before + 50; turn += 1) {
        await new Promise((resolve) => void setImmediate(resolve));
      }
    }
  })();
  await Promise.all(appends);
  await cutting;
  const log = await all(store.readAll(BEGINNING));
  assert.is(log.length, 1_000);
  assert.is(new Set(log.map(({ id }) => id)).size, 1_000);
});

test('a server that stays away is unavailable within the patience, and what waits is told so; later it works again', async ({
  server,
}) => {
  const store = await openStore({ port: server.port, patienceMilliseconds: 600 });
  await store.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
  await server.stop();
  const failures = await Promise.all(
    [0, 1, 2].map((revision) => failureOf(store.append('customer-1', BigInt(revision), notes('customer-1', 'lost')))),
  );
  for (const failure of [...failures, await failureOf(store.revision('customer-1')), await failureOf(store.end())]) {
    assert.instance(failure, StoreUnavailable);
  }
  await server.start();
  await store.append('customer-1', 0n, notes('customer-1', 'b'));
  assert.equal(textsOf(await all(store.read('customer-1'))), ['a', 'b']);
  await store.close();
});

test('without a quorum nobody can say whether an append is made: it comes into effect later, and is answered when it is sent again', async ({
  server,
}) => {
  const store = await openStore({ port: server.port, patienceMilliseconds: 600, answerMilliseconds: 200 });
  const first = notes('customer-1', 'a');
  await store.append('customer-1', NO_STREAM, first);
  server.log.loseQuorum();
  const events = notes('customer-1', 'b');
  assert.instance(await failureOf(store.append('customer-1', 0n, events)), AppendInDoubt);
  assert.is(await store.revision('customer-1'), 0n);
  server.log.regainQuorum();
  assert.is((await store.append('customer-1', 0n, events)).revision, 1n);
  assert.equal(textsOf(await all(store.read('customer-1'))), ['a', 'b']);
  await store.close();
});

test('an append in doubt that the others have gone on without is made by sending it again, unless another was made in its place', async () => {
  const cluster = await startEventStoreCluster({ commitMilliseconds: 100, electionMilliseconds: 50 });
  const open = (patienceMilliseconds: number) =>
    openStore({ url: cluster.url, patienceMilliseconds, answerMilliseconds: 300 });
  const [hasty, patient] = [await open(800), await open(30_000)];
  await patient.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
  await patient.append('customer-2', NO_STREAM, notes('customer-2', 'a'));
  const [doubtful, overtaken] = [notes('customer-1', 'b'), notes('customer-2', 'lost')];
  cluster.loseQuorum();
  for (const failure of await Promise.all([
    failureOf(hasty.append('customer-1', 0n, doubtful)),
    failureOf(hasty.append('customer-2', 0n, overtaken)),
  ]))
    assert.instance(failure, AppendInDoubt);
  await cluster.killLeader();
  await patient.append('customer-2', 0n, notes('customer-2', 'c'));
  assert.is((await patient.append('customer-1', 0n, doubtful)).revision, 1n);
  assert.instance(await failureOf(patient.append('customer-2', 0n, overtaken)), WrongExpectedRevision);
  assert.equal(textsOf(await all(patient.read('customer-1'))), ['a', 'b']);
  assert.equal(textsOf(await all(patient.read('customer-2'))), ['a', 'c']);
  await hasty.close();
  await patient.close();
  await cluster.stop();
});

test('what never reached a server, or what it was not ready for, was certainly not made', async ({ server }) => {
  const store = await openStore({ port: server.port, patienceMilliseconds: 500 });
  server.faults.noLeader = true;
  const unready = await failureOf(store.append('customer-1', NO_STREAM, notes('customer-1', 'lost')));
  assert.ok(unready instanceof StoreUnavailable && !(unready instanceof AppendInDoubt), String(unready));
  server.faults.noLeader = false;
  await server.stop();
  await failureOf(store.revision('customer-1'));
  const away = await failureOf(store.append('customer-1', NO_STREAM, notes('customer-1', 'lost')));
  assert.ok(away instanceof StoreUnavailable && !(away instanceof AppendInDoubt), String(away));
  await store.close();
  await server.start();
});

test('what is more than the server takes at once is refused before it is sent', async ({ server, store }) => {
  const large = Array.from({ length: 12 }, (_, index) => `${index}${'x'.repeat(100_000)}`);
  const failure = await failureOf(store.append('customer-1', NO_STREAM, notes('customer-1', ...large)));
  assert.instance(failure, AppendTooLarge);
  assert.match(String(failure), /customer-1.*at most 1048576/);
  assert.not.ok(server.calls.some(({ method }) => method === 'batch-append'));
  await store.append('customer-1', NO_STREAM, notes('customer-1', ...large.slice(0, 10)));
});

test('a server that takes less says so', async () => {
  const server = await startEventStoreStandIn({ maxAppendBytes: 1_000 });
  const store = await openStore({ port: server.port });
  const failure = await failureOf(store.append('customer-1', NO_STREAM, numberedNotes('customer-1', 100)));
  assert.ok(failure instanceof AppendTooLarge && failure.limitBytes === 1_000);
  await store.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
  await store.close();
  await server.stop();
});

test('a read that breaks goes on where it was', async ({ server, store }) => {
  await store.append('customer-1', NO_STREAM, numberedNotes('customer-1', 1_000));
  for (const read of [() => store.read('customer-1'), () => store.readAll(BEGINNING)]) {
    server.faults.cutReadsAfter = 400;
    server.faults.cutReads = 2;
    const events = await all(read());
    assert.equal(
      events.map(({ revision }) => Number(revision)),
      Array.from({ length: 1_000 }, (_, index) => index),
    );
  }
});

test('events carry their metadata as the store knows them', async ({ server, store }) => {
  await store.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
  const [logged] = server.log.all();
  assert.is(logged?.contentType, 'application/json');
  const metadata: unknown = JSON.parse(Buffer.from(logged?.customMetadata ?? []).toString());
  assert.ok(typeof metadata === 'object' && metadata !== null);
  assert.ok('$correlationId' in metadata && metadata.$correlationId === 'request-1');
  assert.ok('$causationId' in metadata && metadata.$causationId === 'request-1');
});

test.run();
