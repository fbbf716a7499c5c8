import type { TLSSocket } from 'node:tls';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { WebhookResult } from '../../../src/ports/webhooks.ts';
import { makeAuthority, makeCertificate, type Certificate } from './certificates.ts';
import { createManualClock } from './manual-clock.ts';
import { startRawReceiver, startReceiver, until, type Receiver } from './receivers.ts';
import { never, openSender, requestTo } from './sending.ts';

const authority = await makeAuthority();
const toLoopback = async () => [{ address: '127.0.0.1', family: 4 }];

/** Sends to `https://host` where the receiver has `certificate` and only the authority of this test is trusted. */
async function sendTo(host: string, certificate: Certificate): Promise<WebhookResult & Readonly<{ arrived: number }>> {
  await using receiver = await startReceiver(undefined, certificate);
  await using sender = openSender({ authorities: [authority.cert], resolve: toLoopback });
  const result = await sender.send(requestTo(urlOf(host, receiver)), never());
  return { ...result, arrived: receiver.received.length };
}

test('a certificate of a trusted authority for the name in the URL is good', async () => {
  const certificate = await makeCertificate('receiver.test', authority);
  assert.equal(await sendTo('receiver.test', certificate), { delivered: true, status: 204, arrived: 1 });
});

test('an address in the URL is looked for in the certificate as an address', async () => {
  const certificate = await makeCertificate('127.0.0.1', authority);
  assert.equal(await sendTo('127.0.0.1', certificate), { delivered: true, status: 204, arrived: 1 });
});

for (const [what, host, make, because] of [
  [
    'for another name',
    'receiver.test',
    () => makeCertificate('other.test', authority),
    'certificate is for another host name',
  ],
  [
    'for a name where the URL has an address',
    '127.0.0.1',
    () => makeCertificate('receiver.test', authority),
    'certificate is for another host name',
  ],
  ['signed by nobody else', 'receiver.test', () => makeCertificate('receiver.test'), 'certificate is not trusted'],
  [
    'of an unknown authority',
    'receiver.test',
    async () => makeCertificate('receiver.test', await makeAuthority('Another Authority')),
    'certificate is not trusted',
  ],
  [
    'of an authority that only has the name of a known one',
    'receiver.test',
    async () => makeCertificate('receiver.test', await makeAuthority()),
    'certificate is not trusted',
  ],
  [
    'that has run out',
    'receiver.test',
    () => makeCertificate('receiver.test', authority, { from: '2020-01-01', to: '2021-01-01' }),
    'certificate has expired',
  ],
  [
    'from the future',
    'receiver.test',
    () => makeCertificate('receiver.test', authority, { from: '2098-01-01', to: '2099-01-01' }),
    'certificate is not valid yet',
  ],
] as const) {
  test(`a certificate ${what}: nothing is sent`, async () => {
    assert.equal(await sendTo(host, await make()), { delivered: false, because, arrived: 0 });
  });
}

test('the receiver is told which name is meant, and one connection serves on', async () => {
  const seen = new Set<unknown>();
  await using receiver = await startReceiver(
    (request, response) => {
      // The receiver is an https server, so its sockets are TLS sockets.
      const { servername } = request.socket as TLSSocket & { servername?: string };
      seen.add(servername);
      response.writeHead(204).end();
    },
    await makeCertificate('receiver.test', authority),
  );
  await using sender = openSender({ authorities: [authority.cert], resolve: toLoopback });
  for (let turn = 0; turn < 5; turn += 1) await sender.send(requestTo(urlOf('receiver.test', receiver)), never());
  assert.equal([...seen], ['receiver.test']);
  assert.is(receiver.accepted(), 1);
});

test('a receiver that does not speak TLS', async () => {
  await using receiver = await startReceiver();
  await using sender = openSender({ resolve: toLoopback });
  assert.equal(await sender.send(requestTo(urlOf('receiver.test', receiver)), never()), {
    delivered: false,
    because: 'TLS handshake failed',
  });
});

test('a receiver that hangs up in the handshake', async () => {
  await using receiver = await startRawReceiver((socket) => socket.once('data', () => socket.end()));
  await using sender = openSender({ resolve: toLoopback });
  assert.equal(await sender.send(requestTo(urlOf('receiver.test', receiver)), never()), {
    delivered: false,
    because: 'connection reset',
  });
});

test('a handshake that never ends is given up, and the connection with it', async () => {
  const clock = createManualClock();
  await using receiver = await startRawReceiver((socket) => socket.resume());
  await using sender = openSender({ clock, resolve: toLoopback });
  const sent = sender.send(requestTo(urlOf('receiver.test', receiver)), never());
  await until(() => receiver.sockets.size === 1);
  clock.advance(10_000);
  assert.equal(await sent, { delivered: false, because: 'timed out after 10 s' });
  await until(() => receiver.sockets.size === 0);
});

function urlOf(host: string, receiver: Receiver): string {
  return `https://${host}:${receiver.port}/hook`;
}

test.run();
