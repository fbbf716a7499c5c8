import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import { StoreUnavailable } from '../../ports/event-store.ts';
import type { Lease, Leases } from '../../ports/leases.ts';
import { type DatabaseKind, openDatabase } from './database.ts';
import { asStoreFailure, isBusy, isCode } from './sqlite-failures.ts';

export type SqliteLeasesOptions = Readonly<{
  directory: string;
  /** What the holder is, for others to read: `serve`. */
  label: string;
}>;

/** Names are file names. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;
const RETRY_MILLISECONDS = 50;
const LOOK_MILLISECONDS = 1_000;

/**
 * Leases among the processes of one machine: each is a SQLite file whose exclusive lock the holder keeps. The operating
 * system frees it with the process, however that ends, so a lease has no time that could run out; it is lost only when
 * its file is removed or can't be looked at. `heldBy` reads `pid 4711 (serve)`.
 */
export function openSqliteLeases({ directory, label }: SqliteLeasesOptions): Leases {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const holder = `pid ${process.pid} (${label})`;
  const releases = new Set<() => void>();
  let isOpen = true;

  return {
    tryAcquire: async (name) => take(name),
    acquire: async (name, signal) => {
      for (;;) {
        signal.throwIfAborted();
        const lease = take(name);
        if (!('heldBy' in lease)) return lease;
        await pause(RETRY_MILLISECONDS, undefined, { signal }).catch(() => signal.throwIfAborted());
      }
    },
    close: async () => {
      isOpen = false;
      for (const release of releases) release();
    },
  };

  function take(name: string): Lease | Readonly<{ heldBy: string }> {
    if (!isOpen) throw new StoreUnavailable(`the leases in ${directory} are closed`);
    if (!NAME.test(name)) throw new RangeError(`${JSON.stringify(name)} is no name of a lease`);
    const file = join(directory, `${name}.lease`);
    const held = lockLeaseFile(file, holder);
    return held === undefined ? { heldBy: lastHolderOf(file) } : leaseOf(name, held);
  }

  function leaseOf(name: string, { fence, whyLost, unlock }: HeldFile): Lease {
    const lost = new AbortController();
    const look = setInterval(() => {
      const reason = whyLost();
      if (reason === undefined) return;
      clearInterval(look);
      lost.abort(new Error(`the lease ${name} is lost: ${reason}`));
    }, LOOK_MILLISECONDS).unref();
    const release = (): void => {
      if (!releases.delete(release)) return;
      clearInterval(look);
      unlock();
      lost.abort(new Error(`the lease ${name} was released`));
    };
    releases.add(release);
    return { name, fence, lost: lost.signal, isHeld: () => !lost.signal.aborted, release: async () => release() };
  }
}

/** A lease that this process holds. */
type HeldFile = Readonly<{
  fence: bigint;
  /** Why the file is not the one any more that others would ask for the lease; `undefined`: it is. */
  whyLost: () => string | undefined;
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
 * Takes the lock of a lease file and says in a file beside it who has it; `undefined` when another process has it.
 * @throws StoreUnavailable when the disk fails
 */
function lockLeaseFile(file: string, holder: string): HeldFile | undefined {
  let db: Database.Database | undefined;
  try {
    db = openDatabase(file, LEASE_FILE, { timeoutMilliseconds: 0 });
    // Never let go again after the first transaction: there is no moment in which another process could come between.
    db.pragma('locking_mode = EXCLUSIVE');
    const raise = db.prepare<[], bigint>('UPDATE lease SET fence = fence + 1 RETURNING fence').pluck().safeIntegers();
    const fence = db.transaction(() => raise.get() ?? 0n).exclusive();
    const { ino } = statSync(file);
    // Renamed into place: a reader sees the old holder or the new one.
    writeFileSync(`${holderFile(file)}.new`, holder, { mode: 0o600 });
    renameSync(`${holderFile(file)}.new`, holderFile(file));
    return {
      fence,
      unlock: () => void db?.close(),
      whyLost: () => {
        try {
          return statSync(file, { throwIfNoEntry: false })?.ino === ino ? undefined : `${file} was removed`;
        } catch (error) {
          // A disk that fails, or a folder that can't be entered: nothing can be said of what others find there.
          return error instanceof Error ? error.message : String(error);
        }
      },
    };
  } catch (error) {
    db?.close();
    if (isBusy(error)) return undefined;
    throw asStoreFailure(error, file);
  }
}

/** Who has taken the lease last. */
function lastHolderOf(file: string): string {
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
