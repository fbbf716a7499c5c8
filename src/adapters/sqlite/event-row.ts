import type Database from 'better-sqlite3';
import { type Codec, isAsSealed, UndecodableEvent } from '../../events/codec.ts';
import type { RecordedEvent, Sealed } from '../../kernel/event.ts';
import { StoreRefused } from '../../ports/store-refused.ts';
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

/** How rows are read. */
export type RowReading = Readonly<{
  codec: Codec;
  /** Set: each event must be the one that was sealed. The path of the file, for people. */
  checkedFile: string | undefined;
}>;

/** @throws UndecodableEvent, StoreRefused for an event that is not the one that was sealed */
export function eventOf(row: EventRow, { codec, checkedFile }: RowReading): RecordedEvent {
  const [
    position,
    stream,
    revision,
    id,
    type,
    schema,
    text,
    actor,
    at,
    $correlationId,
    $causationId,
    previousHash,
    hash,
  ] = row;
  const metadata = { actor, at, schema: Number(schema), $correlationId, $causationId, previousHash, hash };
  const data = parsed(text);
  const stored = { id, stream, revision, position, type, data, metadata };
  if (data === undefined) {
    if (checkedFile === undefined) throw new UndecodableEvent(stored, 'its data are not JSON');
    throw damaged(checkedFile, stored, 'has data that are not JSON');
  }
  if (checkedFile !== undefined && !isAsSealed(stored, text)) {
    throw damaged(checkedFile, stored, 'is not as it was recorded: its hash does not fit');
  }
  return codec.decode(stored);
}

type Placed = Pick<RecordedEvent, 'type' | 'stream' | 'revision' | 'position'>;

/** The one line about a log that holds an event that can't be believed. `problem` goes on after the event's places. */
export function damaged(file: string, { type, stream, revision, position }: Placed, problem: string): StoreRefused {
  return new StoreRefused(
    'unusable',
    `${file} is damaged: event ${type} at position ${position} (revision ${revision} of ${stream}) ${problem}; keep it aside, and put ${EVENT_LOG.name} back from its backup`,
  );
}

/** `undefined`: it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
