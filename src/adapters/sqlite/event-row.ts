import type Database from 'better-sqlite3';
import type { Codec } from '../../events/codec.ts';
import { UndecodableEvent } from '../../events/codec.ts';
import type { Recorded, Sealed, Told } from '../../kernel/event.ts';
import type { DatabaseKind } from './database.ts';

/**
 * One row an event; `position` is the row id, without gaps, since rows are only ever added at the end. Metadata have a
 * column each: smaller, faster and easier to query than JSON. An id has no index of its own: random ids would touch another
 * page of the file with each event. A repeated append is told by the ids at the revisions that it wants.
 */
export const EVENT_LOG: DatabaseKind = {
  name: 'the event log',
  applicationId: 0x45_77_45_76,
  schemaVersion: 1,
  journal: 'WAL',
  synchronous: 'FULL',
  schema: `
    CREATE TABLE events (
      position INTEGER PRIMARY KEY,
      stream TEXT NOT NULL,
      revision INTEGER NOT NULL,
      id TEXT NOT NULL,
      type TEXT NOT NULL,
      schema INTEGER NOT NULL,
      data TEXT NOT NULL,
      actor TEXT NOT NULL,
      at TEXT NOT NULL,
      correlation_id TEXT NOT NULL,
      causation_id TEXT NOT NULL,
      previous_hash TEXT NOT NULL,
      hash TEXT NOT NULL,
      UNIQUE (stream, revision)
    ) STRICT`,
};

/** The columns that are written; the position is given by the table. */
const WRITTEN =
  'stream, revision, id, type, schema, data, actor, at, correlation_id, causation_id, previous_hash, hash';

export const EVENT_COLUMNS = `position, ${WRITTEN}`;

/** What comes out of `EVENT_COLUMNS`, read raw and with safe integers: the table is STRICT. */
export type EventRow = readonly [
  position: bigint,
  stream: string,
  revision: bigint,
  id: string,
  type: string,
  schema: bigint,
  data: string,
  actor: string,
  at: string,
  correlationId: string,
  causationId: string,
  previousHash: string,
  hash: string,
];

/** What a view is told, which takes half the time of reading the whole row. */
export const TOLD_COLUMNS = 'position, stream, revision, type, schema, data, actor, at';

/** What comes out of `TOLD_COLUMNS`, read raw: nothing in a file counts up to 2^53. */
export type ToldRow = readonly [
  position: number,
  stream: string,
  revision: number,
  type: string,
  schema: number,
  data: string,
  actor: string,
  at: string,
];

/** Writes one row and gives its position. */
export type InsertEvent = (stream: string, revision: bigint, event: Sealed, data: string) => bigint;

export function prepareInsertEvent(db: Database.Database): InsertEvent {
  const insert = db.prepare(`INSERT INTO events (${WRITTEN}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  return (stream, revision, { id, type, metadata }, data) => {
    const { actor, at, schema, $correlationId, $causationId, previousHash, hash } = metadata;
    // Bound one by one, the revision as a number: a list, or a bigint, costs a tenth of the whole insert.
    const { lastInsertRowid } = insert.run(
      stream,
      Number(revision),
      id,
      type,
      schema,
      data,
      actor,
      at,
      $correlationId,
      $causationId,
      previousHash,
      hash,
    );
    return BigInt(lastInsertRowid);
  };
}

/** @throws UndecodableEvent */
export function eventOf(row: EventRow, codec: Codec): Recorded {
  const [
    position,
    stream,
    revision,
    id,
    type,
    schema,
    data,
    actor,
    at,
    $correlationId,
    $causationId,
    previousHash,
    hash,
  ] = row;
  const metadata = { actor, at, schema: Number(schema), $correlationId, $causationId, previousHash, hash };
  return codec.decode({
    id,
    stream,
    revision,
    position,
    type,
    data: parsed(data, position, stream, revision, type),
    metadata,
  });
}

/** @throws UndecodableEvent */
export function toldOf(row: ToldRow, codec: Codec): Told {
  const [place, stream, number, type, schema, text, actor, at] = row;
  const position = BigInt(place);
  const revision = BigInt(number);
  const data = parsed(text, position, stream, revision, type);
  return codec.tell({ position, stream, revision, type, schema, data, actor, at });
}

function parsed(text: string, position: bigint, stream: string, revision: bigint, type: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UndecodableEvent({ position, stream, revision, type }, 'its data are not JSON', { cause });
  }
}
