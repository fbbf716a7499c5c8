import type Database from 'better-sqlite3';
import type { Anchor } from '../../ports/event-store.ts';
import { type Collection, CollectionGone, type Standing } from '../../ports/read-models.ts';
import { anchorAt, anchorText } from '../anchor-text.ts';
import { checksumOf } from './checksum.ts';
import { ViewsDamage } from './views-damage.ts';

/** Which generations there are, and how far each is. Synchronous; what changes several rows is to be run in a transaction. */
export type Generations = Readonly<{
  active: (projection: string) => Collection | undefined;
  /** Every generation that readers see. */
  allActive: () => readonly Collection[];
  /** @throws CollectionGone, ViewsDamage */
  standing: (collection: Collection) => Standing;
  /** The digest of the documents; `undefined` where they have no checksums. @throws CollectionGone, ViewsDamage */
  digest: (collection: Collection) => number | undefined;
  add: (projection: string, version: number) => Collection;
  /** Makes it the active one and forgets the others of its projection, which it returns. @throws CollectionGone */
  activate: (collection: Collection) => readonly number[];
  /** `digest` as it is now, as `digest` gave it if it is of no use. @throws CollectionGone */
  setPosition: (collection: Collection, place: Omit<Standing, 'collection'>, digest: number | undefined) => void;
}>;

/** `digest` and `seal` are missing where the documents have no checksums. The seal is a checksum over the row itself. */
type Row = Readonly<{
  projection: string;
  version: bigint;
  position: bigint | null;
  anchor: string | null;
  digest: bigint | null;
  seal: bigint | null;
}>;

export function openGenerations(db: Database.Database): Generations {
  type Active = Readonly<{ projection: string; version: number; generation: number }>;
  const selectActive = db.prepare<[string], Active>(
    'SELECT projection, version, generation FROM generations WHERE projection = ? AND is_active',
  );
  const selectAllActive = db.prepare<[], Active>(
    'SELECT projection, version, generation FROM generations WHERE is_active',
  );
  const selectRow = db
    .prepare<[number], Row>(
      'SELECT projection, version, position, anchor, digest, seal FROM generations WHERE generation = ?',
    )
    .safeIntegers();
  const insert = db.prepare<[string, number]>('INSERT INTO generations (projection, version) VALUES (?, ?)');
  const deleteOthers = db
    .prepare<[string, number], number>(
      'DELETE FROM generations WHERE projection = ? AND generation <> ? RETURNING generation',
    )
    .pluck();
  const updateActive = db.prepare<[number]>('UPDATE generations SET is_active = 1 WHERE generation = ?');
  const updatePlace = db.prepare<[bigint | null, string | null, number | null, number | null, number]>(
    'UPDATE generations SET position = ?, anchor = ?, digest = ?, seal = ? WHERE generation = ?',
  );

  return {
    active: (projection) => selectActive.get(projection),
    allActive: () => selectAllActive.all(),
    standing: (collection) => {
      const row = rowOf(collection);
      const position = row.position ?? undefined;
      return { collection, position, anchor: anchorAt(position, row.anchor) };
    },
    digest: (collection) => {
      const { digest } = rowOf(collection);
      return digest === null ? undefined : Number(digest);
    },
    add: (projection, version) => {
      const collection = { projection, version, generation: Number(insert.run(projection, version).lastInsertRowid) };
      setPlace(collection, null, undefined, 0);
      return collection;
    },
    activate: (collection) => {
      const others = deleteOthers.all(collection.projection, collection.generation);
      if (updateActive.run(collection.generation).changes === 0) throw gone(collection);
      return others;
    },
    setPosition: (collection, { position, anchor }, digest) => {
      setPlace(collection, position ?? null, anchor, digest ?? null);
    },
  };

  function rowOf(collection: Collection): Row {
    const row = selectRow.get(collection.generation);
    if (row === undefined) throw gone(collection);
    const { position, anchor, digest, seal } = row;
    const isSealed = digest !== null && Number(seal) === sealOf(collection, position, anchor, Number(digest));
    if (isSealed || (digest === null && seal === null)) return row;
    throw new ViewsDamage(`how far ${collection.projection} is, is not what was saved`);
  }

  function setPlace(
    collection: Collection,
    position: bigint | null,
    anchor: Anchor | undefined,
    digest: number | null,
  ) {
    const text = anchor === undefined ? null : anchorText(anchor);
    const seal = digest === null ? null : sealOf(collection, position, text, digest);
    if (updatePlace.run(position, text, digest, seal, collection.generation).changes === 0) throw gone(collection);
  }
}

function sealOf(
  { projection, version, generation }: Collection,
  position: bigint | null,
  anchor: string | null,
  digest: number,
): number {
  return checksumOf(`${projection} ${version} ${generation}`, `${position} ${anchor} ${digest}`);
}

function gone({ projection, generation }: Collection): CollectionGone {
  return new CollectionGone(`generation ${generation} of ${projection} was dropped: the projection has been rebuilt`);
}
