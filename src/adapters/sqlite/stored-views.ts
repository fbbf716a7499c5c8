import type Database from 'better-sqlite3';
import type { Collection, ListQuery, Standing, ViewSave } from '../../ports/read-models.ts';
import { digestWith } from './checksum.ts';
import { createDocuments, type Documents, dropDocuments, openDocuments } from './documents.ts';
import { openGenerations } from './generations.ts';
import { ViewsDamage } from './views-damage.ts';

/** What an open file of views does for the read models. Synchronous. @throws ViewsDamage */
export type StoredViews = Readonly<{
  active: (projection: string) => Collection | undefined;
  standing: (projections: readonly string[]) => ReadonlyMap<string, Standing>;
  begin: (projection: string, version: number) => Collection;
  activate: (collection: Collection) => void;
  position: (collection: Collection) => bigint | undefined;
  load: (collection: Collection, keys: readonly string[]) => ReadonlyMap<string, string>;
  list: (collection: Collection, query: ListQuery) => ReturnType<Documents['list']>;
  keys: (collection: Collection, query: ListQuery) => readonly string[];
  save: (saves: readonly ViewSave[]) => void;
  /** Reads all that readers could. */
  lookThrough: () => void;
}>;

export function openStoredViews(db: Database.Database): StoredViews {
  const generations = openGenerations(db);
  const documents = rememberedDocuments(db);
  const quickCheck = db.prepare<[], string>('PRAGMA quick_check(1)').pluck();

  const begin = db.transaction((projection: string, version: number) => {
    const collection = generations.add(projection, version);
    createDocuments(db, collection.generation);
    return collection;
  });
  const activate = db.transaction((collection: Collection) => {
    for (const generation of generations.activate(collection)) dropDocuments(db, generation);
  });
  const save = db.transaction((saves: readonly ViewSave[]) => {
    for (const { collection, position, anchor, changes, parts = [] } of saves) {
      // First: it says so when the generation is gone, and its documents with it.
      let digest = generations.digest(collection);
      for (const change of [...parts, ...changes]) {
        const shares = documents(collection).change(change);
        if (digest !== undefined) digest = digestWith(digest, shares);
      }
      generations.setPosition(collection, { position, anchor }, digest);
    }
  });
  const standing = db.transaction((projections: readonly string[]) => {
    const found = projections
      .map((projection) => generations.active(projection))
      .filter((active) => active !== undefined);
    return new Map(found.map((collection) => [collection.projection, generations.standing(collection)]));
  });
  // A generation that was dropped must not look like an empty one: where it stands is asked for first.
  const load = db.transaction((collection: Collection, keys: readonly string[]) => {
    generations.standing(collection);
    return loadAll(documents(collection), keys);
  });
  const list = db.transaction((collection: Collection, { prefix, after, limit }: ListQuery) => {
    generations.standing(collection);
    return documents(collection)
      .list(prefix, after, limit)
      .filter(({ key }) => key.startsWith(prefix));
  });
  const keys = db.transaction((collection: Collection, { prefix, after, limit }: ListQuery) => {
    generations.standing(collection);
    return documents(collection)
      .keys(prefix, after, limit)
      .filter((key) => key.startsWith(prefix));
  });
  // In one view of the file, whatever another process does meanwhile.
  const lookThrough = db.transaction(() => {
    const problem = quickCheck.get();
    if (problem !== 'ok') throw new ViewsDamage(problem ?? 'it can not be checked');
    for (const collection of generations.allActive()) {
      if (generations.digest(collection) === openDocuments(db, collection.generation).digest()) continue;
      throw new ViewsDamage(`the documents of ${collection.projection} are not all that were saved`);
    }
  });

  return {
    active: generations.active,
    standing,
    begin: (projection, version) => begin.immediate(projection, version),
    activate: (collection) => activate.immediate(collection),
    position: (collection) => generations.standing(collection).position,
    load,
    list,
    keys,
    save: (saves) => save.immediate(saves),
    lookThrough,
  };
}

function loadAll({ load }: Documents, keys: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const key of keys) {
    const json = load(key);
    if (json !== undefined) found.set(key, json);
  }
  return found;
}

/** The statements on a projection's documents, prepared once for its newest generation in use. */
function rememberedDocuments(db: Database.Database): (collection: Collection) => Documents {
  const opened = new Map<string, Readonly<{ generation: number; documents: Documents }>>();
  return ({ projection, generation }) => {
    const known = opened.get(projection);
    if (known?.generation === generation) return known.documents;
    const documents = openDocuments(db, generation);
    opened.set(projection, { generation, documents });
    return documents;
  };
}
