import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import {
  asStored,
  createCodec,
  defineEvent,
  type EventOf,
  type StoredEvent,
  UndecodableEvent,
  UnencodableEvent,
} from '../../src/events/codec.ts';
import { seal } from '../../src/events/hash-chain.ts';
import type { Metadata, Sealed } from '../../src/kernel/event.ts';

const LampLit = defineEvent('LampLit', 3, z.strictObject({ room: z.string(), watts: z.int() }), {
  1: (data) => ({ place: (data as { spot: string }).spot }),
  2: (data) => ({ room: (data as { place: string }).place, watts: 60 }),
});
const LampBroken = defineEvent('LampBroken', 1, z.strictObject({ room: z.string() }));
type LampEvent = EventOf<typeof LampLit | typeof LampBroken>;

const codec = createCodec([LampLit, LampBroken]);

const metadata = (schema: number): Metadata => ({
  actor: 'admin:ada',
  at: '2026-11-27T20:50:00.123+00:00',
  schema,
  $correlationId: 'request-1',
  $causationId: 'request-1',
  previousHash: '',
  hash: 'ab',
});

const stored = (changes: Partial<StoredEvent> = {}): StoredEvent => ({
  id: '6c0a7a4e-5e3d-4bb4-a1bd-0e3d1d5f1f2a',
  stream: 'lamp-1',
  revision: 4n,
  position: 77n,
  type: 'LampLit',
  data: { room: 'hall', watts: 40 },
  metadata: metadata(3),
  ...changes,
});

const sealed = (event: LampEvent, changes: Partial<Metadata> = {}): Sealed => ({
  ...event,
  id: '6c0a7a4e-5e3d-4bb4-a1bd-0e3d1d5f1f2a',
  metadata: { ...metadata(codec.schemaOf(event.type)), ...changes },
});

test('long data are written as they are, whether sealing has kept their text or not', () => {
  const data = { room: 'hall '.repeat(2_000), watts: 40 };
  const [lamp] = seal([{ type: 'LampLit', data }], {
    stream: 'lamp-1',
    previousHash: '',
    actor: 'admin:ada',
    at: '2026-11-27T20:50:00.123+00:00',
    correlationId: 'request-1',
    causationId: 'request-1',
    ids: { uuid: () => '6c0a7a4e-5e3d-4bb4-a1bd-0e3d1d5f1f2a' },
    schemaOf: codec.schemaOf,
  });
  assert.ok(lamp !== undefined);
  assert.equal(JSON.parse(codec.encode(lamp)), data);
  assert.equal(JSON.parse(codec.encode(lamp)), data);
});

function undecodable(work: () => unknown): UndecodableEvent {
  try {
    work();
  } catch (error) {
    if (error instanceof UndecodableEvent) return error;
    throw error;
  }
  throw new Error('it was decoded');
}

function refused(event: Sealed, what: string): void {
  assert.throws(
    () => codec.encode(event),
    (error: unknown) => error instanceof UnencodableEvent && error.message.includes(what),
  );
}

test('an event comes out as it was stored', () => {
  assert.equal(codec.decode(stored()), stored());
});

test('an event may be written when it can be read back', () => {
  codec.encode(sealed({ type: 'LampLit', data: { room: 'hall', watts: 40 } }));
});

test('events of an older schema are lifted one schema at a time; their metadata keep saying what was stored', () => {
  const first = codec.decode(stored({ data: { spot: 'hall' }, metadata: metadata(1) }));
  assert.equal(first.data, { room: 'hall', watts: 60 });
  assert.is(first.metadata.schema, 1);
  const second = codec.decode(stored({ data: { place: 'attic' }, metadata: metadata(2) }));
  assert.equal(second.data, { room: 'attic', watts: 60 });
});

test('an unknown type is named with its place', () => {
  const error = undecodable(() => codec.decode(stored({ type: 'LampSold' })));
  assert.is(
    error.message,
    "can't read event LampSold at position 77 (revision 4 of lamp-1): its type is not known to this program: a newer version wrote it; use that one, or a newer one",
  );
  assert.is(error.type, 'LampSold');
  assert.is(error.position, 77n);
});

test('a schema from the future is refused', () => {
  const error = undecodable(() => codec.decode(stored({ metadata: metadata(4) })));
  assert.match(error.message, 'it has schema 4, and this program knows none above 3');
});

for (const [what, schema] of [
  ['zero', 0],
  ['a fraction', 1.5],
] as const) {
  test(`a schema number that is ${what} is refused`, () => {
    assert.match(undecodable(() => codec.decode(stored({ metadata: metadata(schema) }))).message, 'metadata.schema');
  });
}

test('data that fail their schema are refused, with the path of each field', () => {
  const error = undecodable(() => codec.decode(stored({ data: { room: 7, watts: 4.5, colour: 'red' } })));
  assert.match(error.message, 'at position 77');
  assert.match(error.message, 'data.room: ');
  assert.match(error.message, 'data.watts: ');
  assert.match(error.message, 'colour');
});

test('an upcaster that fails is named, and its error is the cause', () => {
  const error = undecodable(() => codec.decode(stored({ data: null, metadata: metadata(1) })));
  assert.match(error.message, 'upcaster 1 failed');
  assert.instance(error.cause, TypeError);
});

test('every field of the metadata is checked', () => {
  for (const field of Object.keys(metadata(3))) {
    const broken = { ...metadata(3), [field]: undefined };
    assert.match(undecodable(() => codec.decode(stored({ metadata: broken }))).message, `metadata.${field}`);
  }
  assert.match(undecodable(() => codec.decode(stored({ metadata: 'none' }))).message, 'metadata: not an object');
});

test('an event that could not be read back is not written', () => {
  const lit = sealed({ type: 'LampLit', data: { room: 'hall', watts: 40 } });
  refused({ ...lit, type: 'LampSold' }, 'LampSold: its type is not defined');
  refused({ ...lit, data: { room: 'hall' } }, 'data.watts');
  refused({ ...lit, metadata: metadata(2) }, 'schema 2, and 3 is written');
  refused({ ...lit, metadata: { ...metadata(3), schema: 1.5 } }, 'metadata.schema');
});

test('an audit sees what was stored, neither lifted nor checked, but never without type and metadata', () => {
  const audit = asStored(codec);
  assert.equal(audit.decode(stored({ data: { spot: 'hall' }, metadata: metadata(1) })).data, { spot: 'hall' });
  assert.match(undecodable(() => audit.decode(stored({ data: 'hall' }))).message, 'not an object');
  assert.match(undecodable(() => audit.decode(stored({ metadata: {} }))).message, 'metadata.actor');
});

test('a copy writes what was stored, whatever its schema and type, but never without metadata', () => {
  const copy = asStored(codec);
  const lit = sealed({ type: 'LampLit', data: { room: 'hall', watts: 40 } });
  const old = { ...lit, type: 'LampSold', data: { spot: 'hall' }, metadata: metadata(1) };
  assert.is(copy.encode(old), '{"spot":"hall"}');
  assert.throws(() => copy.encode({ ...old, metadata: { ...metadata(1), schema: 1.5 } }), /metadata.schema/);
});

test('a definition needs an upcaster for each older schema', () => {
  assert.throws(
    () => defineEvent('LampLit', 3, z.strictObject({}), { 1: (data) => data }),
    /LampLit is at schema 3 and lacks upcaster 2/,
  );
});

test('a type is defined once', () => {
  assert.throws(() => createCodec([LampBroken, LampBroken]), /LampBroken is defined twice/);
});

test('an unknown type has no schema number', () => {
  assert.is(codec.schemaOf('LampLit'), 3);
  assert.throws(() => codec.schemaOf('LampSold'), /LampSold is not a defined type/);
});

test.run();
