import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BULK_IPS_MAX, type AskedChange, bulkBody } from '../../../src/http/customer/address-change-body.ts';
import { readListedChange } from '../../../src/http/customer/bulk-body-scanner.ts';
import { formatAddress } from '../../../src/addresses/address.ts';
import { rangeTexts } from '../../../src/addresses/range-text.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** What JSON and the schema say of a body: the change, or nothing when it is wrong. */
function general(text: string): AskedChange | undefined {
  let sent: unknown;
  try {
    sent = JSON.parse(text);
  } catch {
    return undefined;
  }
  return bulkBody.safeParse(sent).data;
}

function plain({ action, synchronous, target }: AskedChange) {
  assert.ok(target.mode === 'list');
  return { action, synchronous, addresses: rangeTexts(target.set), texts: target.texts() };
}

function assertAgrees(text: string): AskedChange | undefined {
  const quick = readListedChange(bytesOf(text));
  if (quick === undefined) return undefined;
  const slow = general(text);
  assert.ok(slow !== undefined, `read though it is wrong: ${text}`);
  assert.equal(plain(quick), plain(slow));
  return quick;
}

const address = fc.oneof(
  fc.nat(0xffff_ffff).map((value) => formatAddress({ version: 4, value })),
  fc.nat(40).map((offset) => formatAddress({ version: 4, value: 0x0a00_0000 + offset })),
  fc.bigInt(0n, (1n << 128n) - 1n).map((value) => formatAddress({ version: 6, value })),
  fc.constantFrom('::', '2001:DB8::1', '::ffff:10.0.0.1', '64:ff9b::192.0.2.33', '2001:0db8:0:0:0:0:0:1'),
);
const space = fc.constantFrom('', '', '', ' ', '\n  ', '\t', '\r\n');
const action = fc.constantFrom('"enable"', '"disable"');

/** A body as clients write it: both members in either order, with space or without. */
const body = fc
  .tuple(
    action,
    fc.array(address, { minLength: 1, maxLength: 30 }),
    fc.boolean(),
    fc.array(space, { minLength: 8, maxLength: 8 }),
  )
  .map(([verb, ips, isActionFirst, [a = '', b = '', c = '', d = '', e = '', f = '', g = '', h = '']]) => {
    const list = `${d}[${e}${ips.map((ip) => JSON.stringify(ip)).join(`${f},${g}`)}${h}]`;
    const members = [`"action"${a}:${b}${verb}`, `"ips"${c}:${list}`];
    return `${a}{${b}${(isActionFirst ? members : members.toReversed()).join(`${c},${d}`)}${e}}${f}`;
  });

test('a list of addresses with an action is read from its bytes as JSON and the schema read it', () => {
  fc.assert(
    fc.property(body, (text) => {
      assert.ok(assertAgrees(text) !== undefined, `not read: ${text}`);
    }),
    { numRuns: 1_000 },
  );
});

const PIECES = [
  ...Array.from('",:{}[]01.f%\\\v\0 \u00e9\ufeff\u00a0'),
  '',
  '/24',
  'null',
  '[]',
  '\\u0031',
  '"ips":["10.0.0.1"],',
  '"action":"enable",',
  '"synchronous":true,',
  '"cidr":"::/0",',
];

test('no body is read as something else than JSON and the schema read it', () => {
  let read = 0;
  fc.assert(
    fc.property(
      body,
      fc.array(fc.tuple(fc.nat(200), fc.nat(2), fc.constantFrom(...PIECES)), { minLength: 1, maxLength: 3 }),
      (whole, changes) => {
        let text = whole;
        for (const [at, removed, added] of changes) text = text.slice(0, at) + added + text.slice(at + removed);
        if (assertAgrees(text) !== undefined) read++;
      },
    ),
    { numRuns: 20_000 },
  );
  assert.ok(read > 100, `${read} were read`);
});

test('what is not just an action and a list is left to the schema', () => {
  const ips = '"ips":["10.0.0.1"]';
  for (const text of [
    '',
    '[]',
    '{}',
    `{${ips}}`,
    `{"action":"enable"}`,
    `{"action":"enable","ips":[]}`,
    `{"action":"enable","ips":"10.0.0.1"}`,
    `{"action":"enable",${ips},}`,
    `{"action":"enable",${ips}`,
    `{"action":"enable",${ips}}}`,
    `{"action":"enabled",${ips}}`,
    `{"action":"enable",${ips},"synchronous":false}`,
    `{"action":"enable",${ips},"more":1}`,
    `{"action":"enable","action":"disable",${ips}}`,
    `{"action":"enable",${ips},${ips}}`,
    `{"action":"enable","ips":["10.0.0.01"]}`,
    `{"action":"enable","ips":["10.0.0.1/32"]}`,
    `{"action":"enable","ips":["10.0.0.1" "10.0.0.2"]}`,
    `{"action":"enable","ips":["10.0.0.1",]}`,
    `{"action":"enable","ips":["\\u0031.1.1.1"]}`,
    `{"\\u0061ction":"enable",${ips}}`,
  ]) {
    assert.is(readListedChange(bytesOf(text)), undefined, text);
  }
});

function listOf(length: number): string {
  return JSON.stringify({ action: 'disable', ips: Array.from({ length }, (_, at) => `10.0.${at >> 8}.${at & 255}`) });
}

test('a list is read up to its greatest length', () => {
  assert.ok(assertAgrees(listOf(BULK_IPS_MAX)) !== undefined);
  assert.is(readListedChange(bytesOf(listOf(BULK_IPS_MAX + 1))), undefined);
});

test.run();
