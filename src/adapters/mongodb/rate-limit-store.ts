import type { Clock } from '../../ports/clock.ts';
import type { MongoDatabase } from './database.ts';
import { isDuplicateKey } from './failures.ts';

/** Requests counted so far in the window of a key, and when it ends. */
export type RateCount = Readonly<{ totalHits: number; resetTime: Date }>;

/** One count for all servers; what express-rate-limit takes as its `store`. */
export type MongoRateLimitStore = Readonly<{
  /** Counts belong to the whole cluster. */
  localKeys: false;
  init: (options: Readonly<{ windowMs: number }>) => void;
  increment: (key: string) => Promise<RateCount>;
  decrement: (key: string) => Promise<void>;
  resetKey: (key: string) => Promise<void>;
  get: (key: string) => Promise<RateCount | undefined>;
}>;

type Count = { _id: string; hits: number; resetAt: Date };

const COLLECTION = 'rateLimits';
const ANSWER_MILLISECONDS = 2_000;
const SWEEP_MILLISECONDS = 60_000;
const RACES_MAX = 10;
/** A lost count is one request more; waiting for other members is not worth that. */
const WRITE = { writeConcern: { w: 1 } } as const;

/** Makes the index by which old counts are found. */
export async function makeRateLimitIndex(db: MongoDatabase): Promise<void> {
  await db.use(() => db.collection<Count>(COLLECTION).createIndex({ resetAt: 1 }));
}

/** Windows start with the first request of a key, as those of the store in memory do. */
export function openMongoRateLimitStore(
  db: MongoDatabase,
  clock: Clock,
  windowMilliseconds = 60_000,
): MongoRateLimitStore {
  const counts = db.collection<Count>(COLLECTION);
  const use = <T>(command: () => Promise<T>): Promise<T> => db.use(command, ANSWER_MILLISECONDS);
  let window = windowMilliseconds;
  let swept = clock.monotonicMilliseconds();

  return {
    localKeys: false,
    init: ({ windowMs }) => void (window = windowMs),
    increment: async (key) => {
      await sweepSometimes();
      for (let race = 0; race < RACES_MAX; race += 1) {
        const count = (await countIn(key)) ?? (await startWindow(key));
        if (count !== undefined) return count;
      }
      throw new Error(`the count of ${key} is raced for without end`);
    },
    decrement: async (key) => {
      await use(() => counts.updateOne({ _id: key, hits: { $gt: 0 } }, { $inc: { hits: -1 } }, WRITE));
    },
    resetKey: async (key) => {
      await use(() => counts.deleteOne({ _id: key }, WRITE));
    },
    get: async (key) => {
      const found = await use(() => counts.findOne({ _id: key, resetAt: { $gt: now() } }));
      return found === null ? undefined : { totalHits: found.hits, resetTime: found.resetAt };
    },
  };

  async function countIn(key: string): Promise<RateCount | undefined> {
    const found = await use(() =>
      counts.findOneAndUpdate(
        { _id: key, resetAt: { $gt: now() } },
        { $inc: { hits: 1 } },
        { ...WRITE, returnDocument: 'after' },
      ),
    );
    return found === null ? undefined : { totalHits: found.hits, resetTime: found.resetAt };
  }

  /** Undefined: another request has started it. */
  async function startWindow(key: string): Promise<RateCount | undefined> {
    const resetAt = new Date(clock.now().epochMilliseconds + window);
    try {
      await use(() =>
        counts.updateOne(
          { _id: key, resetAt: { $lte: now() } },
          { $set: { hits: 1, resetAt } },
          { ...WRITE, upsert: true },
        ),
      );
      return { totalHits: 1, resetTime: resetAt };
    } catch (error) {
      if (isDuplicateKey(error)) return undefined;
      throw error;
    }
  }

  async function sweepSometimes(): Promise<void> {
    if (clock.monotonicMilliseconds() - swept < SWEEP_MILLISECONDS) return;
    swept = clock.monotonicMilliseconds();
    await use(() => counts.deleteMany({ resetAt: { $lt: now() } }, WRITE));
  }

  function now(): Date {
    return new Date(clock.now().epochMilliseconds);
  }
}
