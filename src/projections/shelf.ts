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

/** Opens nothing yet: `open` follows. */
export function shelfOf<E extends Event, V extends object>(
  projection: Projection<E, V>,
  readModels: ReadModels,
): Shelf<V> {
  const handles = new Set<string>(projection.handles);
  const { encode, decode } = projection.stored ?? plain<V>();
  const entries = new Map<string, Entry<V>>();
  const touched = new Set<string>();
  const dirty = new Set<string>();
  let saving: readonly string[] = [];
  let collection: Collection | undefined;
  let position = BEGINNING;
  let savedPosition = BEGINNING;
  let takenPosition = BEGINNING;

  return {
    name: projection.name,
    version: projection.version,
    open: async (opened) => {
      entries.clear();
      dirty.clear();
      saving = [];
      collection = opened;
      position = (opened === undefined ? undefined : await readModels.position(opened)) ?? BEGINNING;
      savedPosition = position;
    },
    position: () => position,
    prepare: (events) => {
      const missing = new Set<string>();
      for (const event of events) {
        if (event.position <= position || !isHandled<E>(handles, event)) continue;
        for (const key of projection.keysOf(event)) if (!entries.has(key)) missing.add(key);
      }
      return missing.size > 0 ? fetch([...missing]) : undefined;
    },
    apply: (event) => {
      if (event.position <= position) return;
      position = event.position;
      if (!isHandled<E>(handles, event)) return;
      for (const key of projection.keysOf(event)) {
        const entry = entries.get(key);
        const before = entry?.view;
        const after = projection.evolve(before, event, key);
        if (after === before) continue;
        entries.set(key, { view: after, state: 'dirty' });
        dirty.add(key);
        touched.add(key);
      }
    },
    takeTouched: () => {
      const keys = [...touched];
      touched.clear();
      return keys;
    },
    takeUnsaved: () => {
      if (collection === undefined || position === savedPosition) return undefined;
      saving = [...dirty];
      dirty.clear();
      takenPosition = position;
      const changes = saving.map((key): ViewChange => {
        const entry = entries.get(key);
        if (entry !== undefined) entry.state = 'saving';
        return { key, json: entry?.view === undefined ? undefined : JSON.stringify(encode(entry.view)) };
      });
      return { collection, position, changes };
    },
    saved: () => {
      savedPosition = takenPosition;
      for (const key of saving) {
        const entry = entries.get(key);
        if (entry?.state !== 'saving') continue;
        if (entry.view === undefined) entries.delete(key);
        else entry.state = 'clean';
      }
      saving = [];
      dropOldest();
    },
    unsaved: () => {
      for (const key of saving) dirty.add(key);
      saving = [];
    },
    unsavedCount: () => dirty.size,
    get: async (key) => {
      const entry = entries.get(key);
      if (entry !== undefined) return entry.view;
      await fetch([key]);
      return entries.get(key)?.view;
    },
    list,
  };

  async function fetch(keys: readonly string[]): Promise<void> {
    const found = collection === undefined ? new Map<string, string>() : await readModels.load(collection, keys);
    for (const key of keys) {
      // An event may have made the view while we waited: what is in memory is newer.
      if (entries.has(key)) continue;
      const json = found.get(key);
      if (json !== undefined) entries.set(key, { view: decode(JSON.parse(json)), state: 'clean' });
    }
  }

  async function list(prefix = ''): Promise<readonly Readonly<{ key: string; view: V }>[]> {
    const views = new Map<string, V>();
    if (collection !== undefined) {
      let after: string | undefined;
      for (;;) {
        const page = await readModels.list(collection, { prefix, limit: PAGE, ...(after === undefined ? {} : { after }) });
        for (const { key, json } of page) if (!entries.has(key)) views.set(key, decode(JSON.parse(json)));
        if (page.length < PAGE) break;
        after = page.at(-1)?.key;
      }
    }
    for (const [key, { view }] of entries) if (view !== undefined && key.startsWith(prefix)) views.set(key, view);
    return [...views].map(([key, view]) => ({ key, view })).sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  function dropOldest(): void {
    if (entries.size <= CLEAN_MAX) return;
    let surplus = entries.size - CLEAN_MAX;
    for (const [key, { state }] of entries) {
      if (surplus <= 0) return;
      if (state !== 'clean') continue;
      entries.delete(key);
      surplus -= 1;
    }
  }
}

/** Views that are plain JSON need no translation: they were written by this projection's own version. */
function plain<V extends object>(): { encode: (view: V) => unknown; decode: (json: unknown) => V } {
  return { encode: (view) => view, decode: (json) => json as V };
}
