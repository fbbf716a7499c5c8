import { statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import { StoreUnavailable } from '../../ports/event-store.ts';
import type { Log } from '../../ports/log.ts';
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

/** Tells whether the files of an open database are still the ones at their paths. */
type FilePlace = Readonly<{
  /** @throws StoreUnavailable when the file is not. Takes about three microseconds. */
  requireFile: () => void;
  /** The same for its companions too. */
  requireAll: () => void;
}>;

const COMPANIONS = ['-wal', '-shm'];

/**
 * A file that is removed, renamed or replaced while it is open can be written to all the same, and what was written would be lost. Its
 * companions are as much a part of it: without them the newest changes are lost, and other processes are no longer kept apart from this one.
 * Asked for right after the file was opened and read, when they are all there. A loss is an error line, its end another line.
 */
export function openFilePlace(file: string, log: Log): FilePlace {
  const opened = [file, ...COMPANIONS.map((ending) => file + ending)]
    .map((path) => ({ path, identity: identityOf(path) }))
    // A file system without shared memory has no companions.
    .filter(({ path, identity }) => path === file || identity !== undefined);
  const [own] = opened;
  let lost: string | undefined;

  return {
    // What is lost stays so until all of it is back.
    requireFile: () => check(lost === undefined && own !== undefined ? [own] : opened),
    requireAll: () => check(opened),
  };

  function check(files: typeof opened): void {
    for (const { path, identity } of files) {
      const problem = problemAt(path, identity);
      if (problem === undefined) continue;
      if (lost !== path) log.error({ file: path }, problem);
      lost = path;
      throw new StoreUnavailable(problem);
    }
    if (lost === undefined) return;
    log.warn({ file: lost }, 'the file that was opened is back at its path');
    lost = undefined;
  }
}

/** Why the file that was opened can't be relied upon; `undefined`: it is at its path. */
function problemAt(path: string, opened: string | undefined): string | undefined {
  try {
    if (identityOf(path) === opened) return undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `${path} can't be looked at while it is open: nothing is taken until it can (${why})`;
  }
  return `${path} was removed or replaced while it was open: nothing is taken until it is back; else restart on the log that is to be used`;
}

/** Which file a path leads to; `undefined`: to none. @throws a system error where it can't be looked at */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev}/${found.ino}`;
}
