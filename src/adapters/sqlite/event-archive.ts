import { asStored, type Codec } from '../../events/codec.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Log } from '../../ports/log.ts';
import { openedOrRefused } from '../open-failure.ts';
import { openDatabase } from './database.ts';
import { auditEventLog } from './event-audit.ts';
import { EVENT_LOG } from './event-row.ts';
import { openSqliteEventStore } from './event-store.ts';
import { findReadable } from './readable-file.ts';

/** A log to look back at. */
export type SqliteEventArchive = Readonly<{
  store: EventStore;
  /** The same with data as they were written, neither upcast nor checked. */
  storeAsStored: EventStore;
  /** What is wrong with the file beyond what its events show; one line each. */
  flaws: () => AsyncIterable<string>;
  close: () => Promise<void>;
}>;

/** Opens a log to be read, also where nothing can be written. @throws StoreRefused, StoreUnavailable */
export function openSqliteEventArchive(
  options: Readonly<{ file: string; codec: Codec; log: Log }>,
): SqliteEventArchive {
  const { codec, log } = options;
  const { file, readOnly, release } = openedOrRefused(options.file, () => findReadable(options.file));
  const reading = { file, log, mustExist: true, readOnly, isAudit: true };
  const opened: Readonly<{ close: () => unknown }>[] = [];
  const close = async (): Promise<void> => {
    for (const one of opened) await one.close();
    release();
  };
  try {
    const store = openSqliteEventStore({ ...reading, codec });
    opened.push(store);
    const storeAsStored = openSqliteEventStore({ ...reading, codec: asStored(codec) });
    opened.push(storeAsStored);
    const db = openDatabase(file, EVENT_LOG, reading);
    opened.push(db);
    return { store, storeAsStored, flaws: () => auditEventLog(db), close };
  } catch (error) {
    void close();
    throw error;
  }
}
