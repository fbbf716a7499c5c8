import { join } from 'node:path';
import { systemClock } from '../adapters/clock.ts';
import { readEvidenceFiles } from '../adapters/files/evidence.ts';
import { systemIds } from '../adapters/ids.ts';
import { openSqliteEventArchive, type SqliteEventArchive } from '../adapters/sqlite/event-archive.ts';
import type { Archive, WithArchive } from '../application/application.ts';
import type { Config } from '../config.ts';
import { asStored } from '../events/codec.ts';
import { isCustomerEvent } from '../events/ip-control/customer.ts';
import type { EvidenceStore } from '../ports/evidence.ts';
import type { Log } from '../ports/log.ts';
import type { Snapshots } from '../ports/read-models.ts';
import { EVENT_CATALOGUE, openAggregates } from './contexts.ts';
import { isEmbedded, logFileIn, requireReadableDirectory } from './data-directory.ts';
import { codec, openEventStore } from './stores.ts';
import { withViewsBesideFold } from './views-beside-fold.ts';

/** They are kept with the views, which what looks back never opens: streams are read from their start. */
export const NO_SNAPSHOTS: Snapshots = {
  load: async () => undefined,
  save: async () => undefined,
  replace: async () => false,
  partNames: async () => [],
  loadParts: async () => new Map(),
  saveParts: async () => undefined,
  dropParts: async () => undefined,
};

/** Opens, for one command, what looks back over the stores that the settings name. */
export function commandArchive(readConfig: () => Config, log: Log): WithArchive {
  return async (work) => {
    const config = readConfig();
    requireReadableDirectory(config);
    const events = await openEvents(config, log);
    const evidence = evidenceOf(config, log);
    try {
      const withViews: Archive['withViews'] = (onViews) => withViewsBesideFold(config, events.store, log, onViews);
      return await work({ ...archiveOf(events, evidence.open, log), withViews });
    } finally {
      await evidence.close();
      await events.close();
    }
  };
}

function archiveOf(
  { store, storeAsStored, flaws }: SqliteEventArchive,
  evidence: Archive['evidence'],
  log: Log,
): Omit<Archive, 'withViews'> {
  const clock = systemClock;
  const { customers, regions, directory } = openAggregates({
    store,
    codec,
    snapshots: NO_SNAPSHOTS,
    clock,
    ids: systemIds,
    log,
  });
  const eventTypes = EVENT_CATALOGUE.map(({ type }) => type);
  return { store, storeAsStored, flaws, clock, customers, regions, directory, eventTypes, isCustomerEvent, evidence };
}

async function openEvents(config: Config, log: Log): Promise<SqliteEventArchive> {
  if (isEmbedded(config.eventStoreUrl)) return openSqliteEventArchive({ file: logFileIn(config.dataDir), codec, log });
  const store = await openEventStore(config, codec, log);
  const storeAsStored = await openEventStore(config, asStored(codec), log);
  return {
    store,
    storeAsStored,
    // A server keeps its own files, and looks after them.
    flaws: () => ({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
    }),
    close: async () => {
      await storeAsStored.close();
      await store.close();
    },
  };
}

type EvidenceArchive = Readonly<{ open: () => Promise<Pick<EvidenceStore, 'read'>>; close: () => Promise<void> }>;

function evidenceOf({ readModelUrl, dataDir }: Config, log: Log): EvidenceArchive {
  if (isEmbedded(readModelUrl)) {
    const files = readEvidenceFiles(join(dataDir, 'evidence'));
    return { open: () => Promise.resolve(files), close: () => Promise.resolve() };
  }
  let opened: Promise<Readonly<{ evidence: EvidenceStore; close: () => Promise<void> }>> | undefined;
  const open = async () => {
    const { openMongoDb } = await import('../adapters/mongodb/mongodb.ts');
    return openMongoDb({ url: readModelUrl, clock: systemClock, log, label: 'archive' });
  };
  return {
    open: async () => (await (opened ??= open())).evidence,
    close: async () => (await opened?.catch(() => undefined))?.close(),
  };
}
