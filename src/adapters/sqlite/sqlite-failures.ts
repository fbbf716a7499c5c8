import { setTimeout as pause } from 'node:timers/promises';
import { StoreUnavailable } from '../../ports/event-store.ts';

const RETRY_MILLISECONDS = 5;

/** What passes: the disk is full or fails, the file is locked or can't be reached. A damaged file is not among them. */
const PASSING = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY|NOMEM|PROTOCOL|PERM|AUTH)/;

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
  if (error instanceof Error && 'code' in error && typeof error.code === 'string' && PASSING.test(error.code)) {
    return new StoreUnavailable(`${file}: ${error.message} (${error.code})`, { cause: error });
  }
  return error;
}

/**
 * Does something with a file that another process may hold for a moment. It waits between tries without holding up the
 * event loop, as SQLite's own busy timeout would. @throws StoreUnavailable when the file is not free within `milliseconds`
 */
export async function whenFree<T>(file: string, milliseconds: number, work: () => T): Promise<T> {
  const end = performance.now() + milliseconds;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= end) throw asStoreFailure(error, file);
    }
    await pause(RETRY_MILLISECONDS);
  }
}
