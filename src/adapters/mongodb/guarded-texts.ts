import type { FindCursor, WithId } from 'mongodb';
import { BoundedMap } from '../../kernel/bounded-map.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ListQuery } from '../../ports/read-models.ts';
import { type MongoDatabase, WRITE_MILLISECONDS } from './database.ts';
import {
  type Entry,
  type EntryChange,
  type GuardedEntries,
  placesOf,
  replaceGuarded,
  writeGuarded,
} from './guarded-entries.ts';
import { type LargeTexts, openLargeTexts, type Part, textParts } from './large-texts.ts';

const LAST_CODE_POINT = 0x10_ffff;
const BEFORE_SURROGATES = 0xd7ff;
const AFTER_SURROGATES = 0xe000;

/** A text under a key; `undefined` deletes it. */
export type TextChange = Readonly<{ key: string; text: string | undefined }>;

/**
 * Texts of any size by key, each with the place in the log that it has applied. A write with an older place than what is
 * there changes nothing, so writes may be repeated, and may come late, in any order.
 */
export type GuardedTexts = Readonly<{
  load: (keys: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  /** In key order, by code point; fewer than the limit where nothing comes behind them. */
  list: (query: ListQuery) => Promise<readonly Readonly<{ key: string; text: string }>[]>;
  /** The keys of these alone. */
  keys: (query: ListQuery) => Promise<readonly string[]>;
  write: (at: bigint, changes: readonly TextChange[]) => Promise<void>;
  /** Writes a text only where the one that is there has applied the place `over`, `undefined` where there is none. `false`: it was not written. */
  replace: (at: bigint, over: bigint | undefined, change: Readonly<{ key: string; text: string }>) => Promise<boolean>;
  /** Deletes what is never written again: it leaves no mark. */
  drop: (keys: readonly string[]) => Promise<void>;
  /** Forgets the marks of what was deleted at places that were written here long ago, by the monotonic clock: late writes come no later. */
  sweep: () => Promise<void>;
}>;

const LOAD_KEYS_MAX = 1_000;
const PORTION_TEXTS_MAX = 1_000;
const PORTION_CHARACTERS_MAX = 8_000_000;
const RELOADS_MAX = 10;
const KNOWN_MAX = 50_000;
const MARKS_KEPT_MILLISECONDS = 3_600_000;
const NOTED_EVERY_MILLISECONDS = 60_000;

/** The names of the database's collections that these texts live in. */
export function collectionsOf(name: string): readonly [entries: string, parts: string] {
  return [name, `${name}.parts`];
}

/** Makes what these texts need besides their ids, which are unique by themselves. */
export async function makeIndexes(db: MongoDatabase, name: string): Promise<void> {
  const [entries, parts] = collectionsOf(name);
  await db.use(() => db.collection<Entry>(entries).createIndex({ goneAt: 1 }, { sparse: true }));
  await db.use(() => db.collection<Part>(parts).createIndex({ key: 1 }));
}

// oxlint-disable-next-line max-lines-per-function -- each is short, and all of them share what is known of the entries
export function openGuardedTexts(db: MongoDatabase, name: string, clock: Clock): GuardedTexts {
  const [entriesName, partsName] = collectionsOf(name);
  const entries = db.collection<Entry>(entriesName);
  const parts = db.collection<Part>(partsName);
  const { use } = db;
  const guarded = { use, entries };
  const largeTexts = openLargeTexts(db, parts);
  /** Keys that were seen here: a guess at what is there. */
  const known = new BoundedMap<string, true>(KNOWN_MAX);
  /** Most collections never have one. */
  let hasLarge: boolean | undefined;
  const written = placesWritten(clock);

  return {
    load: async (keys) => {
      const found = new Map<string, string>();
      for (let first = 0; first < keys.length; first += LOAD_KEYS_MAX) {
        const some = keys.slice(first, first + LOAD_KEYS_MAX);
        const loaded = await use(() => entries.find({ _id: { $in: some } }).toArray());
        for (const { _id } of loaded) known.set(_id, true);
        await addTexts(found, loaded, guarded, largeTexts);
      }
      return found;
    },
    list: async (query) => {
      const found = new Map<string, string>();
      // What is deleted while it is read leaves room for more: a page that is not full tells its reader that nothing comes behind it.
      for (let rest = query; rest.limit > 0;) {
        const wanted = wantedBy(rest, entries);
        const loaded = await use(() => wanted.toArray());
        await addTexts(found, loaded, guarded, largeTexts);
        const last = loaded.at(-1);
        if (last === undefined || loaded.length < rest.limit) break;
        rest = { ...query, after: last._id, limit: query.limit - found.size };
      }
      return [...found].map(([key, text]) => ({ key, text }));
    },
    keys: async (query) => {
      const wanted = wantedBy(query, entries).project<Pick<Entry, '_id'>>({ _id: 1 });
      return (await use(() => wanted.toArray())).map(({ _id }) => _id);
    },
    replace: async (at, over, { key, text }) => {
      if (over !== undefined && over > at) return false;
      const texts = textParts(text);
      const isLarge = texts.length > 1;
      // Those of a place may be what another process points to.
      if (isLarge && (await placesOf(guarded, [key])).get(key) !== over) return false;
      if (isLarge) await largeTexts.put(key, at, texts);
      const content = isLarge ? { parts: texts.length } : { text };
      if (!(await replaceGuarded(guarded, { key, at, content }, over))) return false;
      known.set(key, true);
      await dropLargeBefore(at, [key], isLarge);
      return true;
    },
    drop: async (keys) => {
      for (let first = 0; first < keys.length; first += LOAD_KEYS_MAX) {
        const some = keys.slice(first, first + LOAD_KEYS_MAX);
        await use(() => entries.deleteMany({ _id: { $in: some } }), WRITE_MILLISECONDS);
        await use(() => parts.deleteMany({ key: { $in: some } }), WRITE_MILLISECONDS);
      }
    },
    write: async (at, changes) => {
      written.note(at);
      for (const portion of inPortions(changes)) await writePortion(at, portion);
    },
    sweep: async () => {
      hasLarge = undefined;
      const last = written.longAgo();
      if (last === undefined) return;
      await use(() => entries.deleteMany({ goneAt: { $exists: true }, at: { $lte: last } }), WRITE_MILLISECONDS);
    },
  };

  /** Parts first, then what points to them, then those that nothing points to any more. */
  async function writePortion(at: bigint, changes: readonly TextChange[]): Promise<void> {
    const goneAt = new Date(clock.now().epochMilliseconds);
    const entryChanges: EntryChange[] = [];
    let isLarge = false;
    for (const { key, text } of changes) {
      const texts = text === undefined ? [] : textParts(text);
      if (text === undefined) entryChanges.push({ key, at, content: { goneAt } });
      else if (texts.length === 1) entryChanges.push({ key, at, content: { text } });
      else {
        isLarge = true;
        await largeTexts.put(key, at, texts);
        entryChanges.push({ key, at, content: { parts: texts.length } });
      }
    }
    await writeGuarded(guarded, entryChanges, (key) => known.get(key) !== undefined);
    for (const { key } of changes) known.set(key, true);
    await dropLargeBefore(
      at,
      changes.map(({ key }) => key),
      isLarge,
    );
  }

  async function dropLargeBefore(at: bigint, keys: readonly string[], isLarge: boolean): Promise<void> {
    if (isLarge) hasLarge = true;
    hasLarge ??= (await use(() => parts.findOne({}, { projection: { _id: 1 } }))) !== null;
    if (hasLarge) await largeTexts.dropBefore(at, keys);
  }
}

function wantedBy({ prefix, after, limit }: ListQuery, entries: GuardedEntries['entries']): FindCursor<WithId<Entry>> {
  const end = afterPrefix(prefix);
  const range = {
    $gte: prefix,
    ...(after === undefined ? {} : { $gt: after }),
    ...(end === undefined ? {} : { $lt: end }),
  };
  return entries
    .find({ _id: range, goneAt: { $exists: false } })
    .sort({ _id: 1 })
    .limit(limit);
}

async function addTexts(
  found: Map<string, string>,
  loaded: readonly Entry[],
  { use, entries }: GuardedEntries,
  largeTexts: LargeTexts,
): Promise<void> {
  for (const entry of loaded) {
    const text = await textOf(entry, { use, entries }, largeTexts);
    if (text !== undefined) found.set(entry._id, text);
  }
}

async function textOf(
  loaded: Entry,
  { use, entries }: GuardedEntries,
  largeTexts: LargeTexts,
): Promise<string | undefined> {
  let entry: Entry | null = loaded;
  for (let reload = 0; reload < RELOADS_MAX && entry !== null; reload += 1) {
    if (entry.parts === undefined) return entry.text;
    const text = await largeTexts.read(entry._id, entry.at, entry.parts);
    if (text !== undefined) return text;
    // It was replaced while we read: its parts are gone, and those of the new one are there.
    const key: string = entry._id;
    entry = await use(() => entries.findOne({ _id: key }));
  }
  if (entry === null) return undefined;
  throw new Error(`the parts of ${entry._id} in ${entries.collectionName} are not there`);
}

/** Bounds how much one round of writing sends. */
function* inPortions(changes: readonly TextChange[]): Generator<readonly TextChange[]> {
  let portion: TextChange[] = [];
  let characters = 0;
  for (const change of changes) {
    const more = change.text?.length ?? 0;
    if (portion.length >= PORTION_TEXTS_MAX || (portion.length > 0 && characters + more > PORTION_CHARACTERS_MAX)) {
      yield portion;
      portion = [];
      characters = 0;
    }
    portion.push(change);
    characters += more;
  }
  if (portion.length > 0) yield portion;
}

/** Places that are written here, now and then one, and the newest that was written so long ago that no process writes it any more. */
function placesWritten(clock: Clock): Readonly<{ note: (at: bigint) => void; longAgo: () => bigint | undefined }> {
  let written: readonly Readonly<{ at: bigint; since: number }>[] = [];
  return {
    note: (at) => {
      const [since, last] = [clock.monotonicMilliseconds(), written.at(-1)];
      if (last !== undefined && (since - last.since < NOTED_EVERY_MILLISECONDS || at <= last.at)) return;
      written = [...written, { at, since }];
    },
    longAgo: () => {
      const before = clock.monotonicMilliseconds() - MARKS_KEPT_MILLISECONDS;
      const last = written.findLast(({ since }) => since <= before);
      if (last !== undefined) written = written.filter(({ since }) => since >= last.since);
      return last?.at;
    },
  };
}

/** The least text that comes after all that start with `prefix`, in code point order; undefined: there is none. */
export function afterPrefix(prefix: string): string | undefined {
  const codePoints = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  for (let last = codePoints.pop(); last !== undefined; last = codePoints.pop()) {
    if (last === LAST_CODE_POINT) continue;
    const next = last === BEFORE_SURROGATES ? AFTER_SURROGATES : last + 1;
    return String.fromCodePoint(...codePoints, next);
  }
  return undefined;
}
