import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Answer, openApiClient } from '../../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../../support/servers/edgeward-server.ts';

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west');
const acme = await addCustomer(edgeward, 'Acme', [['203.0.113.0/24', 'eu-west']]);
const url = await edgeward.serve();
const api = openApiClient(url, acme.token);
const before = (await edgeward.events()).length;

test.after(async () => {
  await api.close();
  await edgeward.remove();
});

const JSON_TYPE = { 'content-type': 'application/json' };
const VALID = '{"ip":"203.0.113.1"}';
const NOTHING_CHANGED = ['/ips/enable', '/ips/disable', '/ips/bulk'] as const;

/** Sent to `/ips/enable`, where even what is valid records nothing, as every address is enabled. */
function send(body: string | Buffer, headers: Readonly<Record<string, string>> = JSON_TYPE): Promise<Answer> {
  return api.send('/ips/enable', { method: 'POST', headers, body });
}

function assertProblem(answer: Answer, status: number, json: unknown, what?: string): void {
  assert.is(answer.status, status, what ?? answer.text);
  assert.equal(answer.json, json, what);
}

// Content type

test('JSON may say its charset, in any case, with other parameters', async () => {
  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'Application/JSON ; Charset="utf-8"',
    'application/json; profile="x"; charset=utf-8',
    'application/json\t;\tcharset=utf-8',
  ])
    assert.is((await send(VALID, { 'content-type': type })).status, 200, type);
});

test('a body that is not said to be JSON in UTF-8 is 415', async () => {
  const problem = { message: 'the content type must be application/json, in UTF-8.' };
  for (const type of [
    'text/plain',
    'text/json',
    'application/jsonx',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json, text/plain',
    'application/json; charset=latin1',
    'application/json;\tcharset=latin1',
    'application/json; charset=utf-16',
    'application/json; charset=utf-7',
    'application/json; charset=nonsense',
    'application',
    ';',
  ]) {
    for (const path of NOTHING_CHANGED) {
      const answer = await api.send(path, { method: 'POST', headers: { 'content-type': type }, body: VALID });
      assertProblem(answer, 415, problem, type);
    }
  }
  assertProblem(await send(VALID, {}), 415, problem, 'no content type');
});

// Shapes

test('no body is told what is missing', async () => {
  const missing = { message: 'ip: is required.', errors: { ip: ['is required.'] } };
  assertProblem(await api.send('/ips/enable', { method: 'POST' }), 422, missing);
  assertProblem(await send(''), 422, missing);
  assertProblem(await send('{}'), 422, missing);
});

test('a body that is no JSON is 400', async () => {
  const problem = { message: 'the request body is not valid JSON.' };
  for (const body of [
    '{',
    '{"ip":"203.0.113.1"',
    '{"ip":"203.0.113.1"}}',
    "{'ip':'203.0.113.1'}",
    '{ip:"203.0.113.1"}',
    '{"ip":"203.0.113.1",}',
    '{"ip":"203.0.113.1"}{"ip":"203.0.113.2"}',
    '{"ip":"\n"}',
    '{"ip":"\\x"}',
    '{"ip":NaN}',
    '{"ip":01}',
    '// {}',
    'null null',
    'undefined',
    ' ',
    '[',
    '\u0000',
    'ip=203.0.113.1',
    '['.repeat(500_000),
    '{"a":'.repeat(100_000),
  ]) {
    assertProblem(await send(body), 400, problem, body.slice(0, 40));
  }
});

test('a body that is JSON and no object is 422', async () => {
  const problem = { message: 'body: must be a JSON object.', errors: { body: ['must be a JSON object.'] } };
  for (const body of [
    'null',
    'true',
    '7',
    '1e400',
    '-0',
    '"203.0.113.1"',
    '""',
    '[]',
    `[${VALID}]`,
    '["ip","203.0.113.1"]',
  ]) {
    for (const path of NOTHING_CHANGED)
      assertProblem(await api.send(path, { method: 'POST', headers: JSON_TYPE, body }), 422, problem, body);
  }
});

test('nesting of any depth is refused, not followed', async () => {
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  assertProblem(await send(deep), 422, {
    message: 'body: must be a JSON object.',
    errors: { body: ['must be a JSON object.'] },
  });
  assert.is((await send(`{"ip":${deep}}`)).status, 422);
  assert.is((await send(`{"ip":"203.0.113.1","more":${deep}}`)).status, 422);
  assert.is((await send(`${'{"ip":'.repeat(50_000)}1${'}'.repeat(50_000)}`)).status, 422);
  const bulk = { method: 'POST', headers: JSON_TYPE };
  assert.is((await api.send('/ips/bulk', { ...bulk, body: `{"action":"enable","ips":${deep}}` })).status, 422);
  assert.is((await api.send('/ips/bulk', { ...bulk, body: `{"action":"enable","range":${deep}}` })).status, 422);
});

// Fields

test('unknown fields are refused by name', async () => {
  const answer = await send('{"ip":"203.0.113.1","synchronus":true,"IP":1}');
  assertProblem(answer, 422, {
    message: 'synchronus: is not a known field.',
    errors: { synchronus: ['is not a known field.'], IP: ['is not a known field.'] },
  });
});

test('names of the prototype chain are unknown fields like any other', async () => {
  for (const field of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__']) {
    const answer = await send(`{"ip":"203.0.113.1","${field}":{"synchronous":true,"ip":"203.0.113.2"}}`);
    assert.is(answer.status, 422, field);
    assert.is(
      answer.text,
      `{"message":"${field}: is not a known field.","errors":{"${field}":["is not a known field."]}}`,
    );
  }
  const nested = await api.send('/ips/bulk', {
    method: 'POST',
    headers: JSON_TYPE,
    body: '{"action":"enable","range":{"start":"203.0.113.1","__proto__":{"end":"203.0.113.2"}}}',
  });
  assert.is(
    nested.text,
    '{"message":"range.end: is required.","errors":{"range.end":["is required."],"range.__proto__":["is not a known field."]}}',
  );
  const inherited = await send('{"__proto__":{"ip":"203.0.113.1"}}');
  assert.is(inherited.status, 422, 'a field is not taken from a prototype');
  assert.is(Object.hasOwn(Object.prototype, 'ip'), false);
  assert.is(Reflect.get({}, 'synchronous'), undefined, 'no prototype was changed');
});

/** Bodies in which a field is given twice, with the first field that the answer names. */
const GIVEN_TWICE: readonly (readonly [path: string, body: string, field: string])[] = [
  ['/ips/disable', '{"ip":"203.0.113.90","ip":"203.0.113.91"}', 'ip'],
  ['/ips/disable', '{"ip":"203.0.113.90","ip":"203.0.113.90"}', 'ip'],
  ['/ips/disable', '{"ip":"203.0.113.90","\\u0069p":"203.0.113.91"}', 'ip'],
  ['/ips/disable', '{"ip":"203.0.113.90","synchronous":false,"synchronous":false}', 'synchronous'],
  ['/ips/bulk', '{"action":"enable","action":"disable","ips":["203.0.113.1"]}', 'action'],
  ['/ips/bulk', '{"action":"disable","ips":["203.0.113.1"],"ips":["203.0.113.2"]}', 'ips'],
  ['/ips/bulk', '{"ips":["203.0.113.1"],"action":"disable","ips":["203.0.113.2"]}', 'ips'],
  ['/ips/bulk', '{"ips":["203.0.113.1"],"action":"disable","i\\u0070s":["203.0.113.2"]}', 'ips'],
  ['/ips/bulk', '{"action":"disable","cidr":"203.0.113.0/25","cidr":"203.0.113.0/24"}', 'cidr'],
  [
    '/ips/bulk',
    '{"action":"disable","range":{"start":"203.0.113.1","end":"203.0.113.2","start":"203.0.113.2"}}',
    'range.start',
  ],
  ['/ips/bulk', '{"action":"disable","ips":["203.0.113.1",{"a":1,"a":2}]}', 'ips.1.a'],
  ['/ips/bulk', '{"action":"disable","cidr":"203.0.113.0/24","x":{"y":[[],{"z":1,"q":"}\\"","z":2}]}}', 'x.y.1.z'],
];

for (const [path, body, field] of GIVEN_TWICE) {
  test(`given twice: ${body}`, async () => {
    const spaced = body.includes('"}\\""') ? body : body.replaceAll(/([{}:,[\]])/g, ' $1\n');
    for (const text of [body, spaced]) {
      const { status, json } = await api.send(path, { method: 'POST', headers: JSON_TYPE, body: text });
      assert.is(status, 422);
      assert.is(Object(json).message, `${field}: must be given once.`);
      assert.equal(Object(json).errors[field], ['must be given once.']);
    }
  });
}

test('a value that looks like a field, or the same field of another object, is none that is given twice', async () => {
  for (const body of [
    '{"action":"enable","range":{"start":"203.0.113.1","end":"203.0.113.1"}}',
    '{"action":"enable","ips":["203.0.113.1","203.0.113.1"]}',
  ])
    assert.is((await api.send('/ips/bulk', { method: 'POST', headers: JSON_TYPE, body })).status, 200, body);
  const { json } = await send('{"ip":"203.0.113.1","a":{"ip":1},"b":[{"ip":1},{"ip":"ip"}]}');
  assert.equal(Object.keys(Object(json).errors), ['a', 'b']);
});

test('an escaped field name is the field', async () => {
  assert.is((await send('{"\\u0069p":"203.0.113.1"}')).status, 200);
});

test('synchronous is a boolean and nothing that looks like one', async () => {
  for (const value of ['"true"', '"false"', '1', '0', 'null', '""', '[]', '[true]', '{}', '1e999']) {
    for (const path of NOTHING_CHANGED) {
      const { status, json } = await api.send(path, {
        method: 'POST',
        headers: JSON_TYPE,
        body: `{${path === '/ips/bulk' ? '"action":"enable","cidr":"203.0.113.0/24"' : '"ip":"203.0.113.1"'},"synchronous":${value}}`,
      });
      assert.is(status, 422, value);
      assert.equal(json, {
        message: 'synchronous: must be true or false.',
        errors: { synchronous: ['must be true or false.'] },
      });
    }
  }
  assert.is((await send('{"ip":"203.0.113.1","synchronous":false}')).status, 200);
});

test('an address is text', async () => {
  for (const value of [
    'null',
    '0',
    '3405803777',
    '1e1000',
    '-1.5e-7',
    '9'.repeat(5000),
    'true',
    '[]',
    '["203.0.113.1"]',
    '{}',
  ])
    assertProblem(
      await send(`{"ip":${value}}`),
      422,
      { message: 'ip: must be an IP address as text.', errors: { ip: ['must be an IP address as text.'] } },
      value.slice(0, 40),
    );
});

test('every wrong field is named at once', async () => {
  const { status, json } = await api.post('/ips/bulk', { synchronous: 1, range: { start: 7, extra: 1 }, more: [] });
  assert.is(status, 422);
  assert.equal(json, {
    message: 'action: is required.',
    errors: {
      action: ['is required.'],
      synchronous: ['must be true or false.'],
      'range.start': ['must be an IP address as text.'],
      'range.end': ['is required.'],
      'range.extra': ['is not a known field.'],
      more: ['is not a known field.'],
    },
  });
});

test('all that is missing is named at once', async () => {
  const mode = ['exactly one of ips, range and cidr is required.'];
  const errors = { action: ['is required.'], ips: mode, range: mode, cidr: mode };
  for (const body of ['{}', '']) {
    const answer = await api.send('/ips/bulk', { method: 'POST', headers: JSON_TYPE, body });
    assertProblem(answer, 422, { message: 'action: is required.', errors });
  }
  const { json } = await api.post('/ips/bulk', { action: 'neither', more: 1, synchronous: 'x' });
  assert.equal(Object(json).errors, {
    action: ['must be enable or disable.'],
    synchronous: ['must be true or false.'],
    more: ['is not a known field.'],
    ips: mode,
    range: mode,
    cidr: mode,
  });
});

test('of a list that is too long the length is said, and nothing of its entries', async () => {
  for (const entry of [1, null, 'x', {}, '203.0.113.1']) {
    const { status, json } = await api.post('/ips/bulk', {
      action: 'disable',
      ips: Array.from({ length: 10_001 }, () => entry),
    });
    assert.is(status, 422);
    assert.equal(json, {
      message: 'ips: must name at most 10000 addresses.',
      errors: { ips: ['must name at most 10000 addresses.'] },
    });
  }
});

test('a small request can not ask for a large answer', async () => {
  const many = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`unknown${at}`, 0]));
  for (const [path, body] of [
    ['/ips/enable', { ip: '203.0.113.1', ...many }],
    ['/ips/bulk', { action: 'enable', ips: Array.from({ length: 300_000 }, () => 0) }],
    ['/ips/bulk', { action: 'enable', ips: Array.from({ length: 10_000 }, () => 'no address at all') }],
    ['/ips/bulk', { action: 'enable', ips: Array.from({ length: 10_000 }, () => 0) }],
    ['/ips/enable', { ['x'.repeat(1_000_000)]: 1 }],
    ['/ips/bulk', { action: 'x'.repeat(500_000), cidr: 'x'.repeat(500_000) }],
    ['/ips/bulk', { action: 'enable', range: { start: 'x'.repeat(500_000), end: '1'.repeat(500_000) } }],
    ['/ips/enable', { ip: 'x'.repeat(1_000_000) }],
  ] as const) {
    const { status, text } = await api.post(path, body);
    assert.is(status, 422);
    assert.ok(text.length < 100_000, `an answer of ${text.length} characters`);
  }
});

// Size

test('a body of 1 MiB is read, a larger one is 413', async () => {
  const padded = (bytes: number): string => VALID + ' '.repeat(bytes - VALID.length);
  const tooLarge = { message: 'the request body is larger than 1 MiB.' };
  assert.is((await send(padded(1024 * 1024))).status, 200);
  for (const path of NOTHING_CHANGED) {
    const larger = { method: 'POST', headers: JSON_TYPE, body: padded(1024 * 1024 + 1) };
    assertProblem(await api.send(path, larger), 413, tooLarge);
  }
  assertProblem(await send(padded(8 * 1024 * 1024)), 413, tooLarge);
  assert.is((await send(VALID)).status, 200, 'the connection goes on');
});

test('what can only be told by looking at a whole body is told of the largest ones', async () => {
  const many = `{${Array.from({ length: 100_000 }, (_, at) => `"${at % 50_000}":1`).join(',')}}`;
  const { status, json } = await api.send('/ips/bulk', { method: 'POST', headers: JSON_TYPE, body: many });
  assert.is(status, 422);
  assert.is(Object.keys(Object(json).errors).length, 100);
  const deep = `${'{"a":'.repeat(100_000)}{"b":1,"b":2}${'}'.repeat(100_000)}`;
  const answer = await api.send('/ips/bulk', { method: 'POST', headers: JSON_TYPE, body: deep });
  assert.is(answer.status, 422);
  assert.ok(answer.text.length < 1_000, answer.text.slice(0, 1_000));
});

// Content encodings

test('compressed bodies are read', async () => {
  for (const [encoding, body] of [
    ['gzip', gzipSync(VALID)],
    ['deflate', deflateSync(VALID)],
    ['br', brotliCompressSync(VALID)],
    ['GZIP', gzipSync(VALID)],
    ['identity', VALID],
  ] as const) {
    assert.is((await send(body, { ...JSON_TYPE, 'content-encoding': encoding })).status, 200, encoding);
  }
});

test('a compressed body may not unpack to more than 1 MiB', async () => {
  for (const [encoding, body] of [
    ['gzip', gzipSync(' '.repeat(16 * 1024 * 1024))],
    ['br', brotliCompressSync(' '.repeat(16 * 1024 * 1024), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ] as const) {
    const answer = await send(body, { ...JSON_TYPE, 'content-encoding': encoding });
    assertProblem(answer, 413, { message: 'the request body is larger than 1 MiB.' }, encoding);
  }
});

test('a body that is not compressed as it says is 400, an unknown encoding 415', async () => {
  const broken = { message: 'the request could not be read.' };
  assertProblem(await send(VALID, { ...JSON_TYPE, 'content-encoding': 'gzip' }), 400, broken);
  assertProblem(await send(gzipSync(VALID).subarray(0, 20), { ...JSON_TYPE, 'content-encoding': 'gzip' }), 400, broken);
  for (const encoding of ['zip', 'gzip, gzip', 'compress', 'nonsense']) {
    assertProblem(
      await send(VALID, { ...JSON_TYPE, 'content-encoding': encoding }),
      415,
      { message: 'the content encoding must be identity, gzip, deflate or br.' },
      encoding,
    );
  }
});

// Text

test('a byte order mark before the JSON is passed over', async () => {
  assert.is((await send(Buffer.from(`\ufeff${VALID}`))).status, 200);
});

test('what is not UTF-8 is no JSON', async () => {
  for (const bytes of ['ff', 'c0af', 'eda080', 'f5808080', 'c3']) {
    const body = Buffer.concat([Buffer.from('{"ip":"203.0.113.1'), Buffer.from(bytes, 'hex'), Buffer.from('"}')]);
    assertProblem(await send(body), 400, { message: 'the request body is not valid JSON.' }, bytes);
  }
  assert.is((await send(Buffer.from(VALID, 'utf16le'))).status, 400);
});

test('text that could break a message comes back as JSON', async () => {
  for (const ip of ['"', '\\', '\u0000', '\u2028', '\ud800', '<script>alert(1)</script>', '💥', '\r\nX-Evil: 1']) {
    const answer = await api.post('/ips/enable', { ip });
    assert.is(answer.status, 422, JSON.stringify(ip));
    assert.not(answer.headers['x-evil']);
  }
});

test('nothing of all this has changed anything', async () => {
  assert.is((await edgeward.events()).filter(({ type }) => type !== 'ApiTokenUsed').length, before);
});

test.run();
