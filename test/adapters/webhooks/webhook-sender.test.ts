import { Webhook } from 'standardwebhooks';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { never, openSender, requestTo, SECRET } from './sending.ts';
import { refusedPort, startRawReceiver, startReceiver, until } from './receivers.ts';

test('a webhook is a POST of exactly the given text, signed after Standard Webhooks', async () => {
  await using receiver = await startReceiver();
  await using sender = openSender();
  const body = '{"event":"commit_completed", "customer":"Zoë & Söhne 🛰", "status":"success"}\n';

  assert.equal(await sender.send(requestTo(`${receiver.url}?tenant=a%20b`, { body }), never()), {
    delivered: true,
    status: 204,
  });

  const [received] = receiver.received;
  assert.is(received?.method, 'POST');
  assert.is(received?.path, '/hook?tenant=a%20b');
  assert.is(received?.body, body);
  assert.is(received?.headers['content-type'], 'application/json');
  assert.is(received?.headers['content-length'], String(Buffer.byteLength(body)));
  assert.is(received?.headers['user-agent'], 'edgeward');
  assert.is(received?.headers['webhook-id'], 'msg_018f2d7c');
  assert.equal(new Webhook(SECRET).verify(body, signatureHeaders(received?.headers ?? {})), JSON.parse(body));
});

test('while a secret is rotated, each of those that sign is enough to verify', async () => {
  await using receiver = await startReceiver();
  await using sender = openSender();
  const [newer, stranger] = [1, 2].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`);
  const body = '{"status":"success"}';
  const request = requestTo(receiver.url, { body, secret: newer ?? '', earlierSecrets: [SECRET] });
  assert.is((await sender.send(request, never())).delivered, true);
  const headers = signatureHeaders(receiver.received[0]?.headers ?? {});
  assert.match(headers['webhook-signature'] ?? '', /^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
  for (const secret of [newer, SECRET])
    assert.equal(new Webhook(secret ?? '').verify(body, headers), { status: 'success' });
  assert.throws(() => new Webhook(stranger ?? '').verify(body, headers));
});

test('whatever the text is, the receiver gets it and the signature holds', async () => {
  await using receiver = await startReceiver();
  await using sender = openSender();
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 300 }), async (text) => {
      const body = JSON.stringify({ text });
      assert.is((await sender.send(requestTo(receiver.url, { body }), never())).delivered, true);
      const received = receiver.received.at(-1);
      assert.is(received?.body, body);
      new Webhook(SECRET).verify(received?.body ?? '', signatureHeaders(received?.headers ?? {}));
    }),
    { numRuns: 100 },
  );
});

for (const status of [200, 201, 202, 204, 206, 299]) {
  test(`an answer ${status} is delivered`, async () => {
    await using receiver = await startReceiver((_, response) => response.writeHead(status).end());
    await using sender = openSender();
    assert.equal(await sender.send(requestTo(receiver.url), never()), { delivered: true, status });
  });
}

for (const status of [400, 401, 404, 409, 410, 429, 500, 503, 599]) {
  test(`an answer ${status} is a failure that names nothing but the status`, async () => {
    await using receiver = await startReceiver((_, response) =>
      response.writeHead(status).end('secret of the receiver'),
    );
    await using sender = openSender();
    assert.equal(await sender.send(requestTo(receiver.url), never()), {
      delivered: false,
      because: `answered ${status}`,
      status,
    });
  });
}

for (const status of [300, 301, 302, 303, 304, 307, 308]) {
  test(`a redirect ${status} is not followed`, async () => {
    await using elsewhere = await startReceiver();
    await using receiver = await startReceiver((_, response) =>
      response.writeHead(status, { location: elsewhere.url }).end(),
    );
    await using sender = openSender();
    assert.equal(await sender.send(requestTo(receiver.url), never()), {
      delivered: false,
      because: `redirects are not followed (${status})`,
      status,
    });
    assert.is(elsewhere.accepted(), 0);
  });
}

test('interim answers are not the answer', async () => {
  await using receiver = await startRawReceiver((socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n');
      socket.write('HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n');
    });
  });
  await using sender = openSender();
  assert.equal(await sender.send(requestTo(receiver.url), never()), {
    delivered: false,
    because: 'answered 500',
    status: 500,
  });
});

test('nobody listens: connection refused', async () => {
  await using sender = openSender();
  const url = `http://127.0.0.1:${await refusedPort()}/`;
  assert.equal(await sender.send(requestTo(url), never()), { delivered: false, because: 'connection refused' });
});

test('a receiver that resets the connection', async () => {
  await using receiver = await startRawReceiver((socket) => socket.once('data', () => socket.resetAndDestroy()));
  await using sender = openSender();
  assert.equal(await sender.send(requestTo(receiver.url), never()), { delivered: false, because: 'connection reset' });
});

test('a receiver that closes without a word', async () => {
  await using receiver = await startRawReceiver((socket) => socket.once('data', () => socket.end()));
  await using sender = openSender();
  assert.equal(await sender.send(requestTo(receiver.url), never()), {
    delivered: false,
    because: 'connection closed without an answer',
  });
});

test('a receiver that speaks something else', async () => {
  await using receiver = await startRawReceiver((socket) => socket.write('220 mail.example.net ESMTP ready\r\n'));
  await using sender = openSender();
  assert.equal(await sender.send(requestTo(receiver.url), never()), {
    delivered: false,
    because: 'answer is not HTTP',
  });
});

test('an answer with endless headers is given up', async () => {
  await using receiver = await startRawReceiver((socket) => {
    socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\nx-long: ${'a'.repeat(200_000)}\r\n\r\n`));
  });
  await using sender = openSender();
  assert.equal(await sender.send(requestTo(receiver.url), never()), {
    delivered: false,
    because: 'answer has too large headers',
  });
});

test('a huge answer is not read: the status counts, and the connection is closed', async () => {
  let written = 0;
  await using receiver = await startReceiver((_, response) => {
    response.writeHead(200);
    const more = (): void => {
      while (written < 1_000_000_000 && !response.destroyed && response.write(Buffer.alloc(16_384))) written += 16_384;
    };
    response.on('drain', more);
    more();
  });
  await using sender = openSender();
  assert.equal(await sender.send(requestTo(receiver.url), never()), { delivered: true, status: 200 });
  await until(() => receiver.sockets.size === 0);
  assert.ok(written < 100_000_000, `${written} bytes were taken`);
});

test('an answer that breaks off after its status has been delivered all the same', async () => {
  await using receiver = await startRawReceiver((socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nabc'));
  });
  await using sender = openSender();
  assert.equal(await sender.send(requestTo(receiver.url), never()), { delivered: true, status: 200 });
});

test('one connection serves one delivery after the other', async () => {
  await using receiver = await startReceiver((_, response) => response.end('thanks'));
  await using sender = openSender();
  for (let turn = 0; turn < 20; turn += 1) await sender.send(requestTo(receiver.url), never());
  assert.is(receiver.received.length, 20);
  assert.is(receiver.accepted(), 1);
});

test('a receiver that closes after each answer gets a connection each time', async () => {
  await using receiver = await startReceiver((_, response) =>
    response.writeHead(200, { connection: 'close' }).end('ok'),
  );
  await using sender = openSender();
  for (let turn = 0; turn < 20; turn += 1) {
    assert.is((await sender.send(requestTo(receiver.url), never())).delivered, true);
  }
  assert.is(receiver.accepted(), 20);
});

test('a receiver that was restarted gets a new connection', async () => {
  await using receiver = await startReceiver();
  await using sender = openSender();
  await sender.send(requestTo(receiver.url), never());
  for (const socket of receiver.sockets) socket.end();
  await until(() => receiver.sockets.size === 0);
  assert.is((await sender.send(requestTo(receiver.url), never())).delivered, true);
  assert.is(receiver.accepted(), 2);
});

for (const [url, because] of [
  ['ftp://127.0.0.1/x', 'the webhook URL is not an http: or https: URL'],
  ['file:///etc/passwd', 'the webhook URL is not an http: or https: URL'],
  ['not a url', 'the webhook URL is not an http: or https: URL'],
  ['http://user:word@127.0.0.1/', 'the webhook URL holds credentials'],
] as const) {
  test(`${url} is not sent to`, async () => {
    await using sender = openSender();
    assert.equal(await sender.send(requestTo(url), never()), { delivered: false, because });
  });
}

for (const secret of ['', 'whsec_', 'whsec_c2hvcnQ=', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_$$$']) {
  test(`nothing is sent unsigned: secret "${secret}"`, async () => {
    await using receiver = await startReceiver();
    await using sender = openSender();
    const result = await sender.send(requestTo(receiver.url, { secret }), never());
    assert.equal(result, {
      delivered: false,
      because: 'the signing secret is not whsec_ and the base64 of 24 to 64 bytes',
    });
    assert.is(receiver.accepted(), 0);
  });
}

test('a message id can not smuggle a header', async () => {
  await using receiver = await startReceiver();
  await using sender = openSender();
  const result = await sender.send(requestTo(receiver.url, { messageId: 'a\r\nx-evil: 1' }), never());
  assert.is(result.delivered, false);
  assert.is(receiver.received.length, 0);
});

function signatureHeaders(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  const of = (name: string): [string, string] => [name, String(headers[name])];
  return Object.fromEntries([of('webhook-id'), of('webhook-timestamp'), of('webhook-signature')]);
}

test.run();
