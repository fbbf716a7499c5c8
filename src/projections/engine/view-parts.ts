import { yieldToEventLoop } from '../../concurrency/yield-to-event-loop.ts';
import { nameOfPart, PartsRead, textOfPart } from '../../domain/part-names.ts';
import { invariant } from '../../kernel/invariant.ts';
import type { GetPart, Part, PutPart } from '../../kernel/parts.ts';
import { type Collection, CollectionGone, type ReadModels, type ViewChange } from '../../ports/read-models.ts';
import type { SavedView } from './keyed-views.ts';
import { partsIn, type PlacedView, type ViewText } from './view-codec.ts';

/**
 * The large parts of views are documents of their own in the same generation, under the key of their view and their name. A text names those
 * that it is made of, and is saved after them, so that what a save that was broken off has left is never read. Keys of views come before `~`.
 */
const PART_PREFIX = '~';
/** So many texts are read at a time. */
const READ_AT_ONCE = 64;
/** Who has read a text looks for its parts a moment later: what is named no more goes so much later, in milliseconds. */
const KEPT_MILLISECONDS = 30_000;
/** So long after a look it is looked again whether parts are there. */
const LOOK_MILLISECONDS = 30_000;
const TRIES_MAX = 3;
/** So many names are read at a time where those of all views are asked for. */
const NAMES_AT_ONCE = 1_000;
/** Behind every name. */
const LAST_OF_ALL = '\u{10ffff}';

/** Whether a document is a part of a view; those come behind all views. */
export function isPartKey(key: string): boolean {
  return key.startsWith(PART_PREFIX);
}

function partsPrefix(key: string): string {
  invariant(key < PART_PREFIX, `views with large parts have keys before ${PART_PREFIX}, ${key} is none`);
  return `${PART_PREFIX}${key}/`;
}

/** The keys of the saved views that are made of parts, at most so many. @throws CollectionGone */
export async function keysWithParts(
  readModels: Pick<ReadModels, 'keys'>,
  collection: Collection,
  most: number,
): Promise<readonly string[]> {
  const keys: string[] = [];
  for (let after = PART_PREFIX; keys.length < most;) {
    const [next] = await readModels.keys(collection, { prefix: PART_PREFIX, after, limit: 1 });
    if (next === undefined) break;
    const { key } = partOf(next);
    keys.push(key);
    after = `${partsPrefix(key)}${LAST_OF_ALL}`;
  }
  return keys;
}

/** The view and the name of a part. */
function partOf(partKey: string): Readonly<{ key: string; name: string }> {
  const end = partKey.lastIndexOf('/');
  return { key: partKey.slice(PART_PREFIX.length, end), name: partKey.slice(end + 1) };
}

/** The names of all parts that are there, by the keys of their views. */
async function partsThere(
  readModels: Pick<ReadModels, 'keys'>,
  collection: Collection,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const there = new Map<string, Set<string>>();
  for (let after = PART_PREFIX; ; await yieldToEventLoop()) {
    const page = await readModels.keys(collection, { prefix: PART_PREFIX, after, limit: NAMES_AT_ONCE });
    for (const partKey of page) {
      const { key, name } = partOf(partKey);
      const names = there.get(key);
      if (names === undefined) there.set(key, new Set([name]));
      else names.add(name);
    }
    after = page.at(-1) ?? after;
    if (page.length < NAMES_AT_ONCE) return there;
  }
}

/** What a saved view names is not there, or is not what was saved: its generation can't be relied upon any more. */
export class PartsMissing extends CollectionGone {
  override readonly name: string = 'PartsMissing';
  readonly collection: Collection;
  constructor(collection: Collection, key: string) {
    super(`parts of ${collection.projection} ${key} are not there, or are not what was saved`);
    this.collection = collection;
  }
}

/** What was made of a text and its parts, the names of those, and of all that are there under its key. */
type WithParts<T> = Readonly<{ made: T; named: readonly string[]; there: readonly string[] }>;

/** Makes something of a text that was just read, with its parts. `undefined`: it was deleted meanwhile. @throws PartsMissing, CollectionGone */
export async function readWithParts<T>(
  readModels: Pick<ReadModels, 'load' | 'list'>,
  collection: Collection,
  document: SavedView,
  make: (json: string, get: GetPart) => T,
): Promise<WithParts<T> | undefined> {
  const { key } = document;
  let json: string | undefined = document.json;
  for (let tries = 0; tries < TRIES_MAX && json !== undefined; tries += 1) {
    const named = partsIn(json);
    const { read, there } = await readParts(readModels, collection, key, new Set(named));
    if (named.every((name) => read.has(name))) return { made: make(json, read.get), named, there };
    // It has been saved again meanwhile, perhaps.
    json = (await readModels.load(collection, [key])).get(key);
  }
  if (json === undefined) return undefined;
  throw new PartsMissing(collection, key);
}

/** The view of a text that was just read, with its parts where it has some. `undefined`: it was deleted meanwhile. @throws PartsMissing, CollectionGone */
export async function savedViewOf<V extends object>(
  text: ViewText<V>,
  readModels: Pick<ReadModels, 'load' | 'list'>,
  collection: Collection,
  document: SavedView,
): Promise<PlacedView<V> | undefined> {
  if (partsIn(document.json).length === 0) return text.decode(document.json);
  return (await readWithParts(readModels, collection, document, text.decode))?.made;
}

async function readParts(
  readModels: Pick<ReadModels, 'list'>,
  collection: Collection,
  key: string,
  names: ReadonlySet<string>,
): Promise<Readonly<{ read: PartsRead; there: readonly string[] }>> {
  const prefix = partsPrefix(key);
  const read = new PartsRead();
  const there: string[] = [];
  for (let after: string | undefined; ; await yieldToEventLoop()) {
    const query = { prefix, limit: READ_AT_ONCE, ...(after === undefined ? {} : { after }) };
    const page = await readModels.list(collection, query);
    for (const { key: partKey, json } of page) {
      const name = partKey.slice(prefix.length);
      if (!names.has(name) || read.take(name, json)) there.push(name);
    }
    if (page.length < READ_AT_ONCE) return { read, there };
    after = page.at(-1)?.key;
  }
}

/** Which parts of one view are saved: new ones are added, and those that no saved text names any more go after a while. */
class PartsOfView {
  readonly #prefix: string;
  /**
   * What is in the read models, and stays. Not what the text that was read here first does not name: whoever saved views before may be about
   * to delete that still, and does not where it has been saved again at a later place.
   */
  readonly #there: Set<string>;
  /** What the newest text names. */
  #named: Set<string>;
  /** What the newest text names no more, and the saved one may. */
  readonly #leaving = new Set<string>();
  /** What no saved text names, and since when; `undefined`: from the next save on. */
  readonly #unnamed = new Map<string, number | undefined>();
  readonly #adding = new Set<string>();
  readonly #dropping = new Set<string>();

  constructor(key: string, there: Iterable<string> = [], named: readonly string[] = []) {
    this.#prefix = partsPrefix(key);
    this.#there = new Set();
    this.#named = new Set(named);
    for (const name of there) {
      if (this.#named.has(name)) this.#there.add(name);
      else this.#unnamed.set(name, undefined);
    }
  }

  get isEmpty(): boolean {
    return this.#there.size === 0 && this.#leaving.size === 0 && this.#unnamed.size === 0;
  }

  /** Takes note of what is there now. Gives whether something is not that the newest text names. */
  misses(there: ReadonlySet<string>): boolean {
    for (const name of this.#there) if (!there.has(name)) this.#there.delete(name);
    for (const name of there) {
      const isKnown = this.#named.has(name) || this.#leaving.has(name) || this.#unnamed.has(name);
      if (!isKnown) this.#unnamed.set(name, undefined);
    }
    return [...this.#named].some((name) => !there.has(name));
  }

  /** A new text is made from here on. */
  begin(): void {
    for (const name of this.#named) this.#leaving.add(name);
    this.#named = new Set();
  }

  /** A part of the new text. */
  put(part: Part, changes: ViewChange[]): string {
    const name = nameOfPart(part);
    if (this.#named.has(name)) return name;
    this.#named.add(name);
    this.#leaving.delete(name);
    this.#unnamed.delete(name);
    if (this.#there.has(name)) return name;
    this.#adding.add(name);
    changes.push({ key: this.#prefix + name, json: textOfPart(part) });
    return name;
  }

  /** Deletes what has been named no more for long enough. */
  dropDue(now: number, changes: ViewChange[]): void {
    for (const [name, since = now] of this.#unnamed) {
      this.#unnamed.set(name, since);
      if (now - since < KEPT_MILLISECONDS) continue;
      this.#dropping.add(name);
      changes.push({ key: this.#prefix + name, json: undefined });
    }
  }

  saved(): void {
    for (const name of this.#adding) this.#there.add(name);
    for (const name of this.#leaving) this.#unnamed.set(name, undefined);
    for (const name of this.#dropping) {
      this.#there.delete(name);
      this.#unnamed.delete(name);
    }
    this.#leaving.clear();
    this.#adding.clear();
    this.#dropping.clear();
  }

  /** What was to be added or to go may be there or not: the one is saved, the other deleted once more. */
  unsaved(): void {
    for (const name of this.#dropping) this.#there.delete(name);
    for (const name of this.#adding) this.#leaving.add(name);
    this.#adding.clear();
    this.#dropping.clear();
  }
}

const NO_NAMES: ReadonlySet<string> = new Set();

/** The parts of all views of a generation that have some. */
export class SavedParts {
  readonly #byKey = new Map<string, PartsOfView>();
  #lookedAt = Number.NEGATIVE_INFINITY;

  get isEmpty(): boolean {
    return this.#byKey.size === 0;
  }

  /** What was read of a view. */
  opened(key: string, there: Iterable<string>, named: readonly string[]): void {
    this.#byKey.set(key, new PartsOfView(key, there, named));
  }

  /**
   * Looks now and then which parts are there, while no save is under way, also of views that were not read yet or are small now. Gives the
   * keys of those whose newest text names one that is not.
   */
  async lookWhenDue(
    now: number,
    readModels: Pick<ReadModels, 'keys' | 'load'>,
    collection: Collection,
    isInUse: () => boolean,
  ): Promise<readonly string[]> {
    if (now - this.#lookedAt < LOOK_MILLISECONDS) return [];
    const there = await partsThere(readModels, collection);
    const unknown = [...there.keys()].filter((key) => !this.#byKey.has(key));
    const texts = unknown.length === 0 ? undefined : await readModels.load(collection, unknown);
    if (!isInUse()) return [];
    this.#lookedAt = now;
    for (const key of unknown)
      if (!this.#byKey.has(key)) this.opened(key, there.get(key) ?? [], partsIn(texts?.get(key) ?? ''));
    return [...this.#byKey].filter(([key, parts]) => parts.misses(there.get(key) ?? NO_NAMES)).map(([key]) => key);
  }

  /** Has the text of a view made; new parts go into `changes`. */
  take<T>(key: string, make: (put: PutPart) => T, changes: ViewChange[]): T {
    this.#byKey.get(key)?.begin();
    return make((part) => this.#of(key).put(part, changes));
  }

  dropDue(now: number, changes: ViewChange[]): void {
    for (const parts of this.#byKey.values()) parts.dropDue(now, changes);
  }

  saved(): void {
    for (const [key, parts] of this.#byKey) {
      parts.saved();
      if (parts.isEmpty) this.#byKey.delete(key);
    }
  }

  unsaved(): void {
    for (const parts of this.#byKey.values()) parts.unsaved();
  }

  forget(): void {
    this.#byKey.clear();
    this.#lookedAt = Number.NEGATIVE_INFINITY;
  }

  #of(key: string): PartsOfView {
    const parts = this.#byKey.get(key) ?? new PartsOfView(key);
    this.#byKey.set(key, parts);
    return parts;
  }
}
