import { type Collection, CollectionGone, type ReadModels } from '../../ports/read-models.ts';
import type { Snapshots } from '../../ports/snapshots.ts';
import { type DatabaseKind, openDatabase } from './database.ts';
import { whenFree } from './sqlite-failures.ts';

export type SqliteReadModelsOptions = Readonly<{ file: string; busyMilliseconds?: number }>;

const VIEWS: DatabaseKind = {
  name: 'edgeward views',
  applicationId: 0x65647776,
  schemaVersion: 1,
  // A power cut may lose the newest saves; the log, which loses nothing, is then replayed from the older position.
  synchronous: 'NORMAL',
  schema: `
    CREATE TABLE generations (
      generation INTEGER PRIMARY KEY AUTOINCREMENT,
      projection TEXT NOT NULL,
      version INTEGER NOT NULL,
      active INTEGER NOT NULL,
      position INTEGER
    ) STRICT;
    CREATE UNIQUE INDEX one_active ON generations (projection) WHERE active = 1;
    CREATE TABLE documents (
      generation INTEGER NOT NULL,
      key TEXT NOT NULL,
      json TEXT NOT NULL,
      PRIMARY KEY (generation, key)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE snapshots (
      stream TEXT PRIMARY KEY,
      version INTEGER NOT NULL,
      revision INTEGER NOT NULL,
      hash TEXT NOT NULL,
      at TEXT NOT NULL,
      json TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
  `,
};

type GenerationRow = Readonly<{ generation: bigint; version: bigint }>;
type DocumentRow = Readonly<{ key: string; json: string }>;
type SnapshotRow = Readonly<{ version: bigint; revision: bigint; hash: string; at: string; json: string }>;

/** Views and snapshots in one SQLite file of their own: both can be made again from the log. */
export function openSqliteReadModels({ file, busyMilliseconds = 5_000 }: SqliteReadModelsOptions): Readonly<{
  readModels: ReadModels;
  snapshots: Snapshots;
}> {
  const db = openDatabase(file, VIEWS);
  db.defaultSafeIntegers(true);
  const statements = {
    active: db.prepare<[string], GenerationRow>(
      'SELECT generation, version FROM generations WHERE projection = ? AND active = 1',
    ),
    begin: db.prepare<[string, number]>('INSERT INTO generations (projection, version, active) VALUES (?, ?, 0)'),
    exists: db.prepare<[number], { found: bigint }>('SELECT 1 AS found FROM generations WHERE generation = ?'),
    others: db.prepare<[string, number], { generation: bigint }>(
      'SELECT generation FROM generations WHERE projection = ? AND generation <> ?',
    ),
    drop: db.prepare<[bigint]>('DELETE FROM generations WHERE generation = ?'),
    dropDocuments: db.prepare<[bigint]>('DELETE FROM documents WHERE generation = ?'),
    activate: db.prepare<[number]>('UPDATE generations SET active = 1 WHERE generation = ?'),
    position: db.prepare<[number], { position: bigint | null }>(
      'SELECT position FROM generations WHERE generation = ?',
    ),
    setPosition: db.prepare<[bigint, number]>('UPDATE generations SET position = ? WHERE generation = ?'),
    load: db.prepare<[number, string], { json: string }>('SELECT json FROM documents WHERE generation = ? AND key = ?'),
    list: db.prepare<[number, string, string, number], DocumentRow>(
      'SELECT key, json FROM documents WHERE generation = ? AND key >= ? AND key > ? ORDER BY key LIMIT ?',
    ),
    put: db.prepare<[number, string, string]>(
      'INSERT INTO documents (generation, key, json) VALUES (?, ?, ?) ON CONFLICT (generation, key) DO UPDATE SET json = excluded.json',
    ),
    remove: db.prepare<[number, string]>('DELETE FROM documents WHERE generation = ? AND key = ?'),
    loadSnapshot: db.prepare<[string], SnapshotRow>(
      'SELECT version, revision, hash, at, json FROM snapshots WHERE stream = ?',
    ),
    saveSnapshot: db.prepare<[string, number, bigint, string, string, string]>(
      'INSERT OR REPLACE INTO snapshots (stream, version, revision, hash, at, json) VALUES (?, ?, ?, ?, ?, ?)',
    ),
  };
  const free = <T>(work: () => T): Promise<T> => whenFree(file, busyMilliseconds, work);

  const activate = db.transaction(({ projection, generation }: Collection) => {
    if (statements.exists.get(generation) === undefined) throw gone(projection);
    for (const other of statements.others.all(projection, generation)) {
      statements.drop.run(other.generation);
      statements.dropDocuments.run(other.generation);
    }
    statements.activate.run(generation);
  });

  const save = db.transaction((saves: Parameters<ReadModels['save']>[0]) => {
    for (const { collection, position, changes } of saves) {
      const { projection, generation } = collection;
      if (statements.exists.get(generation) === undefined) throw gone(projection);
      for (const { key, json } of changes) {
        if (json === undefined) statements.remove.run(generation, key);
        else statements.put.run(generation, key, json);
      }
      statements.setPosition.run(position, generation);
    }
  });

  return {
    readModels: {
      active: (projection) =>
        free(() => {
          const row = statements.active.get(projection);
          return row && { projection, version: Number(row.version), generation: Number(row.generation) };
        }),
      begin: (projection, version) =>
        free(() => {
          const { lastInsertRowid } = statements.begin.run(projection, version);
          return { projection, version, generation: Number(lastInsertRowid) };
        }),
      activate: (collection) => free(() => activate.immediate(collection)),
      position: ({ generation }) => free(() => statements.position.get(generation)?.position ?? undefined),
      load: ({ generation }, keys) =>
        free(() => {
          const found = new Map<string, string>();
          for (const key of keys) {
            const row = statements.load.get(generation, key);
            if (row !== undefined) found.set(key, row.json);
          }
          return found;
        }),
      list: ({ generation }, { prefix, after = '', limit }) =>
        free(() => {
          const rows = statements.list.all(generation, prefix, after, limit);
          return rows.filter(({ key }) => key.startsWith(prefix));
        }),
      save: (saves) => free(() => save.immediate(saves)),
      close: async () => void db.close(),
    },
    snapshots: {
      load: (stream) =>
        free(() => {
          const row = statements.loadSnapshot.get(stream);
          return row && { ...row, version: Number(row.version) };
        }),
      save: (stream, { version, revision, hash, at, json }) =>
        free(() => void statements.saveSnapshot.run(stream, version, revision, hash, at, json)),
    },
  };
}

function gone(projection: string): CollectionGone {
  return new CollectionGone(`the generation of ${projection} in use was replaced by another process`);
}
