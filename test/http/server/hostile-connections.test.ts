import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { watchConnections } from '../../../src/http/server/connections.ts';
import { answerUnreadableRequests } from '../../../src/http/server/unreadable-requests.ts';
import { checkedAnswer, openApiClient } from '../../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../../support/servers/edgeward-server.ts';
import { openRawConnection } from '../../support/http/raw-http.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { submissionOf, submitForm } from '../customer/source-whitelist-examples.ts';

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west');
const acme = await addCustomer(edgeward, 'Acme', [['203.0.113.0/24', 'eu-west']], ['--allow-source-whitelist']);
const url = await edgeward.serve();
const api = openApiClient(url, acme.token);

test.after(async () => {
  await api.close();
  await edgeward.remove();
});

const HOST = 'Host: edgeward\r\n';
const AUTHORIZED = `${HOST}Authorization: Bearer ${acme.token}\r\n`;
const POST = `POST /api/v1/ips/disable HTTP/1.1\r\n${AUTHORIZED}Content-Type: application/json\r\n`;

/** What one message on a connection of its own is answered. */
async function answerTo(message: string | Buffer): Promise<ReturnType<typeof checkedAnswer>> {
  const connection = await openRawConnection(url);
  connection.send(message);
  const { status, headers, text } = await connection.answer();
  connection.socket.destroy();
  return checkedAnswer(status, headers, text);
}

const UNREADABLE: Readonly<Record<string, string>> = {
  'no HTTP at all': 'hello\r\n\r\n',
  'a TLS hello': '\x16\x03\x01\x00\xf1\x01\x00\x00\xed\x03\x03\r\n\r\n',
  'a method that nobody knows': `BREW /api/v1/subnets HTTP/1.1\r\n${AUTHORIZED}\r\n`,
  'another version': `GET /api/v1/subnets HTTP/9.1\r\n${AUTHORIZED}\r\n`,
  'no host': `GET /api/v1/subnets HTTP/1.1\r\nAuthorization: Bearer ${acme.token}\r\n\r\n`,
  'a space in the path': `GET /api/v1/sub nets HTTP/1.1\r\n${AUTHORIZED}\r\n`,
  'a header without a colon': `GET /api/v1/subnets HTTP/1.1\r\n${AUTHORIZED}nonsense\r\n\r\n`,
  'a space before the colon': `GET /api/v1/subnets HTTP/1.1\r\n${AUTHORIZED}X-A : 1\r\n\r\n`,
  'a null byte in a header': `GET /api/v1/subnets HTTP/1.1\r\n${AUTHORIZED}X-A: a\0b\r\n\r\n`,
  'a length that is no number': `${POST}Content-Length: x\r\n\r\n{}`,
  'a negative length': `${POST}Content-Length: -1\r\n\r\n{}`,
  'two lengths': `${POST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x`,
  'a length and chunks': `${POST}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'an unknown transfer encoding': `${POST}Transfer-Encoding: nonsense\r\n\r\n{}`,
  'a chunk without a size': `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
  'a chunk longer than it says': `${POST}Transfer-Encoding: chunked\r\n\r\n2\r\n{}}}\r\n`,
};

for (const [what, message] of Object.entries(UNREADABLE)) {
  test(`${what} is 400, in the words of every other answer`, async () => {
    const { status, json, headers } = await answerTo(Buffer.from(message, 'latin1'));
    assert.is(status, 400);
    assert.equal(json, { message: 'the request could not be read.' });
    if (what !== 'no host') assert.is(headers.connection, 'close');
    assert.match(String(headers.date), /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/, 'RFC 9110, 6.6.1');
  });
}

test('headers beyond all measure are 431', async () => {
  const { status, json } = await answerTo(
    `GET /api/v1/subnets HTTP/1.1\r\n${AUTHORIZED}X-A: ${'a'.repeat(40_000)}\r\n\r\n`,
  );
  assert.is(status, 431);
  assert.equal(json, { message: 'the request headers are too large.' });
});

test('an expectation that can not be met is 417, one that can is met', async () => {
  const { status, json } = await answerTo(`${POST}Expect: coffee\r\nContent-Length: 2\r\n\r\n{}`);
  assert.is(status, 417);
  assert.equal(json, { message: 'the only expectation that can be met is 100-continue.' });
  const polite = await openRawConnection(url);
  polite.send(`${POST}Expect: 100-continue\r\nContent-Length: 20\r\n\r\n`);
  assert.is((await polite.answer()).status, 100);
  polite.send('{"ip":"203.0.113.5"}');
  await waitUntil('the answer', () => polite.received().includes('HTTP/1.1 200 OK'));
  polite.socket.destroy();
});

test('HTTP/1.0 needs no host', async () => {
  const { status } = await answerTo(`GET /api/v1/subnets HTTP/1.0\r\nAuthorization: Bearer ${acme.token}\r\n\r\n`);
  assert.is(status, 200);
});

test('of a whole URL in the request line the path counts (RFC 9112, 3.2.2)', async () => {
  assert.is((await answerTo(`GET http://edgeward/api/v1/subnets HTTP/1.1\r\n${AUTHORIZED}\r\n`)).status, 200);
  assert.is((await answerTo(`OPTIONS * HTTP/1.1\r\n${AUTHORIZED}\r\n`)).status, 404);
});

test('dots in a path lead nowhere', async () => {
  for (const path of [
    '/api/v1/../v1/subnets',
    '/healthz/../api/v1/subnets',
    '/api/v1/subnets/../ips',
    '/api/v1/./subnets',
  ])
    assert.is((await answerTo(`GET ${path} HTTP/1.1\r\n${AUTHORIZED}\r\n`)).status, 404, path);
});

test('chunks of any size make the body', async () => {
  const chunks = '{"ip":"203.0.113.6"}'
    .split('')
    .map((letter) => `1\r\n${letter}\r\n`)
    .join('');
  const { status } = await answerTo(`${POST}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
  assert.is(status, 200);
  const empty = await answerTo(`${POST}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`);
  assert.is(empty.status, 422);
});

test('chunks without end are 413 once they are too many', async () => {
  const connection = await openRawConnection(url);
  const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
  connection.send(`${POST}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(17)}0\r\n\r\n`);
  const { status, headers, text } = await connection.answer();
  connection.socket.destroy();
  checkedAnswer(status, headers, text);
  assert.is(status, 413);
});

test('a length that is too large is refused before the body comes', async () => {
  const { status, json } = await answerTo(`${POST}Content-Length: 1099511627776\r\n\r\n`);
  assert.is(status, 413);
  assert.equal(json, { message: 'the request body is larger than 1 MiB.' });
});

test('a body that comes byte by byte is read', async () => {
  const connection = await openRawConnection(url);
  connection.socket.setNoDelay(true);
  connection.send(`${POST}Content-Length: 20\r\n\r\n`);
  for (const letter of '{"ip":"203.0.113.7"}') {
    connection.send(letter);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.is((await connection.answer()).status, 200);
  connection.socket.destroy();
});

test('a client that goes away in the middle of its body changes nothing', async () => {
  const before = (await edgeward.events()).length;
  const connection = await openRawConnection(url);
  connection.send(`${POST}X-Request-Id: gone-1\r\nContent-Length: 20\r\n\r\n{"ip":"203`);
  connection.socket.end();
  await connection.closed;
  await waitUntil('the server has noticed', () => edgeward.logged().some(({ requestId }) => requestId === 'gone-1'));
  assert.is((await edgeward.events()).length, before);
  assert.is((await api.get('/subnets')).status, 200);
});

test('requests sent together are answered in order', async () => {
  const connection = await openRawConnection(url);
  const bodies = ['{"ip":"203.0.113.20"}', '{"ip":"192.0.2.1"}', '{', '{"ip":"203.0.113.21"}'];
  connection.send(bodies.map((body) => `${POST}Content-Length: ${body.length}\r\n\r\n${body}`).join(''));
  await waitUntil('four answers', () => connection.received().split('HTTP/1.1 ').length === 5);
  const statuses = [...connection.received().matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
  assert.equal(statuses, ['200', '404', '400', '200']);
  connection.socket.destroy();
});

test('what the parser has refused is not even a line in the log', async () => {
  await answerTo(`${POST}X-Request-Id: unreadable-1\r\nTransfer-Encoding: chun!ed\r\n\r\n`);
  await answerTo(
    `POST /api/v1/ips/bulk HTTP/1.1\r\n${HOST}X-Request-Id: unreadable-1\r\nTransfer-Encoding: chun!ed\r\n\r\n`,
  );
});

/** What came back on a connection until it ended: the status of each answer, in order. */
async function statusesOf(message: string | Buffer): Promise<readonly number[]> {
  const connection = await openRawConnection(url);
  connection.send(message);
  await connection.closed;
  return [...connection.received().matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
}

const GARBAGE: readonly string[] = [
  'GARBAGE\r\n\r\n',
  'GARBAGE\r\n\r\n'.repeat(1_000),
  '\0',
  `GET / HTTP/1.1\r\n: x\r\n\r\n`,
];

function post(body: string): string {
  return `${POST}Content-Length: ${body.length}\r\n\r\n${body}`;
}

test('what came whole before what is unreadable is answered, in order, and then the end', async () => {
  for (const [at, garbage] of GARBAGE.entries()) {
    const get = `GET /api/v1/subnets HTTP/1.1\r\n${AUTHORIZED}\r\n`;
    const ip = `{"ip":"203.0.113.${30 + at}"}`;
    assert.equal(await statusesOf(post(ip) + garbage), [200, 400], garbage);
    assert.equal(
      await statusesOf(get + post('{"ip":"192.0.2.1"}') + post('{') + get + garbage),
      [200, 404, 400, 200, 400],
    );
    assert.match((await api.get('/subnets/1/pending')).text, `"203.0.113.${30 + at}"`);
  }
});

test('a long answer is sent whole before what is unreadable behind its request', async () => {
  const connection = await openRawConnection(url);
  connection.send(`GET /api/v1/subnets/1 HTTP/1.1\r\n${AUTHORIZED}\r\nGARBAGE\r\n\r\n`);
  await connection.closed;
  assert.match(connection.received(), '"address":"203.0.113.255"');
  assert.match(connection.received(), /\r\n0\r\n\r\nHTTP\/1\.1 400 Bad Request\r\n/);
});

test('a request that was answered before its body came is not answered again when that is unreadable', async () => {
  const early = `POST /api/v1/ips/disable HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n`;
  const connection = await openRawConnection(url);
  connection.send(early);
  assert.is((await connection.answer()).status, 401);
  connection.send('zz\r\n');
  await connection.closed;
  assert.is(connection.received().split('HTTP/1.1 ').length, 2);
});

test('what follows a request whose answer ends the connection is not carried out', async () => {
  const endings = [
    'Connection: close\r\n',
    'Connection: Upgrade\r\nUpgrade: h2c\r\n',
    'Connection: Upgrade\r\nUpgrade: websocket\r\n',
  ];
  for (const ending of endings) {
    for (const turns of [0, 1, 200]) {
      const connection = await openRawConnection(url);
      connection.socket.setNoDelay(true);
      const first = `GET /api/v1/subnets HTTP/1.1\r\n${ending}${AUTHORIZED}\r\n`;
      const second = post('{"ip":"203.0.113.77"}');
      if (turns === 0) connection.send(first + second);
      else {
        connection.send(first);
        for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
        connection.send(second);
      }
      await connection.closed;
      assert.equal(
        [...connection.received().matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
        ['200'],
        ending,
      );
      assert.match(connection.received(), 'Connection: close');
    }
  }
  assert.not.match((await api.get('/subnets/1/pending')).text, '"203.0.113.77"');
});

test('a client that ends its side after its requests is answered', async () => {
  for (const message of [
    post('{"ip":"203.0.113.60"}').repeat(3),
    `GET /api/v1/subnets/1 HTTP/1.1\r\n${AUTHORIZED}\r\n`.repeat(3),
  ]) {
    const connection = await openRawConnection(url);
    connection.socket.end(message);
    await connection.closed;
    const statuses = [...connection.received().matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    assert.equal(statuses, ['200', '200', '200']);
  }
});

test('a tunnel is no request of this API', async () => {
  assert.equal(await statusesOf(`CONNECT edgeward:443 HTTP/1.1\r\n${HOST}\r\n`), [400]);
  const { json } = await answerTo(`CONNECT edgeward:443 HTTP/1.1\r\n${HOST}\r\n`);
  assert.equal(json, { message: 'the request could not be read.' });
});

let submissions = 0;

/** Beginnings of requests of which each would change something, were its end as right as its beginning. */
const BROKEN_CHANGES: Readonly<Record<string, (requestId: string) => readonly (string | Buffer)[]>> = {
  'a removal with an unknown transfer encoding': (id) => [`${removal(id)}Transfer-Encoding: chun!ed\r\n\r\n`],
  'a removal with chunks that break': (id) => [`${removal(id)}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n`, 'zz\r\n'],
  'a removal with a chunk longer than it says': (id) => [
    `${removal(id)}Transfer-Encoding: chunked\r\n\r\n2\r\n{}`,
    '}}\r\n0\r\n\r\n',
  ],
  'a removal with a trailer that is none': (id) => [
    `${removal(id)}Transfer-Encoding: chunked\r\n\r\n0\r\n`,
    ': :\r\n\r\n',
  ],
  'a change whose compressed text is whole and whose chunks are not': () => [compressedChange(), 'zz\r\n'],
  'a change with an unknown transfer encoding': () => [
    `${POST}Transfer-Encoding: chun!ed\r\n\r\n{"ip":"203.0.113.99"}`,
  ],
};

function removal(requestId: string): string {
  return `DELETE /api/v1/source-whitelist/${requestId} HTTP/1.1\r\n${AUTHORIZED}`;
}

function compressedChange(): Buffer {
  const body = gzipSync('{"ip":"203.0.113.99"}');
  const head = `${POST}Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n`;
  return Buffer.concat([Buffer.from(head), body, Buffer.from('\r\n')]);
}

for (const [what, pieces] of Object.entries(BROKEN_CHANGES)) {
  test(`${what} changes nothing, at once or piece by piece`, async () => {
    const cidr = `198.52.${(submissions += 1)}.0/28`;
    const requestId = submissionOf(await submitForm(api, { cidr })).data.request_id;
    for (const turns of [0, 200]) {
      const before = await edgeward.end();
      const connection = await openRawConnection(url);
      for (const piece of pieces(requestId)) {
        connection.send(piece);
        for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
      }
      await connection.closed;
      assert.match(connection.received(), /^HTTP\/1\.1 400 /, 'one answer');
      assert.is(connection.received().split('HTTP/1.1 ').length, 2, 'and one only');
      assert.is(await edgeward.end(), before);
    }
  });
}

test('a smuggled request does not get in', async () => {
  const smuggled = `GET /api/v1/subnets HTTP/1.1\r\n${AUTHORIZED}\r\n`;
  const connection = await openRawConnection(url);
  connection.send(`${POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`);
  await connection.closed;
  assert.is(connection.received().split('HTTP/1.1 ').length, 2, 'one answer');
  assert.match(connection.received(), 'HTTP/1.1 400');
});

test('two tokens in one request are not mixed: the first counts', async () => {
  const { status } = await answerTo(`GET /api/v1/subnets HTTP/1.1\r\n${AUTHORIZED}Authorization: Bearer x\r\n\r\n`);
  assert.is(status, 200);
  const reversed = `GET /api/v1/subnets HTTP/1.1\r\n${HOST}Authorization: Bearer x\r\nAuthorization: Bearer ${acme.token}\r\n\r\n`;
  assert.is((await answerTo(reversed)).status, 401);
});

test('two request ids are none', async () => {
  const { headers } = await answerTo(
    `GET /api/v1/subnets HTTP/1.1\r\n${AUTHORIZED}X-Request-Id: a\r\nX-Request-Id: b\r\n\r\n`,
  );
  assert.match(String(headers['x-request-id']), /^[0-9a-f-]{36}$/);
});

// The server's own limits of time, shortened: what they do is decided here, not by the server they are set on

test('a body or a header that does not come in time is 408', async () => {
  const server = createServer({ requestTimeout: 100, headersTimeout: 50, connectionsCheckingInterval: 20 });
  server.on('request', (request, response) => {
    response
      .setHeader('X-RateLimit-Limit', '60')
      .setHeader('X-RateLimit-Remaining', '59')
      .setHeader('X-Request-Id', 'slow');
    request.resume();
  });
  answerUnreadableRequests(server, watchConnections(server));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  for (const beginning of [`${POST}Content-Length: 20\r\n\r\n{`, 'GET /api/v1/subnets HTTP/1.1\r\nX-A: ']) {
    const connection = await openRawConnection(`http://127.0.0.1:${port}`);
    connection.send(beginning);
    const { status, headers, text } = await connection.answer();
    const { json } = checkedAnswer(status, headers, text);
    assert.is(status, 408);
    assert.equal(json, { message: 'the request took too long to arrive.' });
    await connection.closed;
  }
  server.close();
  server.closeAllConnections();
});

test('a server that stops answers all that was sent together, in order, and takes nothing more', async () => {
  const answers: ServerResponse[] = [];
  const server = createServer();
  const connections = watchConnections(server);
  server.on('request', (request, response) => void (connections.takes(request) && answers.push(response)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const connection = await openRawConnection(`http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`);
  const get = `GET / HTTP/1.1\r\n${HOST}\r\n`;
  connection.send(get + get);
  await waitUntil('both are there', () => answers.length === 2);
  const closing = connections.close(30_000);
  connection.send(get);
  for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
  for (const [at, response] of answers.entries()) response.end(`answer ${at}`);
  await connection.closed;
  await closing;
  assert.equal(connection.received().match(/answer \d/g), ['answer 0', 'answer 1']);
});

test('after all this the server serves, and what could not be read has left no line', async () => {
  assert.is((await api.get('/subnets')).status, 200);
  assert.not.ok(edgeward.logged().some(({ requestId }) => requestId === 'unreadable-1'));
  assert.equal(
    edgeward.logged().filter(({ level }) => level === 'error' || level === 'warn'),
    [],
  );
});

test.run();
