import type Database from 'better-sqlite3';
import { isAsWritten } from '../../events/codec.ts';
import { EVENT_LOG } from './event-row.ts';
import { yieldToEventLoop } from '../../concurrency/yield-to-event-loop.ts';

type Row = readonly [position: bigint, stream: string, revision: bigint, data: string];

const CHUNK_ROWS = 500;
/** Damage comes in hundreds of lines; these say enough. */
const STRUCTURE_LINES_MAX = 20;
const REPEATED_IDS_MAX = 20;

/**
 * What an open log has that the events themselves don't show: damage of the file and its indexes, what edgeward did not make in it, positions that
 * are missing, data that edgeward would have written otherwise, ids that are there twice. One line each; a page at a time is in memory.
 */
export async function* auditEventLog(db: Database.Database): AsyncGenerator<string, void> {
  const parts = [() => structureProblems(db), () => schemaProblems(db), () => rowProblems(db), () => idProblems(db)];
  for (const part of parts) {
    await yieldToEventLoop();
    try {
      yield* part();
    } catch (error) {
      // The rest of this part can't be read; the others may be.
      yield `${db.name}: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
}

function* structureProblems(db: Database.Database): Generator<string, void> {
  const lines = db.prepare<[], string>(`PRAGMA integrity_check(${STRUCTURE_LINES_MAX})`).pluck().all();
  for (const line of lines.flatMap((text) => text.split('\n'))) if (line !== 'ok') yield `${db.name}: ${line}`;
}

function* schemaProblems(db: Database.Database): Generator<string, void> {
  const expected = inOneLine(EVENT_LOG.schema);
  const found = db
    .prepare<[], { type: string; name: string; sql: string | null }>(
      "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
    )
    .all();
  for (const { type, name, sql } of found) {
    if (inOneLine(sql ?? '') !== expected) yield `${db.name}: ${type} ${name} is not as edgeward makes it`;
  }
}

function inOneLine(sql: string): string {
  return sql.replaceAll(/\s+/g, ' ').trim();
}

async function* rowProblems(db: Database.Database): AsyncGenerator<string, void> {
  const select = db
    .prepare<[bigint], Row>(
      `SELECT position, stream, revision, data FROM events WHERE position > ? ORDER BY position LIMIT ${CHUNK_ROWS}`,
    )
    .raw()
    .safeIntegers();
  for (let last = 0n; ; await yieldToEventLoop()) {
    const rows = select.all(last);
    for (const [position, stream, revision, data] of rows) {
      const where = `${stream} revision ${revision} (position ${position})`;
      if (position !== last + 1n) yield `${where}: ${missing(last + 1n, position - 1n)} before it`;
      if (isAsWritten(data) === false) yield `${where}: its data are not written as edgeward writes them`;
      last = position;
    }
    if (rows.length < CHUNK_ROWS) return;
  }
}

function missing(from: bigint, to: bigint): string {
  return from >= to ? `position ${from} is missing` : `positions ${from} to ${to} are missing`;
}

function* idProblems(db: Database.Database): Generator<string, void> {
  const select = db
    .prepare<[], { id: string; first: bigint; last: bigint }>(
      `SELECT id, min(position) AS first, max(position) AS last FROM events GROUP BY id HAVING count(*) > 1 LIMIT ${REPEATED_IDS_MAX}`,
    )
    .safeIntegers();
  for (const { id, first, last } of select.all()) yield `event id ${id} is there twice: positions ${first} and ${last}`;
}
