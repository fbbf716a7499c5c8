import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openApiClient } from '../support/http/api-client.ts';
import { addCustomer, addRegion, openEdgeward } from '../support/servers/edgeward-server.ts';
import { openRawConnection } from '../support/http/raw-http.ts';
import { waitUntil } from '../support/wait-until.ts';
import { submissionOf, submitForm } from './customer/source-whitelist-examples.ts';

const edgeward = await openEdgeward();
await addRegion(edgeward, 'eu-west');
const plain = await addCustomer(edgeward, 'Plain', [['203.0.113.0/24', 'eu-west']]);
const hasty = await addCustomer(edgeward, 'Hasty', [['2001:db8::/48', 'eu-west']], ['--allow-synchronous']);
const lister = await addCustomer(edgeward, 'Lister', [['198.51.100.0/24', 'eu-west']], ['--allow-source-whitelist']);
const url = await edgeward.serve();
const clients = [openApiClient(url, plain.token), openApiClient(url, hasty.token)];
// That a token was of use is recorded once an hour: before anything is counted here.
for (const { token } of [plain, hasty, lister]) {
  const first = openApiClient(url, token);
  await first.get('/subnets');
  await first.close();
}
await waitUntil('the use of each token is recorded', async () => {
  const used = (await edgeward.events()).filter(({ type }) => type === 'ApiTokenUsed');
  return used.length === 3;
});

test.after(async () => {
  for (const client of clients) await client.close();
  await edgeward.remove();
});

const PATHS = ['/ips/enable', '/ips/disable', '/ips/bulk'] as const;

/** Any JSON, as text: also with keys that are no data to careless code. */
const anyJson = fc.oneof(
  fc.json({ maxDepth: 4 }),
  fc
    .tuple(fc.constantFrom('__proto__', 'constructor', 'toString', 'ip', 'ips', ''), fc.json({ maxDepth: 2 }))
    .map(([key, value]) => `{${JSON.stringify(key)}:${value}}`),
);

const address = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.nat(255).map((last) => `203.0.113.${last}`),
  fc.nat(65_535).map((last) => `2001:DB8::${last.toString(16)}`),
  fc.string({ maxLength: 20 }),
);
const addressText = address.map((text) => JSON.stringify(text));
const cidrText = fc
  .tuple(address, fc.integer({ min: -1, max: 130 }))
  .map(([text, length]) => JSON.stringify(`${text}/${length}`));
const sometimes = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const nearly = (right: fc.Arbitrary<string>) =>
  fc.oneof({ arbitrary: right, weight: 6 }, { arbitrary: anyJson, weight: 1 });

/** What is nearly a call: each field right, of another kind, or not there. */
const nearlyCall = fc
  .record({
    ip: sometimes(nearly(addressText)),
    action: sometimes(nearly(fc.constantFrom('"enable"', '"disable"'))),
    synchronous: sometimes(nearly(fc.constantFrom('true', 'false'))),
    ips: sometimes(nearly(fc.array(nearly(addressText), { maxLength: 5 }).map((texts) => `[${texts.join(',')}]`))),
    range: sometimes(
      nearly(fc.tuple(addressText, addressText).map(([start, end]) => `{"start":${start},"end":${end}}`)),
    ),
    cidr: sometimes(nearly(cidrText)),
    more: sometimes(anyJson),
  })
  .map((fields) => {
    const members = Object.entries(fields).filter(([, value]) => value !== undefined);
    return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${String(value)}`).join(',')}}`;
  });

/** Calls with one mode only, which mostly are accepted. */
const soundCall = fc
  .tuple(
    fc.constantFrom('"enable"', '"disable"'),
    fc.oneof(
      fc
        .array(fc.nat(255), { minLength: 1, maxLength: 5 })
        .map((list) => `"ips":[${list.map((last) => `"203.0.113.${last}"`).join(',')}]`),
      cidrText.map((cidr) => `"cidr":${cidr}`),
      fc.tuple(fc.nat(255), fc.nat(255)).map(([a, b]) => `"range":{"start":"203.0.113.${a}","end":"203.0.113.${b}"}`),
    ),
  )
  .map(([action, target]) => `{"action":${action},${target}}`);

const notJson = fc.oneof(
  fc.string({ maxLength: 50 }),
  nearlyCall.chain((text) => fc.nat(text.length).map((length) => text.slice(0, length))),
  fc
    .tuple(nearlyCall, fc.nat(200), fc.string({ maxLength: 3 }))
    .map(([text, at, splice]) => text.slice(0, at) + splice + text.slice(at)),
);

const body = fc.oneof(
  { arbitrary: anyJson, weight: 2 },
  { arbitrary: nearlyCall, weight: 5 },
  { arbitrary: soundCall, weight: 2 },
  { arbitrary: notJson, weight: 1 },
);

for (const path of PATHS) {
  test(`whatever is sent to ${path}: no failure of ours, and nothing recorded without a success`, async () => {
    const statuses = new Set<number>();
    await fc.assert(
      fc.asyncProperty(body, fc.constantFrom(...clients), async (text, client) => {
        const before = await edgeward.end();
        const answer = await client.send(path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: text,
        });
        statuses.add(answer.status);
        assert.ok([200, 400, 403, 404, 422].includes(answer.status), `${answer.status} ${answer.text}`);
        if (answer.status !== 200) assert.is(await edgeward.end(), before, `${answer.status} changes nothing`);
      }),
      { numRuns: 250 },
    );
    for (const status of [200, 400, 422])
      if (path === '/ips/bulk' || status !== 200) assert.ok(statuses.has(status), `${status} was seen`);
  });
}

test('whatever is asked of a subnet: no failure of ours', async () => {
  const query = fc.array(
    fc.tuple(
      fc.oneof(fc.constantFrom('view', 'limit', 'after', '__proto__'), fc.string({ maxLength: 5 })),
      fc.oneof(address, fc.constantFrom('ips', 'ranges', '1', '65536')),
    ),
    { maxLength: 3 },
  );
  const id = fc
    .oneof(fc.constantFrom('1', '2', '3'), fc.webSegment(), fc.string({ maxLength: 8 }).map(encodeURIComponent))
    // A client takes those two out of the path, and asks something else.
    .filter((segment) => !['.', '..'].includes(segment.replaceAll(/%2e/gi, '.')));
  await fc.assert(
    fc.asyncProperty(
      id,
      fc.constantFrom('', '/pending'),
      query,
      fc.constantFrom(...clients),
      async (subnet, tail, pairs, client) => {
        const text = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
        const { status } = await client.get(`/subnets/${subnet}${tail}?${text}`);
        assert.ok([200, 403, 404, 422].includes(status), String(status));
      },
    ),
    { numRuns: 250 },
  );
});

/** Requests that change nothing, as they are sent, with the status of their answers. */
const soundMessage = fc.constantFrom(
  ['GET /api/v1/subnets', '', 200],
  ['GET /api/v1/subnets/3/pending?view=ranges', '', 200],
  ['GET /api/v1/nothing', '', 404],
  ['POST /api/v1/ips/disable', '{', 400],
  ['POST /api/v1/ips/bulk', '{}', 422],
  ['POST /api/v1/ips/enable', '{"ip":"192.0.2.1"}', 404],
  ['DELETE /api/v1/source-whitelist/x', '{}', 404],
) as fc.Arbitrary<readonly [string, string, number]>;

function messageOf(line: string, content: string, isChunked: boolean): string {
  const head = `${line} HTTP/1.1\r\nHost: edgeward\r\nAuthorization: Bearer ${lister.token}\r\nContent-Type: application/json\r\n`;
  if (!isChunked) return `${head}Content-Length: ${content.length}\r\n\r\n${content}`;
  const chunks = content.replaceAll(/.{1,3}/g, (piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`);
  return `${head}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`;
}

const wound = fc.tuple(
  fc.nat(400),
  fc.nat(6),
  fc.constantFrom('', '\r\n', '\0', '!', 'zz', '0\r\n\r\n', ':', 'GARBAGE\r\n\r\n', '\x80'),
);

test('whatever comes after sound requests on a connection, those are answered in order, and no change is made that is not answered', async () => {
  const client = openApiClient(url, lister.token);
  let submissions = 0;
  const submit = async (): Promise<string> => {
    const cidr = `198.52.${(submissions += 1)}.0/28`;
    return submissionOf(await submitForm(client, { cidr })).data.request_id;
  };
  let requestId = await submit();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(soundMessage, fc.boolean()), { maxLength: 4 }),
      fc.array(wound, { minLength: 1, maxLength: 2 }),
      fc.boolean(),
      fc.option(fc.integer({ min: 1, max: 100 }), { nil: undefined }),
      async (sound, wounds, isChunked, step = Number.POSITIVE_INFINITY) => {
        const before = await edgeward.end();
        let last = messageOf(`DELETE /api/v1/source-whitelist/${requestId}`, '{}', isChunked);
        for (const [at, removed, added] of wounds) last = last.slice(0, at) + added + last.slice(at + removed);
        const text = `${sound.map(([[line, content], chunks]) => messageOf(line, content, chunks)).join('')}${last}`;
        const connection = await openRawConnection(url);
        for (let at = 0; at < text.length; at += step) {
          connection.send(Buffer.from(text.slice(at, at + step), 'latin1'));
          await new Promise((resolve) => void setImmediate(resolve));
        }
        const statuses = (): number[] =>
          [...connection.received().matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
        await waitUntil('the sound ones are answered', () => statuses().length >= sound.length);
        // What has not come whole is refused at its end.
        connection.socket.end();
        await connection.closed;
        assert.equal(
          statuses().slice(0, sound.length),
          sound.map(([[, , status]]) => status),
        );
        assert.ok(!statuses().some((status) => status >= 500), connection.received());
        const isChanged = (await edgeward.end()) !== before;
        assert.is(isChanged, connection.received().includes('"removed"'), connection.received());
        if (isChanged) requestId = await submit();
      },
    ),
    { numRuns: 150 },
  );
  await client.close();
});

test('the log holds only what verifies', async () => {
  assert.match(JSON.stringify(await edgeward.json('verify')), '"ok":true');
  assert.equal(
    edgeward.logged().filter(({ level }) => level === 'error'),
    [],
  );
});

test.run();
