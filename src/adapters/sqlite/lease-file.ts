import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { type DatabaseKind, openDatabase } from './database.ts';
import { asStoreFailure, isBusy, isCode } from './sqlite-failures.ts';

/** A lease that this process holds. */
export type HeldFile = Readonly<{
  fence: bigint;
  /** Whether the file is still the one that others would ask for the lease. */
  isInPlace: () => boolean;
  unlock: () => void;
}>;

const LEASE_FILE: DatabaseKind = {
  name: 'a lease',
  applicationId: 0x45_77_4c_65,
  schemaVersion: 1,
  journal: 'DELETE',
  synchronous: 'FULL',
  schema: 'CREATE TABLE lease (fence INTEGER NOT NULL) STRICT; INSERT INTO lease VALUES (0)',
};

/**
 * Takes the lock of a lease file and says in a file beside it who has it; `undefined` when somebody else has it.
 * @throws StoreUnavailable when the disk fails
 */
export function lockLeaseFile(file: string, holder: string): HeldFile | undefined {
  let db: Database.Database | undefined;
  try {
    db = openDatabase(file, LEASE_FILE, { timeoutMilliseconds: 0 });
    // Never let go again after the first transaction: there is no moment in which somebody else could come between.
    db.pragma('locking_mode = EXCLUSIVE');
    const raise = db.prepare<[], bigint>('UPDATE lease SET fence = fence + 1 RETURNING fence').pluck().safeIntegers();
    const fence = db.transaction(() => raise.get() ?? 0n).exclusive();
    const { ino } = statSync(file);
    // Renamed into place: whoever reads it sees the old holder or the new one.
    writeFileSync(`${holderFile(file)}.new`, holder, { mode: 0o600 });
    renameSync(`${holderFile(file)}.new`, holderFile(file));
    return {
      fence,
      unlock: () => void db?.close(),
      isInPlace: () => statSync(file, { throwIfNoEntry: false })?.ino === ino,
    };
  } catch (error) {
    db?.close();
    if (isBusy(error)) return undefined;
    throw asStoreFailure(error, file);
  }
}

/** Who has taken the lease last. */
export function lastHolderOf(file: string): string {
  try {
    return readFileSync(holderFile(file), 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return 'a process that is just starting';
    throw error;
  }
}

function holderFile(file: string): string {
  return `${file}.holder`;
}
