import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createHash } from 'node:crypto';
import { canonicalJson, checkLink, type Seal, seal, takeSealedText } from '../../src/events/hash-chain.ts';
import type { Event, RecordedEvent } from '../../src/kernel/event.ts';

let uuids = 0;
const by: Seal = {
  stream: 'customer-7',
  previousHash: '',
  actor: 'token:12',
  at: '2026-11-27T20:50:00.123+00:00',
  correlationId: 'request-1',
  causationId: 'cause-1',
  ids: {
    uuid: () => `00000000-0000-4000-8000-${String((uuids += 1)).padStart(12, '0')}`,
  },
  schemaOf: () => 2,
};

/** Sealed, stored as JSON text, and read again. */
function recorded(events: readonly Event[], changes: Partial<Seal> = {}): readonly RecordedEvent[] {
  return seal(events, { ...by, ...changes }).map((event, index) => ({
    ...event,
    data: JSON.parse(JSON.stringify(event.data)),
    stream: by.stream,
    revision: BigInt(index),
    position: BigInt(index),
  }));
}

/** The revision of the first event that breaks the chain. */
function firstBroken(events: readonly RecordedEvent[]): number | undefined {
  let previousHash = '';
  for (const [index, event] of events.entries()) {
    if (!checkLink(previousHash, event)) return index;
    previousHash = event.metadata.hash;
  }
  return undefined;
}

const lamps: readonly Event[] = ['hall', 'attic', 'cellar'].map((room) => ({ type: 'LampLit', data: { room } }));

test('events say who, when, why, with which schema, and are chained', () => {
  const [first, second] = recorded(lamps);
  assert.equal(first?.metadata, {
    actor: 'token:12',
    at: '2026-11-27T20:50:00.123+00:00',
    schema: 2,
    $correlationId: 'request-1',
    $causationId: 'cause-1',
    previousHash: '',
    hash: first?.metadata.hash,
  });
  assert.match(first?.metadata.hash ?? '', /^[0-9a-f]{64}$/);
  assert.is(second?.metadata.previousHash, first?.metadata.hash);
  assert.is.not(first?.id, second?.id);
});

test('the hash can be computed without this program: SHA-256 over the previous hash and RFC 8785 JSON', () => {
  const [, event] = recorded(lamps);
  if (event === undefined) throw new Error('no event');
  const { $causationId, $correlationId, actor, at, previousHash, schema, hash } = event.metadata;
  const content = JSON.stringify({
    data: event.data,
    id: event.id,
    metadata: { $causationId, $correlationId, actor, at, previousHash, schema },
    stream: event.stream,
    type: event.type,
  });
  assert.is(hash, createHash('sha256').update(previousHash).update(content).digest('hex'));
});

test('a second append goes on where the first ended', () => {
  const first = recorded(lamps);
  const second = recorded(lamps, { previousHash: first.at(-1)?.metadata.hash ?? '' });
  assert.is(firstBroken([...first, ...second]), undefined);
});

test('whatever is altered, shows', () => {
  const events = recorded(lamps);
  const altered = (change: (event: RecordedEvent) => RecordedEvent): readonly RecordedEvent[] =>
    events.map((event, index) => (index === 1 ? change(event) : event));
  assert.is(firstBroken(events), undefined);
  assert.is(firstBroken(altered((event) => ({ ...event, data: { room: 'barn' } }))), 1);
  assert.is(firstBroken(altered((event) => ({ ...event, type: 'LampBroken' }))), 1);
  assert.is(firstBroken(altered((event) => ({ ...event, id: 'another' }))), 1);
  assert.is(firstBroken(altered((event) => ({ ...event, stream: 'customer-8' }))), 1);
  for (const field of ['actor', 'at', '$correlationId', '$causationId', 'previousHash', 'hash'] as const) {
    const metadata = { [field]: 'altered' };
    assert.is(firstBroken(altered((event) => ({ ...event, metadata: { ...event.metadata, ...metadata } }))), 1, field);
  }
  assert.is(firstBroken(altered((event) => ({ ...event, metadata: { ...event.metadata, schema: 1 } }))), 1);
});

test('whatever is missing, added or moved, shows', () => {
  const [first, second, third] = recorded(lamps);
  if (first === undefined || second === undefined || third === undefined) throw new Error('no events');
  assert.is(firstBroken([second, third]), 0);
  assert.is(firstBroken([first, third]), 1);
  assert.is(firstBroken([first, third, second]), 1);
  assert.is(firstBroken([first, second, second]), 2);
  const [forged] = recorded([{ type: 'LampLit', data: { room: 'barn' } }], { previousHash: first.metadata.hash });
  if (forged === undefined) throw new Error('no event');
  assert.is(firstBroken([first, forged, third]), 2);
});

test('canonical JSON is that of RFC 8785: its own samples', () => {
  assert.is(
    canonicalJson(
      JSON.parse(
        String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
      ),
    ),
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  );
  const names = JSON.parse(
    String.raw`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
  );
  const order = Object.values(
    JSON.parse(
      `[${canonicalJson(names)
        .slice(1, -1)
        .replaceAll(/"[^"]*":("[^"]*")/g, '$1')}]`,
    ),
  );
  assert.equal(order, [
    'Carriage Return',
    'One',
    'Control',
    'Latin Small Letter O With Diaeresis',
    'Euro Sign',
    'Emoji: Grinning Face',
    'Hebrew Letter Dalet With Dagesh',
  ]);
});

test('keys that look like numbers are sorted as texts', () => {
  assert.is(canonicalJson({ 9: 1, 10: 2 }), '{"10":2,"9":1}');
});

test('the order of keys, and a trip through JSON, change nothing', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value);
      assert.is(canonicalJson(JSON.parse(JSON.stringify(value))), text);
      assert.is(canonicalJson(backwards(value)), text);
      assert.equal(JSON.parse(text), JSON.parse(JSON.stringify(value)));
    }),
  );
});

function backwards(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(backwards);
  if (typeof value !== 'object' || value === null) return value;
  // Built without assignment: a key may be `__proto__`.
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, field]) => [key, backwards(field)]),
  );
}

test('the text of long data is kept for whoever writes them next, once', () => {
  const data = { regionId: 1, ranges: Array.from({ length: 400 }, (_, at) => `10.0.${at >> 8}.${at & 255}`) };
  const short = { regionId: 1, ranges: ['10.0.0.1'] };
  seal(
    [data, short].map((each) => ({ type: 'AddressesDisabled', data: each })),
    by,
  );
  assert.is(takeSealedText(data), canonicalJson(data));
  assert.is(takeSealedText(data), undefined);
  assert.is(takeSealedText(short), undefined);
});

test('many texts are written as each of them is', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\ud800', '"', '\u2028', '10.0.0.1'),
  );
  fc.assert(
    fc.property(fc.array(text, { minLength: 10, maxLength: 40 }), (texts) => {
      assert.is(canonicalJson(texts), `[${texts.map(canonicalJson).join(',')}]`);
    }),
  );
  const texts = Array.from({ length: 40 }, () => '10.0.0.1');
  assert.is(canonicalJson([...texts, 1]), `[${texts.map(canonicalJson).join(',')},1]`);
  assert.throws(() => canonicalJson([...texts, undefined]), /not plain JSON/);
  assert.throws(() => canonicalJson(Object.assign([...texts], { length: 50 })), /not plain JSON/);
});

test('what is not plain JSON is refused; undefined fields are left out', () => {
  assert.is(canonicalJson({ b: undefined, a: -0 }), '{"a":0}');
  for (const value of [undefined, Number.NaN, Number.POSITIVE_INFINITY, 1n, new Map(), () => 1, [undefined]]) {
    assert.throws(() => canonicalJson(value), /not plain JSON/);
  }
});

test.run();
