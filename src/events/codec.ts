import { z } from 'zod';
import { canonicalJson, hashFits, takeSealedText } from './hash-chain.ts';
import type { Event, Metadata, RecordedEvent, Sealed } from '../kernel/event.ts';

/** Lifts the data of one schema number to the next. Pure; has a stored sample as its test. */
export type Upcaster = (data: unknown) => unknown;

/** One type of event: its name, its newest schema, and the way up from each older one. */
export type EventDefinition<Type extends string = string, Data extends object = object> = Readonly<{
  type: Type;
  schema: number;
  check: z.ZodType<Data>;
  /** By the schema number that they lift: `{ 1: from1to2, 2: from2to3 }` for an event at schema 3. */
  upcasters: Readonly<Record<number, Upcaster>>;
}>;

/** The event that a definition (or a union of them) stands for. */
export type EventOf<Definition extends EventDefinition> =
  Definition extends EventDefinition<infer Type, infer Data> ? Event<Type, Data> : never;

/** An event as a store holds it, before anyone has looked at what it says. */
export type StoredEvent = Readonly<{
  id: string;
  stream: string;
  revision: bigint;
  position: bigint;
  type: string;
  data: unknown;
  metadata: unknown;
}>;

type Placed = Pick<StoredEvent, 'stream' | 'revision' | 'position' | 'type'>;

/** The one way of events into a store and out of it. */
export type Codec = Readonly<{
  /** The data as JSON. @throws UnencodableEvent for an event that could not be read back. */
  encode: (event: Sealed) => string;
  /** @throws UndecodableEvent for an unknown type or schema, or for data or metadata that fail their check. */
  decode: (stored: StoredEvent) => RecordedEvent;
  /** The newest schema number of a type: what new events are written with. @throws Error for an unknown type. */
  schemaOf: (type: string) => number;
  /** Whether an event of this type and schema number can be read. */
  knows: (type: string, schema: number) => boolean;
}>;

/**
 * Defines an event: `schemaNumber` counts from 1, and needs one upcaster for every number below it.
 *
 * Each event of a rebuild passes its schema, so keep it cheap. Measured per check, on an event of five fields:
 * `z.strictObject` of strings and numbers 0.3–0.5 µs, each nested object about 0.1 µs more than a tuple or a string,
 * each `.regex()`, `.length()`, `.min()`, `.refine()` 0.1 µs more, a union up to one try per member (`z.discriminatedUnion`: one).
 * Values are validated where they enter, by commands; the schema of the event only has to prove its shape.
 * No transforms and no defaults: what is decoded must be what was hashed.
 *
 * Every event may also say why it came to be, in the words of the one who acted: `withGrounds`.
 */
export function defineEvent<const Type extends string, Data extends object>(
  type: Type,
  schemaNumber: number,
  check: z.ZodType<Data>,
  upcasters: Readonly<Record<number, Upcaster>> = {},
): EventDefinition<Type, Data> {
  for (let from = 1; from < schemaNumber; from += 1) {
    if (upcasters[from] === undefined)
      throw new Error(`${type} is at schema ${schemaNumber} and lacks upcaster ${from}`);
  }
  return { type, schema: schemaNumber, check: withGrounds(check), upcasters };
}

const words = z.string().optional();

/**
 * A schema that lets `reason` and `ticket` pass beside the fields that it names. `because` takes the place of `reason` where that is a field of
 * the event itself.
 */
function withGrounds<Data extends object>(check: z.ZodType<Data>): z.ZodType<Data> {
  if (!(check instanceof z.ZodObject)) return check;
  const own: object = check.shape;
  const more = 'reason' in own ? { because: words, ticket: words } : { reason: words, ticket: words };
  const extended: z.ZodObject = check.extend({ ...more, ...check.shape });
  // Only optional fields came in: what it takes is Data still.
  return extended as z.ZodType<Data>;
}

/**
 * Puts definitions together. `program`: what the one that reads is called in the message about an event that it does not know.
 * @throws Error when two define the same type.
 */
export function createCodec(definitions: readonly EventDefinition[], program = 'this program'): Codec {
  const byType = indexByType(definitions);
  return {
    encode: (event) => {
      const definition = byType.get(event.type);
      if (definition === undefined) throw new UnencodableEvent(event.type, 'its type is not defined');
      const problem =
        metadataProblem(event.metadata) ??
        schemaProblem(definition, event.metadata.schema) ??
        dataProblem(definition.check.safeParse(event.data));
      if (problem !== undefined) throw new UnencodableEvent(event.type, problem);
      return takeSealedText(event.data) ?? JSON.stringify(event.data);
    },
    decode: (stored) => {
      const metadata = checkedMetadata(stored);
      const definition = definitionOf(stored);
      return recorded(stored, definition.type, dataOf(definition, metadata.schema, stored), metadata);
    },
    schemaOf: (type) => {
      const definition = byType.get(type);
      if (definition === undefined) throw new Error(`${type} is not a defined type of event`);
      return definition.schema;
    },
    knows: (type, schema) => schema <= (byType.get(type)?.schema ?? 0),
  };

  function dataOf(definition: EventDefinition, schema: number, stored: StoredEvent): object {
    if (schema <= definition.schema) return checkedData(definition, schema, stored);
    throw new UndecodableEvent(
      stored,
      `it has schema ${schema}, and ${program} knows none above ${definition.schema}: a newer version wrote it; use that one, or a newer one`,
    );
  }

  function definitionOf(stored: Placed): EventDefinition {
    const definition = byType.get(stored.type);
    if (definition === undefined) {
      const advice = 'a newer version wrote it; use that one, or a newer one';
      throw new UndecodableEvent(stored, `its type is not known to ${program}: ${advice}`);
    }
    return definition;
  }
}

/**
 * The same codec for those who must see what was really stored, as an audit of the hash chain must, or write it elsewhere as it is, as a
 * copy does: data are given and taken as they stand, neither upcast nor checked; metadata are still checked.
 */
export function asStored(codec: Codec): Codec {
  return {
    ...codec,
    encode: ({ type, data, metadata }) => {
      const problem = metadataProblem(metadata);
      if (problem !== undefined) throw new UnencodableEvent(type, problem);
      return JSON.stringify(data);
    },
    decode: (stored) => {
      const metadata = checkedMetadata(stored);
      if (!isObject(stored.data)) throw new UndecodableEvent(stored, 'its data are not an object');
      return recorded(stored, stored.type, stored.data, metadata);
    },
  };
}

/**
 * Whether stored data are the one text that this program writes for what they say: nothing twice, nothing in between, nothing in another form.
 * `undefined` for what is no JSON at all.
 */
export function isAsWritten(text: string): boolean | undefined {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return undefined;
  }
  // Long data are written as they were hashed, with their keys in order; short ones in the order that the decider gave them.
  return JSON.stringify(data) === text || canonicalJson(data) === text;
}

/** Writing shorter data again costs less than a hash that may be in vain. */
const LONG_CHARACTERS = 4_096;

/**
 * Whether a stored event is the one that was sealed, by its hash. `text`: its data as they stand in the store. What an older schema has written
 * is checked as it was written.
 */
export function isAsSealed(stored: StoredEvent & Readonly<{ metadata: Metadata }>, text: string): boolean {
  // Long data are written as they were hashed. Short ones may have their keys in the order that the decider gave them.
  if (text.length >= LONG_CHARACTERS && hashFits(stored, text)) return true;
  return hashFits(stored, canonicalJson(stored.data));
}

/** An event of the log that this program can't read: it stops the reader, it is never skipped. */
export class UndecodableEvent extends Error {
  override readonly name = 'UndecodableEvent';
  readonly type: string;
  readonly position: bigint;
  constructor(stored: Placed, problem: string, options?: ErrorOptions) {
    const { type, position, stream, revision } = stored;
    super(`can't read event ${type} at position ${position} (revision ${revision} of ${stream}): ${problem}`, options);
    this.type = type;
    this.position = position;
  }
}

/** An event that must not be written, since it could not be read back. A mistake of the program. */
export class UnencodableEvent extends Error {
  override readonly name = 'UnencodableEvent';
  readonly type: string;
  constructor(type: string, problem: string) {
    super(`won't write event ${type}: ${problem}`);
    this.type = type;
  }
}

function indexByType(definitions: readonly EventDefinition[]): ReadonlyMap<string, EventDefinition> {
  const byType = new Map<string, EventDefinition>();
  for (const definition of definitions) {
    if (byType.has(definition.type)) throw new Error(`${definition.type} is defined twice`);
    byType.set(definition.type, definition);
  }
  return byType;
}

function checkedData(definition: EventDefinition, schema: number, stored: Placed & Pick<StoredEvent, 'data'>): object {
  const parsed = definition.check.safeParse(upcast(definition, schema, stored));
  if (!parsed.success) throw new UndecodableEvent(stored, dataProblem(parsed) ?? 'its data fail');
  return parsed.data;
}

function upcast(definition: EventDefinition, from: number, stored: Placed & Pick<StoredEvent, 'data'>): unknown {
  if (from === definition.schema) return stored.data;
  let data = stored.data;
  for (let schema = from; schema < definition.schema; schema += 1) {
    try {
      data = definition.upcasters[schema]?.(data);
    } catch (cause) {
      throw new UndecodableEvent(stored, `upcaster ${schema} failed`, { cause });
    }
  }
  return data;
}

function schemaProblem(definition: EventDefinition, schema: number): string | undefined {
  return schema === definition.schema
    ? undefined
    : `its metadata say schema ${schema}, and ${definition.schema} is written`;
}

function dataProblem(parsed: z.ZodSafeParseResult<object>): string | undefined {
  if (parsed.success) return undefined;
  return parsed.error.issues.map(({ path, message }) => `${['data', ...path].join('.')}: ${message}`).join('; ');
}

function checkedMetadata(stored: StoredEvent): Metadata {
  if (isMetadata(stored.metadata)) return stored.metadata;
  throw new UndecodableEvent(stored, metadataProblem(stored.metadata) ?? 'metadata: fail');
}

/** `type`: where there is a definition, its own text, which is looked up faster than a new one. */
function recorded(stored: StoredEvent, type: string, data: object, metadata: Metadata): RecordedEvent {
  const { id, stream, revision, position } = stored;
  return { id, type, data, metadata, stream, revision, position };
}

const METADATA_TEXTS = ['actor', 'at', '$correlationId', '$causationId', 'previousHash', 'hash'] as const;

/** Metadata have one shape for all events and are checked a million times in a rebuild: by hand, a tenth of zod's cost. */
function isMetadata(value: unknown): value is Metadata {
  if (!isObject(value)) return false;
  const fields: Partial<Record<keyof Metadata, unknown>> = value;
  return (
    typeof fields.actor === 'string' &&
    typeof fields.at === 'string' &&
    typeof fields.schema === 'number' &&
    Number.isInteger(fields.schema) &&
    fields.schema >= 1 &&
    typeof fields.$correlationId === 'string' &&
    typeof fields.$causationId === 'string' &&
    typeof fields.previousHash === 'string' &&
    typeof fields.hash === 'string'
  );
}

function metadataProblem(value: unknown): string | undefined {
  if (isMetadata(value)) return undefined;
  if (!isObject(value)) return 'metadata: not an object';
  const fields: Partial<Record<keyof Metadata, unknown>> = value;
  const missing = METADATA_TEXTS.filter((name) => typeof fields[name] !== 'string');
  return missing.length > 0
    ? `metadata.${missing.join(', metadata.')}: not a text`
    : 'metadata.schema: not a whole number from 1';
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
