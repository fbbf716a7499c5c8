import type { RecordedEvent } from '../../kernel/event.ts';
import type { Clock } from '../../ports/clock.ts';
import { type Anchor, BEGINNING, type EventStore, StoreUnavailable } from '../../ports/event-store.ts';
import type { Log } from '../../ports/log.ts';
import { CollectionGone, type ReadModels } from '../../ports/read-models.ts';
import { type AheadOfLog, findAheadOfLog, isAmong } from './ahead-of-log.ts';
import { type PositionWaiters, openPositionWaiters } from '../../concurrency/position-waiters.ts';
import { Saver, type SaverDependencies } from './view-writer.ts';
import type { ProjectionFeeder, ViewCache } from './view-cache.ts';

/** Tells that the views of these keys of one view cache changed. */
export type Touched = Readonly<{ viewCache: string; keys: readonly string[] }>;

type TouchedListener = (touched: readonly Touched[], position: bigint) => void;

export type Projector = Readonly<{
  /**
   * Opens every view cache at its saved position; a projection without a generation of this version starts one, as does one whose
   * generation has applied events that the log does not hold: those are given back.
   * Readers wait until the caches have caught up with where the log ends now.
   */
  open: () => Promise<AheadOfLog | undefined>;
  /** Applies what the log holds now. Saves it in batches when this process may write. */
  catchUp: (progress?: (done: bigint, end: bigint) => void) => Promise<void>;
  /**
   * Catches up, and follows the log until `signal` aborts; then saves the rest. Rejects loudly when an event can't be
   * applied: nothing is saved after that.
   */
  run: (signal: AbortSignal) => Promise<void>;
  /** The position up to which every view has applied the log. */
  position: () => bigint;
  /** Whether readers see all that the log held when the caches were opened last. */
  isReadable: () => boolean;
  /** Resolves `true` once `position` is applied, `false` after `timeoutMilliseconds`. */
  reached: (position: bigint, timeoutMilliseconds: number) => Promise<boolean>;
  /** Calls back after each page with what it changed, and its last position. Once, before `run`. */
  onTouched: (listener: TouchedListener) => void;
}>;

export type ProjectorDependencies = Readonly<
  {
    store: EventStore;
    readModels: ReadModels;
    clock: Clock;
    log: Log;
    /** `false` for a process that must not save: another one does. */
    writes: boolean;
    /** Hears of views that are ahead of the log before they are made again: what is not kept of it by then is forgotten. */
    whenAhead?: ((ahead: AheadOfLog) => Promise<void>) | undefined;
    /** While catching up, views are saved this seldom (default: every 2,000); they are at its end, and when too many wait. */
    catchUpFlushMilliseconds?: number;
  } & Pick<SaverDependencies, 'mayStillWrite' | 'flushMilliseconds' | 'restFactor'>
>;

/** While catching up, views change again and again: saving them seldom saves most of the work. */
const CATCH_UP_FLUSH_MILLISECONDS = 2_000;
/** How long a reader waits for views that are behind, before it is told to come again. */
const READABLE_MILLISECONDS = 10_000;
const OPEN_TRIES_MAX = 5;

/** Feeds all view caches from one reading of the log. */
export function openProjector(feeds: readonly ProjectionTarget[], dependencies: ProjectorDependencies): Projector {
  const projector = new LogProjector(feeds, dependencies);
  return {
    open: () => projector.open(),
    catchUp: (progress) => projector.catchUp(progress),
    run: (signal) => projector.run(signal),
    position: () => projector.position(),
    isReadable: () => projector.isReadable(),
    reached: (position, timeoutMilliseconds) => projector.reached(position, timeoutMilliseconds),
    onTouched: (listener) => projector.onTouched(listener),
  };
}

class LogProjector implements Projector {
  readonly #feeds: readonly ProjectionTarget[];
  readonly #byType = new Map<string, readonly ProjectionTarget[]>();
  readonly #with: ProjectorDependencies;
  readonly #saver: Saver;
  /** What has been applied, ever. */
  readonly #positionWaiters: PositionWaiters;
  /** What has been applied since the caches were opened; readers wait until it is `#readableFrom`. */
  #sight: PositionWaiters;
  #readableFrom = BEGINNING;
  #listener: TouchedListener | undefined;
  #isOpen = false;
  #turn: Promise<unknown> = Promise.resolve();
  /** One reading of the log while running; it ends when the caches must be opened again. */
  #round: AbortController | undefined;
  #isGone = false;
  #reopening: Reopening | undefined;

  constructor(feeds: readonly ProjectionTarget[], dependencies: ProjectorDependencies) {
    this.#feeds = feeds;
    this.#with = dependencies;
    this.#saver = new Saver(feeds, dependencies, () => this.#endRound());
    this.#positionWaiters = openPositionWaiters(dependencies.clock);
    this.#sight = openPositionWaiters(dependencies.clock);
  }

  position(): bigint {
    return this.#positionWaiters.position();
  }

  reached(position: bigint, timeoutMilliseconds: number): Promise<boolean> {
    return this.#positionWaiters.reached(position, timeoutMilliseconds);
  }

  onTouched(listener: TouchedListener): void {
    this.#listener = listener;
  }

  open(): Promise<AheadOfLog | undefined> {
    return this.#alone(() => this.#open());
  }

  async #open(): Promise<AheadOfLog | undefined> {
    const feeder: ProjectionFeeder = { readable: () => this.#readable(), reopen: () => this.#reopen() };
    const [end, earlier] = [await this.#with.store.end(), this.#sight];
    const earlierEnd = this.#readableFrom;
    this.#sight = openPositionWaiters(this.#with.clock);
    this.#readableFrom = end;
    // Readers that waited go on waiting, for what is opened now.
    earlier.reach(earlierEnd);
    if (this.#with.writes) await this.#with.readModels.mend();
    const names = this.#feeds.map(({ name }) => name);
    const ahead = await findAheadOfLog(names, this.#with);
    if (ahead !== undefined && this.#with.writes) await this.#with.whenAhead?.(ahead);
    for (const feed of this.#feeds) {
      feed.fedBy(feeder);
      await this.#openFeed(feed, ahead);
    }
    this.#isOpen = true;
    this.#reach(this.#lowest());
    return ahead;
  }

  async catchUp(progress?: (done: bigint, end: bigint) => void): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#alone(() => this.#catchUp(progress));
      } catch (error) {
        if (!(error instanceof CollectionGone) || !this.#isOpen || tries >= OPEN_TRIES_MAX) throw error;
        await this.#openAgain();
      }
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    const stop = (): void => this.#round?.abort();
    signal.addEventListener('abort', stop);
    try {
      do {
        this.#round = new AbortController();
        if (signal.aborted) stop();
        await this.#readLog(this.#round.signal);
        if (this.#isGone) await this.#openAgain();
      } while (!signal.aborted);
      await this.#saver.saveLast();
    } catch (error) {
      this.#saver.stop();
      this.#reopening?.reject(error);
      this.#reopening = undefined;
      throw error;
    } finally {
      this.#round = undefined;
      signal.removeEventListener('abort', stop);
    }
  }

  async #readLog(signal: AbortSignal): Promise<void> {
    try {
      await this.#alone(() => this.#catchUp(undefined, signal));
      for await (const page of this.#with.store.follow(this.#lowest(), signal)) {
        await this.#take(page);
        this.#saver.saveSoon(signal);
      }
    } catch (error) {
      if (!(error instanceof CollectionGone)) throw error;
      this.#isGone = true;
    }
  }

  async #catchUp(progress?: (done: bigint, end: bigint) => void, signal?: AbortSignal): Promise<void> {
    const end = await this.#with.store.end();
    const { catchUpFlushMilliseconds = CATCH_UP_FLUSH_MILLISECONDS } = this.#with;
    for await (const page of this.#with.store.readAll(this.#lowest())) {
      if (signal?.aborted === true) return;
      await this.#take(page);
      if (this.#saver.isUnsavedFor(catchUpFlushMilliseconds)) await this.#saver.save();
      progress?.(this.position(), end);
    }
    await this.#saver.save();
    this.#reach(end);
  }

  async #take(page: readonly RecordedEvent[]): Promise<void> {
    const last = page.at(-1);
    const anchor = last === undefined ? undefined : anchorOf(last);
    const shares = this.#sharesOf(page);
    for (const [feed, share] of shares) {
      const fetching = feed.prepare(share);
      if (fetching !== undefined) await fetching;
    }
    for (const [feed, share] of shares) for (const event of share) feed.apply(event);
    if (anchor !== undefined) {
      for (const feed of this.#feeds) feed.advance(anchor);
      this.#reach(anchor.position);
      this.#tell(anchor.position);
    }
    await this.#saver.applied();
  }

  /** Which caches must see which events: most events concern few views. */
  #sharesOf(page: readonly RecordedEvent[]): ReadonlyMap<ProjectionTarget, readonly RecordedEvent[]> {
    const shares = new Map<ProjectionTarget, RecordedEvent[]>();
    for (const event of page) {
      for (const feed of this.#feedsOf(event.type)) {
        const share = shares.get(feed);
        if (share === undefined) shares.set(feed, [event]);
        else share.push(event);
      }
    }
    return shares;
  }

  #feedsOf(type: string): readonly ProjectionTarget[] {
    const known = this.#byType.get(type);
    if (known !== undefined) return known;
    const feeds = this.#feeds.filter(({ handles }) => handles.has(type));
    this.#byType.set(type, feeds);
    return feeds;
  }

  #tell(position: bigint): void {
    const touched: Touched[] = [];
    for (const feed of this.#feeds) {
      const keys = feed.takeTouched();
      if (keys.length > 0) touched.push({ viewCache: feed.name, keys });
    }
    if (touched.length > 0) this.#listener?.(touched, position);
  }

  #lowest(): bigint {
    let least: bigint | undefined;
    for (const feed of this.#feeds) if (least === undefined || feed.position() < least) least = feed.position();
    return least ?? BEGINNING;
  }

  #reach(position: bigint): void {
    this.#positionWaiters.reach(position);
    this.#sight.reach(position);
  }

  isReadable(): boolean {
    return this.#isOpen && this.#sight.position() >= this.#readableFrom;
  }

  #readable(): Promise<void> | undefined {
    return this.#sight.position() >= this.#readableFrom ? undefined : this.#untilReadable();
  }

  async #untilReadable(): Promise<void> {
    const isReached = await this.#sight.reached(this.#readableFrom, READABLE_MILLISECONDS);
    if (!isReached) throw new StoreUnavailable('the views are catching up with the log');
  }

  /** Resolves when a generation that was dropped by another process has been replaced by the one in use. */
  #reopen(): Promise<void> {
    if (this.#reopening !== undefined) return this.#reopening.promise;
    this.#reopening = createReopening();
    const { promise } = this.#reopening;
    if (this.#round !== undefined) this.#endRound();
    else this.#openAgain().catch((error: unknown) => this.#notReopened(error));
    return promise;
  }

  #notReopened(error: unknown): void {
    this.#with.log.error({ error }, 'projections could not be opened again');
    this.#reopening?.reject(error);
    this.#reopening = undefined;
  }

  /** One at a time opens caches or catches up: two would pass over each other's events. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  #endRound(): void {
    this.#isGone = true;
    this.#round?.abort();
  }

  async #openAgain(): Promise<void> {
    this.#with.log.info({}, 'the views in use are no more, or no good; opening them again');
    await this.#saver.settled();
    this.#isGone = false;
    await this.open();
    this.#reopening?.resolve();
    this.#reopening = undefined;
    // Nobody else does: whoever reads waits for it.
    if (this.#round === undefined) await this.catchUp();
  }

  /**
   * Uses the active generation; another version, or none, is the first build of a projection, or its rebuild for a new version.
   * One that is ahead of the log is never used again.
   */
  async #openFeed(feed: ProjectionTarget, ahead: AheadOfLog | undefined): Promise<void> {
    const { readModels, writes } = this.#with;
    for (let tries = 1; ; tries += 1) {
      const active = await readModels.active(feed.name);
      if (this.#isOpen && active !== undefined && active.version > feed.version) {
        throw new Error(
          `${feed.name} was rebuilt by a newer program as version ${active.version}; start that one here`,
        );
      }
      try {
        if (active?.version === feed.version && !isAmong(ahead, active)) return await feed.open(active);
        if (!writes) return await feed.open(undefined);
        const begun = await readModels.begin(feed.name, feed.version);
        await readModels.activate(begun);
        return await feed.open(begun);
      } catch (error) {
        // Another process was faster.
        if (!(error instanceof CollectionGone) || tries >= OPEN_TRIES_MAX) throw error;
      }
    }
  }
}

function anchorOf({ stream, revision, position, metadata: { hash } }: RecordedEvent): Anchor {
  return { stream, revision, position, hash };
}

type Reopening = Readonly<{ promise: Promise<void>; resolve: () => void; reject: (error: unknown) => void }>;

function createReopening(): Reopening {
  let settle: Omit<Reopening, 'promise'> | undefined;
  const promise = new Promise<void>((resolve, reject) => (settle = { resolve, reject }));
  // Those who wait hear of a failure; there may be none.
  promise.catch(() => undefined);
  if (settle === undefined) throw new Error('a promise calls its executor at once');
  return { promise, ...settle };
}

/** What the projector needs of a view cache, whatever its views are. */
export type ProjectionTarget = Pick<
  ViewCache<object>,
  | 'name'
  | 'version'
  | 'handles'
  | 'fedBy'
  | 'open'
  | 'position'
  | 'prepare'
  | 'apply'
  | 'advance'
  | 'takeTouched'
  | 'takeUnsaved'
  | 'saved'
  | 'unsaved'
  | 'unsavedCount'
>;
