import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { StoreUnavailable } from '../../ports/event-store.ts';
import type { Lease, Leases } from '../../ports/leases.ts';
import { type HeldFile, lastHolderOf, lockLeaseFile } from './lease-file.ts';

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
 * somebody removes its file. `heldBy` reads `pid 4711 (serve)`.
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
    return held === undefined ? { heldBy: lastHolderOf(file) } : leaseOf(name, file, held);
  }

  function leaseOf(name: string, file: string, { fence, isInPlace, unlock }: HeldFile): Lease {
    const lost = new AbortController();
    const look = setInterval(() => {
      if (isInPlace()) return;
      clearInterval(look);
      lost.abort(new Error(`the lease ${name} is lost: ${file} was removed`));
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
