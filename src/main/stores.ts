import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { systemClock } from '../adapters/clock.ts';
import { openEvidenceFiles } from '../adapters/files/evidence.ts';
import { openSecretFiles } from '../adapters/files/secrets.ts';
import type { MongoRateLimitStore } from '../adapters/mongodb/rate-limit-store.ts';
import { openedOrRefused } from '../adapters/open-failure.ts';
import { openSqliteEventStore } from '../adapters/sqlite/event-store.ts';
import { openSqliteLeases } from '../adapters/sqlite/leases.ts';
import { openSqliteReadModels } from '../adapters/sqlite/read-models.ts';
import type { Initialized } from '../cli/operations/init.ts';
import type { GrantReading } from '../cli/operations/stores.ts';
import type { Config } from '../config.ts';
import { type Codec, createCodec } from '../events/codec.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { EvidenceStore } from '../ports/evidence.ts';
import type { Leases } from '../ports/leases.ts';
import type { Log } from '../ports/log.ts';
import type { ReadModels, Snapshots } from '../ports/read-models.ts';
import type { Secrets } from '../ports/secrets.ts';
import { EVENT_CATALOGUE, projectionNames, STREAM_CATEGORIES, STREAM_OF_EVERY_LOG } from './contexts.ts';
import { isEmbedded, lastServedBy, logFileIn, makeDataDirectory, requireDataDirectory } from './data-directory.ts';
import { VERSION } from './version.ts';

export type Stores = Readonly<{
  store: EventStore;
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
  /** The same of logins. */
  loginCounts: MongoRateLimitStore | undefined;
  close: () => Promise<void>;
}>;

/** What the read-model store gives. */
type ReadSide = Pick<Stores, 'readModels' | 'snapshots' | 'evidence'> &
  Readonly<{
    shared: Readonly<{ leases: Leases; rateLimits: MongoRateLimitStore; loginCounts: MongoRateLimitStore }> | undefined;
    close: () => Promise<void>;
  }>;

export const codec = createCodec(EVENT_CATALOGUE, `edgeward ${VERSION}`);

export type StoresOptions = Readonly<{
  /** How others see who holds a lease. */
  label: string;
  /** A server makes the data directory where there is none, and takes no log that is damaged. */
  serves: boolean;
}>;

/** Opens the stores that the settings name. @throws BadConfig, StoreRefused, StoreUnavailable */
export async function openStores(config: Config, log: Log, options: StoresOptions): Promise<Stores> {
  const { label, serves } = options;
  if (serves) await initDataDirectory(config, log);
  else requireDataDirectory(config);
  const secrets = openSecrets(config.dataDir);
  const locks = join(config.dataDir, 'locks');
  const own = openedOrRefused(locks, () => openSqliteLeases({ directory: locks, label }));
  let saved: (() => Promise<bigint | undefined>) | undefined;
  const lookedThrough = () => saved?.() ?? Promise.resolve(undefined);
  const store = await openEventStore(config, codec, log, { serves, lookedThrough });
  const readSide = await openReadSide(config, log, label).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  const { readModels } = readSide;
  saved = () => lowestSaved(readModels, projectionNames(config, { store, readModels, clock: systemClock, log }));
  const areShared = !isEmbedded(config.eventStoreUrl) && !isEmbedded(config.readModelUrl);
  return {
    store,
    readModels: readSide.readModels,
    snapshots: readSide.snapshots,
    leases: areShared && readSide.shared !== undefined ? readSide.shared.leases : own,
    secrets,
    evidence: readSide.evidence,
    areShared,
    rateLimits: areShared ? readSide.shared?.rateLimits : undefined,
    loginCounts: areShared ? readSide.shared?.loginCounts : undefined,
    close: async () => {
      await own.close();
      await readSide.close();
      await store.close();
    },
  };
}

/**
 * Makes the data directory with what all others look for in it, and leaves one that is there as it is.
 * @throws BadConfig, StoreRefused
 */
export async function initDataDirectory(config: Config, log: Log): Promise<Initialized> {
  const { dataDir } = config;
  const made = !existsSync(isEmbedded(config.eventStoreUrl) ? logFileIn(dataDir) : secretsIn(dataDir));
  const { mayBegin } = makeDataDirectory(config);
  if (mayBegin) await openSqliteEventStore({ file: logFileIn(dataDir), codec, log }).close();
  openSecrets(dataDir);
  return { directory: resolve(dataDir), made };
}

function secretsIn(dataDir: string): string {
  return join(dataDir, 'secrets');
}

function openSecrets(dataDir: string): Secrets {
  const directory = secretsIn(dataDir);
  return openedOrRefused(directory, () => openSecretFiles(directory));
}

/** Opens the event store alone; an embedded one is there. @throws StoreRefused */
export async function openEventStore(
  { eventStoreUrl, eventStoreStreamPrefix: streamPrefix, dataDir }: Config,
  eventCodec: Codec,
  log: Log,
  {
    serves = false,
    lookedThrough,
  }: Readonly<{ serves?: boolean; lookedThrough?: () => Promise<bigint | undefined> }> = {},
): Promise<EventStore> {
  if (isEmbedded(eventStoreUrl)) {
    const served = serves ? lastServedBy(dataDir) : VERSION;
    return openSqliteEventStore({
      file: logFileIn(dataDir),
      codec: eventCodec,
      log,
      mustExist: true,
      mustBeWhole: serves,
      mustBeKnown: served === VERSION ? undefined : unknownTo(served),
    });
  }
  const categories = STREAM_CATEGORIES;
  // Its client takes a third of a second to load: only who uses it waits for that.
  const { openEventStoreDb } = await import('../adapters/eventstoredb/event-store.ts');
  const ours = {
    categories,
    streamPrefix,
    streamOfEveryLog: STREAM_OF_EVERY_LOG,
    ...(lookedThrough === undefined ? {} : { lookedThrough }),
  };
  return openEventStoreDb({ url: eventStoreUrl, codec: eventCodec, clock: systemClock, log, ...ours });
}

function unknownTo(served: string | undefined): string {
  const who = served === undefined ? 'a newer version wrote it' : `edgeward ${served} has served it last`;
  return `which edgeward ${VERSION} does not know; ${who}: use that version, or a newer one`;
}

/** Gives a login of the event store's server the right to read its log. @throws StoreRefused */
export const grantReading: GrantReading = async (url, login) => {
  const { grantReadingAll } = await import('../adapters/eventstoredb/grant.ts');
  return grantReadingAll(url, login, systemClock);
};

/** Where all saved views stand at least; `undefined` where one of them has nothing yet. */
async function lowestSaved(readModels: ReadModels, names: readonly string[]): Promise<bigint | undefined> {
  const standing = await readModels.standing(names);
  let least: bigint | undefined;
  for (const name of names) {
    const position = standing.get(name)?.position;
    if (position === undefined) return undefined;
    if (least === undefined || position < least) least = position;
  }
  return least;
}

async function openReadSide({ readModelUrl, dataDir }: Config, log: Log, label: string): Promise<ReadSide> {
  if (isEmbedded(readModelUrl)) {
    const { readModels, snapshots } = openSqliteReadModels({
      file: join(dataDir, 'views.db'),
      log,
      clock: systemClock,
    });
    const folder = join(dataDir, 'evidence');
    const evidence = openedOrRefused(folder, () => openEvidenceFiles(folder));
    return { readModels, snapshots, evidence, shared: undefined, close: () => readModels.close() };
  }
  const { openMongoDb } = await import('../adapters/mongodb/mongodb.ts');
  const { readModels, snapshots, evidence, leases, rateLimits, loginCounts, close } = await openMongoDb({
    url: readModelUrl,
    clock: systemClock,
    log,
    label,
  });
  return { readModels, snapshots, evidence, shared: { leases, rateLimits, loginCounts }, close };
}
