import { getEventListeners, once } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { WebhookSenderClosed } from '../../../src/adapters/webhooks/webhook-sender.ts';
import { createManualClock } from './manual-clock.ts';
import { startRawReceiver, startReceiver, until } from './receivers.ts';
import { never, openSender, requestTo } from './sending.ts';

const LATE = { delivered: false, because: 'timed out after 10 s' };

test('a receiver that accepts and never answers', async () => {
  const clock = createManualClock();
  await using receiver = await startRawReceiver((socket) => socket.resume());
  await using sender = openSender({ clock });
  const sent = sender.send(requestTo(receiver.url), never());
  await until(() => receiver.sockets.size === 1);
  clock.advance(9_999);
  await until(() => receiver.sockets.size === 1);
  clock.advance(1);
  assert.equal(await sent, LATE);
  await until(() => receiver.sockets.size === 0);
  assert.is(clock.waits(), 0);
});

test('a receiver that trickles its headers is not given more time for each byte', async () => {
  const clock = createManualClock();
  let written = 0;
  await using receiver = await startRawReceiver((socket) => {
    socket.resume().write('HTTP/1.1 200 OK\r\nx-slow: ');
    const drip = setInterval(() => socket.write('a', () => (written += 1)), 1);
    socket.on('close', () => clearInterval(drip));
  });
  await using sender = openSender({ clock });
  const sent = sender.send(requestTo(receiver.url), never());
  for (let second = 0; second < 10; second += 1) {
    const before = written;
    await until(() => written > before);
    clock.advance(1000);
  }
  assert.equal(await sent, LATE);
  await until(() => receiver.sockets.size === 0);
});

for (const [status, result] of [
  [202, { delivered: true, status: 202 }],
  [500, { delivered: false, because: 'answered 500', status: 500 }],
] as const) {
  test(`a receiver that trickles its body has answered ${status}, and holds the connection no longer than the limit`, async () => {
    const clock = createManualClock();
    let written = 0;
    await using receiver = await startRawReceiver((socket) => {
      socket.resume().write(`HTTP/1.1 ${status} x\r\ntransfer-encoding: chunked\r\n\r\n`);
      const drip = setInterval(() => socket.write('1\r\na\r\n', () => (written += 1)), 1);
      socket.on('close', () => clearInterval(drip));
    });
    await using sender = openSender({ clock });
    const sent = sender.send(requestTo(receiver.url), never());
    await until(() => written > 10);
    clock.advance(10_000);
    assert.equal(await sent, result);
    await until(() => receiver.sockets.size === 0);
  });
}

test('a receiver that half-closes and keeps its side of the answer to itself', async () => {
  await using receiver = await startRawReceiver((socket) => socket.resume().end());
  await using sender = openSender();
  const result = await sender.send(requestTo(receiver.url), never());
  assert.equal(result, { delivered: false, because: 'connection closed without an answer' });
});

test('a connection that is never made is given up, and its socket with it', async () => {
  const clock = createManualClock();
  let asked = 0;
  let given = 0;
  await using sender = openSender({
    clock,
    resolve: (_, signal) => {
      asked += 1;
      return new Promise((__, reject) => {
        signal.addEventListener('abort', () => {
          given += 1;
          reject(new Error('given up'));
        });
      });
    },
  });
  const sent = sender.send(requestTo('http://receiver.test/'), never());
  await until(() => asked === 1);
  clock.advance(10_000);
  assert.equal(await sent, LATE);
  await until(() => given === 1);
});

test('an aborted signal stops a delivery that is under way, with its reason', async () => {
  await using receiver = await startRawReceiver((socket) => socket.resume());
  await using sender = openSender();
  const stop = new AbortController();
  const sent = sender.send(requestTo(receiver.url), stop.signal);
  await until(() => receiver.sockets.size === 1);
  const reason = new Error('shutting down');
  stop.abort(reason);
  assert.is(await rejection(sent), reason);
  await until(() => receiver.sockets.size === 0);
});

test('one signal for many deliveries is listened to once, and no longer than they take', async () => {
  await using receiver = await startReceiver();
  await using sender = openSender();
  const { signal } = new AbortController();
  const all = Array.from({ length: 100 }, () => sender.send(requestTo(receiver.url), signal));
  assert.is(getEventListeners(signal, 'abort').length, 1);
  assert.ok((await Promise.all(all)).every((result) => result.delivered));
  assert.is(getEventListeners(signal, 'abort').length, 0);
});

test('each delivery has its own time from its own start', async () => {
  const clock = createManualClock();
  await using receiver = await startRawReceiver((socket) => socket.resume());
  await using sender = openSender({ clock });
  const settled: string[] = [];
  const send = async (name: string): Promise<void> => {
    await sender.send(requestTo(receiver.url), never());
    settled.push(name);
  };
  const first = send('first');
  clock.advance(4000);
  const second = send('second');
  clock.advance(6000);
  await first;
  assert.equal(settled, ['first']);
  clock.advance(4000);
  await second;
  assert.equal(settled, ['first', 'second']);
});

test('nothing is sent for a signal that has aborted already', async () => {
  await using receiver = await startReceiver();
  await using sender = openSender();
  const reason = new Error('shutting down');
  assert.is(await rejection(sender.send(requestTo(receiver.url), AbortSignal.abort(reason))), reason);
  assert.is(receiver.accepted(), 0);
});

test('a thousand deliveries to a receiver that hangs don’t delay one to another', async () => {
  const clock = createManualClock();
  await using slow = await startRawReceiver((socket) => socket.resume());
  await using fast = await startReceiver();
  await using sender = openSender({ clock, connectionsPerOrigin: 16, connections: 20 });
  const stop = new AbortController();
  const toSlow = Array.from({ length: 1000 }, () => rejection(sender.send(requestTo(slow.url), stop.signal)));
  await until(() => slow.sockets.size === 16);

  const toFast = await Promise.all(Array.from({ length: 200 }, () => sender.send(requestTo(fast.url), never())));

  assert.ok(toFast.every((result) => result.delivered));
  assert.is(slow.accepted(), 16);
  assert.ok(fast.accepted() <= 4, `${fast.accepted()} connections to the fast one`);
  stop.abort();
  await Promise.all(toSlow);
});

test('waiting for others to the same receiver takes nothing of a delivery’s time, and its signature is not made before', async () => {
  const clock = createManualClock();
  await using slow = await startRawReceiver((socket) => socket.resume());
  await using sender = openSender({ clock, connectionsPerOrigin: 16 });
  const signedAt: number[] = [];
  const timestampSeconds = (): number => {
    const seconds = Math.floor(clock.monotonicMilliseconds() / 1000);
    signedAt.push(seconds);
    return seconds;
  };
  const all = Array.from({ length: 40 }, () => sender.send(requestTo(slow.url, { timestampSeconds }), never()));
  for (let round = 1; round <= 3; round += 1) {
    await until(() => slow.accepted() === Math.min(round * 16, 40));
    clock.advance(10_000);
  }
  assert.equal(new Set((await Promise.all(all)).map((result) => result.delivered || result.because)).size, 1);
  assert.equal(await all[39], LATE);
  assert.equal([signedAt[0], signedAt[16], signedAt[39]], [0, 10, 20]);
});

test('more than may wait are turned away at once', async () => {
  await using slow = await startRawReceiver((socket) => socket.resume());
  await using fast = await startReceiver();
  await using sender = openSender({ connectionsPerOrigin: 2, waitingPerOrigin: 3 });
  const stop = new AbortController();
  const waiting = Array.from({ length: 5 }, () => rejection(sender.send(requestTo(slow.url), stop.signal)));
  assert.equal(await sender.send(requestTo(slow.url), never()), {
    delivered: false,
    because: 'too many deliveries are waiting for this receiver',
  });
  assert.is((await sender.send(requestTo(fast.url), never())).delivered, true);
  stop.abort();
  await Promise.all(waiting);
});

test('those who wait are served in turn', async () => {
  await using receiver = await startReceiver();
  await using sender = openSender({ connectionsPerOrigin: 1 });
  const ids = Array.from({ length: 50 }, (_, index) => `msg_${index}`);
  await Promise.all(ids.map((messageId) => sender.send(requestTo(receiver.url, { messageId }), never())));
  assert.equal(
    receiver.received.map(({ headers }) => headers['webhook-id']),
    ids,
  );
  assert.is(receiver.accepted(), 1);
});

test('idle connections make room for those that are needed', async () => {
  await using sender = openSender({ connections: 2 });
  await using first = await startReceiver();
  await using second = await startReceiver();
  await using third = await startReceiver();
  for (const receiver of [first, second, first, third]) {
    assert.is((await sender.send(requestTo(receiver.url), never())).delivered, true);
  }
  await until(() => second.sockets.size === 0);
  assert.is(first.sockets.size, 1);
  assert.is(third.sockets.size, 1);
});

test('a closed sender leaves no connection, stops what is under way, and sends no more', async () => {
  const clock = createManualClock();
  await using idle = await startReceiver();
  await using busy = await startRawReceiver((socket) => socket.resume());
  const sender = openSender({ clock });
  await sender.send(requestTo(idle.url), never());
  const underWay = rejection(sender.send(requestTo(busy.url), never()));
  await until(() => busy.sockets.size === 1);

  await sender.close();

  assert.instance(await underWay, WebhookSenderClosed);
  await until(() => idle.sockets.size === 0 && busy.sockets.size === 0);
  assert.is(clock.waits(), 0);
  assert.instance(await rejection(sender.send(requestTo(idle.url), never())), WebhookSenderClosed);
  await sender.close();
});

test('closing ends a connection that is still being made', async () => {
  let ended = false;
  let asked = false;
  const sender = openSender({
    resolve: (_, signal) => {
      asked = true;
      return once(signal, 'abort').then(() => {
        ended = true;
        return [];
      });
    },
  });
  const sent = rejection(sender.send(requestTo('https://receiver.test/'), never()));
  await until(() => asked);
  await sender.close();
  assert.instance(await sent, WebhookSenderClosed);
  await until(() => ended);
});

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => assert.unreachable('it was not rejected'),
    (reason: unknown) => reason,
  );
}

test.run();
