import type { MongoDatabase } from './database.ts';
import { isDuplicateKey } from './failures.ts';

/**
 * One holding of a lease. The one with the highest fence counts; taking a lease is making the next one, whose id only one can
 * make. A released one stays until then, so that fences never start again.
 */
export type LeaseRecord = {
  /** `<name>/<fence>` */
  _id: string;
  name: string;
  fence: bigint;
  holder: string;
  token: string;
  /** Grows with each renewal. */
  beat: bigint;
  released?: true;
};

export type LeaseRecords = Readonly<{
  newest: (name: string) => Promise<LeaseRecord | undefined>;
  /** Makes the holding with this fence; `false`: another has it, or a later one. */
  take: (name: string, fence: bigint, holder: string, token: string) => Promise<boolean>;
  /** Whether it is still there. */
  renew: (holding: Holding) => Promise<boolean>;
  release: (holding: Holding) => Promise<void>;
}>;

export type Holding = Readonly<{ name: string; fence: bigint; token: string }>;

const COLLECTION = 'leases';
/** What takes longer than this is tried again. */
const ANSWER_MILLISECONDS = 2_000;

/** Makes the index by which the newest holding is found. */
export async function makeLeaseIndex(db: MongoDatabase): Promise<void> {
  await db.use(() => db.collection<LeaseRecord>(COLLECTION).createIndex({ name: 1, fence: -1 }));
}

export function leaseRecords(db: MongoDatabase): LeaseRecords {
  const records = db.collection<LeaseRecord>(COLLECTION);
  const use = <T>(command: () => Promise<T>): Promise<T> => db.use(command, ANSWER_MILLISECONDS);

  async function newest(name: string): Promise<LeaseRecord | undefined> {
    const [record] = await use(() => records.find({ name }).sort({ fence: -1 }).limit(1).toArray());
    return record;
  }

  return {
    newest,
    take: async (name, fence, holder, token) => {
      const _id = idOf({ name, fence, token });
      try {
        await use(() => records.insertOne({ _id, name, fence, holder, token, beat: 0n }));
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
      // One that looked long ago may make an id whose first owner is gone already: then there is a later one.
      const isNewest = (await newest(name))?.token === token;
      const dropped = isNewest ? { name, fence: { $lt: fence } } : { _id };
      await use(() => records.deleteMany(dropped));
      return isNewest;
    },
    renew: async (holding) => {
      const { token } = holding;
      const { matchedCount } = await use(() =>
        records.updateOne({ _id: idOf(holding), token }, { $inc: { beat: 1n } }),
      );
      return matchedCount > 0;
    },
    release: async (holding) => {
      const { token } = holding;
      await use(() => records.updateOne({ _id: idOf(holding), token }, { $set: { released: true } }));
    },
  };
}

function idOf({ name, fence }: Holding): string {
  return `${name}/${fence}`;
}
