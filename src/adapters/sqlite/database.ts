import { closeSync, openSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { isCode } from './sqlite-failures.ts';
import { openSqlite } from './sqlite-library.ts';

/** What a file is for, so that no other program's file, and none of a newer version, is ever written to. */
export type DatabaseKind = Readonly<{
  name: string;
  /** Written into the file's header; `file` and `sqlite3` show it. */
  applicationId: number;
  schemaVersion: number;
  /** Makes the tables of `schemaVersion` in an empty file. */
  schema: string;
  /** Columns that files of this version may not have yet: programs that do not know them are not disturbed by them. */
  additions?: readonly Readonly<{ table: string; column: string; definition: string }>[];
  /** WAL: others may read while one writes. DELETE: no companions but while it is written. */
  journal: 'WAL' | 'DELETE';
  /** FULL: a commit is on disk when it returns. NORMAL: the newest commits may be lost in a power cut; the file stays whole. */
  synchronous: 'FULL' | 'NORMAL';
}>;

const OPEN_MILLISECONDS_MAX = 5_000;
/** SQLite's own default. The 16 MiB of this build made no append to a log of a million events faster, and no reading of it. */
const CACHE_KIBIBYTES = 2_000;

export type OpenOptions = Readonly<{
  /** How long another process that is just opening the file is waited for. */
  timeoutMilliseconds?: number;
  /** The file is there and has its tables: neither is made. */
  mustExist?: boolean;
  /** Nothing is written: the file is one that must exist. */
  readOnly?: boolean;
  /** Every page is looked at first. Of a log of a million events that takes about a second. */
  mustBeWhole?: boolean;
}>;

/**
 * Opens a file of this kind, and makes it when it is not there, unless it must exist: readable by its owner alone, as are its companions.
 * Calls on it never wait for another process: they fail with SQLITE_BUSY (see `accessTo`).
 */
export function openDatabase(file: string, kind: DatabaseKind, options: OpenOptions = {}): Database.Database {
  const { timeoutMilliseconds: timeout = OPEN_MILLISECONDS_MAX, readOnly = false, mustExist = readOnly } = options;
  if (!mustExist) createForOwnerAlone(file);
  const db = openSqlite(file, { timeout, fileMustExist: mustExist, readonly: readOnly });
  try {
    if (!readOnly) db.pragma(`journal_mode = ${kind.journal}`);
    if (!mustExist) makeTables(db, kind);
    requireKind(db, file, kind);
    if (options.mustBeWhole === true) requireWhole(db, file, kind);
    if (!readOnly) addMissingColumns(db, kind);
    // On every open: SQLite forgets it, and this build of it falls back to NORMAL in WAL mode without saying so.
    db.pragma(`synchronous = ${kind.synchronous}`);
    db.pragma('busy_timeout = 0');
    db.pragma(`cache_size = -${CACHE_KIBIBYTES}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Only a file that is not there may be touched: closing a file drops the locks that SQLite has on it in this process. */
function createForOwnerAlone(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  }
}

function makeTables(db: Database.Database, kind: DatabaseKind): void {
  if (!isEmpty(db)) return;
  // Immediate: of two processes that find an empty file, one makes the tables and the other waits.
  db.transaction(() => {
    if (!isEmpty(db)) return;
    db.exec(kind.schema);
    db.pragma(`application_id = ${kind.applicationId}`);
    db.pragma(`user_version = ${kind.schemaVersion}`);
  }).immediate();
  // The file itself says from now on what it is, whatever becomes of its companion.
  if (kind.journal === 'WAL') db.pragma('wal_checkpoint(PASSIVE)');
}

/** What is in a file that can't be used as it is: the message names the file, what is wrong and the way out. */
export class UnusableFile extends Error {
  override readonly name = 'UnusableFile';
}

function requireKind(db: Database.Database, file: string, kind: DatabaseKind): void {
  if (isEmpty(db)) throw new UnusableFile(`${file} is empty: put ${kind.name} back from its backup`);
  if (db.pragma('application_id', { simple: true }) !== kind.applicationId) {
    throw new UnusableFile(`${file} holds something else than ${kind.name}: move it away, and put ${kind.name} there`);
  }
  const version = Number(db.pragma('user_version', { simple: true }));
  if (version !== kind.schemaVersion) {
    throw new UnusableFile(
      `${file} holds ${kind.name} of version ${version}; this program reads version ${kind.schemaVersion}: use the program that wrote it, or a newer one`,
    );
  }
}

function requireWhole(db: Database.Database, file: string, { name }: DatabaseKind): void {
  const [problem = ''] = db.prepare<[], string>('PRAGMA quick_check(1)').pluck().all();
  if (problem === 'ok') return;
  const what = problem.replaceAll(/\s+/g, ' ');
  throw new UnusableFile(`${file} is damaged (${what}): keep it aside, and put ${name} back from its backup`);
}

function addMissingColumns(db: Database.Database, kind: DatabaseKind): void {
  if (missingColumns(db, kind).length === 0) return;
  db.transaction(() => {
    for (const { table, column, definition } of missingColumns(db, kind)) {
      db.exec(`ALTER TABLE ${table} ADD COLUMN ${column} ${definition}`);
    }
  }).immediate();
}

function missingColumns(
  db: Database.Database,
  { additions = [] }: DatabaseKind,
): NonNullable<DatabaseKind['additions']> {
  const has = db.prepare<[string, string]>('SELECT 1 FROM pragma_table_info(?) WHERE name = ?');
  return additions.filter(({ table, column }) => has.get(table, column) === undefined);
}

function isEmpty(db: Database.Database): boolean {
  return db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0;
}
