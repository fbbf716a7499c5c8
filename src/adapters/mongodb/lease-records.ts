import type { MongoDatabase } from './database.ts';

/** Who holds a lease; an empty token: nobody. The record stays for good, so that `fence` never starts again. */
export type LeaseRecord = { _id: string; holder: string; token: string; fence: bigint; beat: bigint };

export type LeaseRecords = Readonly<{
  find: (name: string) => Promise<LeaseRecord | undefined>;
  make: (record: LeaseRecord) => Promise<void>;
  /** Whether the record was still as it was seen. */
  replace: (seen: LeaseRecord, next: Omit<LeaseRecord, '_id'>) => Promise<boolean>;
  /** Whether it was still ours. */
  renew: (name: string, token: string) => Promise<boolean>;
  free: (name: string, token: string) => Promise<void>;
}>;

/** A renewal that takes longer than this is tried again. */
const ANSWER_MILLISECONDS = 2_000;

export function leaseRecords(db: MongoDatabase): LeaseRecords {
  const records = db.collection<LeaseRecord>('leases');
  const use = <T>(command: () => Promise<T>): Promise<T> => db.use(command, ANSWER_MILLISECONDS);
  return {
    find: async (name) => (await use(() => records.findOne({ _id: name }))) ?? undefined,
    make: async (record) => {
      await use(() => records.insertOne(record));
    },
    replace: async ({ _id, token, fence, beat }, next) => {
      const { matchedCount } = await use(() => records.updateOne({ _id, token, fence, beat }, { $set: next }));
      return matchedCount > 0;
    },
    renew: async (_id, token) => {
      const { matchedCount } = await use(() => records.updateOne({ _id, token }, { $inc: { beat: 1n } }));
      return matchedCount > 0;
    },
    free: async (_id, token) => {
      await use(() => records.updateOne({ _id, token }, { $set: { token: '', holder: '' } }));
    },
  };
}
