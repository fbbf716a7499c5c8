import type { Anchor } from '../../ports/event-store.ts';
import type { Collection as View, Standing } from '../../ports/read-models.ts';
import { anchorAt, anchorText } from '../anchor-text.ts';
import type { MongoDatabase } from './database.ts';
import { isDuplicateKey } from './failures.ts';

/** Both only ever grow, so that a late write of an earlier position moves neither back. */
type PositionRecord = { _id: string; position?: bigint; anchor?: string };
type Generation = Pick<View, 'projection' | 'generation'>;
type Place = Pick<Standing, 'position' | 'anchor'>;

/** A generation, and where it stands now. */
export type Move = Readonly<{ view: Generation; position: bigint; anchor?: Anchor | undefined }>;

/** How far each generation has come; apart from what generations there are, which changes seldom, while these change all the time. */
export type PositionRecords = Readonly<{
  make: (generation: Generation) => Promise<void>;
  find: (generation: Generation) => Promise<bigint | undefined>;
  findAll: <T extends Generation>(generations: readonly T[]) => Promise<ReadonlyMap<T, Place>>;
  /** Moves positions on, never back. Gives how many of the generations there are. */
  moveOn: (positions: readonly Move[]) => Promise<number>;
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
      const places = new Map<(typeof generations)[number], Place>();
      for (const { _id, position, anchor } of found) {
        const generation = byId.get(_id);
        if (generation !== undefined) places.set(generation, { position, anchor: anchorAt(position, anchor) });
      }
      return places;
    },
    moveOn: async (positions) => {
      // Those that are fed by one projector mostly stand at the same place.
      const ids = new Map<string, Readonly<{ $max: Omit<PositionRecord, '_id'>; some: string[] }>>();
      for (const { view, position, anchor } of positions) {
        const $max = { position, ...(anchor === undefined ? {} : { anchor: anchorText(anchor) }) };
        const place = `${position} ${$max.anchor}`;
        const same = ids.get(place);
        if (same === undefined) ids.set(place, { $max, some: [idOf(view)] });
        else same.some.push(idOf(view));
      }
      const operations = [...ids.values()].map(({ $max, some }) => ({
        updateMany: { filter: { _id: { $in: some } }, update: { $max } },
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
