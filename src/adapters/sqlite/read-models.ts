import type Database from 'better-sqlite3';
import type { Clock } from '../../ports/clock.ts';
import { NO_STREAM, StoreUnavailable } from '../../ports/event-store.ts';
import type { Log } from '../../ports/log.ts';
import { type ReadModels, ReadModelsDamaged, type Snapshot, type Snapshots } from '../../ports/read-models.ts';
import { openedOrRefused } from '../open-failure.ts';
import { checksumOf } from './checksum.ts';
import { type DatabaseKind, openDatabase } from './database.ts';
import { accessTo, type FileAccess } from './file-access.ts';
import { openStoredViews, type StoredViews } from './stored-views.ts';
import { isDamage, refuseDirectory, setAside, ViewsDamage } from './views-damage.ts';

/**
 * Views and snapshots. Commits are not synced one by one: a power cut may lose the newest of them, and the log, which loses
 * nothing, makes them again. The documents of a generation have a table of their own, `documents_<generation>`: dropping
 * one is a matter of milliseconds. It has row ids, and an index on the key: documents of a few kilobytes in the leaves of a
 * `WITHOUT ROWID` tree were measured to take four times as long to write and to read.
 */
export const VIEWS_FILE: DatabaseKind = {
  name: 'views and snapshots',
  applicationId: 0x45_77_56_77,
  schemaVersion: 1,
  journal: 'WAL',
  synchronous: 'NORMAL',
  schema: `
    CREATE TABLE generations (
      generation INTEGER PRIMARY KEY AUTOINCREMENT,
      projection TEXT NOT NULL,
      version INTEGER NOT NULL,
      is_active INTEGER NOT NULL DEFAULT 0,
      position INTEGER,
      anchor TEXT,
      digest INTEGER,
      seal INTEGER
    ) STRICT;
    CREATE UNIQUE INDEX one_active_generation ON generations (projection) WHERE is_active;
    CREATE TABLE snapshots (
      stream TEXT PRIMARY KEY,
      version INTEGER NOT NULL,
      revision INTEGER NOT NULL,
      hash TEXT NOT NULL,
      at TEXT NOT NULL,
      json TEXT NOT NULL,
      checksum INTEGER
    ) STRICT`,
  additions: [
    { table: 'generations', column: 'anchor', definition: 'TEXT' },
    { table: 'generations', column: 'digest', definition: 'INTEGER' },
    { table: 'generations', column: 'seal', definition: 'INTEGER' },
    { table: 'snapshots', column: 'checksum', definition: 'INTEGER' },
  ],
};

export type SqliteReadModelsOptions = Readonly<{
  file: string;
  log: Log;
  clock: Pick<Clock, 'now'>;
  /** How long another process may hold the file before a call fails. */
  busyMilliseconds?: number;
  /** Nothing is written: the file is one that must exist. */
  readOnly?: boolean;
}>;

/**
 * Views and snapshots in one SQLite file, apart from the log: it may be deleted, and is made again. Other processes may read
 * while this one writes. Closing the read models closes the file for both.
 *
 * It is opened when it is first used: who needs no views is not disturbed by a file that is damaged. Every document, snapshot
 * and position has a checksum, and each generation one over all of it, so that damage is found, and never answered with.
 */
export function openSqliteReadModels(options: SqliteReadModelsOptions): Readonly<{
  readModels: ReadModels;
  snapshots: Snapshots;
}> {
  const file = new ViewsFile(options);
  const views = <T>(work: (views: StoredViews) => T): Promise<T> => file.use((opened) => work(opened.views));
  return {
    readModels: {
      name: options.file,
      mend: () => file.mend(),
      active: (projection) => views(({ active }) => active(projection)),
      standing: (projections) => views(({ standing }) => standing(projections)),
      begin: (projection, version) => views(({ begin }) => begin(projection, version)),
      activate: (collection) => views(({ activate }) => activate(collection)),
      position: (collection) => views(({ position }) => position(collection)),
      load: (collection, keys) => views(({ load }) => load(collection, keys)),
      list: (collection, query) => views(({ list }) => list(collection, query)),
      keys: (collection, query) => views(({ keys }) => keys(collection, query)),
      save: (saves) => views(({ save }) => save(saves)),
      close: async () => file.close(),
    },
    snapshots: {
      load: (stream) => file.use(({ snapshots }) => snapshots.load(stream)),
      save: (stream, snapshot) => file.use(({ snapshots }) => snapshots.save(stream, snapshot)),
      replace: (stream, over, snapshot) => file.use(({ snapshots }) => snapshots.replace(stream, over, snapshot)),
      partNames: (stream) => file.use(({ snapshots }) => snapshots.partNames(stream)),
      loadParts: (stream, names) => file.use(({ snapshots }) => snapshots.loadParts(stream, names)),
      saveParts: (stream, revision, parts) => file.use(({ snapshots }) => snapshots.saveParts(stream, revision, parts)),
      dropParts: (stream, names) => file.use(({ snapshots }) => snapshots.dropParts(stream, names)),
    },
  };
}

type Opened = Readonly<{ db: Database.Database; free: FileAccess; views: StoredViews; snapshots: StoredSnapshots }>;

class ViewsFile {
  readonly #with: SqliteReadModelsOptions;
  #opened: Opened | undefined;
  /** What shows that the file can't be relied upon; nothing is read from it or written to it any more. */
  #damage: ReadModelsDamaged | undefined;
  #isLookedThrough = false;
  #isClosed = false;

  constructor(options: SqliteReadModelsOptions) {
    this.#with = options;
  }

  /** @throws ReadModelsDamaged, StoreRefused, StoreUnavailable */
  async use<T>(work: (opened: Opened) => T): Promise<T> {
    if (this.#isClosed) throw new StoreUnavailable(`${this.#with.file} is closed`);
    if (this.#damage !== undefined) throw this.#damage;
    try {
      const opened = (this.#opened ??= open(this.#with));
      return await opened.free(() => work(opened));
    } catch (error) {
      if (isDamage(error)) throw this.#damaged(error);
      // What is no damage on the way to an open file is for the operator.
      if (this.#opened === undefined) openedOrRefused(this.#with.file, () => rethrow(error));
      throw error;
    }
  }

  /** Looks through everything once; later it knows of what readers and writers have met. */
  async mend(): Promise<void> {
    if (!this.#isLookedThrough) await this.#lookThrough();
    this.#isLookedThrough = true;
    const damage = this.#damage;
    if (damage === undefined) return;
    const { file, log, clock } = this.#with;
    this.#opened?.db.close();
    this.#opened = undefined;
    const aside = setAside(file, clock.now().toString());
    this.#damage = undefined;
    log.error({ error: damage.cause, file, aside }, `${damage.message}; it is kept as ${aside}, and a new one is made`);
  }

  async #lookThrough(): Promise<void> {
    try {
      await this.use(({ views }) => views.lookThrough());
    } catch (error) {
      if (!(error instanceof ReadModelsDamaged)) throw error;
    }
  }

  #damaged(cause: unknown): ReadModelsDamaged {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const damage = new ReadModelsDamaged(`${this.#with.file} is damaged: ${reason}`, { cause });
    this.#damage ??= damage;
    return damage;
  }

  close(): void {
    this.#isClosed = true;
    this.#opened?.db.close();
  }
}

function rethrow(error: unknown): never {
  throw error;
}

function open({ file, busyMilliseconds, readOnly = false }: SqliteReadModelsOptions): Opened {
  refuseDirectory(file);
  const db = openDatabase(file, VIEWS_FILE, { readOnly });
  try {
    const free = accessTo(db, busyMilliseconds);
    return { db, free, views: openStoredViews(db), snapshots: openSnapshots(db) };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** The newest snapshot of each stream. Synchronous. */
type StoredSnapshots = Readonly<{
  /** @throws ViewsDamage */
  load: (stream: string) => Snapshot | undefined;
  save: (stream: string, snapshot: Snapshot) => void;
  /** @throws ViewsDamage */
  replace: (stream: string, over: bigint, snapshot: Snapshot) => boolean;
  partNames: (stream: string) => readonly string[];
  /** @throws ViewsDamage */
  loadParts: (stream: string, names: readonly string[]) => ReadonlyMap<string, string>;
  saveParts: (stream: string, revision: bigint, parts: ReadonlyMap<string, string>) => void;
  dropParts: (stream: string, names: readonly string[]) => void;
}>;

type Row = readonly [
  version: bigint,
  revision: bigint,
  hash: string,
  at: string,
  json: string,
  checksum: bigint | null,
];

function openSnapshots(db: Database.Database): StoredSnapshots {
  const select = db
    .prepare<[string], Row>('SELECT version, revision, hash, at, json, checksum FROM snapshots WHERE stream = ?')
    .raw()
    .safeIntegers();
  const replace = db.prepare<[string, number, bigint, string, string, string, number]>(
    'INSERT OR REPLACE INTO snapshots (stream, version, revision, hash, at, json, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const remove = db.prepare<[string]>('DELETE FROM snapshots WHERE stream = ?');
  const keysBetween = db
    .prepare<[string, string], string>('SELECT stream FROM snapshots WHERE stream >= ? AND stream < ?')
    .pluck();

  const load = (key: string): Snapshot | undefined => {
    const row = select.get(key);
    if (row === undefined) return undefined;
    const [version, revision, hash, at, json, checksum] = row;
    // An earlier version of edgeward has saved it without a checksum, so it can't be checked; reading the stream makes it again.
    if (checksum === null) return undefined;
    const snapshot = { version: Number(version), revision, hash, at, json };
    if (Number(checksum) === checksumOfSnapshot(key, snapshot)) return snapshot;
    throw new ViewsDamage(`the snapshot of ${key} is not what was saved`);
  };
  const save = (key: string, snapshot: Snapshot): void => {
    const { version, revision, hash, at, json } = snapshot;
    replace.run(key, version, revision, hash, at, json, checksumOfSnapshot(key, snapshot));
  };
  const replaceOver = db.transaction((stream: string, over: bigint, snapshot: Snapshot): boolean => {
    if ((load(stream)?.revision ?? NO_STREAM) !== over) return false;
    save(stream, snapshot);
    return true;
  });
  return {
    load,
    save,
    // It waits for other writers before it looks: what it sees is what it replaces.
    replace: (...call) => replaceOver.immediate(...call),
    partNames: (stream) => {
      const first = partKey(stream, '');
      return keysBetween.all(first, `${stream}${AFTER_PARTS}`).map((key) => key.slice(first.length));
    },
    loadParts: (stream, names) => {
      const found = new Map<string, string>();
      for (const name of names) {
        const part = load(partKey(stream, name));
        if (part !== undefined) found.set(name, part.json);
      }
      return found;
    },
    saveParts: db.transaction((stream: string, revision: bigint, parts: ReadonlyMap<string, string>) => {
      for (const [name, json] of parts) save(partKey(stream, name), { version: 0, revision, hash: '', at: '', json });
    }),
    dropParts: db.transaction((stream: string, names: readonly string[]) => {
      for (const name of names) remove.run(partKey(stream, name));
    }),
  };
}

/** Parts are rows beside the snapshots; no stream has such a name. */
function partKey(stream: string, name: string): string {
  return `${stream}~${name}`;
}

/** The character that follows `~`. */
const AFTER_PARTS = '\u007f';

function checksumOfSnapshot(stream: string, { version, revision, hash, at, json }: Snapshot): number {
  return checksumOf(`${stream} ${version} ${revision} ${hash} ${at}`, json);
}
