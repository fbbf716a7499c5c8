import type { Clock } from '../../ports/clock.ts';
import { NO_STREAM } from '../../ports/event-store.ts';
import type { EvidenceStore } from '../../ports/evidence.ts';
import type { Leases } from '../../ports/leases.ts';
import type { Log } from '../../ports/log.ts';
import type { ReadModels, Snapshot, Snapshots } from '../../ports/read-models.ts';
import { type MongoDatabase, openMongoDatabase } from './database.ts';
import { makeEvidenceIndexes } from './evidence-records.ts';
import { openMongoEvidence } from './evidence.ts';
import { makeIndexes, openGuardedTexts } from './guarded-texts.ts';
import { makeLeaseIndex } from './lease-records.ts';
import { openMongoLeases } from './leases.ts';
import { makeRateLimitIndex, type MongoRateLimitStore, openMongoRateLimitStore } from './rate-limit-store.ts';
import { openMongoReadModels } from './read-models.ts';

export type MongoDbOptions = Readonly<{
  /** `mongodb://…` or `mongodb+srv://…`; the database is the one that it names, or `edgeward`. */
  url: string;
  clock: Clock;
  log: Log;
  /** How others see who holds a lease. */
  label: string;
  /** How long one use of the database may take, finding a server included. */
  patienceMilliseconds?: number;
  /** The driver connects again when no command was answered for this long. */
  freshStartMilliseconds?: number;
  /** Another may take a lease that was not renewed for this long. */
  leaseExpiryMilliseconds?: number;
  /** Evidence that no event was seen to name for this long was left behind by a process that ended. */
  abandonedMilliseconds?: number;
}>;

export type MongoDb = Readonly<{
  readModels: ReadModels;
  snapshots: Snapshots;
  leases: Leases;
  rateLimits: MongoRateLimitStore;
  /** Counts of logins, of a quarter of an hour each. */
  loginCounts: MongoRateLimitStore;
  evidence: EvidenceStore;
  /** Releases the leases, then closes the connections. */
  close: () => Promise<void>;
}>;

/** Read models, snapshots, leases, counts and evidence in one MongoDB database (4.4 or newer; alone, as a replica set, or sharded). @throws StoreRefused */
export async function openMongoDb(options: MongoDbOptions): Promise<MongoDb> {
  const {
    url,
    clock,
    log,
    label,
    patienceMilliseconds = 8_000,
    leaseExpiryMilliseconds,
    abandonedMilliseconds,
  } = options;
  const { freshStartMilliseconds: freshStart } = options;
  const db = await openMongoDatabase({
    url,
    clock,
    patienceMilliseconds,
    ...(freshStart === undefined ? {} : { freshStartMilliseconds: freshStart }),
  });
  try {
    await makeIndexes(db, SNAPSHOTS);
    await makeRateLimitIndex(db);
    await makeLeaseIndex(db);
    await makeEvidenceIndexes(db);
  } catch (error) {
    await db.close();
    throw error;
  }
  const expiry = leaseExpiryMilliseconds === undefined ? {} : { expiryMilliseconds: leaseExpiryMilliseconds };
  const abandoned = abandonedMilliseconds === undefined ? {} : { abandonedMilliseconds };
  const leases = openMongoLeases({ db, clock, log, label, ...expiry });
  return {
    readModels: openMongoReadModels(db, clock),
    snapshots: openMongoSnapshots(db, clock),
    leases,
    rateLimits: openMongoRateLimitStore(db, clock),
    loginCounts: openMongoRateLimitStore(db, clock, LOGIN_MILLISECONDS, 'logins'),
    evidence: openMongoEvidence({ db, clock, log, ...abandoned }),
    close: async () => {
      await leases.close();
      await db.close();
    },
  };
}

const LOGIN_MILLISECONDS = 15 * 60_000;

/** Where they are kept. */
const SNAPSHOTS = 'snapshots';

/** Snapshots in MongoDB, the newest of each stream: an older one never takes the place of a newer one. */
function openMongoSnapshots(db: MongoDatabase, clock: Clock): Snapshots {
  const texts = openGuardedTexts(db, SNAPSHOTS, clock);
  return {
    load: async (stream) => {
      const text = (await texts.load([stream])).get(stream);
      return text === undefined ? undefined : snapshotIn(text);
    },
    save: (stream, snapshot) => texts.write(snapshot.revision, [{ key: stream, text: textOf(snapshot) }]),
    replace: (stream, over, snapshot) =>
      texts.replace(snapshot.revision, over === NO_STREAM ? undefined : over, {
        key: stream,
        text: textOf(snapshot),
      }),
    partNames: async (stream) => {
      const first = partKey(stream, '');
      return (await texts.keys({ prefix: first, limit: PARTS_MAX })).map((key) => key.slice(first.length));
    },
    loadParts: async (stream, names) => {
      const found = await texts.load(names.map((name) => partKey(stream, name)));
      return new Map(
        names.flatMap((name) => {
          const text = found.get(partKey(stream, name));
          return text === undefined ? [] : [[name, text] as const];
        }),
      );
    },
    saveParts: (stream, revision, parts) =>
      texts.write(
        revision,
        [...parts].map(([name, text]) => ({ key: partKey(stream, name), text })),
      ),
    dropParts: (stream, names) => texts.drop(names.map((name) => partKey(stream, name))),
  };
}

/** More than any stream has. One that is not listed would be written again. */
const PARTS_MAX = 100_000;

/** Parts are kept beside the snapshots; no stream has such a name. */
function partKey(stream: string, name: string): string {
  return `${stream}~${name}`;
}

/** A line about the state, then the state as it is: quoting so much text once more would cost as much as making it. */
function textOf({ version, revision, hash, at, json }: Snapshot): string {
  return `${JSON.stringify({ version, revision: String(revision), hash, at })}\n${json}`;
}

/** What can't be read is no snapshot: it is only a cache. */
function snapshotIn(text: string): Snapshot | undefined {
  const end = text.indexOf('\n');
  const about: unknown = JSON.parse(text.slice(0, end));
  if (typeof about !== 'object' || about === null) return undefined;
  if (!('version' in about && 'revision' in about && 'hash' in about && 'at' in about)) return undefined;
  const { version, revision, hash, at } = about;
  if (typeof version !== 'number' || typeof revision !== 'string') return undefined;
  if (typeof hash !== 'string' || typeof at !== 'string') return undefined;
  return { version, revision: BigInt(revision), hash, at, json: text.slice(end + 1) };
}
