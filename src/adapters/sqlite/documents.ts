import type Database from 'better-sqlite3';
import type { ViewChange } from '../../ports/read-models.ts';
import { checksumOf, digestWith, shareOf } from './checksum.ts';
import { ViewsDamage } from './views-damage.ts';

type Document = Readonly<{ key: string; json: string }>;

/** The documents of one generation. Synchronous. What is read is what was written, or it throws ViewsDamage. */
export type Documents = Readonly<{
  load: (key: string) => string | undefined;
  /** Keys from `prefix` on, after `after`, in key order. */
  list: (prefix: string, after: string | undefined, limit: number) => readonly Document[];
  /** The keys of these alone. */
  keys: (prefix: string, after: string | undefined, limit: number) => readonly string[];
  /** Gives what it adds to the digest of the generation. */
  change: (change: ViewChange) => number;
  /** The digest of all that is there, read as readers find it; `undefined` for a table that was made without checksums. */
  digest: () => number | undefined;
}>;

type Row = readonly [key: string, json: string, checksum: number | null];

/** Makes the table of a generation. The checksum may be missing, so that an edgeward that knows none can still write. */
export function createDocuments(db: Database.Database, generation: number): void {
  db.exec(
    `CREATE TABLE ${tableOf(generation)} (key TEXT NOT NULL UNIQUE, json TEXT NOT NULL, checksum INTEGER) STRICT`,
  );
}

export function dropDocuments(db: Database.Database, generation: number): void {
  db.exec(`DROP TABLE ${tableOf(generation)}`);
}

export function openDocuments(db: Database.Database, generation: number): Documents {
  const table = tableOf(generation);
  const columns = db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(table);
  return columns.includes('checksum') ? checkedDocuments(db, table) : uncheckedDocuments(db, table);
}

function checkedDocuments(db: Database.Database, table: string): Documents {
  const { selectOne, selectFrom, selectAfter, selectAll, keys, remove } = statementsOn(db, table, 'checksum');
  const selectChecksum = db.prepare<[string], number | null>(`SELECT checksum FROM ${table} WHERE key = ?`).pluck();
  const upsert = db.prepare<[string, string, number]>(
    `INSERT INTO ${table} (key, json, checksum) VALUES (?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET json = excluded.json, checksum = excluded.checksum`,
  );
  const checked = ([key, json, checksum]: Row): Document => {
    if (checksum !== checksumOf(key, json)) throw new ViewsDamage(`a document of ${table} is not what was saved`);
    return { key, json };
  };

  return {
    load: (key) => {
      const row = selectOne.get(key);
      return row && checked(row).json;
    },
    list: (prefix, after, limit) =>
      (after === undefined ? selectFrom.all(prefix, limit) : selectAfter.all(prefix, after, limit)).map(checked),
    keys,
    change: ({ key, json }) => {
      const before = selectChecksum.get(key);
      if (before === null) throw new ViewsDamage(`a document of ${table} has lost its checksum`);
      if (json === undefined) {
        remove.run(key);
        return -shareOf(before);
      }
      const checksum = checksumOf(key, json);
      upsert.run(key, json, checksum);
      return shareOf(checksum) - shareOf(before);
    },
    digest: () => {
      let digest = 0;
      let last: string | undefined;
      for (const row of selectAll.iterate()) {
        const { key } = checked(row);
        if (last !== undefined && !isBefore(last, key)) throw new ViewsDamage(`the keys of ${table} are out of order`);
        last = key;
        digest = digestWith(digest, shareOf(row[2] ?? undefined));
      }
      return digest;
    },
  };
}

/** Documents that an earlier edgeward has made, until their projection is rebuilt. */
function uncheckedDocuments(db: Database.Database, table: string): Documents {
  const { selectOne, selectFrom, selectAfter, keys, remove } = statementsOn(db, table, 'NULL');
  const upsert = db.prepare<[string, string]>(
    `INSERT INTO ${table} (key, json) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET json = excluded.json`,
  );
  return {
    load: (key) => selectOne.get(key)?.[1],
    list: (prefix, after, limit) =>
      (after === undefined ? selectFrom.all(prefix, limit) : selectAfter.all(prefix, after, limit)).map(unchecked),
    keys,
    change: ({ key, json }) => {
      if (json === undefined) remove.run(key);
      else upsert.run(key, json);
      return 0;
    },
    digest: () => undefined,
  };
}

function unchecked([key, json]: Row): Document {
  return { key, json };
}

function statementsOn(db: Database.Database, table: string, checksum: 'checksum' | 'NULL') {
  const select = `SELECT key, json, ${checksum} FROM ${table}`;
  const keysFrom = db
    .prepare<[string, number], string>(`SELECT key FROM ${table} WHERE key >= ? ORDER BY key LIMIT ?`)
    .pluck();
  const keysAfter = db
    .prepare<[string, string, number], string>(
      `SELECT key FROM ${table} WHERE key >= ? AND key > ? ORDER BY key LIMIT ?`,
    )
    .pluck();
  return {
    keys: (prefix: string, after: string | undefined, limit: number): readonly string[] =>
      after === undefined ? keysFrom.all(prefix, limit) : keysAfter.all(prefix, after, limit),
    selectOne: db.prepare<[string], Row>(`${select} WHERE key = ?`).raw(),
    selectFrom: db.prepare<[string, number], Row>(`${select} WHERE key >= ? ORDER BY key LIMIT ?`).raw(),
    selectAfter: db
      .prepare<[string, string, number], Row>(`${select} WHERE key >= ? AND key > ? ORDER BY key LIMIT ?`)
      .raw(),
    // By the index, as readers look keys up.
    selectAll: db.prepare<[], Row>(`${select} INDEXED BY sqlite_autoindex_${table}_1 ORDER BY key`).raw(),
    remove: db.prepare<[string]>(`DELETE FROM ${table} WHERE key = ?`),
  };
}

/** In the order of SQLite, which is that of code points. */
function isBefore(one: string, other: string): boolean {
  return one < other || Buffer.compare(Buffer.from(one), Buffer.from(other)) < 0;
}

/** Generations are numbers that this program has given out: they can stand in a name as they are. */
function tableOf(generation: number): string {
  return `documents_${generation}`;
}
