import { createHash, hash as digest } from 'node:crypto';
import type { Event, Metadata, RecordedEvent, Sealed } from '../kernel/event.ts';

/** What is said of all events of one append. */
export type Seal = Readonly<{
  stream: string;
  /** Of the stream's last event; empty for a stream that does not exist yet. */
  previousHash: string;
  actor: string;
  /** As events write it: `2026-11-27T20:50:00.123+00:00`. */
  at: string;
  correlationId: string;
  causationId: string;
  ids: Readonly<{ uuid: () => string }>;
  /** The schema number that a type is written with: the codec's. */
  schemaOf: (type: string) => number;
}>;

/** Gives events their ids and metadata, and chains each to the one before it, so that an altered or missing one shows. */
export function seal<E extends Event>(events: readonly E[], by: Seal): Sealed<E>[] {
  const { stream, actor, at, correlationId: $correlationId, causationId: $causationId } = by;
  let { previousHash } = by;
  return events.map((event) => {
    const id = by.ids.uuid();
    const schema = by.schemaOf(event.type);
    const unhashed = { actor, at, schema, $correlationId, $causationId, previousHash };
    const text = canonicalJson(event.data);
    if (text.length >= KEPT_FROM) sealedTexts.set(event.data, text);
    const hash = hashOf(stream, id, event.type, text, unhashed);
    const metadata = { actor, at, schema, $correlationId, $causationId, previousHash, hash };
    previousHash = hash;
    // The spread comes last and the metadata are written out: the other way round costs the engine twenty times as much.
    return { id, metadata, ...event };
  });
}

const sealedTexts = new WeakMap<object, string>();

/** Writing shorter data again is cheaper than keeping their text. */
const KEPT_FROM = 4_096;

/** Gives the canonical JSON of an event's data away, where sealing has kept it: long data need not be written for the hash and for the store. */
export function takeSealedText(data: object): string | undefined {
  const text = sealedTexts.get(data);
  if (text !== undefined) sealedTexts.delete(data);
  return text;
}

/**
 * Whether a recorded event is what was sealed, and follows the event with `previousHash` (empty: it is the first of its stream).
 * Give it events as they are stored, not upcast: the hash covers what was written.
 */
export function checkLink(previousHash: string, recorded: RecordedEvent): boolean {
  return recorded.metadata.previousHash === previousHash && hashFits(recorded, canonicalJson(recorded.data));
}

/** Whether an event has the hash that it was sealed with. `data`: its data as they were written, as canonical JSON. */
export function hashFits({ stream, id, type, metadata }: Omit<RecordedEvent, 'data'>, data: string): boolean {
  return metadata.hash === hashOf(stream, id, type, data, metadata);
}

/** SHA-256 (hex) over the previous hash and the event's canonical content, its data given as canonical JSON. */
function hashOf(stream: string, id: string, type: string, data: string, metadata: Omit<Metadata, 'hash'>): string {
  const { actor, at, schema, $correlationId, $causationId, previousHash } = metadata;
  // What `canonicalJson` gives for all of it: the names are known, and in order.
  const before = `${previousHash}{"data":`;
  const after =
    `,"id":${quoted(id)},"metadata":{"$causationId":${quoted($causationId)},` +
    `"$correlationId":${quoted($correlationId)},"actor":${quoted(actor)},"at":${quoted(at)},` +
    `"previousHash":${quoted(previousHash)},"schema":${schema}},"stream":${quoted(stream)},"type":${quoted(type)}}`;
  if (data.length < KEPT_FROM) return digest('sha256', before + data + after, 'hex');
  // Joining long texts costs more than hashing them.
  return createHash('sha256').update(before).update(data).update(after).digest('hex');
}

/**
 * JSON in the one form that RFC 8785 gives a value: no spaces, keys sorted by UTF-16 code units, numbers and texts as
 * ECMAScript writes them. Keys whose value is undefined are left out, as in JSON.
 * @throws TypeError for what is not plain JSON.
 */
export function canonicalJson(value: unknown): string {
  // Measured: joining texts here is faster than JSON.stringify on a sorted copy.
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'object' && value !== null) {
    if (Array.isArray(value)) return canonicalArray(value);
    if (isPlain(value)) return canonicalObject(value);
  }
  if (value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) {
    return String(value);
  }
  throw new TypeError(`not plain JSON: ${typeof value === 'number' ? value : `a value of type ${typeof value}`}`);
}

function canonicalArray(items: readonly unknown[]): string {
  // A text has one form in JSON, and many of them are written at once: a bulk change holds up to 10,000.
  if (items.length >= MANY && areTexts(items)) return JSON.stringify(items);
  let text = '[';
  for (let index = 0; index < items.length; index += 1) {
    text += index === 0 ? canonicalJson(items[index]) : `,${canonicalJson(items[index])}`;
  }
  return `${text}]`;
}

const MANY = 16;

function areTexts(items: readonly unknown[]): boolean {
  for (const item of items) if (typeof item !== 'string') return false;
  return true;
}

function canonicalObject(fields: Readonly<Record<string, unknown>>): string {
  let text = '';
  for (const key of sortedKeys(fields)) {
    const value = fields[key];
    if (value === undefined) continue;
    text += `${text === '' ? '' : ','}${quoted(key)}:${canonicalJson(value)}`;
  }
  return `{${text}}`;
}

function sortedKeys(fields: Readonly<Record<string, unknown>>): readonly string[] {
  const keys = Object.keys(fields);
  let previous = '';
  for (const key of keys) {
    // Sorting costs more than looking, and most objects are small or in order.
    if (key < previous) return keys.sort();
    previous = key;
  }
  return keys;
}

const NEEDS_NO_ESCAPE = /^[ !#-[\]-~]*$/;

function quoted(text: string): string {
  return NEEDS_NO_ESCAPE.test(text) ? `"${text}"` : JSON.stringify(text);
}

function isPlain(value: object): value is Readonly<Record<string, unknown>> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
