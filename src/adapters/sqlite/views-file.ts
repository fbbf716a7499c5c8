import type { DatabaseKind } from './database.ts';

/**
 * Views and snapshots. Commits are not synced one by one: a power cut may lose the newest of them, and the log, which loses
 * nothing, makes them again. The documents of a generation have a table of their own, `documents_<generation>`: dropping
 * one is a matter of milliseconds. It has row ids, and an index on the key: documents of a few kilobytes in the leaves of a
 * `WITHOUT ROWID` tree were measured to take four times as long to write and to read.
 */
export const VIEWS_FILE: DatabaseKind = {
  name: 'views and snapshots',
  applicationId: 0x45_77_56_77,
  schemaVersion: 1,
  journal: 'WAL',
  synchronous: 'NORMAL',
  schema: `
    CREATE TABLE generations (
      generation INTEGER PRIMARY KEY AUTOINCREMENT,
      projection TEXT NOT NULL,
      version INTEGER NOT NULL,
      is_active INTEGER NOT NULL DEFAULT 0,
      position INTEGER,
      anchor TEXT,
      digest INTEGER,
      seal INTEGER
    ) STRICT;
    CREATE UNIQUE INDEX one_active_generation ON generations (projection) WHERE is_active;
    CREATE TABLE snapshots (
      stream TEXT PRIMARY KEY,
      version INTEGER NOT NULL,
      revision INTEGER NOT NULL,
      hash TEXT NOT NULL,
      at TEXT NOT NULL,
      json TEXT NOT NULL,
      checksum INTEGER
    ) STRICT`,
  additions: [
    { table: 'generations', column: 'anchor', definition: 'TEXT' },
    { table: 'generations', column: 'digest', definition: 'INTEGER' },
    { table: 'generations', column: 'seal', definition: 'INTEGER' },
    { table: 'snapshots', column: 'checksum', definition: 'INTEGER' },
  ],
};
