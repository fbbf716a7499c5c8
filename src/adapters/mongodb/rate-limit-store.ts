import type { Collection, Filter, UpdateFilter } from 'mongodb';
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

/** A window is known by its `resetAt`, as the clock of the server that began it had it; the other two are of the database's clock. */
type Count = { _id: string; hits: number; resetAt: Date; startedAt?: Date; seenAt?: Date };

/** A window that this server has seen, and when it ends by its own monotonic clock. */
type Window = Readonly<{ resetAt: Date; endsAt: number }>;

/** Counts with windows of different lengths are swept at different times, so that each kind is kept by itself. */
const COLLECTIONS = { requests: 'rateLimits', logins: 'loginCounts' } as const;
type Counted = keyof typeof COLLECTIONS;
const ANSWER_MILLISECONDS = 2_000;
const SWEEP_MILLISECONDS = 60_000;
const SWEPT_MAX = 50_000;
const RACES_MAX = 10;
/** So close to one another clocks are said to agree. */
const AGREEMENT_MILLISECONDS = 1_000;
/** A lost count is one request more; waiting for other members is not worth that. */
const WRITE = { writeConcern: { w: 1 } } as const;

/** Makes the index by which old counts are found. */
export async function makeRateLimitIndex(db: MongoDatabase): Promise<void> {
  for (const collection of Object.values(COLLECTIONS))
    await db.use(() => db.collection<Count>(collection).createIndex({ resetAt: 1 }));
}

/**
 * Windows start with the first request of a key, as those of the store in memory do. No server's wall clock says when one is over: a server
 * that has seen it measures it by its monotonic clock, and learns how old it is by the database's clock when it sees it first.
 */
export function openMongoRateLimitStore(
  db: MongoDatabase,
  clock: Clock,
  windowMilliseconds = 60_000,
  what: Counted = 'requests',
): MongoRateLimitStore {
  return new RateLimitStore(db, clock, windowMilliseconds, what);
}

class RateLimitStore implements MongoRateLimitStore {
  readonly localKeys = false;
  readonly #db: MongoDatabase;
  readonly #clock: Clock;
  readonly #windows = new Map<string, Window>();
  readonly #collection: string;
  #length: number;
  #swept: number;
  /** Looked over by the wall clock at the last sweep. What still is as it was a whole window later is over. */
  #suspects: readonly Pick<Count, '_id' | 'resetAt'>[] = [];

  constructor(db: MongoDatabase, clock: Clock, windowMilliseconds: number, what: Counted) {
    this.#db = db;
    this.#collection = COLLECTIONS[what];
    this.#clock = clock;
    this.#length = windowMilliseconds;
    this.#swept = clock.monotonicMilliseconds();
  }

  readonly init = ({ windowMs }: Readonly<{ windowMs: number }>): void => void (this.#length = windowMs);

  readonly increment = async (key: string): Promise<RateCount> => {
    await this.#sweepSometimes();
    for (let race = 0; race < RACES_MAX; race += 1) {
      const count = (await this.#countIn(key, { $inc: { hits: 1 } })) ?? (await this.#startWindow(key));
      if (count !== undefined) return count;
    }
    throw new Error(`the count of ${key} is raced for without end`);
  };

  readonly decrement = async (key: string): Promise<void> => {
    await this.#use((counts) => counts.updateOne({ _id: key, hits: { $gt: 0 } }, { $inc: { hits: -1 } }, WRITE));
  };

  readonly resetKey = async (key: string): Promise<void> => {
    await this.#use((counts) => counts.deleteOne({ _id: key }, WRITE));
  };

  readonly get = (key: string): Promise<RateCount | undefined> => this.#countIn(key, {});

  /** Changes the count of the window that a key has; undefined where it has none that is not over. */
  async #countIn(key: string, change: UpdateFilter<Count>): Promise<RateCount | undefined> {
    const known = this.#windows.get(key);
    if (known !== undefined && this.#isOver(known)) return undefined;
    const found = await this.#use((counts) =>
      counts.findOneAndUpdate(
        known === undefined ? { _id: key } : { _id: key, resetAt: known.resetAt },
        { ...change, $currentDate: { seenAt: true } },
        { ...WRITE, returnDocument: 'after' },
      ),
    );
    if (found === null) {
      if (known === undefined) return undefined;
      // Another server has begun the next one, or the key was reset.
      this.#windows.delete(key);
      return this.#countIn(key, change);
    }
    const window = known ?? this.#note(key, found.resetAt, this.#leftOf(found));
    return this.#isOver(window) ? undefined : this.#shown(found.hits, window);
  }

  /** Undefined: another request has started it. */
  async #startWindow(key: string): Promise<RateCount | undefined> {
    const before = this.#windows.get(key);
    const end = this.#clock.now().epochMilliseconds + this.#length;
    const resetAt = new Date(before?.resetAt.getTime() === end ? end + 1 : end);
    const begun = { $set: { hits: 1, resetAt }, $currentDate: { startedAt: true, seenAt: true } } as const;
    // No count is below 0: what is not there is made, and what is there already is a duplicate.
    const place: Filter<Count> =
      before === undefined ? { _id: key, hits: { $lt: 0 } } : { _id: key, resetAt: before.resetAt };
    try {
      const { matchedCount } = await this.#use((counts) =>
        counts.updateOne(place, begun, { ...WRITE, upsert: before === undefined }),
      );
      if (before !== undefined && matchedCount === 0) {
        this.#windows.delete(key);
        return undefined;
      }
      return this.#shown(1, this.#note(key, resetAt, this.#length));
    } catch (error) {
      if (isDuplicateKey(error)) return undefined;
      throw error;
    }
  }

  /** How long a window that another server began still lasts. */
  #leftOf({ resetAt, startedAt, seenAt }: Count): number {
    const left =
      startedAt === undefined || seenAt === undefined
        ? resetAt.getTime() - this.#clock.now().epochMilliseconds
        : this.#length - (seenAt.getTime() - startedAt.getTime());
    // The database's clock may have been set since.
    return Math.min(left, this.#length);
  }

  #note(key: string, resetAt: Date, left: number): Window {
    const window = { resetAt, endsAt: this.#clock.monotonicMilliseconds() + left };
    this.#windows.set(key, window);
    return window;
  }

  #isOver({ endsAt }: Window): boolean {
    return this.#clock.monotonicMilliseconds() >= endsAt;
  }

  /** All servers whose clocks agree say the same end. */
  #shown(hits: number, { resetAt, endsAt }: Window): RateCount {
    const end = this.#clock.now().epochMilliseconds + endsAt - this.#clock.monotonicMilliseconds();
    const agrees = Math.abs(end - resetAt.getTime()) <= AGREEMENT_MILLISECONDS;
    return { totalHits: hits, resetTime: agrees ? resetAt : new Date(end) };
  }

  /** Takes away what is over. The wall clock only says where to look. */
  async #sweepSometimes(): Promise<void> {
    const now = this.#clock.monotonicMilliseconds();
    if (now - this.#swept < Math.max(SWEEP_MILLISECONDS, this.#length)) return;
    this.#swept = now;
    // What has just ended is still remembered as that, so that the database's clock is not asked.
    for (const [key, { endsAt }] of this.#windows) if (now >= endsAt + this.#length) this.#windows.delete(key);
    const suspects = this.#suspects;
    this.#suspects = [];
    if (suspects.length > 0) {
      const [keys, ends] = [suspects.map(({ _id }) => _id), suspects.map(({ resetAt }) => resetAt)];
      await this.#use((counts) => counts.deleteMany({ _id: { $in: keys }, resetAt: { $in: ends } }, WRITE));
    }
    const wall = new Date(this.#clock.now().epochMilliseconds);
    this.#suspects = await this.#use((counts) =>
      counts.find({ resetAt: { $lt: wall } }, { projection: { resetAt: 1 }, limit: SWEPT_MAX }).toArray(),
    );
  }

  #use<T>(command: (counts: Collection<Count>) => Promise<T>): Promise<T> {
    return this.#db.use(() => command(this.#db.collection<Count>(this.#collection)), ANSWER_MILLISECONDS);
  }
}
