import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { resolveThroughDns, resolveThroughSystem } from '../../../src/adapters/webhooks/name-resolution.ts';
import { until } from './receivers.ts';
import { never } from './sending.ts';

const A = 1;
const AAAA = 28;
type Records = Readonly<{ code: number; addresses: readonly Buffer[] }> | 'silence';

const ADDRESS_4 = Buffer.from([192, 0, 2, 7]);
const ADDRESS_6 = Buffer.from('20010db8000000000000000000000007', 'hex');
const none: Records = { code: 0, addresses: [] };

for (const [what, v4, v6, expected] of [
  ['both families', found(ADDRESS_4), found(ADDRESS_6), ['192.0.2.7', '2001:db8::7']],
  ['IPv4 alone', found(ADDRESS_4), none, ['192.0.2.7']],
  ['IPv6 alone', none, found(ADDRESS_6), ['2001:db8::7']],
  ['IPv4, where the server fails for IPv6', found(ADDRESS_4), { code: 2, addresses: [] }, ['192.0.2.7']],
] as const) {
  test(`a name with ${what}`, async () => {
    await using server = await startNameServer((type) => (type === A ? v4 : v6));
    const resolve = resolveThroughDns({ timeoutMilliseconds: 2000, servers: [server.address] });
    const addresses = await resolve('receiver.test', never());
    assert.equal(
      addresses.map(({ address }) => address),
      expected,
    );
  });
}

for (const [what, v4, v6, code] of [
  ['does not exist', { code: 3, addresses: [] }, { code: 3, addresses: [] }, 'ENOTFOUND'],
  ['has no address', none, none, 'ENODATA'],
  ['is nothing the server will speak of', none, { code: 2, addresses: [] }, 'ESERVFAIL'],
] as const) {
  test(`a name that ${what}`, async () => {
    await using server = await startNameServer((type) => (type === A ? v4 : v6));
    const resolve = resolveThroughDns({ timeoutMilliseconds: 2000, servers: [server.address] });
    const failure = await resolve('receiver.test', never()).then(() => undefined, codeOf);
    assert.is(failure, code);
  });
}

test('a server that never answers is left alone when the signal aborts', async () => {
  await using server = await startNameServer(() => 'silence');
  const resolve = resolveThroughDns({ timeoutMilliseconds: 600_000, servers: [server.address] });
  const stop = new AbortController();
  const resolved = resolve('receiver.test', stop.signal).then(
    () => 'resolved',
    (reason: unknown) => reason,
  );
  await until(() => server.questions.length >= 2);
  const reason = new Error('late');
  stop.abort(reason);
  assert.is(await resolved, reason);
});

test('localhost is loopback, and no server is asked', async () => {
  await using server = await startNameServer(() => found(ADDRESS_4));
  const resolve = resolveThroughDns({ timeoutMilliseconds: 2000, servers: [server.address] });
  for (const name of ['localhost', 'LocalHost.', 'a.b.localhost']) {
    const addresses = await resolve(name, never());
    assert.equal(
      addresses.map(({ address }) => address),
      ['127.0.0.1', '::1'],
    );
  }
  assert.equal(server.questions, []);
});

test('the operating system knows localhost', async () => {
  const addresses = await resolveThroughSystem('localhost', never());
  assert.ok(addresses.some(({ address }) => address === '127.0.0.1' || address === '::1'));
});

function found(address: Buffer): Records {
  return { code: 0, addresses: [address] };
}

function codeOf(failure: unknown): unknown {
  return failure instanceof Error && 'code' in failure ? failure.code : failure;
}

/** A DNS server (RFC 1035) for one name: `answer` says what there is of a record type. */
async function startNameServer(
  answer: (type: number) => Records,
): Promise<AsyncDisposable & Readonly<{ address: string; questions: readonly number[] }>> {
  const questions: number[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const end = query.indexOf(0, 12) + 5;
    const type = query.readUInt16BE(end - 4);
    if (type !== A && type !== AAAA) return;
    questions.push(type);
    const records = answer(type);
    if (records === 'silence') return;
    const header = Buffer.alloc(12);
    header.writeUInt16BE(query.readUInt16BE(0), 0);
    header.writeUInt16BE(0x8180 | records.code, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.addresses.length, 6);
    const resources = records.addresses.map((address) => {
      const resource = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, address.length]);
      return Buffer.concat([resource, address]);
    });
    socket.send(Buffer.concat([header, query.subarray(12, end), ...resources]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    [Symbol.asyncDispose]: async () => {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}

test.run();
