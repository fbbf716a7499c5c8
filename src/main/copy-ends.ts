import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../adapters/clock.ts';
import { openEvidenceFiles } from '../adapters/files/evidence.ts';
import { openedOrRefused } from '../adapters/open-failure.ts';
import { openSqliteEventStore } from '../adapters/sqlite/event-store.ts';
import { openSqliteLeases } from '../adapters/sqlite/leases.ts';
import type { CopyEnds, Opened } from '../application/operations/copy-stores.ts';
import type { Config } from '../config.ts';
import { asStored } from '../events/codec.ts';
import { type Refusal, refuse } from '../kernel/decider.ts';
import { type EventStore, StoreUnavailable } from '../ports/event-store.ts';
import type { Leases } from '../ports/leases.ts';
import type { Log } from '../ports/log.ts';
import { STREAM_CATEGORIES } from './contexts.ts';
import { logFileIn, refusePartly, requireDataDirectory } from './data-directory.ts';
import { LEADERS_LEASE } from './leadership.ts';
import { codec } from './stores.ts';

const LABEL = 'stores copy';
/** Longer than the lease of a server that has died. */
const LEAD_MILLISECONDS = 15_000;

/** Opens the stores of a copy, whatever the settings name; only `DATA_DIR` is taken from them. */
export function copyEnds(readConfig: () => Config, log: Log): CopyEnds {
  const stored = asStored(codec);
  return {
    openLog: async (place, role) => {
      if ('directory' in place) {
        return role === 'source' ? openSource(place.directory) : openTarget(place.directory ?? readConfig().dataDir);
      }
      const options = { codec: stored, clock: systemClock, log, categories: STREAM_CATEGORIES };
      const { openEventStoreDb } = await import('../adapters/eventstoredb/event-store.ts');
      const { url, streamPrefix = readConfig().eventStoreStreamPrefix } = place;
      const store = await openEventStoreDb({ ...options, url, streamPrefix });
      return { store, close: store.close };
    },
    openEvidence: async (place, role) => {
      if ('directory' in place) {
        const directory = place.directory ?? readConfig().dataDir;
        const missing = role === 'source' ? missingAt(directory, 'data directory') : undefined;
        if (missing !== undefined) return missing;
        return { store: openEvidenceFiles(join(directory, 'evidence')), close: () => Promise.resolve() };
      }
      const { openMongoDb } = await import('../adapters/mongodb/mongodb.ts');
      const mongo = await openMongoDb({ url: place.url, clock: systemClock, log, label: LABEL });
      try {
        const refusal = role === 'target' ? await takeLead(mongo.leases) : undefined;
        if (refusal === undefined) return { store: mongo.evidence, close: mongo.close };
        await mongo.close();
        return refusal;
      } catch (error) {
        await mongo.close();
        throw error;
      }
    },
  };

  function openSource(named: string | undefined): Opened<EventStore> | Refusal {
    const { dataDir, eventStoreUrl } =
      named === undefined ? readConfig() : { dataDir: named, eventStoreUrl: 'sqlite:' };
    const file = logFileIn(dataDir);
    if (named === undefined) requireDataDirectory({ dataDir, eventStoreUrl });
    const missing = missingAt(file, 'event log');
    if (missing !== undefined) return missing;
    refusePartly(dataDir);
    const store = openSqliteEventStore({ file, codec: stored, log, mustExist: true, isAudit: true });
    return { store, close: store.close };
  }

  /** What is half copied must not be acted upon: no server can run or start meanwhile. */
  async function openTarget(directory: string): Promise<Opened<EventStore> | Refusal> {
    const leases = openedOrRefused(directory, () => {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      return openSqliteLeases({ directory: join(directory, 'locks'), label: LABEL });
    });
    const lease = await leases.tryAcquire('server');
    if ('heldBy' in lease) {
      await leases.close();
      return refuse('target-in-use', `${directory} is in use: ${lease.heldBy}.`);
    }
    const store = openSqliteEventStore({ file: logFileIn(directory), codec: stored, log, isAudit: true });
    const close = async (): Promise<void> => {
      await store.close();
      await leases.close();
    };
    return { store, close };
  }
}

/** As long as the copy leads, no server that is to use these read models acts. */
async function takeLead(leases: Leases): Promise<Refusal | undefined> {
  try {
    await leases.acquire(LEADERS_LEASE, AbortSignal.timeout(LEAD_MILLISECONDS));
    return undefined;
  } catch (error) {
    const lease = await leases.tryAcquire(LEADERS_LEASE);
    if (!('heldBy' in lease)) return undefined;
    if (error instanceof StoreUnavailable) throw error;
    return refuse('target-in-use', `the target of evidence is in use: ${lease.heldBy} leads there.`);
  }
}

function missingAt(path: string, what: string): Refusal | undefined {
  return existsSync(path) ? undefined : refuse('not-found', `there is no ${what} at ${path}.`);
}
