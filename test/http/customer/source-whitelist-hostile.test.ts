import { join } from 'node:path';
import { Readable } from 'node:stream';
import * as fc from 'fast-check';
import { Agent, request } from 'undici';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Answer, checkedAnswer, openApiClient } from '../../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../../support/servers/edgeward-server.ts';
import { filesBelow } from '../../support/files-below.ts';
import { BOUNDARY, type FormBody, type FormPart, formBody, pdf } from '../../support/http/multipart-form.ts';
import { openRawConnection } from '../../support/http/raw-http.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { listedRequests, submissionParts } from './source-whitelist-examples.ts';

const BYTES_MAX = 20_000;

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west');
const acme = await addCustomer(
  edgeward,
  'Acme',
  [],
  ['--allow-source-whitelist', '--whitelist-limit', '100000', '--evidence-max-bytes', String(BYTES_MAX)],
);
const url = await edgeward.serve();
const api = openApiClient(url, acme.token);

test.after(async () => {
  await api.close();
  await edgeward.remove();
});

const evidenceFiles = () => filesBelow(join(edgeward.dataDir, 'evidence'));

const send = (body: FormBody): Promise<Answer> => api.send('/source-whitelist', body);

/** A clear 4xx, and nothing is left behind. */
async function isTurnedAway(body: FormBody, status: number, message?: string): Promise<void> {
  const answer = await send(body);
  assert.is(answer.status, status, answer.text);
  if (message !== undefined) assert.match(answer.text, message);
  assert.equal(await evidenceFiles(), []);
}

const good = submissionParts({ ip: '192.31.196.1' });
const [ip, region, file] = good as readonly [FormPart, FormPart, FormPart];

test('a form without a boundary, or with one that is not in the body', async () => {
  const { body } = formBody(good);
  for (const type of ['multipart/form-data', 'multipart/form-data; boundary=', 'multipart/form-data; boundary=""'])
    await isTurnedAway({ method: 'POST', headers: { 'content-type': type }, body }, 400);
  await isTurnedAway({ method: 'POST', headers: { 'content-type': 'multipart/form-data; boundary=x' }, body }, 400);
});

test('a content type with tabs and other parameters is the same', async () => {
  const { body } = formBody(submissionParts({ ip: '127.0.0.1' }));
  for (const type of [
    `multipart/form-data;\tboundary=${BOUNDARY}`,
    `Multipart/Form-Data \t; charset=utf-8; boundary="${BOUNDARY}"`,
  ]) {
    const { status, text } = await send({ method: 'POST', headers: { 'content-type': type }, body });
    // It was read: what is refused is the address.
    assert.is(status, 422, text);
    assert.match(text, 'is reserved and cannot be whitelisted.');
  }
  assert.equal(await evidenceFiles(), []);
});

test('an empty body, and one that is nothing but its end', async () => {
  const { headers } = formBody(good);
  await isTurnedAway({ method: 'POST', headers, body: Buffer.alloc(0) }, 400);
  await isTurnedAway(formBody([]), 422, '"regions":["is required');
});

test('parts after the end, whether they end or not', async () => {
  const { headers, body } = formBody(good);
  const end = Buffer.from(`--${BOUNDARY}--\r\n`);
  const unended = body.subarray(0, body.length - end.length);
  for (const pieces of [
    [end, body],
    [end, unended],
    [body, body],
    [body, unended],
  ]) {
    const answer = await send({ method: 'POST', headers, body: Buffer.concat(pieces) });
    assert.equal([answer.status, answer.text.includes('is not valid multipart')], [400, true], answer.text);
  }
  assert.equal(await evidenceFiles(), []);
});

test('a field given twice, whether it says the same or not', async () => {
  await isTurnedAway(formBody([...good, ip]), 422, '"ip":["must be given once."]');
  await isTurnedAway(formBody([...good, { name: 'ip', value: '192.31.196.2' }]), 422, 'must be given once.');
});

test('fields that nobody asked for, whatever they are called', async () => {
  for (const name of ['IP', 'ip[]', 'regions', 'regions[0]', 'range', 'constructor', 'toString', 'x'.repeat(5000)]) {
    await isTurnedAway(formBody([...good, { name, value: 'x' }]), 422, 'is not a known field.');
  }
  await isTurnedAway(
    formBody([...good, { name: '__proto__', value: 'x' }]),
    422,
    '"__proto__":["is not a known field."]',
  );
});

test('a file where a text belongs, and a file that nobody asked for', async () => {
  const twice = formBody([...good, { name: 'ip', file: pdf(), fileName: 'a.pdf' }]);
  await isTurnedAway(twice, 422, '"ip":["must be text, not a file."]');
  await isTurnedAway(
    formBody([region, { name: 'ip', file: pdf(), fileName: 'a.pdf' }]),
    422,
    'must be text, not a file.',
  );
  await isTurnedAway(
    formBody([ip, region, { name: 'other', file: pdf(), fileName: 'a.pdf' }]),
    422,
    'is not a known field',
  );
});

async function wrongWith(parts: readonly FormPart[]): Promise<unknown> {
  const { status, json } = await send(formBody(parts));
  assert.is(status, 422);
  return Object(json).errors;
}

test('whatever is wrong with a nested field is told by its dotted path', async () => {
  const ends = submissionParts({ range: ['192.31.196.1', '192.31.196.9'] });
  const start = { name: 'range[start]', value: '192.31.196.1' };
  assert.equal(await wrongWith([...ends, start]), { 'range.start': ['must be given once.'] });
  const long = [{ name: 'range[end]', value: '1'.repeat(3_000) }, start, region, file];
  assert.equal(await wrongWith(long), { 'range.end': ['must be shorter than 2048 bytes.'] });
  const asFile = { file: pdf(), fileName: 'a.pdf' };
  assert.equal(await wrongWith([...ends, { name: 'range[end]', ...asFile }]), {
    'range.end': ['must be text, not a file.'],
  });
  assert.equal(await wrongWith([ip, file, { name: 'regions[]', ...asFile }]), {
    regions: ['must be text, not a file.'],
  });
  assert.equal(await evidenceFiles(), []);
});

test('two files, three files', async () => {
  await isTurnedAway(formBody([...good, file]), 422, '"evidence":["must be one file."]');
  await isTurnedAway(formBody([file, file, file, ip, region]), 422, '"evidence":["must be one file."]');
});

const many = (name: string): readonly FormPart[] => Array.from({ length: 10_000 }, () => ({ name, value: '1' }));

test('ten thousand fields, known ones and unknown ones', async () => {
  await isTurnedAway(formBody([...many('regions[]'), ...good]), 422, 'must not have more than 106 fields.');
  await isTurnedAway(formBody([file, ...many('x')]), 422, 'must not have more than 106 fields.');
  const parts = Array.from({ length: 10_000 }, () => ({ name: '', headers: ['X-Nothing: here'] }));
  await isTurnedAway(formBody([file, ...parts]), 422, 'must not have more than 106 fields.');
});

test('a name that leads elsewhere, an empty one, none, and one with control characters or half a character', async () => {
  for (const fileName of ['../evidence.pdf', '/etc/passwd.pdf', 'a/b.pdf', '..\\a.pdf', 'C:\\a.pdf'])
    await isTurnedAway(formBody([ip, region, { ...file, fileName }]), 422, 'must have a file name without a path.');
  await isTurnedAway(formBody([ip, region, { name: 'evidence', file: pdf() }]), 422, 'must have a file name.');
  const starred = [`Content-Disposition: form-data; name="evidence"; filename*=UTF-8''..%2Fa.pdf`];
  await isTurnedAway(formBody([ip, region, { ...file, headers: starred }]), 422, 'without a path');
  const control = [`Content-Disposition: form-data; name="evidence"; filename*=UTF-8''a%00.pdf`];
  await isTurnedAway(formBody([ip, region, { ...file, headers: control }]), 422, 'without control characters');
  const half = [`Content-Disposition: form-data; name="evidence"; filename*=utf-16le''%3D%D8a%00.%00p%00d%00f%00`];
  await isTurnedAway(formBody([ip, region, { ...file, headers: half }]), 422, 'without half a character');
});

test('a file without a byte', async () => {
  await isTurnedAway(
    formBody([ip, region, { ...file, file: Buffer.alloc(0) }]),
    422,
    '"evidence":["must not be empty."]',
  );
});

test('a text that is too long', async () => {
  await isTurnedAway(
    formBody([region, file, { name: 'ip', value: '1'.repeat(2_048) }]),
    422,
    'must be shorter than 2048 bytes.',
  );
});

test('parts in strange charsets and encodings, without a name, with huge headers', async () => {
  const odd: readonly (readonly string[])[] = [
    ['Content-Disposition: form-data; name="ip"', 'Content-Type: text/plain; charset=utf-7'],
    ['Content-Disposition: form-data; name="ip"', 'Content-Type: text/plain; charset=no-such'],
    ['Content-Disposition: form-data; name="ip"', 'Content-Type: text/plain; charset=utf-16le'],
    ['Content-Disposition: form-data'],
    ['Content-Disposition: attachment; name="ip"'],
    [`X-Long: ${'x'.repeat(100_000)}`, 'Content-Disposition: form-data; name="ip"'],
    ['Content-Disposition: form-data; name="ip', 'no colon at all'],
    ['\u0000'],
  ];
  for (const headers of odd) {
    const answer = await send(formBody([{ name: '', headers, value: '\u00ff\u00fe' }, region, file]));
    assert.ok(answer.status >= 400 && answer.status < 500, answer.text);
  }
  assert.equal(await evidenceFiles(), []);
});

test('a file that is larger than allowed, whether its length was said or not', async () => {
  for (const bytes of [BYTES_MAX + 1, 10 * BYTES_MAX, 3_000_000]) {
    const form = formBody([ip, region, { ...file, file: pdf('', bytes) }]);
    await isTurnedAway(form, 422, `must not be larger than ${BYTES_MAX} bytes.`);
    const answer = await sendInPieces([form.body]);
    assert.is(answer.status, 422, answer.text);
  }
  assert.equal(await evidenceFiles(), []);
});

test('a body that is too large for other reasons', async () => {
  const { headers, body } = formBody(good);
  const padding = Buffer.alloc(1_500_000, 'x');
  for (const pieces of [
    [padding, Buffer.from('\r\n'), body],
    [body, padding],
  ]) {
    const answer = await sendInPieces(pieces, headers);
    assert.equal([answer.status, answer.json], [413, { message: 'the request body is too large.' }]);
  }
  assert.equal(await evidenceFiles(), []);
});

/** Without saying how long it is. */
async function sendInPieces(pieces: readonly Buffer[], headers = formBody([]).headers): Promise<Answer> {
  const dispatcher = new Agent();
  const answer = await request(`${url}/api/v1/source-whitelist`, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${acme.token}` },
    body: Readable.from(pieces),
    dispatcher,
  });
  const checked = checkedAnswer(answer.statusCode, answer.headers, await answer.body.text());
  await dispatcher.destroy();
  return checked;
}

// Broken off

function requestHead(length: number | 'chunked'): string {
  const size = length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
  return (
    `POST /api/v1/source-whitelist HTTP/1.1\r\nHost: edgeward\r\nAuthorization: Bearer ${acme.token}\r\n` +
    `Content-Type: multipart/form-data; boundary=${BOUNDARY}\r\n${size}\r\n\r\n`
  );
}

test('an upload that never ends is cut off', async () => {
  const connection = await openRawConnection(url);
  connection.send(requestHead('chunked'));
  const body = formBody([ip, region, { ...file, file: pdf('', 65_536) }]).body.subarray(0, 65_536);
  const piece = Buffer.concat([Buffer.from('10000\r\n'), body, Buffer.from('\r\n')]);
  let isClosed = false;
  void connection.closed.then(() => (isClosed = true));
  await waitUntil('the server has had enough', () => {
    while (connection.socket.writable && connection.socket.writableLength < 2_000_000) connection.send(piece);
    return isClosed;
  });
  assert.match(connection.received(), 'HTTP/1.1 422 ');
  assert.match(connection.received(), `must not be larger than ${BYTES_MAX} bytes.`);
  assert.equal(await evidenceFiles(), []);
});

test('a client that goes away, at any byte, leaves nothing', async () => {
  const { body } = formBody([ip, region, { ...file, file: pdf('', 5_000) }]);
  for (let at = 0; at < body.length; at += 97) {
    const connection = await openRawConnection(url);
    connection.send(requestHead(body.length));
    connection.send(body.subarray(0, at));
    if (at % 2 === 0)
      await waitUntil('some of it is there', async () => at < 1_500 || (await evidenceFiles()).length > 0);
    connection.socket.destroy();
    await connection.closed;
  }
  await waitUntil('nothing is left', async () => (await evidenceFiles()).length === 0);
  assert.equal((await listedRequests(api)).data, []);
});

test('a body that ends too early, at any byte, is refused and leaves nothing', async () => {
  const { headers, body } = formBody(good);
  const complete = body.length - '\r\n'.length;
  for (let at = 0; at < complete; at += 1) {
    const answer = await send({ method: 'POST', headers, body: body.subarray(0, at) });
    assert.is(answer.status, 400, `${at} of ${body.length} bytes: ${answer.text}`);
  }
  assert.equal(await evidenceFiles(), []);
});

test('a body in pieces of any size is understood', async () => {
  for (const [at, size] of [1, 2, 3, 7, 31, 64, 100].entries()) {
    const { body } = formBody(submissionParts({ ip: `192.31.196.${200 + at}`, evidence: pdf(`pieces of ${size}`) }));
    const pieces = Array.from({ length: Math.ceil(body.length / size) }, (_, piece) =>
      body.subarray(piece * size, (piece + 1) * size),
    );
    const answer = await sendInPieces(pieces);
    assert.is(answer.status, 201, answer.text);
  }
  assert.is((await evidenceFiles()).length, 7);
});

test('damaged bodies are refused or understood, and leave no more files than requests', async () => {
  const { headers, body } = formBody(good);
  const damage = fc.oneof(
    fc.record({ do: fc.constant('set' as const), at: fc.nat(body.length - 1), byte: fc.nat(255) }),
    fc.record({ do: fc.constant('cut' as const), at: fc.nat(body.length - 1), length: fc.nat(40) }),
    fc.record({ do: fc.constant('repeat' as const), at: fc.nat(body.length - 1), length: fc.nat(300) }),
    fc.record({
      do: fc.constant('insert' as const),
      at: fc.nat(body.length - 1),
      bytes: fc.uint8Array({ maxLength: 20 }),
    }),
    fc.record({
      do: fc.constant('insert' as const),
      at: fc.nat(body.length - 1),
      bytes: fc
        .constantFrom(`\r\n--${BOUNDARY}`, `--${BOUNDARY}--\r\n`, '\r\n\r\n', '"', '\u0000')
        .map((text) => Buffer.from(text)),
    }),
  );
  const statuses = new Set<number>();
  await fc.assert(
    fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 4 }), async (damages) => {
      const damaged = damages.reduce(damagedBy, body);
      const answer = await send({ method: 'POST', headers, body: damaged });
      statuses.add(answer.status);
      assert.ok([200, 201, 400, 422].includes(answer.status), answer.text);
    }),
    { numRuns: 1_000 },
  );
  assert.ok(statuses.has(400) && statuses.has(422), [...statuses].join());
  const { data } = await listedRequests(api);
  const named = new Set(
    (await edgeward.events()).flatMap(({ data: said }) => ('evidence' in said ? [JSON.stringify(said.evidence)] : [])),
  );
  const files = await evidenceFiles();
  assert.ok(files.length <= named.size && files.length > 0 === data.length > 0);
  assert.not(files.some((name) => name.includes('incoming')));
});

type Damage =
  | Readonly<{ do: 'set'; at: number; byte: number }>
  | Readonly<{ do: 'cut' | 'repeat'; at: number; length: number }>
  | Readonly<{ do: 'insert'; at: number; bytes: Uint8Array }>;

function damagedBy(body: Buffer, damage: Damage): Buffer {
  const before = body.subarray(0, damage.at);
  const after = body.subarray(damage.at);
  switch (damage.do) {
    case 'set':
      return Buffer.concat([before, Buffer.from([damage.byte]), after.subarray(1)]);
    case 'cut':
      return Buffer.concat([before, after.subarray(damage.length)]);
    case 'repeat':
      return Buffer.concat([before, after.subarray(0, damage.length), after]);
    case 'insert':
      return Buffer.concat([before, damage.bytes, after]);
  }
}

test('through all of that the server answered every request itself, and had no trouble', async () => {
  const troubles = edgeward.logged().filter(({ level }) => level === 'error' || level === 50);
  assert.equal(troubles, []);
});

test.run();
