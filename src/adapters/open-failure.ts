import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreRefused } from '../ports/store-refused.ts';
import { UnusableFile } from './sqlite/database.ts';
import { asStoreFailure, isBusy } from './sqlite/sqlite-failures.ts';

/** What SQLite needs beside a file before it can be read: an index of the newest changes. */
const COMPANION_BYTES = 64 * 1024;

/**
 * Opens a file, or a directory of files. Whatever the operating system or SQLite has against it becomes one line that names the file, what
 * is wrong and the way out. @throws StoreRefused, StoreUnavailable
 */
export function openedOrRefused<T>(file: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw asOpenFailure(error, file);
  }
}

function asOpenFailure(error: unknown, file: string): unknown {
  if (error instanceof StoreRefused) return error;
  if (error instanceof UnusableFile) return new StoreRefused('unusable', error.message, { cause: error });
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return error;
  if (isBusy(error)) return asStoreFailure(error, file);
  const path = 'path' in error && typeof error.path === 'string' ? error.path : file;
  const why = error.code.startsWith('SQLITE_') ? `${error.message}, ${error.code}` : error.code;
  const message = `${path} can't be used: ${problemOf(error.code, path)} (${why})`;
  return new StoreRefused('unusable', message, { cause: error });
}

/** What is wrong, and the way out. */
function problemOf(code: string, path: string): string {
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code)) {
    return 'it is no SQLite database, or is damaged; keep it aside, and put it back from its backup';
  }
  if (code.startsWith('SQLITE_') && isDirectory(path)) {
    return 'it is a directory, and a file must be there; move it away, and put the file in its place';
  }
  if (/^SQLITE_FULL|^ENOSPC|^EDQUOT/.test(code) || (code.startsWith('SQLITE_IOERR') && isFull(path))) {
    return 'the disk is full; free some space on it, and start again';
  }
  if (/^SQLITE_(CANTOPEN|READONLY|PERM|AUTH)|^E(ACCES|PERM|ROFS)/.test(code)) {
    const user = process.getuid?.() ?? 'unknown';
    return `permission is denied; it, what belongs to it and its directory must be those of the user that runs edgeward (uid ${user})`;
  }
  if (/^E(NOTDIR|EXIST)/.test(code)) return 'a file is where a directory must be; move it away';
  return 'the disk fails, or the system lacks something; look at its state, and start again';
}

function isDirectory(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** SQLite calls a companion that does not fit any more an I/O error. */
function isFull(file: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(file));
    return bavail * bsize < COMPANION_BYTES;
  } catch {
    // The directory can't be looked at: that is said by the failure itself.
    return false;
  }
}
