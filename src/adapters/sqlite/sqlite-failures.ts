import { StoreUnavailable } from '../../ports/event-store.ts';

/** What passes: the disk is full or fails, the file is locked or can't be reached. A damaged file is not among them. */
const PASSING = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY|NOMEM|PROTOCOL|PERM|AUTH)/;
/** So the system calls it where a file beside a database is written. */
const FULL = /^(ENOSPC|EDQUOT)$/;

export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** Whether another connection holds the file. */
export function isBusy(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('SQLITE_BUSY')
  );
}

/** The error as callers know it: what passes becomes StoreUnavailable; damage and mistakes stay what they are. */
export function asStoreFailure(error: unknown, file: string): unknown {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return error;
  if (FULL.test(error.code)) {
    return new StoreUnavailable(`${file}: the disk is full (${error.code}); free some space on it`, { cause: error });
  }
  if (PASSING.test(error.code)) {
    const wayOut = error.code === 'SQLITE_FULL' ? '; free some space on it' : '';
    return new StoreUnavailable(`${file}: ${error.message} (${error.code})${wayOut}`, { cause: error });
  }
  return error;
}
