import type { RecordedEvent } from '../../kernel/event.ts';
import type { Anchor } from '../../ports/event-store.ts';
import type { Collection, CollectionGone, ViewSave } from '../../ports/read-models.ts';
import type { Views } from './keyed-views.ts';

/** What a view cache needs of the projector that feeds it. */
export type ProjectionFeeder = Readonly<{
  /** Resolves when readers may look: not while views are behind what they have shown before. */
  readable: () => Promise<void> | undefined;
  /** The generation was dropped by another process: resolves when another one is open. */
  reopen: (gone: CollectionGone) => Promise<void>;
}>;

/** One projection's views between the log and the read models: folded in memory, saved in batches. */
export type ViewCache<V extends object> = Views<V> &
  Readonly<{
    name: string;
    version: number;
    /** The types of events that change it; it need not see others. */
    handles: ReadonlySet<string>;
    /** The projector that feeds it; without one, readers look at once, and a dropped generation is theirs to handle. */
    fedBy: (feeder: ProjectionFeeder) => void;
    /** Uses a generation, from its saved position; none: memory alone, from the beginning. Forgets what was in memory. */
    open: (collection: Collection | undefined) => Promise<void>;
    /** The generation that it uses; `undefined`: memory alone. */
    collection: () => Collection | undefined;
    /** The newest position applied. */
    position: () => bigint;
    /** Brings the views that these events change into memory, so that `apply` need not wait. */
    prepare: (events: readonly RecordedEvent[]) => Promise<void> | undefined;
    /** Applies one event, once: what the cache or the view has applied already is passed over. Prepared events only. */
    apply: (event: RecordedEvent) => void;
    /** Everything up to this event was applied, or does not concern it. */
    advance: (anchor: Anchor) => void;
    /** Nothing that concerns it lies between its position and this one. */
    pass: (position: bigint) => void;
    /** The last event that it has passed; behind it up to its position there was none. */
    lastPassed: () => bigint;
    /** Goes back to that event: the log does not reach as far as it was looked through. */
    retreat: () => void;
    /** The keys whose views changed since the last call. */
    takeTouched: () => readonly string[];
    /**
     * Now and then, before `takeUnsaved`, looks whether the parts that saved views are made of are there. Gives the keys of the views of
     * which some are not: those are unsaved from here on. `now`: of the monotonic clock. @throws CollectionGone where such a view is not in memory
     */
    lookAtParts: (now: number) => Promise<readonly string[]>;
    /** Whether some saved views are made of parts. */
    hasParts: () => boolean;
    /** What is not saved yet; `saved` or `unsaved` must follow. `now`: of the monotonic clock. */
    takeUnsaved: (now?: number) => ViewSave | undefined;
    /** `holdsAll`: all views stay in memory for now; else as many as readers are likely to ask for. */
    saved: (holdsAll?: boolean) => void;
    unsaved: () => void;
    unsavedCount: () => number;
  }>;

/** What the projector needs of a view cache, whatever its views are. */
export type ProjectionTarget = Omit<ViewCache<object>, 'get' | 'list' | 'page'>;
