import type Database from 'better-sqlite3';
import type { Codec } from '../../events/codec.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { type Anchor, BEGINNING, NO_STREAM } from '../../ports/event-store.ts';
import { damaged, EVENT_COLUMNS, eventOf, type EventRow } from './event-row.ts';

/** `atEnd`: there was nothing more when it was read. */
export type Page = Readonly<{ events: readonly RecordedEvent[]; atEnd: boolean }>;

/** Reads the log, synchronously. */
export type EventReader = Readonly<{
  /** The log after a position, up to `to` (inclusive). */
  logPage: (after: bigint, to?: bigint) => Page;
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

/**
 * `isChecked`: an event that is not the one that was sealed, or is not at the place that comes next, is refused with StoreRefused: nothing is
 * decided on it or shown of it. What looks for damage reads without.
 */
export type EventReading = Readonly<{ codec: Codec; isChecked: boolean }>;

export function openEventReader(db: Database.Database, { codec, isChecked }: EventReading): EventReader {
  const reading = { codec, checkedFile: isChecked ? db.name : undefined };
  const selectLog = select<[bigint, bigint]>(
    db,
    `WHERE position > ? AND position <= ? ORDER BY position LIMIT ${CHUNK_ROWS}`,
  );
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
    logPage: (after, to = POSITION_MAX) =>
      page(
        (last) => selectLog.all(last?.position ?? after, to),
        (event, last) => requireNext(event, 'position', (last?.position ?? (after < 0n ? 0n : after)) + 1n),
      ),
    streamPage: (stream, after) =>
      page(
        (last) => selectStream.all(stream, last?.revision ?? after),
        (event, last) => requireNext(event, 'revision', (last?.revision ?? after) + 1n),
      ),
    revision: (stream) => selectRevision.get(stream) ?? NO_STREAM,
    end: () => selectEnd.get() ?? BEGINNING,
    eventAt: (stream, revision) => selectEvent.get(stream, revision),
    foreignChanges: () => selectDataVersion.get(),
  };

  function page(
    next: (last: RecordedEvent | undefined) => readonly EventRow[],
    requireFollows: (event: RecordedEvent, last: RecordedEvent | undefined) => void,
  ): Page {
    const events: RecordedEvent[] = [];
    let last: RecordedEvent | undefined;
    let characters = 0;
    while (events.length < PAGE_EVENTS && characters < PAGE_CHARACTERS) {
      const rows = next(last);
      for (const row of rows) {
        const event = eventOf(row, reading);
        if (isChecked) requireFollows(event, last);
        events.push(event);
        last = event;
        characters += row[6].length;
      }
      if (rows.length < CHUNK_ROWS) return { events, atEnd: true };
    }
    return { events, atEnd: false };
  }

  function requireNext(event: RecordedEvent, place: 'position' | 'revision', expected: bigint): void {
    if (event[place] !== expected) throw damaged(db.name, event, `comes where ${place} ${expected} must be`);
  }
}

function select<Parameters extends readonly unknown[]>(
  db: Database.Database,
  where: string,
): Database.Statement<[...Parameters], EventRow> {
  return db.prepare<[...Parameters], EventRow>(`SELECT ${EVENT_COLUMNS} FROM events ${where}`).raw().safeIntegers();
}
