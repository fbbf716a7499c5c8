// The stand-in does what a real EventStoreDB 23.10.6 was seen to do; each case is one observation, made here through the official client.
import { randomUUID } from 'node:crypto';
import {
  type AppendExpectedRevision,
  ANY,
  BACKWARDS,
  END,
  EventStoreDBClient,
  jsonEvent,
  MaxAppendSizeExceededError,
  NO_STREAM,
  START,
  streamNameFilter,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startEventStoreCluster } from '../../support/stores/eventstoredb-stand-in/cluster.ts';
import { type EventStoreStandIn, startEventStoreStandIn } from '../../support/stores/eventstoredb-stand-in/stand-in.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { failureOf } from './opening.ts';
import { stranger } from './strangers.ts';

type Context = { server: EventStoreStandIn; client: EventStoreDBClient };

const test = suite<Context>('the stand-in for EventStoreDB');

test.before.each(async (context) => {
  context.server = await startEventStoreStandIn({ commitMilliseconds: 300 });
  context.client = clientOf(`esdb://127.0.0.1:${context.server.port}?tls=false`);
});
test.after.each(async ({ server, client }) => {
  await client.dispose();
  await server.stop();
});

test('the same ids at their own revision are a success: all of an append, its beginning, a part within, two neighbours', async ({
  client,
}) => {
  const [a, b, c, d] = ids(4);
  await append(client, NO_STREAM, a, b, c);
  await append(client, 2n, d);
  for (const [revision, ...repeated] of [
    [NO_STREAM, a, b, c],
    [NO_STREAM, a, b],
    [0n, b],
    [1n, c, d],
  ] as const)
    await append(client, revision, ...repeated);
  assert.is(await countOf(client), 4);
});

test('known ids mixed with new ones, in another order or at another revision are refused; at the current one they are written again', async ({
  client,
}) => {
  const [a, b, c] = ids(3);
  await append(client, NO_STREAM, a, b);
  for (const [revision, ...mixed] of [
    [NO_STREAM, a, c],
    [NO_STREAM, b, a],
    [0n, a],
  ] as const)
    assert.instance(await failureOf(append(client, revision, ...mixed)), WrongExpectedVersionError);
  await append(client, 1n, a, b);
  assert.is(await countOf(client), 4);
});

test("under 'any', ids are known again where they were written at an exact revision", async ({ client }) => {
  const [a, b] = ids(2);
  await append(client, NO_STREAM, a);
  await append(client, ANY, a);
  assert.is(await countOf(client), 1);
  await append(client, ANY, b);
  await append(client, ANY, b);
  assert.is(await countOf(client), 3);
});

test('1,048,576 bytes of data are taken, one more is refused, whatever type and metadata are', async ({ client }) => {
  await client.appendToStream('customer-1', [large(1_048_576)]);
  const refused = await failureOf(client.appendToStream('customer-1', [large(1_048_577)]));
  assert.instance(refused, MaxAppendSizeExceededError);
});

test('without a quorum an append times out, is seen by nobody, and comes into effect when the quorum is back', async ({
  server,
  client,
}) => {
  const [a, b] = ids(2);
  await append(client, NO_STREAM, a);
  server.log.loseQuorum();
  assert.instance(await failureOf(append(client, 0n, b)), Error);
  assert.is(await countOf(client), 1);
  server.log.regainQuorum();
  assert.is(await countOf(client), 2);
  await append(client, 0n, b);
  assert.is(await countOf(client), 2);
});

test('a quorum that is back soon is not noticed', async ({ server, client }) => {
  server.log.loseQuorum();
  const appending = append(client, NO_STREAM, ...ids(1));
  setTimeout(() => server.log.regainQuorum(), 100);
  await appending;
});

test('$all backwards: the newest record comes at once; filtered, nothing is sent before the first hit', async ({
  server,
  client,
}) => {
  await append(client, NO_STREAM, ...ids(1));
  stranger(server.log, 'order-1', 400);
  server.faults.scannedPerSecond = 1_000;
  const begun = performance.now();
  for await (const { event } of client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 }))
    assert.is(event?.streamId, 'order-1');
  assert.ok(performance.now() - begun < 300, 'at once');
});

test('a filtered subscription tells a checkpoint after its first record, then one a stretch; live, nothing while fewer pass', async ({
  server,
  client,
}) => {
  stranger(server.log, 'order-1', 250);
  const told: Checkpoint[] = [];
  const seen: string[] = [];
  const subscription = client.subscribeToAll({
    fromPosition: START,
    filter: streamNameFilter({
      prefixes: ['customer-'],
      maxSearchWindow: 100,
      checkpointInterval: 1,
      checkpointReached: async (_subscription, { commit, prepare }) => void told.push({ commit, prepare }),
    }),
  });
  subscription.on('caughtUp', () => void seen.push('caught up'));
  await waitUntil('it has caught up', () => seen.length === 1);
  const places = server.log.all().map(({ position }) => position);
  assert.equal(
    told,
    [0, 100, 200].map((index) => ({ commit: places[index] ?? 0n, prepare: 0n })),
  );
  stranger(server.log, 'order-1', 99);
  await append(client, NO_STREAM, ...ids(1));
  await waitUntil('the hundredth live record has passed', () => told.length === 4);
  const last = server.log.all().at(-1)?.position ?? 0n;
  assert.equal(told[3], { commit: last, prepare: last });
  await subscription.unsubscribe();
});

test('as some servers, it tells a checkpoint beyond events that it has not sent yet, where a test wants it', async ({
  server,
  client,
}) => {
  await append(client, NO_STREAM, ...ids(1));
  server.faults.checkpointsAhead = true;
  const order: string[] = [];
  const filter = streamNameFilter({
    prefixes: ['customer-'],
    checkpointReached: async () => void order.push('checkpoint'),
  });
  const subscription = client.subscribeToAll({ fromPosition: START, filter });
  subscription.on('data', () => void order.push('event'));
  await waitUntil('both came', () => order.includes('event'));
  assert.is(order[0], 'checkpoint');
  await subscription.unsubscribe();
});

test('in a cluster the others elect one of them when the leader dies or stands still; what was written stays', async () => {
  const cluster = await startEventStoreCluster({ electionMilliseconds: 50, silenceMilliseconds: 50 });
  const [first, second] = [cluster.leader(), () => cluster.leader()];
  await cluster.killLeader();
  assert.is(cluster.leader(), undefined);
  const next = await waitUntil('another leads', second);
  assert.is.not(next, first);
  if (first !== undefined) await cluster.restart(first);
  const thaw = cluster.freezeLeader();
  const third = await waitUntil('a third leads', () => (cluster.leader() === next ? undefined : cluster.leader()));
  thaw();
  third.faults.appends.push('dies-after-append');
  const client = clientOf(cluster.url);
  await failureOf(client.appendToStream('customer-1', jsonEvent({ type: 'T', data: {} })));
  assert.is(cluster.log.all().length, 1, 'what the followers have stays');
  await waitUntil('another leads', () => cluster.leader() !== undefined && cluster.leader() !== third);
  await client.dispose();
  await cluster.stop();
});

type Checkpoint = Readonly<{ commit: bigint; prepare: bigint }>;

const LARGE = { text: 'x'.repeat(1_200_000) };

function large(bytes: number) {
  return jsonEvent({ type: 'T'.repeat(200), data: 'x'.repeat(bytes - 2), metadata: LARGE });
}

function clientOf(url: string): EventStoreDBClient {
  return EventStoreDBClient.connectionString([url] as unknown as TemplateStringsArray);
}

function ids(count: number): readonly [string, string, string, string] {
  const made = Array.from({ length: count }, () => randomUUID());
  return [made[0] ?? '', made[1] ?? '', made[2] ?? '', made[3] ?? ''];
}

async function append(
  client: EventStoreDBClient,
  expectedRevision: AppendExpectedRevision,
  ...events: readonly string[]
): Promise<void> {
  const proposed = events.filter((id) => id !== '').map((id) => jsonEvent({ id, type: 'T', data: {} }));
  await client.appendToStream('customer-1', proposed, { expectedRevision });
}

async function countOf(client: EventStoreDBClient): Promise<number> {
  let count = 0;
  for await (const _ of client.readStream('customer-1')) count += 1;
  return count;
}

test.run();
