import { type AnyBulkWriteOperation, type Collection, MongoBulkWriteError, type UpdateFilter } from 'mongodb';
import { type MongoDatabase, WRITE_MILLISECONDS } from './database.ts';
import { isDuplicateKey } from './failures.ts';

/**
 * A text under its key, with the place in the log that it has applied. What is deleted leaves a mark, `goneAt`, so that a late write
 * of older content can't bring it back. `parts`: the text is too large for one document and stands beside, in so many parts.
 */
export type Entry = { _id: string; at: bigint; text?: string; parts?: number; goneAt?: Date };

/** What becomes of an entry. */
export type EntryChange = Readonly<{ key: string; at: bigint; content: Content }>;
type Content = Readonly<{ text: string }> | Readonly<{ parts: number }> | Readonly<{ goneAt: Date }>;

export type GuardedEntries = Readonly<{ use: MongoDatabase['use']; entries: Collection<Entry> }>;

/** Small, since a server may hold something for each update until the command is over: FerretDB a connection, of which it has 100. */
const UPDATES_MAX = 64;
const RACES_MAX = 20;

/**
 * Makes the changes, but for those to entries that have applied a later place already. `isKnown` is a guess: the right one saves
 * looking.
 */
export async function writeGuarded(
  guarded: GuardedEntries,
  changes: readonly EntryChange[],
  isKnown: (key: string) => boolean,
): Promise<void> {
  let left = changes;
  let isThere = isKnown;
  let isLater = (_change: EntryChange): boolean => true;
  for (let race = 0; race < RACES_MAX; race += 1) {
    const made = await insert(
      guarded,
      left.filter(({ key }) => !isThere(key)),
    );
    const updated = await update(
      guarded,
      left.filter((change) => isThere(change.key) && isLater(change)),
    );
    left = [...made, ...updated];
    if (left.length === 0) return;
    // Some are there that were thought not to be, or the other way round, or another process has written newer ones.
    const places = await placesOf(
      guarded,
      left.map(({ key }) => key),
    );
    isThere = (key) => places.has(key);
    isLater = ({ key, at }) => (places.get(key) ?? at) <= at;
  }
  throw new Error(`${guarded.entries.collectionName}: still losing races after ${RACES_MAX} tries`);
}

/** Makes the change only to an entry that has applied the place `over`, or, where that is `undefined`, where there is none. `false`: it was not made. */
export async function replaceGuarded(
  guarded: GuardedEntries,
  change: EntryChange,
  over: bigint | undefined,
): Promise<boolean> {
  if (over === undefined) return (await insert(guarded, [change])).length === 0;
  const { use, entries } = guarded;
  const { matchedCount } = await use(
    () => entries.updateOne({ _id: change.key, at: over }, contentOf(change)),
    WRITE_MILLISECONDS,
  );
  return matchedCount > 0;
}

/** The places that these entries have applied. */
export async function placesOf(
  { use, entries }: GuardedEntries,
  keys: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const _id = { $in: [...keys] };
  const found = await use(() => entries.find({ _id }, { projection: { at: 1 } }).toArray());
  return new Map(found.map((entry) => [entry._id, entry.at]));
}

/** Gives back what must be tried again. */
async function insert(
  { use, entries }: GuardedEntries,
  changes: readonly EntryChange[],
): Promise<readonly EntryChange[]> {
  if (changes.length === 0) return [];
  const made = changes.map(({ key, at, content }): Entry => ({ _id: key, at, ...content }));
  try {
    await use(() => entries.insertMany(made, { ordered: false }), WRITE_MILLISECONDS);
    return [];
  } catch (error) {
    if (error instanceof MongoBulkWriteError && isDuplicateKey(error)) return changes;
    throw error;
  }
}

/** Gives back what must be tried again. */
async function update(
  { use, entries }: GuardedEntries,
  changes: readonly EntryChange[],
): Promise<readonly EntryChange[]> {
  const missed: EntryChange[] = [];
  for (let first = 0; first < changes.length; first += UPDATES_MAX) {
    const some = changes.slice(first, first + UPDATES_MAX);
    const { matchedCount } = await use(
      () => entries.bulkWrite(some.map(updateOf), { ordered: false }),
      WRITE_MILLISECONDS,
    );
    if (matchedCount < some.length) missed.push(...some);
  }
  return missed;
}

function updateOf(change: EntryChange): AnyBulkWriteOperation<Entry> {
  const { key, at } = change;
  return { updateOne: { filter: { _id: key, at: { $lte: at } }, update: contentOf(change) } };
}

function contentOf({ at, content }: EntryChange): UpdateFilter<Entry> {
  const absent = (['text', 'parts', 'goneAt'] as const).filter((field) => !(field in content));
  const $unset = Object.fromEntries(absent.map((field) => [field, '' as const]));
  return { $set: { at, ...content }, $unset };
}
