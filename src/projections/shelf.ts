import type { Event, Recorded } from '../kernel/event.ts';
import { isHandled } from '../kernel/event.ts';
import type { Projection } from '../kernel/projection.ts';
import { BEGINNING } from '../ports/event-store.ts';
import type { Collection, ReadModels, ViewChange } from '../ports/read-models.ts';

/** What readers see of one projection. */
export type Views<V extends object> = Readonly<{
  /** The view of a key, with everything applied so far. */
  get: (key: string) => Promise<V | undefined>;
  /** All views whose key starts with `prefix`, in key order. */
  list: (prefix?: string) => Promise<readonly Readonly<{ key: string; view: V }>[]>;
}>;

/** What one save takes from a shelf. */
export type ShelfSave = Readonly<{ collection: Collection; position: bigint; changes: readonly ViewChange[] }>;

/** One projection's views between the log and the read models: folded in memory, saved in batches. */
export type Shelf<V extends object> = Views<V> &
  Readonly<{
    name: string;
    version: number;
    /** Uses a generation, from its saved position; none: memory alone, from the beginning. Forgets what was in memory. */
    open: (collection: Collection | undefined) => Promise<void>;
    /** The newest position applied. */
    position: () => bigint;
    /** Brings the views that these events change into memory, so that `apply` need not wait. */
    prepare: (events: readonly Recorded[]) => Promise<void> | undefined;
    /** Applies one event, once: what is at or before `position` is passed over. Prepared events only. */
    apply: (event: Recorded) => void;
    /** The keys whose views changed since the last call. */
    takeTouched: () => readonly string[];
    /** What is not saved yet; `saved` or `unsaved` must follow. */
    takeUnsaved: () => ShelfSave | undefined;
    saved: () => void;
    unsaved: () => void;
    unsavedCount: () => number;
  }>;

type Entry<V> = { view: V | undefined; state: 'clean' | 'dirty' | 'saving' };

/** Clean views kept in memory; the ones with unsaved changes are always kept. */
const CLEAN_MAX = 20_000;
const PAGE = 1_000;
const NONE: readonly string[] = [];

/** Opens nothing yet: `open` follows. */
export function shelfOf<E extends Event, V extends object>(
  projection: Projection<E, V>,
  readModels: ReadModels,
): Shelf<V> {
  return new ProjectionShelf(projection, readModels);
}

class ProjectionShelf<E extends Event, V extends object> implements Shelf<V> {
  readonly name: string;
  readonly version: number;
  readonly #projection: Projection<E, V>;
  readonly #readModels: ReadModels;
  readonly #handles: ReadonlySet<string>;
  readonly #stored: NonNullable<Projection<E, V>['stored']>;
  readonly #entries = new Map<string, Entry<V>>();
  readonly #touched = new Set<string>();
  readonly #dirty = new Set<string>();
  #saving: readonly string[] = [];
  #collection: Collection | undefined;
  #position = BEGINNING;
  #savedPosition = BEGINNING;
  #takenPosition = BEGINNING;

  constructor(projection: Projection<E, V>, readModels: ReadModels) {
    this.name = projection.name;
    this.version = projection.version;
    this.#projection = projection;
    this.#readModels = readModels;
    this.#handles = new Set(projection.handles);
    this.#stored = projection.stored ?? plain<V>();
  }

  async open(collection: Collection | undefined): Promise<void> {
    this.#entries.clear();
    this.#dirty.clear();
    this.#saving = [];
    this.#collection = collection;
    const saved = collection === undefined ? undefined : await this.#readModels.position(collection);
    this.#position = saved ?? BEGINNING;
    this.#savedPosition = this.#position;
  }

  position(): bigint {
    return this.#position;
  }

  prepare(events: readonly Recorded[]): Promise<void> | undefined {
    let missing: Set<string> | undefined;
    for (const event of events) {
      if (event.position <= this.#position || !isHandled<E>(this.#handles, event)) continue;
      for (const key of this.#projection.keysOf(event)) {
        if (!this.#entries.has(key)) (missing ??= new Set()).add(key);
      }
    }
    return missing === undefined ? undefined : this.#fetch([...missing]);
  }

  apply(event: Recorded): void {
    if (event.position <= this.#position) return;
    this.#position = event.position;
    if (!isHandled<E>(this.#handles, event)) return;
    for (const key of this.#projection.keysOf(event)) {
      const before = this.#entries.get(key)?.view;
      const after = this.#projection.evolve(before, event, key);
      if (after === before) continue;
      this.#entries.set(key, { view: after, state: 'dirty' });
      this.#dirty.add(key);
      this.#touched.add(key);
    }
  }

  takeTouched(): readonly string[] {
    if (this.#touched.size === 0) return NONE;
    const keys = [...this.#touched];
    this.#touched.clear();
    return keys;
  }

  takeUnsaved(): ShelfSave | undefined {
    if (this.#collection === undefined || this.#position === this.#savedPosition) return undefined;
    this.#saving = [...this.#dirty];
    this.#dirty.clear();
    this.#takenPosition = this.#position;
    const changes = this.#saving.map((key): ViewChange => {
      const entry = this.#entries.get(key);
      if (entry !== undefined) entry.state = 'saving';
      return { key, json: entry?.view === undefined ? undefined : JSON.stringify(this.#stored.encode(entry.view)) };
    });
    return { collection: this.#collection, position: this.#position, changes };
  }

  saved(): void {
    this.#savedPosition = this.#takenPosition;
    for (const key of this.#saving) {
      const entry = this.#entries.get(key);
      if (entry?.state !== 'saving') continue;
      if (entry.view === undefined) this.#entries.delete(key);
      else entry.state = 'clean';
    }
    this.#saving = [];
    this.#dropOldest();
  }

  unsaved(): void {
    for (const key of this.#saving) this.#dirty.add(key);
    this.#saving = [];
  }

  unsavedCount(): number {
    return this.#dirty.size;
  }

  async get(key: string): Promise<V | undefined> {
    const entry = this.#entries.get(key);
    if (entry !== undefined) return entry.view;
    await this.#fetch([key]);
    return this.#entries.get(key)?.view;
  }

  async list(prefix = ''): Promise<readonly Readonly<{ key: string; view: V }>[]> {
    const views = new Map<string, V>();
    for await (const { key, json } of this.#listSaved(prefix)) {
      if (!this.#entries.has(key)) views.set(key, this.#stored.decode(JSON.parse(json)));
    }
    for (const [key, { view }] of this.#entries) if (view !== undefined && key.startsWith(prefix)) views.set(key, view);
    return [...views].map(([key, view]) => ({ key, view })).sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  async *#listSaved(prefix: string): AsyncIterableIterator<Readonly<{ key: string; json: string }>> {
    let after: string | undefined;
    while (this.#collection !== undefined) {
      const query = { prefix, limit: PAGE, ...(after === undefined ? {} : { after }) };
      const page = await this.#readModels.list(this.#collection, query);
      yield* page;
      if (page.length < PAGE) return;
      after = page.at(-1)?.key;
    }
  }

  async #fetch(keys: readonly string[]): Promise<void> {
    if (this.#collection === undefined) return;
    const found = await this.#readModels.load(this.#collection, keys);
    for (const key of keys) {
      const json = found.get(key);
      // An event may have made the view while we waited: what is in memory is newer.
      if (json === undefined || this.#entries.has(key)) continue;
      this.#entries.set(key, { view: this.#stored.decode(JSON.parse(json)), state: 'clean' });
    }
  }

  #dropOldest(): void {
    let surplus = this.#entries.size - CLEAN_MAX;
    for (const [key, { state }] of this.#entries) {
      if (surplus <= 0) return;
      if (state !== 'clean') continue;
      this.#entries.delete(key);
      surplus -= 1;
    }
  }
}

/** Views that are plain JSON need no translation: they were written by this projection's own version. */
function plain<V extends object>(): { encode: (view: V) => unknown; decode: (json: unknown) => V } {
  return { encode: (view) => view, decode: (json) => json as V };
}
