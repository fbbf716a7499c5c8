import type { RecordedEvent } from '../../kernel/event.ts';
import type { Clock } from '../../ports/clock.ts';
import { BEGINNING, type EventStore, StoreUnavailable, ViewsBehind } from '../../ports/event-store.ts';
import type { Log } from '../../ports/log.ts';
import { type Collection, CollectionGone, type ReadModels } from '../../ports/read-models.ts';
import { type AheadOfLog, findAheadOfLog, isAmong } from './ahead-of-log.ts';
import { BrokenGenerations } from './broken-generations.ts';
import { CatchUpTold } from './catch-up-told.ts';
import { openInUse, requireTurn } from './generation-in-use.ts';
import { anchorOf, lowest } from './places.ts';
import { LookedThrough } from './looked-through.ts';
import { Reopening } from './reopening.ts';
import { EventsLeftOut, StreamContinuity } from './stream-continuity.ts';
import { type PositionWaiters, openPositionWaiters } from '../../concurrency/position-waiters.ts';
import { ViewWriter, type ViewWriterDependencies } from './view-writer.ts';
import type { ProjectionFeeder, ProjectionTarget } from './fed-views.ts';

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
  /** Whether the log is followed at this moment: a store on a server may be away. */
  isFollowing: () => boolean;
  /** Resolves `true` once `position` is applied, `false` after `timeoutMilliseconds`. */
  reached: (position: bigint, timeoutMilliseconds: number) => Promise<boolean>;
  /** Streams with at least so many events, of those that were met behind the positions from which the caches were opened last. */
  longStreams: (events: number) => readonly string[];
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
  } & Pick<ViewWriterDependencies, 'mayStillWrite' | 'flushMilliseconds' | 'restFactor' | 'hasRoom'>
>;

/** While catching up, views change again and again: saving them seldom saves most of the work. */
const CATCH_UP_FLUSH_MILLISECONDS = 2_000;
/** How long a reader waits for views that are behind, before it is told to come again. */
const READABLE_MILLISECONDS = 10_000;
const OPEN_TRIES_MAX = 5;
/** While others alone write to the log, what was looked through is saved this seldom. */
const PASS_SAVE_MILLISECONDS = 2_000;

/** Feeds all view caches from one reading of the log. */
export function openProjector(feeds: readonly ProjectionTarget[], dependencies: ProjectorDependencies): Projector {
  const projector = new LogProjector(feeds, dependencies);
  return {
    open: () => projector.open(),
    catchUp: (progress) => projector.catchUp(progress),
    run: (signal) => projector.run(signal),
    position: () => projector.position(),
    isReadable: () => projector.isReadable(),
    isFollowing: () => projector.isFollowing(),
    reached: (position, timeoutMilliseconds) => projector.reached(position, timeoutMilliseconds),
    longStreams: (events) => projector.longStreams(events),
    onTouched: (listener) => projector.onTouched(listener),
  };
}

class LogProjector implements Projector {
  readonly #feeds: readonly ProjectionTarget[];
  readonly #byType = new Map<string, readonly ProjectionTarget[]>();
  readonly #with: ProjectorDependencies;
  readonly #viewWriter: ViewWriter;
  readonly #continuity: StreamContinuity;
  readonly #gaps: LookedThrough;
  /** What has been applied, ever. */
  readonly #positionWaiters: PositionWaiters;
  /** What has been applied since the caches were opened; readers wait until it is `#readableFrom`. */
  #sight: PositionWaiters;
  #readableFrom = BEGINNING;
  #listener: TouchedListener | undefined;
  #isOpen = false;
  /** `run` has failed. */
  #isOver = false;
  #turn: Promise<unknown> = Promise.resolve();
  /** One reading of the log while running; it ends when the caches must be opened again. */
  #round: AbortController | undefined;
  #isGone = false;
  /** What the last reading of the log was not given, until the caches are opened again. */
  #leftOut: EventsLeftOut | undefined;
  /** Generations of which something that was saved is not there any more. */
  readonly #broken: BrokenGenerations;
  #isFollowing = false;
  #passSavedAt = Number.NEGATIVE_INFINITY;
  readonly #reopening = new Reopening();

  constructor(feeds: readonly ProjectionTarget[], dependencies: ProjectorDependencies) {
    this.#feeds = feeds;
    this.#with = dependencies;
    this.#broken = new BrokenGenerations(dependencies.log);
    this.#continuity = new StreamContinuity(dependencies.store, dependencies.log);
    this.#gaps = new LookedThrough(dependencies.store.name, dependencies.log);
    this.#viewWriter = new ViewWriter(feeds, dependencies, (gone) => {
      this.#broken.note(gone);
      this.#endRound();
    });
    this.#positionWaiters = openPositionWaiters(dependencies.clock);
    this.#sight = openPositionWaiters(dependencies.clock);
  }

  position(): bigint {
    return this.#positionWaiters.position();
  }

  reached(position: bigint, timeoutMilliseconds: number): Promise<boolean> {
    return this.#positionWaiters.reached(position, timeoutMilliseconds);
  }

  longStreams(events: number): readonly string[] {
    return this.#continuity.longStreams(events);
  }

  onTouched(listener: TouchedListener): void {
    this.#listener = listener;
  }

  open(): Promise<AheadOfLog | undefined> {
    return this.#alone(() => this.#open());
  }

  async #open(): Promise<AheadOfLog | undefined> {
    const feeder: ProjectionFeeder = { readable: () => this.#readable(), reopen: (gone) => this.#reopen(gone) };
    const [end, earlier] = [await this.#with.store.end(), this.#sight];
    const earlierEnd = this.#readableFrom;
    this.#sight = openPositionWaiters(this.#with.clock);
    this.#readableFrom = end;
    // Readers that waited go on waiting, for what is opened now.
    earlier.reach(earlierEnd);
    if (this.#with.writes) {
      requireTurn(this.#with.mayStillWrite);
      await this.#with.readModels.mend();
    }
    const names = this.#feeds.map(({ name }) => name);
    const ahead = await findAheadOfLog(names, this.#with);
    if (ahead !== undefined && this.#with.writes) await this.#with.whenAhead?.(ahead);
    this.#gaps.clear();
    for (const feed of this.#feeds) {
      feed.fedBy(feeder);
      const isUsable = async (active: Collection): Promise<boolean> =>
        !this.#broken.has(active) && !isAmong(ahead, active) && !(await this.#hasPassedLeftOut(feed, active));
      await openInUse(feed, { ...this.#with, isOpen: this.#isOpen, isUsable });
      // A log that was put back from an older copy may get events of ours where others had theirs.
      if (feed.position() > end) {
        this.#gaps.add(feed.lastPassed(), feed.position());
        feed.retreat();
      }
    }
    this.#isOpen = true;
    this.#leftOut = undefined;
    this.#continuity.begin(lowest(this.#feeds, (feed) => feed.lastPassed()));
    this.#reach(lowest(this.#feeds));
    return ahead;
  }

  /** Whether saved views would have to show events that the last reading left out, and lie behind them. */
  async #hasPassedLeftOut({ handles }: ProjectionTarget, active: Collection): Promise<boolean> {
    const missing = this.#leftOut;
    if (missing === undefined) return false;
    if (missing.types !== 'any' && ![...missing.types].some((type) => handles.has(type))) return false;
    return ((await this.#with.readModels.position(active)) ?? BEGINNING) >= missing.position;
  }

  async catchUp(progress?: (done: bigint, end: bigint) => void): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#alone(() => this.#catchUp(progress));
      } catch (error) {
        if (!this.#mayOpenAgain(error) || !this.#isOpen || tries >= OPEN_TRIES_MAX) throw error;
        await this.#openAgain();
      }
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    const stop = (): void => this.#round?.abort();
    signal.addEventListener('abort', stop);
    try {
      do {
        const round = (this.#round = new AbortController());
        if (signal.aborted) stop();
        // However a reading ends, what was begun for it ends with it.
        await this.#readLog(round.signal).finally(() => round.abort());
        if (this.#isGone) await this.#openAgain();
      } while (!signal.aborted);
      await this.#viewWriter.saveLast();
    } catch (error) {
      this.#viewWriter.stop();
      this.#isOver = true;
      this.#positionWaiters.giveUp();
      this.#sight.giveUp();
      this.#reopening.end(error);
      throw error;
    } finally {
      this.#isFollowing = false;
      this.#round = undefined;
      // Who found its views gone while the last ones were saved would wait for a reading of the log that does not begin.
      this.#reopening.end(new StoreUnavailable('the views are kept here no more'));
      signal.removeEventListener('abort', stop);
    }
  }

  async #readLog(signal: AbortSignal): Promise<void> {
    try {
      await this.#alone(() => this.#catchUp(undefined, signal));
      const told = {
        passed: (position: bigint) => this.#passed(position, signal),
        isFollowed: (is: boolean) => void (this.#isFollowing = is),
      };
      this.#isFollowing = true;
      this.#viewWriter.lookOn(signal);
      for await (const page of this.#with.store.follow(lowest(this.#feeds), signal, told)) {
        await this.#take(page);
        this.#viewWriter.saveSoon(signal);
      }
    } catch (error) {
      if (!this.#mayOpenAgain(error)) throw error;
      this.#isGone = true;
    }
  }

  #mayOpenAgain(error: unknown): boolean {
    if (error instanceof EventsLeftOut) this.#leftOut = error;
    this.#broken.note(error);
    return error instanceof CollectionGone || error instanceof EventsLeftOut;
  }

  /** Others have written, and nothing of ours is among it: what need not be looked through again is saved now and then. */
  #passed(position: bigint, signal: AbortSignal): void {
    for (const feed of this.#feeds) feed.pass(position);
    this.#reach(position);
    const now = this.#with.clock.monotonicMilliseconds();
    if (now - this.#passSavedAt < PASS_SAVE_MILLISECONDS) return;
    this.#passSavedAt = now;
    this.#viewWriter.passed();
    this.#viewWriter.saveSoon(signal);
  }

  async #catchUp(progress?: (done: bigint, end: bigint) => void, signal?: AbortSignal): Promise<void> {
    const end = await this.#with.store.end();
    const { catchUpFlushMilliseconds = CATCH_UP_FLUSH_MILLISECONDS } = this.#with;
    // A command has its own way to show how far it is.
    const told = signal && new CatchUpTold(end, this.#with);
    this.#viewWriter.isCatchingUp = true;
    for await (const page of this.#with.store.readAll(lowest(this.#feeds))) {
      if (signal?.aborted === true) return;
      await this.#take(page);
      if (this.#viewWriter.isUnsavedFor(catchUpFlushMilliseconds)) await this.#viewWriter.save();
      progress?.(this.position(), end);
      told?.applied(page);
    }
    this.#viewWriter.isCatchingUp = false;
    for (const feed of this.#feeds) feed.pass(end);
    await this.#viewWriter.save();
    this.#reach(end);
    told?.done();
  }

  async #take(page: readonly RecordedEvent[]): Promise<void> {
    this.#gaps.take(page);
    await this.#continuity.take(page);
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
    await this.#viewWriter.applied();
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

  #reach(position: bigint): void {
    this.#positionWaiters.reach(position);
    this.#sight.reach(position);
  }

  isFollowing(): boolean {
    return this.#isFollowing;
  }

  isReadable(): boolean {
    return this.#isOpen && this.#sight.position() >= this.#readableFrom;
  }

  #readable(): Promise<void> | undefined {
    return this.#sight.position() >= this.#readableFrom ? undefined : this.#untilReadable();
  }

  async #untilReadable(): Promise<void> {
    const isReached = await this.#sight.reached(this.#readableFrom, READABLE_MILLISECONDS);
    if (isReached) return;
    if (this.#isOver) throw new StoreUnavailable('the views can not follow the log');
    throw new ViewsBehind('the views are catching up with the log');
  }

  /** Resolves when a generation that was dropped by another process has been replaced by the one in use. */
  #reopen(gone: CollectionGone): Promise<void> {
    this.#broken.note(gone);
    const underWay = this.#reopening.underWay();
    if (underWay !== undefined) return underWay;
    const promise = this.#reopening.begin();
    if (this.#round !== undefined) this.#endRound();
    else this.#openAgain().catch((error: unknown) => this.#notReopened(error));
    return promise;
  }

  #notReopened(error: unknown): void {
    this.#with.log.error({ error }, 'projections could not be opened again');
    this.#reopening.end(error);
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
    await this.#viewWriter.settled();
    this.#isGone = false;
    await this.open();
    this.#reopening.end();
    // No other code does: a reader waits for it.
    if (this.#round === undefined) await this.catchUp();
  }
}
