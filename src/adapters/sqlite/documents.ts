import type Database from 'better-sqlite3';
import type { ViewChange } from '../../ports/read-models.ts';

type Document = Readonly<{ key: string; json: string }>;

/** The documents of one generation. Synchronous. */
export type Documents = Readonly<{
  load: (key: string) => string | undefined;
  /** Keys from `prefix` on, after `after`, in key order. */
  list: (prefix: string, after: string | undefined, limit: number) => readonly Document[];
  change: (change: ViewChange) => void;
}>;

/** Makes the table of a generation. */
export function createDocuments(db: Database.Database, generation: number): void {
  db.exec(`CREATE TABLE ${tableOf(generation)} (key TEXT NOT NULL UNIQUE, json TEXT NOT NULL) STRICT`);
}

export function dropDocuments(db: Database.Database, generation: number): void {
  db.exec(`DROP TABLE ${tableOf(generation)}`);
}

export function openDocuments(db: Database.Database, generation: number): Documents {
  const table = tableOf(generation);
  const selectJson = db.prepare<[string], string>(`SELECT json FROM ${table} WHERE key = ?`).pluck();
  const selectFrom = db.prepare<[string, number], Document>(
    `SELECT key, json FROM ${table} WHERE key >= ? ORDER BY key LIMIT ?`,
  );
  const selectAfter = db.prepare<[string, string, number], Document>(
    `SELECT key, json FROM ${table} WHERE key >= ? AND key > ? ORDER BY key LIMIT ?`,
  );
  const upsert = db.prepare<[string, string]>(
    `INSERT INTO ${table} (key, json) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET json = excluded.json`,
  );
  const remove = db.prepare<[string]>(`DELETE FROM ${table} WHERE key = ?`);

  return {
    load: (key) => selectJson.get(key),
    list: (prefix, after, limit) =>
      after === undefined ? selectFrom.all(prefix, limit) : selectAfter.all(prefix, after, limit),
    change: ({ key, json }) => {
      if (json === undefined) remove.run(key);
      else upsert.run(key, json);
    },
  };
}

/** Generations are numbers that this program has given out: they can stand in a name as they are. */
function tableOf(generation: number): string {
  return `documents_${generation}`;
}
