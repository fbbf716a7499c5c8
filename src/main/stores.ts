import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { systemClock } from '../adapters/clock.ts';
import { openEvidenceFiles } from '../adapters/files/evidence.ts';
import { openSecretFiles } from '../adapters/files/secrets.ts';
import type { MongoRateLimitStore } from '../adapters/mongodb/rate-limit-store.ts';
import { openSqliteEventStore } from '../adapters/sqlite/event-store.ts';
import { openSqliteLeases } from '../adapters/sqlite/leases.ts';
import { openSqliteReadModels } from '../adapters/sqlite/read-models.ts';
import { BadConfig, type Config } from '../config.ts';
import { asStored, type Codec, createCodec } from '../events/codec.ts';
import { STREAM_CATEGORIES } from '../kernel/stream-name.ts';
import type { EvidenceStore } from '../ports/evidence.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Leases } from '../ports/leases.ts';
import type { Log } from '../ports/log.ts';
import type { ReadModels } from '../ports/read-models.ts';
import type { Secrets } from '../ports/secrets.ts';
import type { Snapshots } from '../ports/snapshots.ts';
import { EVENT_CATALOGUE } from './event-catalogue.ts';

export type Stores = Readonly<{
  store: EventStore;
  /** The log as an audit must see it; opened when it is first asked for. */
  storeAsStored: () => Promise<EventStore>;
  readModels: ReadModels;
  snapshots: Snapshots;
  /** Among all who use these stores: of the read-model store when both stores are shared, otherwise of the data directory. */
  leases: Leases;
  secrets: Secrets;
  evidence: EvidenceStore;
  /** Both stores are servers of their own, so that several edgeward servers may use them. */
  areShared: boolean;
  /** One count for all servers, where there may be several. */
  rateLimits: MongoRateLimitStore | undefined;
  close: () => Promise<void>;
}>;

/** What the read-model store gives. */
type ReadSide = Pick<Stores, 'readModels' | 'snapshots' | 'evidence'> &
  Readonly<{
    shared: Readonly<{ leases: Leases; rateLimits: MongoRateLimitStore }> | undefined;
    close: () => Promise<void>;
  }>;

export const codec = createCodec(EVENT_CATALOGUE);

/** Opens the stores that the settings name. `label` is how others see who holds a lease. @throws StoreRefused, StoreUnavailable */
export async function openStores(config: Config, log: Log, label: string): Promise<Stores> {
  makeDataDirectory(config.dataDir);
  const store = await openEventStore(config, codec, log);
  const readSide = await openReadSide(config, log, label).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  const areShared = !isEmbedded(config.eventStoreUrl) && !isEmbedded(config.readModelUrl);
  const own = openSqliteLeases({ directory: join(config.dataDir, 'locks'), label });
  let audited: Promise<EventStore> | undefined;
  return {
    store,
    storeAsStored: () => (audited ??= openEventStore(config, asStored(codec), log)),
    readModels: readSide.readModels,
    snapshots: readSide.snapshots,
    leases: areShared && readSide.shared !== undefined ? readSide.shared.leases : own,
    secrets: openSecretFiles(join(config.dataDir, 'secrets')),
    evidence: readSide.evidence,
    areShared,
    rateLimits: areShared ? readSide.shared?.rateLimits : undefined,
    close: async () => {
      await own.close();
      await readSide.close();
      await (await audited?.catch(() => undefined))?.close();
      await store.close();
    },
  };
}

function makeDataDirectory(directory: string): void {
  try {
    makeDirectories(directory);
    accessSync(`${directory}/.`, constants.W_OK);
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new BadConfig(
      `bad settings: DATA_DIR must be a directory that can be written to: ${directory} is none (${why})`,
    );
  }
}

/** Step by step: Node's own way to make several never ends where a parent takes no directories, as under /proc. */
function makeDirectories(directory: string): void {
  const missing: string[] = [];
  for (let at = resolve(directory); !existsSync(at); at = dirname(at)) missing.unshift(at);
  for (const each of missing) {
    try {
      mkdirSync(each, { mode: 0o700 });
    } catch (error) {
      // Another process was faster.
      if (!existsSync(each)) throw error;
    }
  }
}

function isEmbedded(url: string): boolean {
  return url.startsWith('sqlite:');
}

/** Opens the event store alone. @throws StoreRefused */
export async function openEventStore(
  { eventStoreUrl, dataDir }: Config,
  eventCodec: Codec,
  log: Log,
): Promise<EventStore> {
  if (isEmbedded(eventStoreUrl)) {
    return openSqliteEventStore({ file: join(dataDir, 'events.db'), codec: eventCodec, log });
  }
  const categories = STREAM_CATEGORIES;
  // Its client takes a third of a second to load: only who uses it waits for that.
  const { openEventStoreDb } = await import('../adapters/eventstoredb/event-store.ts');
  return openEventStoreDb({ url: eventStoreUrl, codec: eventCodec, clock: systemClock, log, categories });
}

async function openReadSide({ readModelUrl, dataDir }: Config, log: Log, label: string): Promise<ReadSide> {
  if (isEmbedded(readModelUrl)) {
    const { readModels, snapshots } = openSqliteReadModels({ file: join(dataDir, 'views.db') });
    const evidence = openEvidenceFiles(join(dataDir, 'evidence'));
    return { readModels, snapshots, evidence, shared: undefined, close: () => readModels.close() };
  }
  const { openMongoDb } = await import('../adapters/mongodb/mongodb.ts');
  const { readModels, snapshots, evidence, leases, rateLimits, close } = await openMongoDb({
    url: readModelUrl,
    clock: systemClock,
    log,
    label,
  });
  return { readModels, snapshots, evidence, shared: { leases, rateLimits }, close };
}
