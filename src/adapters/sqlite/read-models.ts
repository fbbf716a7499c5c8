import type Database from 'better-sqlite3';
import type { Collection, ReadModels } from '../../ports/read-models.ts';
import type { Snapshots } from '../../ports/snapshots.ts';
import { openDatabase } from './database.ts';
import { createDocuments, type Documents, dropDocuments, openDocuments } from './documents.ts';
import { accessTo } from './file-access.ts';
import { openGenerations } from './generations.ts';
import { openSnapshots } from './snapshots.ts';
import { VIEWS_FILE } from './views-file.ts';

export type SqliteReadModelsOptions = Readonly<{
  file: string;
  /** How long another process may hold the file before a call fails. */
  busyMilliseconds?: number;
}>;

type ListQuery = Parameters<ReadModels['list']>[1];

/**
 * Views and snapshots in one SQLite file, apart from the log: it may be deleted, and is made again. Other processes may read
 * while this one writes. Closing the read models closes the file for both.
 */
export function openSqliteReadModels({ file, busyMilliseconds }: SqliteReadModelsOptions): Readonly<{
  readModels: ReadModels;
  snapshots: Snapshots;
}> {
  const db = openDatabase(file, VIEWS_FILE);
  const free = accessTo(db, busyMilliseconds);
  const generations = openGenerations(db);
  const documents = rememberedDocuments(db);

  const begin = db.transaction((projection: string, version: number) => {
    const collection = generations.add(projection, version);
    createDocuments(db, collection.generation);
    return collection;
  });
  const activate = db.transaction((collection: Collection) => {
    for (const generation of generations.activate(collection)) dropDocuments(db, generation);
  });
  const save = db.transaction((saves: Parameters<ReadModels['save']>[0]) => {
    for (const { collection, position, anchor, changes } of saves) {
      generations.setPosition(collection, position, anchor);
      for (const change of changes) documents(collection).change(change);
    }
  });
  const standing = db.transaction((projections: readonly string[]) => {
    const found = projections
      .map((projection) => generations.active(projection))
      .filter((active) => active !== undefined);
    return new Map(found.map((collection) => [collection.projection, generations.standing(collection)]));
  });
  // A generation that was dropped must not look like an empty one: its position is asked for first.
  const load = db.transaction((collection: Collection, keys: readonly string[]) => {
    generations.position(collection);
    return loadAll(documents(collection), keys);
  });
  const list = db.transaction((collection: Collection, { prefix, after, limit }: ListQuery) => {
    generations.position(collection);
    return documents(collection)
      .list(prefix, after, limit)
      .filter(({ key }) => key.startsWith(prefix));
  });

  return {
    readModels: {
      name: file,
      active: (projection) => free(() => generations.active(projection)),
      standing: (projections) => free(() => standing(projections)),
      begin: (projection, version) => free(() => begin.immediate(projection, version)),
      activate: (collection) => free(() => activate.immediate(collection)),
      position: (collection) => free(() => generations.position(collection)),
      load: (collection, keys) => free(() => load(collection, keys)),
      list: (collection, query) => free(() => list(collection, query)),
      save: (saves) => free(() => save.immediate(saves)),
      close: async () => void db.close(),
    },
    snapshots: openSnapshots(db, free),
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
