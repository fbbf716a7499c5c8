import { setTimeout as pause } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import { StoreUnavailable } from '../../ports/event-store.ts';
import { asStoreFailure, isBusy } from './sqlite-failures.ts';

/**
 * Does something with an open file, as soon as no other process holds it. It waits between tries without holding up the
 * event loop, as SQLite's own busy timeout would. @throws StoreUnavailable when the file is not free in time, or closed
 */
export type FileAccess = <T>(work: () => T) => Promise<T>;

const RETRY_MILLISECONDS = 5;

/** `busyMilliseconds`: how long another process may hold the file before a call fails. `requirePlace` throws when it may not be used. */
export function accessTo(
  db: Database.Database,
  busyMilliseconds = 5_000,
  requirePlace: () => void = () => undefined,
): FileAccess {
  return async (work) => {
    const end = performance.now() + busyMilliseconds;
    for (;;) {
      if (!db.open) throw new StoreUnavailable(`${db.name} is closed`);
      try {
        requirePlace();
        return work();
      } catch (error) {
        if (!isBusy(error) || performance.now() >= end) throw asStoreFailure(error, db.name);
      }
      await pause(RETRY_MILLISECONDS);
    }
  };
}
