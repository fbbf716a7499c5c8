import type Database from 'better-sqlite3';
import type { Codec } from '../../events/codec.ts';
import type { Recorded, Told } from '../../kernel/event.ts';
import { type Anchor, BEGINNING, NO_STREAM } from '../../ports/event-store.ts';
import { EVENT_COLUMNS, eventOf, type EventRow, TOLD_COLUMNS, toldOf, type ToldRow } from './event-row.ts';

/** `atEnd`: there was nothing more when it was read. */
export type Page<E = Recorded> = Readonly<{ events: readonly E[]; atEnd: boolean }>;

/** Reads the log, synchronously. */
export type EventReader = Readonly<{
  /** The log after a position, up to `to` (inclusive). */
  logPage: (after: bigint, to?: bigint) => Page;
  /** The same for those who are only told it. */
  toldPage: (after: bigint, to: bigint) => Page<Told>;
  streamPage: (stream: string, after: bigint) => Page;
  revision: (stream: string) => bigint;
  end: () => bigint;
  eventAt: (stream: string, revision: bigint) => Pick<Anchor, 'position' | 'hash'> | undefined;
  /** A number that changes whenever another connection has changed the file. */
  foreignChanges: () => unknown;
}>;

/** Few: what is dropped again before the next collection of young objects costs nothing. */
const PAGE_EVENTS = 256;
const PAGE_CHARACTERS = 4 * 1024 * 1024;
/** Rows fetched at once: a page of the largest events must not be fetched before anyone has looked at its size. */
const CHUNK_ROWS = 64;
const POSITION_MAX = 2n ** 63n - 1n;

export function openEventReader(db: Database.Database, codec: Codec): EventReader {
  const ofLog = `WHERE position > ? AND position <= ? ORDER BY position LIMIT ${CHUNK_ROWS}`;
  const selectLog = select<[bigint, bigint]>(db, ofLog);
  const selectTold = db.prepare<[bigint, bigint], ToldRow>(`SELECT ${TOLD_COLUMNS} FROM events ${ofLog}`).raw();
  const selectStream = select<[string, bigint]>(
    db,
    `WHERE stream = ? AND revision > ? ORDER BY revision LIMIT ${CHUNK_ROWS}`,
  );
  const selectRevision = db
    .prepare<[string], bigint | null>('SELECT max(revision) FROM events WHERE stream = ?')
    .pluck()
    .safeIntegers();
  const selectEnd = db.prepare<[], bigint | null>('SELECT max(position) FROM events').pluck().safeIntegers();
  const selectEvent = db
    .prepare<[string, bigint], Pick<Anchor, 'position' | 'hash'>>(
      'SELECT position, hash FROM events WHERE stream = ? AND revision = ?',
    )
    .safeIntegers();
  const selectDataVersion = db.prepare('PRAGMA data_version').pluck();

  return {
    logPage: (after, to = POSITION_MAX) => whole((last) => selectLog.all(last?.position ?? after, to)),
    toldPage: (after, to) =>
      page(
        (last) => selectTold.all(last?.position ?? after, to),
        (row) => toldOf(row, codec),
        (row) => row[5].length,
      ),
    streamPage: (stream, after) => whole((last) => selectStream.all(stream, last?.revision ?? after)),
    revision: (stream) => selectRevision.get(stream) ?? NO_STREAM,
    end: () => selectEnd.get() ?? BEGINNING,
    eventAt: (stream, revision) => selectEvent.get(stream, revision),
    foreignChanges: () => selectDataVersion.get(),
  };

  function whole(next: (last: Recorded | undefined) => readonly EventRow[]): Page {
    return page(
      next,
      (row) => eventOf(row, codec),
      (row) => row[6].length,
    );
  }
}

function page<Row, E>(
  next: (last: E | undefined) => readonly Row[],
  read: (row: Row) => E,
  charactersOf: (row: Row) => number,
): Page<E> {
  const events: E[] = [];
  let characters = 0;
  while (events.length < PAGE_EVENTS && characters < PAGE_CHARACTERS) {
    const rows = next(events.at(-1));
    for (const row of rows) {
      events.push(read(row));
      characters += charactersOf(row);
    }
    if (rows.length < CHUNK_ROWS) return { events, atEnd: true };
  }
  return { events, atEnd: false };
}

function select<Parameters extends readonly unknown[]>(
  db: Database.Database,
  where: string,
): Database.Statement<[...Parameters], EventRow> {
  return db.prepare<[...Parameters], EventRow>(`SELECT ${EVENT_COLUMNS} FROM events ${where}`).raw().safeIntegers();
}
