import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { isIPv6, type Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createGuardedConnector, type ConnectorOptions } from '../../../src/adapters/webhooks/guarded-connector.ts';
import { startReceiver } from './receivers.ts';
import { never, openSender, requestTo } from './sending.ts';

/** Names that answer the same, or, when there are more, one answer after the other; `asked` counts. */
function names(...answers: readonly string[][]): { asked: number; resolve: ConnectorOptions['resolve'] } {
  const zone = {
    asked: 0,
    resolve: async (): Promise<LookupAddress[]> => {
      const answer = answers[Math.min(zone.asked, answers.length - 1)] ?? [];
      zone.asked += 1;
      return answer.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
    },
  };
  return zone;
}

for (const host of [
  '127.0.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '127.1',
  '127.0.0.1.',
  '１２７.0.0.1',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[64:ff9b::7f00:1]',
  '[::127.0.0.1]',
  'localhost',
  'LOCALHOST',
  'sub.localhost',
  'localhost.',
]) {
  test(`http://${host}/ is loopback, and is not connected to`, async () => {
    await using receiver = await startReceiver();
    await using sender = openSender({ allowPrivate: false });
    const result = await sender.send(requestTo(`http://${host}:${receiver.port}/`), never());
    assert.is(result.delivered, false);
    assert.match(JSON.stringify(result), /address \S+ is loopback/);
    assert.is(receiver.accepted(), 0);
  });
}

for (const [host, because] of [
  ['10.0.0.1', 'address 10.0.0.1 is private'],
  ['0xa9fea9fe', 'address 169.254.169.254 is a metadata service'],
  ['0', 'address 0.0.0.0 is unspecified'],
  ['[fd00:ec2::254]', 'address fd00:ec2::254 is a metadata service'],
  ['[fe80::1]', 'address fe80::1 is link-local'],
  ['[2002:7f00:1::]', 'address 2002:7f00:1:: is for 6to4'],
] as const) {
  test(`https://${host}/ is refused: ${because}`, async () => {
    await using sender = openSender({ allowPrivate: false });
    assert.equal(await sender.send(requestTo(`https://${host}/`), never()), { delivered: false, because });
  });
}

test('a name that leads to a private address is refused', async () => {
  await using receiver = await startReceiver();
  await using sender = openSender({ allowPrivate: false, resolve: names(['127.0.0.1']).resolve });
  assert.equal(await sender.send(requestTo(`http://receiver.test:${receiver.port}/`), never()), {
    delivered: false,
    because: 'address 127.0.0.1 is loopback',
  });
  assert.is(receiver.accepted(), 0);
});

for (const answer of [
  ['93.184.216.34', '127.0.0.1'],
  ['127.0.0.1', '93.184.216.34'],
  ['93.184.216.34', '2606:2800:220:1::1', '::ffff:127.0.0.1'],
]) {
  test(`one private address among the answers refuses them all: ${answer.join(', ')}`, async () => {
    await using receiver = await startReceiver();
    await using sender = openSender({ allowPrivate: false, resolve: names(answer).resolve });
    const result = await sender.send(requestTo(`http://receiver.test:${receiver.port}/`), never());
    assert.is(result.delivered, false);
    assert.match(JSON.stringify(result), /address \S+ is loopback/);
    assert.is(receiver.accepted(), 0);
  });
}

test('a name is checked again for every connection, not for every delivery', async () => {
  await using receiver = await startReceiver((request, response) =>
    response.writeHead(204, request.headers['webhook-id'] === 'last' ? { connection: 'close' } : {}).end(),
  );
  const zone = names(['127.0.0.1']);
  await using sender = openSender({ resolve: zone.resolve });
  const url = `http://receiver.test:${receiver.port}/`;
  for (const messageId of ['first', 'second', 'last']) await sender.send(requestTo(url, { messageId }), never());
  assert.is(zone.asked, 1);
  await sender.send(requestTo(url), never());
  assert.is(zone.asked, 2);
});

test('the address that was checked is the one that is connected to: a second answer plays no part', async () => {
  await using receiver = await startReceiver();
  // The guard of this test calls 127.0.0.2 private: the name turns to it right after the first answer.
  const zone = names(['127.0.0.1'], ['127.0.0.2']);
  const connect = createGuardedConnector({
    resolve: zone.resolve,
    refuse: (address) => (address === '127.0.0.2' ? 'private' : undefined),
    attemptMilliseconds: 2000,
  });
  const to = { protocol: 'http:', hostname: 'rebinding.test', port: String(receiver.port) };

  const socket = await new Promise<Socket>((resolve, reject) => {
    connect(to, (error, connected) => (connected === null ? reject(error) : resolve(connected)));
  });
  assert.is(zone.asked, 1);
  assert.is(socket.remoteAddress, '127.0.0.1');
  const closed = once(socket, 'close');
  socket.destroy();
  await closed;

  const refusal = await new Promise((resolve) => connect(to, resolve));
  assert.match(String(refusal), /address 127\.0\.0\.2 is private/);
  assert.is(receiver.accepted(), 1);
});

test('when the first of several addresses does not answer, the next one is tried', async () => {
  await using receiver = await startReceiver();
  await using sender = openSender({ resolve: names(['::1', '127.0.0.1']).resolve });
  const result = await sender.send(requestTo(`http://receiver.test:${receiver.port}/`), never());
  assert.equal(result, { delivered: true, status: 204 });
});

test('a name without an address', async () => {
  await using sender = openSender({ allowPrivate: false, resolve: names([]).resolve });
  assert.equal(await sender.send(requestTo('http://receiver.test/'), never()), {
    delivered: false,
    because: 'host name has no address',
  });
});

test('with the guard off, loopback is a place like any other', async () => {
  await using receiver = await startReceiver();
  await using sender = openSender({ allowPrivate: true });
  const result = await sender.send(requestTo(`http://localhost:${receiver.port}/`), never());
  assert.equal(result, { delivered: true, status: 204 });
});

test.run();
