import type { Collection as View } from '../../ports/read-models.ts';
import { CollectionGone, type Standing } from '../../ports/read-models.ts';
import type { MongoDatabase } from './database.ts';
import { collectionsOf, makeIndexes } from './guarded-texts.ts';
import { type Move, type PositionRecords, positionRecords } from './position-records.ts';
import { type ProjectionRecord, projectionRecords } from './projection-records.ts';

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
