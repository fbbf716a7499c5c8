// The log as one would write it by hand on better-sqlite3: the event as JSON, its place, nothing else.
import type Database from 'better-sqlite3';
import { openSqlite } from '../../src/adapters/sqlite/sqlite-library.ts';
import type { Fact } from './events.ts';

const SCHEMA = `CREATE TABLE events (
  position INTEGER PRIMARY KEY,
  stream TEXT NOT NULL,
  revision INTEGER NOT NULL,
  type TEXT NOT NULL,
  data TEXT NOT NULL,
  created INTEGER NOT NULL,
  UNIQUE (stream, revision)
) STRICT`;

/** Appends facts in one transaction, synced to disk. */
export type BareLog = Readonly<{ append: (facts: readonly Fact[]) => void; db: Database.Database }>;

export function openBareLog(file: string): BareLog {
  const db = openSqlite(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec(SCHEMA);
  const insert = db.prepare('INSERT INTO events (stream, revision, type, data, created) VALUES (?, ?, ?, ?, ?)');
  const revisions = new Map<string, number>();
  const appendOne = ({ customer, event: { type, data }, ...said }: Fact): void => {
    const revision = (revisions.get(customer) ?? -1) + 1;
    revisions.set(customer, revision);
    insert.run(customer, revision, type, JSON.stringify({ type, customer, data, ...said }), 1);
  };
  const appendAll = db.transaction((facts: readonly Fact[]) => facts.forEach(appendOne));
  return { append: (facts) => appendAll.immediate(facts), db };
}
