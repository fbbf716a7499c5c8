import type { UpdateFilter } from 'mongodb';
import type { Anchor } from '../../ports/event-store.ts';
import { type Collection as View, CollectionGone, type Standing } from '../../ports/read-models.ts';
import { anchorAt, anchorText } from '../anchor-text.ts';
import type { MongoDatabase } from './database.ts';
import { isDuplicateKey } from './failures.ts';
import { collectionsOf, makeIndexes } from './guarded-texts.ts';

/** Which generations there are of each projection, and how far each has come. */
export type Generations = Readonly<{
  active: (projection: string) => Promise<View | undefined>;
  standing: (projections: readonly string[]) => Promise<ReadonlyMap<string, Standing>>;
  begin: (projection: string, version: number) => Promise<View>;
  /** @throws CollectionGone */
  activate: (view: View) => Promise<void>;
  position: (view: View) => Promise<bigint | undefined>;
  /** @throws CollectionGone when one of them is no more */
  check: (views: readonly View[]) => Promise<void>;
  /** Moves positions on, never back. @throws CollectionGone when one of them is no more */
  moveOn: (positions: readonly (Move & Readonly<{ view: View }>)[]) => Promise<void>;
}>;

/** The name of a generation's documents in the database. */
export function viewName({ projection, generation }: Pick<View, 'projection' | 'generation'>): string {
  return `view.${projection}.${generation}`;
}

export function openGenerations(db: MongoDatabase): Generations {
  const records = projectionRecords(db);
  const positions = positionRecords(db);

  async function check(views: readonly View[]): Promise<void> {
    const found = await records.findAll(views.map(({ projection }) => projection));
    for (const view of views) {
      if (found.get(view.projection)?.generations[view.generation] === undefined) throw gone(view);
    }
  }

  return {
    active: async (projection) => {
      const found = await records.find(projection);
      return found === null ? undefined : activeIn(found);
    },
    standing: async (projections) => {
      const found = await records.findAll(projections);
      const actives = [...found.values()].map(activeIn).filter((active) => active !== undefined);
      const at = await positions.findAll(actives);
      return new Map(
        actives.map((collection) => {
          const { position, anchor } = at.get(collection) ?? {};
          return [collection.projection, { collection, position, anchor }];
        }),
      );
    },
    begin: (projection, version) =>
      records.untilWon(projection, async (found) => {
        const generation = found?.next ?? 1;
        const view = { projection, version, generation };
        // Made before anyone can write to it.
        await makeIndexes(db, viewName(view));
        await positions.make(view);
        const next = { next: generation + 1, [`generations.${generation}`]: { version } };
        return (await records.change(projection, found, { $set: next })) ? view : undefined;
      }),
    activate: async (view) => {
      const { projection, generation } = view;
      const next = await records.untilWon(projection, async (found) => {
        if (found?.generations[generation] === undefined) throw gone(view);
        const others = Object.keys(found.generations).filter((other) => other !== String(generation));
        const dropped = Object.fromEntries(others.map((other) => [`generations.${other}`, '' as const]));
        const update = { $set: { active: generation }, ...(others.length === 0 ? {} : { $unset: dropped }) };
        return (await records.change(projection, found, update)) ? found.next : undefined;
      });
      await dropOthers(db, positions, view, next);
    },
    position: positions.find,
    check,
    moveOn: async (moves) => {
      if (moves.length === 0) return;
      const moved = await positions.moveOn(moves);
      const [first] = moves;
      if (first !== undefined && moved < moves.length) throw gone(first.view);
    },
  };
}

function activeIn({ _id, active, generations }: ProjectionRecord): View | undefined {
  const version = active === undefined ? undefined : generations[active]?.version;
  return active === undefined || version === undefined ? undefined : { projection: _id, version, generation: active };
}

/** Drops all that is kept of other generations before `next`: also of those that a process left when it died before it came to this. */
async function dropOthers(
  db: MongoDatabase,
  positions: PositionRecords,
  { projection, generation }: View,
  next: number,
): Promise<void> {
  const others = Array.from({ length: next }, (_, other) => ({ projection, generation: other })).filter(
    (other) => other.generation !== generation,
  );
  await positions.drop(others);
  const names = new Set(others.flatMap((other) => collectionsOf(viewName(other))));
  for (const name of await db.collectionNames()) if (names.has(name)) await db.drop(name);
}

function gone({ projection }: View): CollectionGone {
  return new CollectionGone(`the generation of ${projection} in use was replaced by another process`);
}

/** Both only ever grow, so that a late write of an earlier position moves neither back. */
type PositionRecord = { _id: string; position?: bigint; anchor?: string };
type Generation = Pick<View, 'projection' | 'generation'>;
type Place = Pick<Standing, 'position' | 'anchor'>;

/** A generation, and where it stands now. */
type Move = Readonly<{ view: Generation; position: bigint; anchor?: Anchor | undefined }>;

/** How far each generation has come; apart from what generations there are, which changes seldom, while these change all the time. */
type PositionRecords = Readonly<{
  make: (generation: Generation) => Promise<void>;
  find: (generation: Generation) => Promise<bigint | undefined>;
  findAll: <T extends Generation>(generations: readonly T[]) => Promise<ReadonlyMap<T, Place>>;
  /** Moves positions on, never back. Gives how many of the generations there are. */
  moveOn: (positions: readonly Move[]) => Promise<number>;
  drop: (generations: readonly Generation[]) => Promise<void>;
}>;

function positionRecords(db: MongoDatabase): PositionRecords {
  const { use } = db;
  const records = db.collection<PositionRecord>('positions');
  return {
    make: async (generation) => {
      try {
        await use(() => records.insertOne({ _id: idOf(generation) }));
      } catch (error) {
        // Another process that races for the same number makes it as well.
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

/** The generations of one projection, in one document, so that they change in one step. */
type ProjectionRecord = {
  _id: string;
  /** Counts the changes to which generations there are. */
  revision: number;
  /** The next number of a generation: none is given twice. */
  next: number;
  active?: number;
  generations: Record<string, { version: number }>;
};

type ProjectionRecords = Readonly<{
  find: (projection: string) => Promise<ProjectionRecord | null>;
  findAll: (projections: readonly string[]) => Promise<ReadonlyMap<string, ProjectionRecord>>;
  /** Tries a change on the newest state until no other process has come in between; `undefined`: another has won. */
  untilWon: <T>(projection: string, attempt: (found: ProjectionRecord | null) => Promise<T | undefined>) => Promise<T>;
  /** Whether the record was still as it was found. `update` names fields by path. */
  change: (projection: string, found: ProjectionRecord | null, update: RecordUpdate) => Promise<boolean>;
}>;

type RecordUpdate = Pick<UpdateFilter<ProjectionRecord>, '$set' | '$unset'>;

const RACES_MAX = 50;

function projectionRecords(db: MongoDatabase): ProjectionRecords {
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
