import { accessSync, constants, copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type Database from 'better-sqlite3';
import { StoreRefused } from '../../ports/store-refused.ts';
import { isCode } from './sqlite-failures.ts';
import { openSqlite } from './sqlite-library.ts';

/** A SQLite file to be read: at its place, or as a private copy. */
export type ReadableFile = Readonly<{
  file: string;
  /** Nothing may be written beside it. */
  readOnly: boolean;
  /** Ends its use; a private copy is removed. */
  release: () => void;
}>;

/**
 * Finds a way to read a file in WAL mode wherever it is. SQLite wants to write beside such a file even when it only reads; where that is not
 * possible, as in a read-only copy, and no companions are there that would do, the file and its newest changes (`-wal`) are copied to a
 * private directory. @throws StoreRefused when there is no room for the copy, or the file is being written to; a system error when it may not be read
 */
export function findReadable(file: string): ReadableFile {
  if (isWritable(file) && isWritable(dirname(file))) return { file, readOnly: false, release: () => undefined };
  if (isReadableInPlace(file)) return { file, readOnly: true, release: () => undefined };
  const directory = mkdtempSync(join(tmpdir(), 'edgeward-read-'));
  const release = (): void => rmSync(directory, { recursive: true, force: true });
  try {
    return { file: copied(file, directory), readOnly: false, release };
  } catch (error) {
    release();
    throw error;
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function isReadableInPlace(file: string): boolean {
  let db: Database.Database | undefined;
  try {
    db = openSqlite(file, { readonly: true, fileMustExist: true });
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    // Damage is for those who read it: a copy would not mend it.
    return !/^SQLITE_(CANTOPEN|READONLY|PERM|AUTH|IOERR)/.test(code);
  } finally {
    db?.close();
  }
}

function copied(file: string, directory: string): string {
  const sources = [file, `${file}-wal`].filter((path) => existsSync(path));
  const before = stateOf(sources);
  const copy = join(directory, basename(file));
  for (const source of sources) {
    try {
      copyFileSync(source, join(directory, basename(source)), constants.COPYFILE_FICLONE);
    } catch (error) {
      if (!isCode(error, 'ENOSPC') && !isCode(error, 'EDQUOT')) throw error;
      const problem = `${source} can't be read where it is, and there is no room for a private copy of it in ${tmpdir()}: name a directory that has with TMPDIR`;
      throw new StoreRefused('unusable', problem, { cause: error });
    }
  }
  if (stateOf(sources) === before) return copy;
  throw new StoreRefused(
    'unusable',
    `${file} is being written to by others: copy it when nobody does, and read the copy`,
  );
}

function stateOf(files: readonly string[]): string {
  return files
    .map((file) => statSync(file))
    .map(({ size, mtimeMs, ino }) => `${ino} ${size} ${mtimeMs}`)
    .join();
}
