import type { Event } from '../../kernel/event.ts';
import type { Projection } from '../../kernel/projection.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { BEGINNING, type EventStore, StoreUnavailable } from '../../ports/event-store.ts';
import { type Collection, CollectionGone, type ReadModels } from '../../ports/read-models.ts';
import { isHeld } from './ahead-of-log.ts';
import { type KeyedView, listSaved, type PageQuery, type SavedView, type Views } from './keyed-views.ts';
import { type ViewText, viewTextOf } from './view-codec.ts';
import { isPartKey, PartsMissing, savedViewOf } from './view-parts.ts';

export type StoredViewsDependencies = Readonly<{
  store: Pick<EventStore, 'end' | 'eventAt'>;
  readModels: ReadModels;
  clock: Clock;
  log: Pick<Log, 'error'>;
}>;

/** Views as the read models have them, for a process that does not fold them itself. Nothing is kept but which generation is read. */
export type StoredViews<V extends object> = Views<V> &
  Readonly<{
    /** Makes sure again, before the next view is read, that the generation shows all that the log holds by then. */
    distrust: () => void;
  }>;

const SWAPS_MAX = 5;
/** How long a reader waits for a generation that is behind, before it fails with StoreUnavailable: long enough for another server to lead. */
const CAUGHT_UP_MILLISECONDS = 15_000;
const LOOK_MILLISECONDS = 25;
/** Readers come again and again: that parts are missing is logged at most this often. */
const TOLD_MILLISECONDS = 60_000;

export function storedViewsOf<E extends Event, V extends object>(
  projection: Projection<E, V>,
  reading: StoredViewsDependencies,
): StoredViews<V> {
  return new ReadModelViews(projection, reading);
}

/**
 * The server that answers a change waits until the active generations have it, so a reader needs the active one alone. One that has just
 * taken another's place may be behind that: it is read once it has reached the end of the log. The first one may be ahead of a log that
 * was put back from an older copy: it is not read.
 */
class ReadModelViews<E extends Event, V extends object> implements StoredViews<V> {
  readonly #projection: Projection<E, V>;
  readonly #with: StoredViewsDependencies;
  readonly #text: ViewText<V>;
  /** The generation that was active when it was looked at last, and shows enough. */
  #trusted: Collection | undefined;
  #trusting: Promise<Collection> | undefined;
  #missingToldAt = Number.NEGATIVE_INFINITY;

  constructor(projection: Projection<E, V>, reading: StoredViewsDependencies) {
    this.#projection = projection;
    this.#with = reading;
    this.#text = viewTextOf(projection);
  }

  distrust(): void {
    this.#trusted = undefined;
    this.#trusting = undefined;
  }

  get(key: string): Promise<V | undefined> {
    return this.#read(async (collection) => {
      const json = (await this.#with.readModels.load(collection, [key])).get(key);
      return json === undefined ? undefined : this.#viewOf(collection, { key, json });
    });
  }

  list(prefix = ''): Promise<readonly KeyedView<V>[]> {
    return this.#read(async (collection) => {
      const views: KeyedView<V>[] = [];
      for await (const document of listSaved(this.#with.readModels, collection, prefix)) {
        if (isPartKey(document.key)) break;
        views.push(...(await this.#keyed(collection, document)));
      }
      return views;
    });
  }

  page({ prefix = '', after, limit }: PageQuery): Promise<readonly KeyedView<V>[]> {
    return this.#read(async (collection) => {
      const query = { prefix, limit, ...(after === undefined ? {} : { after }) };
      const views: KeyedView<V>[] = [];
      for (const document of await this.#with.readModels.list(collection, query))
        if (!isPartKey(document.key)) views.push(...(await this.#keyed(collection, document)));
      return views;
    });
  }

  /** None where it was deleted between two looks. */
  async #keyed(collection: Collection, document: SavedView): Promise<readonly KeyedView<V>[]> {
    const view = await this.#viewOf(collection, document);
    return view === undefined ? [] : [{ key: document.key, view }];
  }

  async #viewOf(collection: Collection, document: SavedView): Promise<V | undefined> {
    return (await savedViewOf(this.#text, this.#with.readModels, collection, document))?.view;
  }

  /** Looks which generation is active while it reads: it mostly is the same. */
  async #read<T>(read: (collection: Collection) => Promise<T>): Promise<T> {
    for (let swaps = 0; swaps < SWAPS_MAX; swaps += 1) {
      const collection = this.#trusted ?? (await this.#trust());
      const [active, result] = await Promise.all([
        this.#with.readModels.active(this.#projection.name),
        read(collection).then((value) => ({ value }), goneOrThrow),
      ]);
      if (active?.generation === collection.generation) {
        if ('value' in result) return result.value;
        // They were looked for again already.
        if (result.gone instanceof PartsMissing) throw this.#missing(result.gone);
      }
      if (this.#trusted === collection) this.#trusted = undefined;
    }
    throw new StoreUnavailable(`${this.#projection.name} is being rebuilt again and again`);
  }

  /** The server that keeps the views looks after them now and then. */
  #missing(error: PartsMissing): StoreUnavailable {
    const { clock, log } = this.#with;
    const now = clock.monotonicMilliseconds();
    if (now - this.#missingToldAt >= TOLD_MILLISECONDS) {
      this.#missingToldAt = now;
      log.error({ error }, `${error.message}; the server that keeps the views saves them again`);
    }
    return new StoreUnavailable(error.message, { cause: error });
  }

  async #trust(): Promise<Collection> {
    const trusting = (this.#trusting ??= this.#caughtUp());
    try {
      const collection = await trusting;
      if (this.#trusting === trusting) this.#trusted = collection;
      return collection;
    } finally {
      if (this.#trusting === trusting) this.#trusting = undefined;
    }
  }

  async #caughtUp(): Promise<Collection> {
    const { store, readModels, clock } = this.#with;
    const { name, version } = this.#projection;
    const end = await store.end();
    const deadline = clock.monotonicMilliseconds() + CAUGHT_UP_MILLISECONDS;
    for (;;) {
      const standing = (await readModels.standing([name])).get(name);
      const isThere = standing?.collection.version === version && (standing.position ?? BEGINNING) >= end;
      // The leader makes one again that is ahead of the log.
      if (isThere && (await isHeld(standing, store))) return standing.collection;
      if (clock.monotonicMilliseconds() >= deadline)
        throw new StoreUnavailable(`the views of ${name} are behind the log`);
      await clock.wait(LOOK_MILLISECONDS);
    }
  }
}

function goneOrThrow(error: unknown): Readonly<{ gone: CollectionGone }> {
  if (error instanceof CollectionGone) return { gone: error };
  throw error;
}
