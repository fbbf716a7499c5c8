import type { Clock } from '../../ports/clock.ts';
import type { EvidenceStore } from '../../ports/evidence.ts';
import type { Leases } from '../../ports/leases.ts';
import type { Log } from '../../ports/log.ts';
import type { ReadModels } from '../../ports/read-models.ts';
import type { Snapshots } from '../../ports/snapshots.ts';
import { openMongoDatabase } from './database.ts';
import { openMongoEvidence } from './evidence.ts';
import { makeEvidenceIndexes } from './evidence-records.ts';
import { makeIndexes } from './guarded-texts.ts';
import { makeLeaseIndex } from './lease-records.ts';
import { openMongoLeases } from './leases.ts';
import { makeRateLimitIndex, type MongoRateLimitStore, openMongoRateLimitStore } from './rate-limit-store.ts';
import { openMongoReadModels } from './read-models.ts';
import { openMongoSnapshots, SNAPSHOTS } from './snapshots.ts';

export type MongoDbOptions = Readonly<{
  /** `mongodb://…` or `mongodb+srv://…`; the database is the one that it names, or `edgeward`. */
  url: string;
  clock: Clock;
  log: Log;
  /** How others see who holds a lease. */
  label: string;
  /** How long one use of the database may take, finding a server included. */
  patienceMilliseconds?: number;
  /** The driver begins anew when no command was answered for this long. */
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
    evidence: openMongoEvidence({ db, clock, log, ...abandoned }),
    close: async () => {
      await leases.close();
      await db.close();
    },
  };
}
