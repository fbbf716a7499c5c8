import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { invariant } from '../../kernel/invariant.ts';
import type { Lease, Leases } from '../../ports/leases.ts';
import { isBusy, isCode } from './sqlite-failures.ts';

export type SqliteLeasesOptions = Readonly<{
  directory: string;
  /** What the holder is, for others to read: `serve`. */
  label: string;
}>;

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,100}$/;
const RETRY_MILLISECONDS = 50;

/**
 * Leases among the processes of one machine: each is a SQLite file whose exclusive lock the holder keeps. The operating system frees it
 * with the process, however that ends; so nothing runs out and nothing is lost while the process lives.
 */
export function openSqliteLeases({ directory, label }: SqliteLeasesOptions): Leases {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const held = new Map<string, () => void>();

  return {
    tryAcquire: async (name) => take(name),
    acquire: async (name, signal) => {
      for (;;) {
        signal.throwIfAborted();
        const lease = take(name);
        if (!('heldBy' in lease)) return lease;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS));
      }
    },
    close: async () => {
      for (const release of held.values()) release();
    },
  };

  function take(name: string): Lease | Readonly<{ heldBy: string }> {
    invariant(NAME.test(name), `${name} is a name for a lease`);
    if (held.has(name)) return { heldBy: `pid ${process.pid} (${label})` };
    const file = join(directory, `${name}.lock`);
    const db = new Database(file, { timeout: 0 });
    try {
      db.exec('BEGIN EXCLUSIVE');
      const fence = BigInt(Number(db.pragma('user_version', { simple: true })) + 1);
      db.pragma(`user_version = ${fence}`);
      // Committed, so that the number grows for good; then locked again, with no moment in between that matters: the number tells.
      db.exec('COMMIT');
      db.exec('BEGIN EXCLUSIVE');
      writeFileSync(`${file}.holder`, `pid ${process.pid} (${label})`, { mode: 0o600 });
      return hold(name, fence, db);
    } catch (error) {
      db.close();
      if (isBusy(error)) return { heldBy: holderOf(file) };
      throw error;
    }
  }

  function hold(name: string, fence: bigint, db: Database.Database): Lease {
    const lost = new AbortController();
    const release = (): void => {
      if (!held.delete(name)) return;
      lost.abort();
      db.close();
    };
    held.set(name, release);
    return { name, fence, lost: lost.signal, release: async () => release() };
  }
}

function holderOf(file: string): string {
  try {
    return readFileSync(`${file}.holder`, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return 'another process';
    throw error;
  }
}
