import type { Collection as View } from '../../ports/read-models.ts';
import type { MongoDatabase } from './database.ts';
import { isDuplicateKey } from './failures.ts';

type PositionRecord = { _id: string; position?: bigint };
type Generation = Pick<View, 'projection' | 'generation'>;

/** How far each generation has come; apart from what generations there are, which changes seldom, while these change all the time. */
export type PositionRecords = Readonly<{
  make: (generation: Generation) => Promise<void>;
  find: (generation: Generation) => Promise<bigint | undefined>;
  findAll: <T extends Generation>(generations: readonly T[]) => Promise<ReadonlyMap<T, bigint>>;
  /** Moves positions on, never back. Gives how many of the generations there are. */
  moveOn: (positions: readonly Readonly<{ view: Generation; position: bigint }>[]) => Promise<number>;
  drop: (generations: readonly Generation[]) => Promise<void>;
}>;

export function positionRecords(db: MongoDatabase): PositionRecords {
  const { use } = db;
  const records = db.collection<PositionRecord>('positions');
  return {
    make: async (generation) => {
      try {
        await use(() => records.insertOne({ _id: idOf(generation) }));
      } catch (error) {
        // Whoever races for the same number makes it as well.
        if (!isDuplicateKey(error)) throw error;
      }
    },
    find: async (generation) => (await use(() => records.findOne({ _id: idOf(generation) })))?.position,
    findAll: async (generations) => {
      const byId = new Map(generations.map((generation) => [idOf(generation), generation]));
      const found = await use(() => records.find({ _id: { $in: [...byId.keys()] } }).toArray());
      const positions = new Map<(typeof generations)[number], bigint>();
      for (const { _id, position } of found) {
        const generation = byId.get(_id);
        if (generation !== undefined && position !== undefined) positions.set(generation, position);
      }
      return positions;
    },
    moveOn: async (positions) => {
      // Those that are fed by one projector mostly stand at the same place.
      const ids = new Map<bigint, string[]>();
      for (const { view, position } of positions) ids.set(position, [...(ids.get(position) ?? []), idOf(view)]);
      const operations = [...ids].map(([position, some]) => ({
        updateMany: { filter: { _id: { $in: some } }, update: { $max: { position } } },
      }));
      const { matchedCount } = await use(() => records.bulkWrite(operations));
      return matchedCount;
    },
    drop: async (generations) => {
      await use(() => records.deleteMany({ _id: { $in: generations.map(idOf) } }));
    },
  };
}

function idOf({ projection, generation }: Generation): string {
  return `${projection}/${generation}`;
}
