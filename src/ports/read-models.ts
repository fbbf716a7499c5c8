import type { Anchor } from './event-store.ts';

/** One view document as JSON; `undefined` deletes it. */
export type ViewChange = Readonly<{ key: string; json: string | undefined }>;

/**
 * One generation of one projection: `active` is what readers see. A rebuild fills a new generation beside it, then swaps.
 */
export type Collection = Readonly<{ projection: string; version: number; generation: number }>;

/** The generation that readers see, and how far it has applied the log. */
export type Standing = Readonly<{
  collection: Collection;
  /** `undefined` before its first save. */
  position: bigint | undefined;
  /** The event at the position; `undefined` when an edgeward has saved it that kept positions alone. */
  anchor: Anchor | undefined;
}>;

/** What becomes of one generation: its documents, and the position that they have applied then. */
export type ViewSave = Readonly<{
  collection: Collection;
  position: bigint;
  /** The event at the position; without it there is no telling whether a log holds that event. */
  anchor?: Anchor | undefined;
  changes: readonly ViewChange[];
  /** Documents that those of `changes` are made of besides: what is added is there before any of them, what is deleted goes after them. */
  parts?: readonly ViewChange[];
}>;

/** Which documents are listed. */
export type ListQuery = Readonly<{ prefix: string; after?: string; limit: number }>;

/** Rebuildable documents by projection and key, with the log position that they have applied. */
export type ReadModels = Readonly<{
  /** Where they are, for people: the path of their file, or what their server is called. */
  name: string;
  /**
   * For the process that alone keeps the views, before it opens them: what is stored and can't be relied upon is put aside, loudly, and
   * everything begins empty. Looks through all of it the first time.
   */
  mend: () => Promise<void>;
  /** The generation that readers see, or `undefined` when the projection was never built. */
  active: (projection: string) => Promise<Collection | undefined>;
  /** How the active generations of these projections stand; those that were never built are left out. */
  standing: (projections: readonly string[]) => Promise<ReadonlyMap<string, Standing>>;
  /** A new, empty generation, not active yet. */
  begin: (projection: string, version: number) => Promise<Collection>;
  /** Makes a generation the active one and drops every other one of its projection, in one step. */
  activate: (collection: Collection) => Promise<void>;
  /** The position up to which a generation has applied the log; `undefined` before its first save. */
  position: (collection: Collection) => Promise<bigint | undefined>;
  /** The documents of the given keys that exist. @throws CollectionGone, rather than to show a dropped generation as an empty one */
  load: (collection: Collection, keys: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  /** Documents in key order (by code point) whose key starts with `prefix`, after `after`, at most `limit`. @throws CollectionGone */
  list: (collection: Collection, query: ListQuery) => Promise<readonly Readonly<{ key: string; json: string }>[]>;
  /** The keys that `list` gives documents for, without reading any. @throws CollectionGone */
  keys: (collection: Collection, query: ListQuery) => Promise<readonly string[]>;
  /** Saves changes of several generations together with their new positions: all or, after a crash, a state that replay repairs. */
  save: (saves: readonly ViewSave[]) => Promise<void>;
  close: () => Promise<void>;
}>;

/** The generation was dropped, because another process has rebuilt the projection: open it again. Thrown by `save`, nothing was saved. */
export class CollectionGone extends Error {
  override readonly name: string = 'CollectionGone';
}

/**
 * What is stored is not what was saved; the message names where and what. Nothing of it is read or written any more until the process that
 * keeps the views has it mended: it begins again then. `cause` says what was met.
 */
export class ReadModelsDamaged extends CollectionGone {
  override readonly name: string = 'ReadModelsDamaged';
}

/** A decider's state at a revision, as JSON. A cache: deleting any of them changes nothing but time. */
export type Snapshot = Readonly<{ version: number; revision: bigint; hash: string; at: string; json: string }>;

export type Snapshots = Readonly<{
  load: (stream: string) => Promise<Snapshot | undefined>;
  save: (stream: string, snapshot: Snapshot) => Promise<void>;
  /** Saves it only where the one that is there has this revision, `NO_STREAM` where there is none, in one step. `false`: nothing was saved. */
  replace: (stream: string, over: bigint, snapshot: Snapshot) => Promise<boolean>;
  /** The names of all parts of a stream's snapshots that are there. */
  partNames: (stream: string) => Promise<readonly string[]>;
  /** Large parts of a stream's snapshots by name, kept beside them; what is not there is left out. */
  loadParts: (stream: string, names: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  /** Keeps parts for a snapshot at a revision. */
  saveParts: (stream: string, revision: bigint, parts: ReadonlyMap<string, string>) => Promise<void>;
  dropParts: (stream: string, names: readonly string[]) => Promise<void>;
}>;
