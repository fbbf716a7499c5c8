import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock } from '../../ports/clock.ts';
import { StoreUnavailable } from '../../ports/event-store.ts';
import type { Lease, Leases } from '../../ports/leases.ts';
import type { Log } from '../../ports/log.ts';
import type { MongoDatabase } from './database.ts';
import { holdLease } from './held-lease.ts';
import { type Holding, type LeaseRecord, leaseRecords } from './lease-records.ts';

export type MongoLeasesOptions = Readonly<{
  db: MongoDatabase;
  clock: Clock;
  log: Log;
  /** What the holder is, for others to read: `serve`. */
  label: string;
  /** Another may take a lease that was not renewed for this long. */
  expiryMilliseconds?: number;
}>;

/** What another process was seen to hold, and since when it has not been renewed, by our own clock. */
type Sighting = Readonly<{ token: string; beat: bigint; since: number }>;

const EXPIRY_MILLISECONDS = 8_000;
const POLL_PARTS = 16;

/**
 * Leases in MongoDB. The holder renews; a process that waits takes a lease that it has itself seen unchanged for the whole expiry time,
 * by its own monotonic clock: no two clocks are ever compared.
 */
export function openMongoLeases(options: MongoLeasesOptions): Leases {
  const { db, clock, log, label, expiryMilliseconds = EXPIRY_MILLISECONDS } = options;
  const records = leaseRecords(db);
  const holder = `${label} (pid ${process.pid} on ${hostname()})`;
  const held = new Map<string, Lease>();
  const taking = new Set<string>();
  const sightings = new Map<string, Sighting>();
  /** What was asked for and may have been given, for all we know. */
  const attempts = new Map<string, Holding>();
  let closed = false;

  return {
    tryAcquire,
    acquire: async (name, signal) => {
      for (;;) {
        signal.throwIfAborted();
        const lease = await tryAcquire(name);
        if (!('heldBy' in lease)) return lease;
        await clock.wait((expiryMilliseconds / POLL_PARTS) * (0.75 + Math.random() / 2), signal);
      }
    },
    close: async () => {
      closed = true;
      await Promise.all([...held.values()].map((lease) => lease.release()));
    },
  };

  async function tryAcquire(name: string): Promise<Lease | Readonly<{ heldBy: string }>> {
    if (closed) throw new StoreUnavailable('the leases are closed');
    // One try at a time in this process: the second could not tell its own record from the first's.
    if (held.has(name) || taking.has(name)) return { heldBy: holder };
    taking.add(name);
    const token = randomUUID();
    try {
      const before = clock.monotonicMilliseconds();
      const fence = await take(name, token);
      return typeof fence === 'bigint' ? hold(name, token, fence, before) : { heldBy: fence.heldBy };
    } catch (error) {
      // The record may be ours without our knowing: then no process should have to wait until it runs out.
      const attempted = attempts.get(name);
      if (attempted !== undefined) records.release(attempted).catch(() => undefined);
      throw error;
    } finally {
      taking.delete(name);
      attempts.delete(name);
    }
  }

  /** The new fence, or who has it. */
  async function take(name: string, token: string): Promise<bigint | Readonly<{ heldBy: string }>> {
    const newest = await records.newest(name);
    if (newest !== undefined && newest.released === undefined && !hasRunOut(newest)) return { heldBy: newest.holder };
    const fence = (newest?.fence ?? 0n) + 1n;
    attempts.set(name, { name, fence, token });
    return (await records.take(name, fence, holder, token)) ? fence : { heldBy: 'another process' };
  }

  function hasRunOut({ name, token, beat }: LeaseRecord): boolean {
    const seen = sightings.get(name);
    const now = clock.monotonicMilliseconds();
    if (seen?.token === token && seen.beat === beat) return now - seen.since >= expiryMilliseconds;
    sightings.set(name, { token, beat, since: now });
    return false;
  }

  function hold(name: string, token: string, fence: bigint, since: number): Lease {
    sightings.delete(name);
    const ended = (): void => void held.delete(name);
    const holding = { name, fence, token };
    const lease = holdLease({ records, clock, log, holding, since, expiryMilliseconds, ended });
    held.set(name, lease);
    return lease;
  }
}
