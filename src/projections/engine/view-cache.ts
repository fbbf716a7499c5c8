import type { Event, RecordedEvent } from '../../kernel/event.ts';
import { isHandled } from '../../kernel/event.ts';
import type { PutPart } from '../../kernel/parts.ts';
import type { Projection } from '../../kernel/projection.ts';
import { type Anchor, BEGINNING } from '../../ports/event-store.ts';
import {
  type Collection,
  CollectionGone,
  type ReadModels,
  type ViewChange,
  type ViewSave,
} from '../../ports/read-models.ts';
import type { BatchedProjection } from './batched-projection.ts';
import type { ProjectionFeeder, ViewCache } from './fed-views.ts';
import { inKeyOrder, isBehind, type KeyedView, listSaved, type PageQuery, type SavedView } from './keyed-views.ts';
import { partsIn, type PlacedView, type ViewText, viewTextOf } from './view-codec.ts';
import { type Entry, UNCHANGED, viewOf } from './view-entry.ts';
import { WaitingEvents } from './waiting-events.ts';
import { isPartKey, PartsMissing, readWithParts, savedViewOf, SavedParts } from './view-parts.ts';

export type { ViewCache };

type Cached<E extends Event, V extends object> = Projection<E, V> & Partial<Pick<BatchedProjection<E, V>, 'batch'>>;

/** Clean views kept in memory; the ones with unsaved changes are always kept. */
const CLEAN_MAX = 20_000;
const NONE: readonly string[] = [];

/** Opens nothing yet: `open` follows. */
export function viewCacheOf<E extends Event, V extends object>(
  projection: Cached<E, V>,
  readModels: ReadModels,
): ViewCache<V> {
  return new ProjectionViewCache(projection, readModels);
}

class ProjectionViewCache<E extends Event, V extends object> implements ViewCache<V> {
  readonly name: string;
  readonly version: number;
  readonly #projection: Cached<E, V>;
  readonly #readModels: ReadModels;
  readonly handles: ReadonlySet<string>;
  readonly #text: ViewText<V>;
  readonly #entries = new Map<string, Entry<E, V>>();
  readonly #waiting: WaitingEvents<E, V>;
  #touched: string[] = [];
  #takings = 0;
  readonly #dirty = new Set<string>();
  /** Views that were deleted, and whose deletion is saved. */
  readonly #deleted = new Set<string>();
  #saving: readonly string[] = [];
  readonly #parts = new SavedParts();
  #collection: Collection | undefined;
  #feeder: ProjectionFeeder | undefined;
  /** Every view of this generation is in memory: it is made from the first event on, or all were read, and none has been dropped since. */
  #isWhole = true;
  /** How many are reading documents: what they bring may be older than what was in memory meanwhile. */
  #readers = 0;
  #position = BEGINNING;
  /** Of the newest event that it has passed. */
  #anchor: Anchor | undefined;
  #savedPosition = BEGINNING;
  #takenPosition = BEGINNING;

  constructor(projection: Cached<E, V>, readModels: ReadModels) {
    this.name = projection.name;
    this.version = projection.version;
    this.#projection = projection;
    this.#readModels = readModels;
    this.handles = new Set(projection.handles);
    this.#text = viewTextOf(projection);
    this.#waiting = new WaitingEvents(projection);
  }

  fedBy(feeder: ProjectionFeeder): void {
    this.#feeder = feeder;
  }

  async open(collection: Collection | undefined): Promise<void> {
    const saved = collection === undefined ? undefined : await this.#readModels.position(collection);
    const anchor = saved === undefined ? undefined : await this.#savedAnchor(collection);
    this.#entries.clear();
    this.#waiting.forget();
    this.#dirty.clear();
    this.#deleted.clear();
    this.#saving = [];
    this.#parts.forget();
    this.#collection = collection;
    this.#position = saved ?? BEGINNING;
    this.#anchor = anchor;
    this.#savedPosition = this.#position;
    this.#isWhole = saved === undefined;
  }

  collection(): Collection | undefined {
    return this.#collection;
  }

  position(): bigint {
    return this.#position;
  }

  prepare(events: readonly RecordedEvent[]): Promise<void> | undefined {
    if (this.#isWhole) return undefined;
    let missing: Set<string> | undefined;
    for (const event of events) {
      if (event.position <= this.#position || !isHandled<E>(this.handles, event)) continue;
      for (const key of this.#projection.keysOf(event)) {
        if (!this.#entries.has(key)) (missing ??= new Set()).add(key);
      }
    }
    return missing === undefined || this.#collection === undefined
      ? undefined
      : this.#fetch(this.#collection, [...missing], 'remembered');
  }

  apply(event: RecordedEvent): void {
    if (event.position <= this.#position) return;
    if (isHandled<E>(this.handles, event)) {
      for (const key of this.#projection.keysOf(event)) this.#applyTo(key, event);
    }
    // Last: an event that can't be applied must not count as applied.
    this.#position = event.position;
  }

  advance(anchor: Anchor): void {
    if (anchor.position < this.#position) return;
    this.#position = anchor.position;
    this.#anchor = anchor;
  }

  pass(position: bigint): void {
    if (position > this.#position) this.#position = position;
  }

  lastPassed(): bigint {
    const passed = this.#anchor?.position;
    return passed === undefined || passed > this.#position ? this.#position : passed;
  }

  retreat(): void {
    this.#position = this.lastPassed();
  }

  async #savedAnchor(collection: Collection | undefined): Promise<Anchor | undefined> {
    const standing = (await this.#readModels.standing([this.name])).get(this.name);
    return standing?.collection.generation === collection?.generation ? standing?.anchor : undefined;
  }

  #applyTo(key: string, event: RecordedEvent<E>): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined && event.position <= entry.position) return;
    if (entry === undefined || !this.#waiting.takes(entry, event)) {
      const before = entry && viewOf(entry);
      const view = this.#projection.evolve(before, event, key);
      if (view === before) return;
      if (entry === undefined) return this.#add(key, view, event.position);
      entry.view = view;
    }
    entry.position = event.position;
    if (entry.state !== 'dirty') {
      entry.state = 'dirty';
      this.#dirty.add(key);
    }
    if (entry.touchedFor === this.#takings) return;
    entry.touchedFor = this.#takings;
    this.#touched.push(key);
  }

  #add(key: string, view: V | undefined, position: bigint): void {
    this.#entries.set(key, { view, batch: undefined, position, state: 'dirty', touchedFor: this.#takings });
    this.#dirty.add(key);
    this.#touched.push(key);
  }

  takeTouched(): readonly string[] {
    if (this.#touched.length === 0) return NONE;
    const keys = this.#touched;
    this.#touched = [];
    this.#takings += 1;
    return keys;
  }

  async lookAtParts(now: number): Promise<readonly string[]> {
    const collection = this.#collection;
    if (collection === undefined || this.#projection.stored === undefined) return NONE;
    const isInUse = (): boolean => collection === this.#collection;
    const missing = await this.#parts.lookWhenDue(now, this.#readModels, collection, isInUse);
    const saved = missing.filter((key) => !this.#dirty.has(key));
    for (const key of saved) {
      const entry = this.#entries.get(key);
      if (entry === undefined) throw new PartsMissing(collection, key);
      entry.state = 'dirty';
      this.#dirty.add(key);
    }
    return saved;
  }

  hasParts(): boolean {
    return !this.#parts.isEmpty;
  }

  takeUnsaved(now = 0): ViewSave | undefined {
    const isSaved = this.#position === this.#savedPosition && this.#dirty.size === 0;
    if (this.#collection === undefined || isSaved) return undefined;
    this.#saving = [...this.#dirty];
    this.#dirty.clear();
    this.#takenPosition = this.#position;
    this.#waiting.apply();
    const parts: ViewChange[] = [];
    const changes = this.#saving.map((key): ViewChange => {
      const entry = this.#entries.get(key);
      if (entry === undefined) return { key, json: undefined };
      entry.state = 'saving';
      return { key, json: this.#parts.take(key, (put) => this.#textOf(entry, put), parts) };
    });
    this.#parts.dropDue(now, parts);
    const save = { collection: this.#collection, position: this.#position, anchor: this.#anchor, changes };
    return parts.length === 0 ? save : { ...save, parts };
  }

  #textOf({ view, position }: Entry<E, V>, put: PutPart): string | undefined {
    return view === undefined ? undefined : this.#text.encode({ view, position }, put);
  }

  saved(holdsAll = false): void {
    this.#savedPosition = this.#takenPosition;
    this.#parts.saved();
    for (const key of this.#saving) {
      const entry = this.#entries.get(key);
      if (entry?.state !== 'saving') continue;
      entry.state = 'clean';
      if (entry.view === undefined) this.#deleted.add(key);
    }
    this.#saving = [];
    if (this.#readers === 0 && !holdsAll) this.#dropOldest();
  }

  unsaved(): void {
    for (const key of this.#saving) this.#dirty.add(key);
    this.#saving = [];
    this.#parts.unsaved();
  }

  unsavedCount(): number {
    return this.#dirty.size;
  }

  async get(key: string): Promise<V | undefined> {
    await this.#whenReadable();
    const known = this.#entries.get(key);
    if (known !== undefined) return viewOf(known);
    return this.#reading(async (collection) => {
      if (collection !== undefined) await this.#fetch(collection, [key]);
      const fetched = this.#entries.get(key);
      return fetched && viewOf(fetched);
    });
  }

  async list(prefix = ''): Promise<readonly KeyedView<V>[]> {
    await this.#whenReadable();
    return this.#reading(async (collection) => {
      const views = new Map<string, V>();
      if (collection !== undefined && !this.#isWhole) await this.#addAllSaved(views, collection, prefix);
      this.#overlay(views, (key) => key.startsWith(prefix));
      return inKeyOrder(views);
    });
  }

  async page({ prefix = '', after, limit }: PageQuery): Promise<readonly KeyedView<V>[]> {
    await this.#whenReadable();
    return this.#reading(async (collection) => {
      const views = new Map<string, V>();
      const saves = this.#isWhole ? undefined : collection;
      let [end, isEnd] = [after, saves === undefined];
      while (!isEnd && views.size < limit) {
        const query = { prefix, limit, ...(end && { after: end }) };
        const documents = saves === undefined ? [] : await this.#readModels.list(saves, query);
        const saved = documents.filter(({ key }) => !isPartKey(key));
        isEnd = saved.length < limit;
        end = saved.at(-1)?.key ?? end;
        for (const document of saved) await this.#addSaved(views, saves, document);
        this.#overlay(views, (key) => key.startsWith(prefix) && isBehind(key, after) && !isBehind(key, end));
      }
      if (isEnd) this.#overlay(views, (key) => key.startsWith(prefix) && isBehind(key, after));
      return inKeyOrder(views).slice(0, limit);
    });
  }

  /** What is in memory is newer than what is saved. */
  #overlay(views: Map<string, V>, isWanted: (key: string) => boolean): void {
    for (const [key, entry] of this.#entries) {
      if (!isWanted(key)) continue;
      const view = viewOf(entry);
      if (view === undefined) views.delete(key);
      else views.set(key, view);
    }
  }

  /** Reads from the generation in use; when it is dropped or changed meanwhile, once more from the next one. */
  async #reading<T>(read: (collection: Collection | undefined) => Promise<T>): Promise<T> {
    for (;;) {
      const collection = this.#collection;
      try {
        this.#readers += 1;
        const result = await read(collection);
        if (collection === this.#collection) return result;
      } catch (error) {
        if (!(error instanceof CollectionGone) || this.#feeder === undefined) throw error;
        if (collection === this.#collection) await this.#feeder.reopen(error);
      } finally {
        this.#readers -= 1;
      }
      await this.#whenReadable();
    }
  }

  async #whenReadable(): Promise<void> {
    for (let wait = this.#feeder?.readable(); wait !== undefined; wait = this.#feeder?.readable()) await wait;
  }

  /**
   * What is not there is remembered for events, which ask for the same few keys each time. What readers ask for that is not there is
   * not: they may ask for anything.
   */
  async #fetch(collection: Collection, keys: readonly string[], absent?: 'remembered'): Promise<void> {
    this.#readers += 1;
    try {
      const found = await this.#readModels.load(collection, keys);
      for (const key of keys) {
        if (collection !== this.#collection) return;
        const json = found.get(key);
        // An event may have made the view while we waited: what is in memory is newer.
        if (this.#entries.has(key)) continue;
        if (json !== undefined && partsIn(json).length > 0) await this.#fetchParts(collection, { key, json });
        else if (json !== undefined) this.#entries.set(key, entryOf(this.#text.decode(json)));
        else if (absent === 'remembered')
          this.#entries.set(key, { ...UNCHANGED, view: undefined, position: BEGINNING });
      }
    } finally {
      this.#readers -= 1;
    }
  }

  async #fetchParts(collection: Collection, document: SavedView): Promise<void> {
    const { key } = document;
    const saved = await readWithParts(this.#readModels, collection, document, this.#text.decode);
    if (saved === undefined || collection !== this.#collection || this.#entries.has(key)) return;
    this.#parts.opened(key, saved.there, saved.named);
    this.#entries.set(key, entryOf(saved.made));
  }

  /** A saved view, where none is in memory. */
  async #addSaved(views: Map<string, V>, collection: Collection | undefined, document: SavedView): Promise<void> {
    if (collection === undefined || this.#entries.has(document.key)) return;
    const placed = await savedViewOf(this.#text, this.#readModels, collection, document);
    if (placed !== undefined) views.set(document.key, placed.view);
  }

  /** Reads what is not in memory. Where all of them are asked for and there is room they stay, and need not be read again. */
  async #addAllSaved(views: Map<string, V>, collection: Collection, prefix: string): Promise<void> {
    let isAll = prefix === '';
    for await (const document of listSaved(this.#readModels, collection, prefix)) {
      if (isPartKey(document.key)) break;
      if (collection !== this.#collection) return;
      if (this.#entries.has(document.key)) continue;
      isAll &&= this.#entries.size < CLEAN_MAX && partsIn(document.json).length === 0;
      if (isAll) this.#entries.set(document.key, entryOf(this.#text.decode(document.json)));
      else await this.#addSaved(views, collection, document);
    }
    if (isAll && collection === this.#collection) this.#isWhole = true;
  }

  #dropOldest(): void {
    for (const key of this.#deleted) if (this.#entries.get(key)?.state === 'clean') this.#entries.delete(key);
    this.#deleted.clear();
    let surplus = this.#entries.size - CLEAN_MAX;
    for (const [key, { state }] of this.#entries) {
      if (surplus <= 0) return;
      if (state !== 'clean') continue;
      this.#entries.delete(key);
      this.#isWhole = false;
      surplus -= 1;
    }
  }
}

function entryOf<E extends Event, V extends object>(placed: PlacedView<V>): Entry<E, V> {
  return { ...placed, ...UNCHANGED };
}
