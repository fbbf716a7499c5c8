import type { UpdateFilter } from 'mongodb';
import type { MongoDatabase } from './database.ts';
import { isDuplicateKey } from './failures.ts';

/** The generations of one projection, in one document, so that they change in one step. */
export type ProjectionRecord = {
  _id: string;
  /** Counts the changes to which generations there are. */
  revision: number;
  /** The next number of a generation: none is given twice. */
  next: number;
  active?: number;
  generations: Record<string, { version: number }>;
};

export type ProjectionRecords = Readonly<{
  find: (projection: string) => Promise<ProjectionRecord | null>;
  findAll: (projections: readonly string[]) => Promise<ReadonlyMap<string, ProjectionRecord>>;
  /** Tries a change on the newest state until nobody has come in between; `undefined`: somebody has. */
  untilWon: <T>(projection: string, attempt: (found: ProjectionRecord | null) => Promise<T | undefined>) => Promise<T>;
  /** Whether the record was still as it was found. `update` names fields by path. */
  change: (projection: string, found: ProjectionRecord | null, update: RecordUpdate) => Promise<boolean>;
}>;

export type RecordUpdate = Pick<UpdateFilter<ProjectionRecord>, '$set' | '$unset'>;

const RACES_MAX = 50;

export function projectionRecords(db: MongoDatabase): ProjectionRecords {
  const { use } = db;
  const records = db.collection<ProjectionRecord>('projections');
  const find = (projection: string): Promise<ProjectionRecord | null> =>
    use(() => records.findOne({ _id: projection }));

  return {
    find,
    findAll: async (projections) => {
      const found = await use(() => records.find({ _id: { $in: [...new Set(projections)] } }).toArray());
      return new Map(found.map((record) => [record._id, record]));
    },
    untilWon: async (projection, attempt) => {
      for (let race = 0; race < RACES_MAX; race += 1) {
        const won = await attempt(await find(projection));
        if (won !== undefined) return won;
      }
      throw new Error(`${projection}: still losing races after ${RACES_MAX} tries`);
    },
    change: async (projection, found, update) => {
      const filter = { _id: projection, revision: found?.revision ?? 0 };
      try {
        const changed = { ...update, $inc: { revision: 1 } };
        const { matchedCount, upsertedCount } = await use(() =>
          records.updateOne(filter, changed, { upsert: found === null }),
        );
        return matchedCount + upsertedCount > 0;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },
  };
}
