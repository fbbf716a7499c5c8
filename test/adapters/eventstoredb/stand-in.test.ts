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
import { status } from '@grpc/grpc-js';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  readAllEnd,
  readAllForwards,
  readEnd,
  subscribeToAll,
} from '../../../src/adapters/eventstoredb/read-requests.ts';
import { startEventStoreCluster } from '../../support/stores/eventstoredb-stand-in/cluster.ts';
import type { EventLog } from '../../support/stores/eventstoredb-stand-in/event-log.ts';
import { type EventStoreStandIn, startEventStoreStandIn } from '../../support/stores/eventstoredb-stand-in/stand-in.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { bareCalls } from './bare-calls.ts';
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
  const bare = bareCalls(server.port);
  const alone = await bare.append('customer-2');
  assert.equal([alone.code, alone.details], [status.ABORTED, 'Commit phase timeout']);
  const batched = await bare.appendInBatch('customer-3');
  assert.ok('getError' in batched);
  assert.is(batched.getError()?.getCode(), status.DEADLINE_EXCEEDED);
  bare.close();
  assert.is(await countOf(client), 1);
  server.log.regainQuorum();
  assert.is(await countOf(client), 2);
  for (const stream of ['customer-2', 'customer-3']) assert.is(server.log.stream(stream).length, 1, stream);
  await append(client, 0n, b);
  assert.is(await countOf(client), 2);
});

test('a quorum that is back soon is not noticed', async ({ server, client }) => {
  server.log.loseQuorum();
  const appending = append(client, NO_STREAM, ...ids(1));
  setTimeout(() => server.log.regainQuorum(), 100);
  await appending;
});

test('$all is read by administrators and by whom its access list names; others are refused, members of $ops too', async ({
  server,
}) => {
  const users = [
    { user: 'root', password: 'r', groups: ['$admins'] },
    { user: 'ops', password: 'o', groups: ['$ops'] },
    { user: 'app', password: 'a', groups: [] },
  ];
  const guarded = await startEventStoreStandIn({ log: server.log, users });
  const readAs = async (login: string): Promise<number> => {
    const bare = bareCalls(guarded.port, { login });
    const { code } = await bare.read(readEnd());
    bare.close();
    return code;
  };
  assert.is(await readAs('root:r'), status.OK);
  for (const login of ['ops:o', 'app:a']) assert.is(await readAs(login), status.PERMISSION_DENIED, login);
  assert.is(await readAs('root:wrong'), status.UNAUTHENTICATED);
  allowToReadAll(server.log, ['$admins', 'app']);
  assert.is(await readAs('app:a'), status.OK);
  assert.is(await readAs('ops:o'), status.PERMISSION_DENIED, 'not named');
  await guarded.stop();
});

test('the newest record of $all comes at once, however much lies before it', async ({ server, client }) => {
  await append(client, NO_STREAM, ...ids(1));
  stranger(server.log, 'order-1', 400);
  const found: unknown[] = [];
  for await (const { event } of client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 }))
    found.push(event?.streamId);
  assert.equal(found, ['order-1']);
  assert.is(server.passedOver(), 0, 'nothing is looked through');
});

test('$all can be read from where a record begins, and from its end; any other place is refused with code 3', async ({
  server,
  client,
}) => {
  await append(client, NO_STREAM, ...ids(2));
  const [first, second] = server.log.all().map(({ position }) => position);
  assert.ok(first !== undefined && second !== undefined);
  const bare = bareCalls(server.port);
  for (const [commit, code] of [
    [first, status.OK],
    [second, status.OK],
    [first - 1n, status.INVALID_ARGUMENT],
    [first + 1n, status.INVALID_ARGUMENT],
    [second + 1_000_000n, status.INVALID_ARGUMENT],
  ] as const) {
    const place = { commit, prepare: commit };
    assert.is((await bare.read(readAllForwards(place, ['customer-'], 1))).code, code, `${commit}`);
    if (code !== status.OK) assert.is((await bare.read(subscribeToAll(place, ['customer-']))).code, code);
  }
  bare.close();
});

test("a filtered scan through others' records says nothing before its first hit, forwards and backwards, nor behind its last one", async ({
  server,
  client,
}) => {
  stranger(server.log, 'order-1', 1_000);
  await append(client, NO_STREAM, ...ids(1));
  stranger(server.log, 'order-1', 1_500);
  server.faults.scannedPerSecond = 20_000;
  const bare = bareCalls(server.port);
  for (const [request, before, after] of [
    [readAllForwards(undefined, ['customer-'], 9), 1_000, 1_500],
    [readAllEnd(['customer-']), 1_500, 0],
  ] as const) {
    const begun = server.passedOver();
    const heard: number[] = [];
    const { code } = await bare.read(request, () => void heard.push(server.passedOver() - begun));
    assert.is(code, status.OK);
    assert.is(heard.length, 1, 'the hit, and nothing else');
    assert.ok((heard[0] ?? 0) >= before, `after ${heard[0]} of ${before} records`);
    assert.is(server.passedOver() - begun, before + after);
  }
  bare.close();
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

test('who subscribes again from a checkpoint gets each event behind it once, and waits for what lies behind it alone', async ({
  server,
  client,
}) => {
  const [a, b] = ids(2);
  stranger(server.log, 'order-1', 1_000);
  await append(client, NO_STREAM, a);
  stranger(server.log, 'order-1', 1_000);
  await append(client, 0n, b);
  stranger(server.log, 'order-1', 100);
  const told: Checkpoint[] = [];
  const subscribedFrom = async (fromPosition: Checkpoint | typeof START): Promise<readonly string[]> => {
    const filter = streamNameFilter({
      prefixes: ['customer-'],
      maxSearchWindow: 500,
      checkpointInterval: 1,
      checkpointReached: async (_subscription, { commit, prepare }) => void told.push({ commit, prepare }),
    });
    const subscription = client.subscribeToAll({ fromPosition, filter });
    const [seen, caughtUp]: [string[], true[]] = [[], []];
    subscription.on('data', ({ event }) => void seen.push(event?.id ?? ''));
    subscription.on('caughtUp', () => void caughtUp.push(true));
    await waitUntil('it has caught up', () => caughtUp.length === 1);
    await subscription.unsubscribe();
    return seen;
  };
  assert.equal(await subscribedFrom(START), [a, b]);
  const behindTheFirst = told.findLast(({ commit }) => commit < (server.log.stream('customer-1')[1]?.position ?? 0n));
  assert.ok(behindTheFirst !== undefined);
  const before = server.passedOver();
  assert.equal(await subscribedFrom(behindTheFirst), [b]);
  const behind = server.log.all().filter(({ position }) => position > behindTheFirst.commit);
  assert.is(server.passedOver() - before, behind.length - 1, 'all of them but the one event of ours');
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

test('a server that is not ready says so with code 14, to a batch in a status without code', async ({ server }) => {
  server.faults.appends.push('not-ready', 'not-ready');
  const bare = bareCalls(server.port);
  const alone = await bare.append('customer-1');
  assert.equal([alone.code, alone.details], [status.UNAVAILABLE, 'Server Is Not Ready']);
  const batched = await bare.appendInBatch('customer-1');
  assert.ok('getError' in batched);
  assert.equal([batched.getError()?.getCode(), batched.getError()?.getMessage()], [0, 'Server Is Not Ready']);
  server.faults.noLeader = true;
  assert.is((await bare.read(readEnd())).code, status.UNAVAILABLE);
  bare.close();
});

test('a node that does not lead names the leader to who requires it, with code 5, and passes the appends of others on to it', async () => {
  const cluster = await startEventStoreCluster();
  const [follower, leader] = [cluster.nodes[1]?.port ?? 0, cluster.leader()?.port ?? 0];
  const strict = bareCalls(follower, { requiresLeader: true });
  for (const refused of [await strict.append('customer-1'), await strict.appendInBatch('customer-1')]) {
    assert.ok('code' in refused);
    assert.is(refused.code, status.NOT_FOUND);
    assert.equal(refused.trailers.get('leader-endpoint-host'), ['127.0.0.1']);
    assert.equal(refused.trailers.get('leader-endpoint-port'), [String(leader)]);
  }
  assert.is(cluster.log.all().length, 0);
  const loose = bareCalls(follower);
  assert.is((await loose.append('customer-1')).code, status.OK);
  const batched = await loose.appendInBatch('customer-2');
  assert.ok('getSuccess' in batched && batched.getSuccess() !== undefined);
  assert.is(cluster.log.all().length, 2);
  for (const calls of [strict, loose]) calls.close();
  await cluster.stop();
});

test('a leader that dies between writing and answering leaves a broken connection, and what it has written', async () => {
  const cluster = await startEventStoreCluster({ electionMilliseconds: 50 });
  const leader = cluster.leader();
  assert.ok(leader !== undefined);
  const bare = bareCalls(leader.port, { requiresLeader: true });
  leader.faults.appends.push('dies-after-append');
  const answer = await bare.appendInBatch('customer-1');
  assert.ok('code' in answer);
  assert.ok([status.UNAVAILABLE, status.CANCELLED].includes(answer.code), String(answer.code));
  assert.is(cluster.log.stream('customer-1').length, 1);
  await waitUntil('another leads', () => cluster.leader() !== undefined && cluster.leader() !== leader);
  bare.close();
  await cluster.stop();
});

test('what a leader has written without a majority is gone when the others lead without it; it ends itself at its next start, and comes with the one after', async () => {
  const cluster = await startEventStoreCluster({ electionMilliseconds: 50, commitMilliseconds: 100 });
  const leader = cluster.leader();
  assert.ok(leader !== undefined);
  const bare = bareCalls(leader.port);
  assert.is((await bare.append('customer-1')).code, status.OK);
  cluster.loseQuorum();
  assert.is((await bare.append('customer-2')).code, status.ABORTED);
  bare.close();
  await cluster.killLeader();
  const next = await waitUntil('another leads', () => cluster.leader());
  assert.ok(next !== leader);
  assert.equal(
    cluster.log.all().map(({ stream }) => stream),
    ['customer-1'],
  );
  const again = bareCalls(next.port);
  assert.is((await again.append('customer-3')).code, status.OK, 'with a majority');
  again.close();
  assert.is(await cluster.restart(leader), 'ended itself');
  assert.is(await cluster.restart(leader), 'follows');
  await cluster.stop();
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

/** As an administrator writes it: the metadata of `$all`. */
function allowToReadAll(log: EventLog, readers: readonly string[]): void {
  const data = Buffer.from(JSON.stringify({ $acl: { $r: readers } }));
  const contentType = 'application/json';
  log.append('$$$all', 'any', [
    { id: randomUUID(), type: '$metadata', contentType, data, customMetadata: Buffer.alloc(0) },
  ]);
}

async function countOf(client: EventStoreDBClient): Promise<number> {
  let count = 0;
  for await (const _ of client.readStream('customer-1')) count += 1;
  return count;
}

test.run();
