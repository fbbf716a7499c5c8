import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BEGINNING, type EventStore, NO_STREAM } from '../../../src/ports/event-store.ts';
import { StoreRefused, type StoreRefusedCode } from '../../../src/ports/store-refused.ts';
import { notes } from '../../contracts/sample-events.ts';
import { createEventLog } from '../../support/stores/eventstoredb-stand-in/event-log.ts';
import { type EventStoreStandIn, startEventStoreStandIn } from '../../support/stores/eventstoredb-stand-in/stand-in.ts';
import { ownAuthority } from './own-authority.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { all, failureOf, following, openStore, textsOf } from './opening.ts';
import { stranger } from './strangers.ts';

const test = suite('opening EventStoreDB');

test('a URL that is none is refused with what would be right, and shows no password', async () => {
  for (const url of [
    'http://host:2113',
    'esdb://',
    'esdb://admin:changeit@host:port',
    'esdb://admin:changeit@host:2113?tls=perhaps',
    'esdb://host:2113?tlsCAFile=/no/such/file',
    'esdb://admin:changeit@host:2113?tls',
    'esdb://admin:changeit@more@host:2113',
    'esdb://admin:changeit?really@host:2113',
    'esdb://admin:changeit@host:2113:2113',
    'esdb://admin:change%it@host:2113',
    'esdb://host:2113?userCertFile=/no/such/file',
  ]) {
    await assertRefused(openStore({ url }), 'bad-url', /EVENT_STORE_URL.*esdb:\/\/host:2113/, url);
  }
});

test('an option that is not taken is refused by its name; one of other official clients is taken', async () => {
  for (const [option, message] of [
    ['tlsVerifyCert=false', /tlsVerifyCert can not be turned off.*tlsCaFile/],
    ['TLS_VERIFY_CERT=no', /tlsVerifyCert can not be turned off/],
    ['defaultCredentials=admin', /defaultCredentials is no option; there are tls, tlsCaFile/],
  ] as const)
    await assertRefused(openStore({ url: `esdb://admin:changeit@host:2113?${option}` }), 'bad-url', message, option);
  const server = await startEventStoreStandIn();
  const others = 'tls=false&nodePreference=leader&defaultDeadline=5000&tlsVerifyCert=true&maxDiscoverAttempts=3';
  await (await openStore({ url: `esdb://127.0.0.1:${server.port}?${others}` })).close();
  await server.stop();
});

test("what others write stops nobody where our streams have a prefix; under it, the error names what keeps strangers' out", async () => {
  const server = await startEventStoreStandIn();
  const store = await openStore({ port: server.port, streamPrefix: 'edgeward.' });
  stranger(server.log, 'customer-8f14e45f', 3);
  const appended = await store.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
  const [event] = await all(store.readAll(BEGINNING));
  assert.is(event?.stream, 'customer-1');
  assert.is(server.log.all().at(-1)?.stream, 'edgeward.customer-1');
  assert.is(await store.end(), appended.position);
  assert.equal(textsOf(await all(store.read('customer-1'))), ['a']);
  const follower = following(store, BEGINNING, 1);
  await follower.ended;
  assert.is(follower.seen[0]?.stream, 'customer-1');
  stranger(server.log, 'edgeward.customer-9', 1);
  const bare = await openStore({ port: server.port });
  for (const opened of [store, bare])
    assert.match(String(await failureOf(all(opened.readAll(BEGINNING)))), /customer-\w+.*EVENT_STORE_STREAM_PREFIX/);
  await bare.close();
  await store.close();
  await server.stop();
});

test('a log that was begun without a prefix is not taken for none', async () => {
  const server = await startEventStoreStandIn();
  const bare = await openStore({ port: server.port });
  await bare.append('region-main', NO_STREAM, notes('region-main', 'a'));
  await bare.close();
  const own = { streamPrefix: 'edgeward.', streamOfEveryLog: 'region-main' };
  await assertRefused(
    openStore({ port: server.port, ...own }),
    'other-prefix',
    /EVENT_STORE_STREAM_PREFIX.*stores copy/,
  );
  const unchecked = await openStore({ port: server.port, streamPrefix: 'edgeward.' });
  await unchecked.append('region-main', NO_STREAM, notes('region-main', 'b'));
  await unchecked.close();
  await (await openStore({ port: server.port, ...own })).close();
  await server.stop();
});

test('a host that is not there is unreachable, within the patience', async () => {
  const server = await startEventStoreStandIn();
  await server.stop();
  const opening = openStore({ port: server.port, patienceMilliseconds: 500 });
  await assertRefused(opening, 'unreachable', new RegExp(`127.0.0.1:${server.port} can't be reached`));
  const several = `esdb://127.0.0.1:${server.port},localhost:${server.port}?tls=false&maxDiscoverAttempts=1`;
  await assertRefused(openStore({ url: several, patienceMilliseconds: 500 }), 'unreachable', /can't be reached/);
});

test('a server that knows no batches of appends is too old', async () => {
  const server = await startEventStoreStandIn({ batchAppend: false });
  await assertRefused(openStore({ port: server.port }), 'unsupported', /22\.10 or newer/);
  await server.stop();
});

test('over TLS, with a login: the right one is let in, another one is refused, one without rights too', async () => {
  const { ca, tls, remove } = await ownAuthority();
  const server = await startEventStoreStandIn({
    tls,
    users: [{ user: 'ops', password: 'se cret', groups: ['$admins'] }],
  });
  const url = (login: string) => `esdb://${login}@localhost:${server.port}?tlsCAFile=${encodeURIComponent(ca)}`;
  const store = await openStore({ url: url('ops:se%20cret') });
  await store.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
  assert.equal(textsOf(await all(store.readAll(BEGINNING))), ['a']);
  await store.close();
  await assertRefused(openStore({ url: url('ops:wrong') }), 'login-refused', /login must be valid/, 'wrong');
  const poor = await startEventStoreStandIn({ tls, users: [{ user: 'app', password: 'x', groups: ['$ops'] }] });
  const poorUrl = `esdb://app:x@localhost:${poor.port}?tlsCAFile=${encodeURIComponent(ca)}`;
  await assertRefused(openStore({ url: poorUrl }), 'login-refused', /may read \$all: edgeward stores grant/);
  await poor.stop();
  await server.stop();
  await remove();
});

test('by an address, over TLS: the certificate must hold it, and Node has nothing to say', async () => {
  const { ca, tls, remove } = await ownAuthority();
  const server = await startEventStoreStandIn({ tls });
  const said: Error[] = [];
  const listen = (warning: Error): void => void said.push(warning);
  process.on('warning', listen);
  for (const scheme of ['esdb', 'esdb+discover'])
    await (
      await openStore({ url: `${scheme}://127.0.0.1:${server.port}?tlsCaFile=${encodeURIComponent(ca)}` })
    ).close();
  const elsewhere = openStore({
    url: `esdb://127.0.0.2:${server.port}?tlsCaFile=${encodeURIComponent(ca)}`,
    patienceMilliseconds: 300,
  });
  await assertRefused(elsewhere, 'unreachable', /can't be reached/);
  process.off('warning', listen);
  assert.equal(said.map(String), []);
  await server.stop();
  await remove();
});

test('a KurrentDB URL means the same', async () => {
  const server = await startEventStoreStandIn();
  for (const scheme of ['kurrentdb', 'kurrentdb+discover', 'esdb+discover']) {
    const store = await openStore({ url: `${scheme}://127.0.0.1:${server.port}?tls=false` });
    assert.is(await store.end(), BEGINNING);
    await store.close();
  }
  await server.stop();
});

test('in a cluster it keeps to the leader, whoever that is', async () => {
  const cluster = await startCluster(3);
  const hosts = cluster.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const store = await openStore({ url: `esdb://${hosts}?tls=false&gossipTimeout=1`, patienceMilliseconds: 10_000 });
  const follower = following(store, BEGINNING);
  for (let term = 0; term < 3; term += 1) {
    const leader = cluster.lead(term);
    await appendAt(store, `in term ${term}`, BigInt(term) - 1n);
    assert.ok(
      leader.calls.some(({ method }) => method === 'batch-append'),
      `the leader of term ${term}`,
    );
    await waitUntil('it came', () => follower.seen.length === term + 1);
  }
  // The leader dies; the others choose another.
  await cluster.nodes[2]?.stop();
  cluster.lead(0);
  await appendAt(store, 'after', 2n);
  await waitUntil('it came', () => follower.seen.length === 4);
  follower.stop();
  await follower.ended;
  assert.equal(textsOf(follower.seen), ['in term 0', 'in term 1', 'in term 2', 'after']);
  await store.close();
  for (const node of cluster.nodes.slice(0, 2)) await node.stop();
});

async function appendAt(store: EventStore, text: string, expected: bigint): Promise<void> {
  await store.append('customer-1', expected, notes('customer-1', text));
}

/** Nodes that share a log, as if it were replicated. */
async function startCluster(
  size: number,
): Promise<{ nodes: readonly EventStoreStandIn[]; lead: (index: number) => EventStoreStandIn }> {
  const log = createEventLog();
  const nodes: EventStoreStandIn[] = [];
  let leader = 0;
  const members = () =>
    nodes.map(({ port }, index) => ({ host: '127.0.0.1', port, leader: index === leader, alive: true }));
  while (nodes.length < size) nodes.push(await startEventStoreStandIn({ log, members }));
  const lead = (index: number): EventStoreStandIn => {
    const chosen = nodes[index];
    if (chosen === undefined) throw new Error(`no node ${index}`);
    leader = index;
    for (const node of nodes)
      node.faults.notLeader = node === chosen ? undefined : { host: '127.0.0.1', port: chosen.port };
    return chosen;
  };
  lead(0);
  return { nodes, lead };
}

async function assertRefused(
  opening: Promise<unknown>,
  code: StoreRefusedCode,
  message: RegExp,
  hint = '',
): Promise<void> {
  const refused = await failureOf(opening);
  assert.instance(refused, StoreRefused, `${hint}: ${String(refused)}`);
  if (!(refused instanceof StoreRefused)) return;
  assert.is(refused.code, code, `${hint}: ${refused.message}`);
  assert.match(refused.message, message);
  assert.not.match(refused.message, /changeit|wrong|\n/);
}

test.run();
