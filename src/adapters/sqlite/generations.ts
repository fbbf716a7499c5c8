import type Database from 'better-sqlite3';
import type { Anchor } from '../../ports/event-store.ts';
import { type Collection, CollectionGone, type Standing } from '../../ports/read-models.ts';
import { anchorAt, anchorText } from '../anchor-text.ts';

/** Which generations there are, and how far each is. Synchronous; what changes several rows is to be run in a transaction. */
export type Generations = Readonly<{
  active: (projection: string) => Collection | undefined;
  /** @throws CollectionGone */
  standing: (collection: Collection) => Standing;
  add: (projection: string, version: number) => Collection;
  /** Makes it the active one and forgets the others of its projection, which it returns. @throws CollectionGone */
  activate: (collection: Collection) => readonly number[];
  /** @throws CollectionGone */
  position: (collection: Collection) => bigint | undefined;
  /** @throws CollectionGone */
  setPosition: (collection: Collection, position: bigint, anchor: Anchor | undefined) => void;
}>;

export function openGenerations(db: Database.Database): Generations {
  const selectActive = db.prepare<[string], Readonly<{ version: number; generation: number }>>(
    'SELECT version, generation FROM generations WHERE projection = ? AND is_active',
  );
  const selectPosition = db
    .prepare<[number], Readonly<{ position: bigint | null; anchor: string | null }>>(
      'SELECT position, anchor FROM generations WHERE generation = ?',
    )
    .safeIntegers();
  const insert = db.prepare<[string, number]>('INSERT INTO generations (projection, version) VALUES (?, ?)');
  const deleteOthers = db
    .prepare<[string, number], number>(
      'DELETE FROM generations WHERE projection = ? AND generation <> ? RETURNING generation',
    )
    .pluck();
  const updateActive = db.prepare<[number]>('UPDATE generations SET is_active = 1 WHERE generation = ?');
  const updatePosition = db.prepare<[bigint, string | null, number]>(
    'UPDATE generations SET position = ?, anchor = ? WHERE generation = ?',
  );
  const standing = (collection: Collection): Standing => {
    const row = selectPosition.get(collection.generation);
    if (row === undefined) throw gone(collection);
    const position = row.position ?? undefined;
    return { collection, position, anchor: anchorAt(position, row.anchor) };
  };

  return {
    active: (projection) => {
      const row = selectActive.get(projection);
      return row && { projection, version: row.version, generation: row.generation };
    },
    add: (projection, version) => ({
      projection,
      version,
      generation: Number(insert.run(projection, version).lastInsertRowid),
    }),
    activate: (collection) => {
      const others = deleteOthers.all(collection.projection, collection.generation);
      if (updateActive.run(collection.generation).changes === 0) throw gone(collection);
      return others;
    },
    standing,
    position: (collection) => standing(collection).position,
    setPosition: (collection, position, anchor) => {
      const text = anchor === undefined ? null : anchorText(anchor);
      if (updatePosition.run(position, text, collection.generation).changes === 0) throw gone(collection);
    },
  };
}

function gone({ projection, generation }: Collection): CollectionGone {
  return new CollectionGone(`generation ${generation} of ${projection} was dropped: the projection has been rebuilt`);
}
