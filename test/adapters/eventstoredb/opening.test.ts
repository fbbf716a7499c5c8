import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BEGINNING, type EventStore, NO_STREAM } from '../../../src/ports/event-store.ts';
import { StoreRefused, type StoreRefusedCode } from '../../../src/ports/store-refused.ts';
import { notes } from '../../contracts/sample-events.ts';
import { createEventLog } from '../../support/stores/eventstoredb-stand-in/event-log.ts';
import { type EventStoreStandIn, startEventStoreStandIn } from '../../support/stores/eventstoredb-stand-in/stand-in.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { all, failureOf, following, openStore, textsOf } from './opening.ts';

const test = suite('opening EventStoreDB');

test('a URL that is none is refused with what would be right, and shows no password', async () => {
  for (const url of [
    'http://host:2113',
    'esdb://',
    'esdb://admin:changeit@host:port',
    'esdb://admin:changeit@host:2113?tls=perhaps',
    'esdb://host:2113?tlsCAFile=/no/such/file',
    'esdb://host:2113?userCertFile=/no/such/file',
  ]) {
    await assertRefused(openStore({ url }), 'bad-url', /EVENT_STORE_URL.*esdb:\/\/host:2113/, url);
  }
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
  const { path, remove } = await temporaryFolder();
  const pem = await generate([{ name: 'commonName', value: 'localhost' }], {
    extensions: [
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  });
  const ca = join(path, 'ca.pem');
  await writeFile(ca, pem.cert);
  const tls = { key: pem.private, certificate: pem.cert };
  const server = await startEventStoreStandIn({ tls, login: { user: 'ops', password: 'se cret', readsAll: true } });
  const url = (login: string) => `esdb://${login}@localhost:${server.port}?tlsCAFile=${encodeURIComponent(ca)}`;
  const store = await openStore({ url: url('ops:se%20cret') });
  await store.append('customer-1', NO_STREAM, notes('customer-1', 'a'));
  assert.equal(textsOf(await all(store.readAll(BEGINNING))), ['a']);
  await store.close();
  await assertRefused(openStore({ url: url('ops:wrong') }), 'login-refused', /login must be valid/, 'wrong');
  const poor = await startEventStoreStandIn({ tls, login: { user: 'app', password: 'x', readsAll: false } });
  const poorUrl = `esdb://app:x@localhost:${poor.port}?tlsCAFile=${encodeURIComponent(ca)}`;
  await assertRefused(openStore({ url: poorUrl }), 'login-refused', /may read \$all/);
  await poor.stop();
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
