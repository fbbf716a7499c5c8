import type { Recorded } from '../kernel/event.ts';
import type { Clock } from '../ports/clock.ts';
import { BEGINNING, type EventStore } from '../ports/event-store.ts';
import type { Log } from '../ports/log.ts';
import { CollectionGone, type ReadModels } from '../ports/read-models.ts';
import type { Shelf } from './shelf.ts';

/** Tells that the views of these keys of one shelf changed. */
export type Touched = Readonly<{ shelf: string; keys: readonly string[] }>;

export type Projector = Readonly<{
  /** Opens every shelf at its saved position; a projection without a generation of this version starts one. */
  open: () => Promise<void>;
  /** Applies what the log holds now. Saves it in batches when this process may write. */
  catchUp: (progress?: (done: bigint, end: bigint) => void) => Promise<void>;
  /** Follows the log until `signal` aborts, then saves the rest. Rejects loudly when an event can't be applied. */
  run: (signal: AbortSignal) => Promise<void>;
  /** The position up to which every view has applied the log. */
  position: () => bigint;
  /** Resolves `true` once `position` is applied, `false` after `timeoutMilliseconds`. */
  reached: (position: bigint, timeoutMilliseconds: number) => Promise<boolean>;
  /** Calls back after each page with what it changed. Once, before `run`. */
  onTouched: (listener: (touched: readonly Touched[]) => void) => void;
}>;

export type ProjectorDependencies = Readonly<{
  store: EventStore;
  readModels: ReadModels;
  clock: Clock;
  log: Log;
  /** `false` for a process that must not save: another one does. */
  writes: boolean;
  /** At most this long until a change is saved. */
  flushMilliseconds?: number;
}>;

const UNSAVED_MAX = 20_000;
const SAVE_TRIES_MAX = 5;
const FLUSH_MILLISECONDS = 200;
/** Large views are saved seldom: saving takes at most one part in this many of the time. */
const REST_FACTOR = 20;
const SWEEP_MILLISECONDS = 250;
/** While catching up, views change again and again: saving them seldom saves most of the work. */
const CATCH_UP_FLUSH_MILLISECONDS = 2_000;

/** Feeds all shelves from one reading of the log. */
export function openProjector(feeds: readonly Feed[], dependencies: ProjectorDependencies): Projector {
  return new LogProjector(feeds, dependencies);
}

class LogProjector implements Projector {
  readonly #feeds: readonly Feed[];
  readonly #with: ProjectorDependencies;
  readonly #flushMilliseconds: number;
  readonly #arrivals: ReturnType<typeof openArrivals>;
  #listener: ((touched: readonly Touched[]) => void) | undefined;
  #unsavedSince: number | undefined;
  /** How long the last save took. */
  #saveMilliseconds = 0;
  #saving: Promise<void> = Promise.resolve();
  #timerRuns = false;
  #gone: CollectionGone | undefined;

  constructor(feeds: readonly Feed[], dependencies: ProjectorDependencies) {
    this.#feeds = feeds;
    this.#with = dependencies;
    this.#flushMilliseconds = dependencies.flushMilliseconds ?? FLUSH_MILLISECONDS;
    this.#arrivals = openArrivals(dependencies.clock);
  }

  position(): bigint {
    return this.#arrivals.position();
  }

  reached(position: bigint, timeoutMilliseconds: number): Promise<boolean> {
    return this.#arrivals.reached(position, timeoutMilliseconds);
  }

  onTouched(listener: (touched: readonly Touched[]) => void): void {
    this.#listener = listener;
  }

  async open(): Promise<void> {
    for (const feed of this.#feeds) {
      const active = await this.#with.readModels.active(feed.name);
      if (active?.version === feed.version) await feed.open(active);
      else await this.#startGeneration(feed);
    }
    this.#arrivals.reach(this.#lowest());
  }

  /** The first build of a projection, or its rebuild for a new version. */
  async #startGeneration(feed: Feed): Promise<void> {
    const { readModels, writes } = this.#with;
    if (!writes) return feed.open(undefined);
    const collection = await readModels.begin(feed.name, feed.version);
    await readModels.activate(collection);
    await feed.open(collection);
  }

  async catchUp(progress?: (done: bigint, end: bigint) => void): Promise<void> {
    const end = await this.#with.store.end();
    for await (const page of this.#with.store.readAll(this.#lowest())) {
      await this.#take(page);
      if (this.#isUnsavedFor(CATCH_UP_FLUSH_MILLISECONDS)) await this.#flush();
      progress?.(this.position(), end);
    }
    await this.#flush();
    this.#arrivals.reach(end);
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        try {
          return await this.#follow(signal);
        } catch (error) {
          if (!(error instanceof CollectionGone)) throw error;
          this.#with.log.info({}, 'projections were rebuilt by another process; opening them again');
          this.#gone = undefined;
          await this.open();
        }
      }
    } finally {
      await this.#flush();
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for await (const page of this.#with.store.follow(this.#lowest(), signal)) {
      await this.#take(page);
      if (this.#isUnsavedFor(this.#restMilliseconds())) await this.#flush();
      else this.#saveSoon(signal);
    }
  }

  #lowest(): bigint {
    let least: bigint | undefined;
    for (const feed of this.#feeds) if (least === undefined || feed.position() < least) least = feed.position();
    return least ?? BEGINNING;
  }

  async #take(page: readonly Recorded[]): Promise<void> {
    if (this.#gone !== undefined) throw this.#gone;
    for (const feed of this.#feeds) {
      const fetching = feed.prepare(page);
      if (fetching !== undefined) await fetching;
    }
    for (const event of page) for (const feed of this.#feeds) feed.apply(event);
    this.#unsavedSince ??= this.#with.clock.monotonicMilliseconds();
    const last = page.at(-1);
    if (last !== undefined) this.#arrivals.reach(last.position);
    this.#tell();
    let unsaved = 0;
    for (const feed of this.#feeds) unsaved += feed.unsavedCount();
    if (unsaved > UNSAVED_MAX) await this.#flush();
  }

  #tell(): void {
    const touched: Touched[] = [];
    for (const feed of this.#feeds) {
      const keys = feed.takeTouched();
      if (keys.length > 0) touched.push({ shelf: feed.name, keys });
    }
    if (touched.length > 0) this.#listener?.(touched);
  }

  #isUnsavedFor(milliseconds: number): boolean {
    const since = this.#unsavedSince;
    return since !== undefined && this.#with.clock.monotonicMilliseconds() - since >= milliseconds;
  }

  #restMilliseconds(): number {
    return this.#flushMilliseconds + REST_FACTOR * this.#saveMilliseconds;
  }

  /** A quiet log must be saved as well: a timer does what the next page would have done. */
  #saveSoon(signal: AbortSignal): void {
    if (this.#timerRuns || !this.#with.writes) return;
    this.#timerRuns = true;
    this.#with.clock
      .wait(this.#restMilliseconds(), signal)
      .then(
        () => this.#flush(),
        () => undefined,
      )
      .catch((error: unknown) => {
        if (error instanceof CollectionGone) this.#gone = error;
        else this.#with.log.error({ error }, 'views could not be saved; they are saved with the next events');
      })
      .finally(() => void (this.#timerRuns = false));
  }

  /** One save at a time. */
  #flush(): Promise<void> {
    if (!this.#with.writes) return Promise.resolve();
    this.#saving = this.#saving.catch(() => undefined).then(() => this.#saveWithRetry());
    return this.#saving;
  }

  async #saveWithRetry(): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#save();
      } catch (error) {
        if (error instanceof CollectionGone || tries >= SAVE_TRIES_MAX) throw error;
        this.#with.log.warn({ error }, 'views could not be saved; trying again');
        await this.#with.clock.wait(100 * tries);
      }
    }
  }

  async #save(): Promise<void> {
    this.#unsavedSince = undefined;
    const { clock, readModels } = this.#with;
    const begun = clock.monotonicMilliseconds();
    const taken = this.#feeds.flatMap((feed) => {
      const unsaved = feed.takeUnsaved();
      return unsaved === undefined ? [] : [{ feed, unsaved }];
    });
    if (taken.length === 0) return;
    try {
      await readModels.save(taken.map(({ unsaved }) => unsaved));
      for (const { feed } of taken) feed.saved();
      this.#saveMilliseconds = clock.monotonicMilliseconds() - begun;
    } catch (error) {
      for (const { feed } of taken) feed.unsaved();
      throw error;
    }
  }
}

type Waiter = { position: bigint; deadline: number; settle: (shown: boolean) => void };

/** Who waits for which position. One timer serves all of them: timeouts are rare, arrivals are not. */
function openArrivals(clock: Clock): Pick<Projector, 'position' | 'reached'> & { reach: (position: bigint) => void } {
  let waiters: Waiter[] = [];
  let sweeping = false;
  let applied = BEGINNING;

  return {
    position: () => applied,
    reach: (position) => {
      if (position <= applied) return;
      applied = position;
      if (waiters.length === 0) return;
      const waiting = waiters;
      waiters = waiting.filter((waiter) => waiter.position > applied);
      for (const waiter of waiting) if (waiter.position <= applied) waiter.settle(true);
    },
    reached: (position, timeoutMilliseconds) => {
      if (position <= applied) return Promise.resolve(true);
      return new Promise((settle) => {
        waiters.push({ position, deadline: clock.monotonicMilliseconds() + timeoutMilliseconds, settle });
        void sweep();
      });
    },
  };

  async function sweep(): Promise<void> {
    if (sweeping) return;
    sweeping = true;
    while (waiters.length > 0) {
      await clock.wait(SWEEP_MILLISECONDS);
      const now = clock.monotonicMilliseconds();
      const late = waiters.filter((waiter) => waiter.deadline <= now);
      if (late.length === 0) continue;
      waiters = waiters.filter((waiter) => waiter.deadline > now);
      for (const waiter of late) waiter.settle(false);
    }
    sweeping = false;
  }
}

/** What the projector needs of a shelf, whatever its views are. */
export type Feed = Pick<
  Shelf<object>,
  | 'name'
  | 'version'
  | 'open'
  | 'position'
  | 'prepare'
  | 'apply'
  | 'takeTouched'
  | 'takeUnsaved'
  | 'saved'
  | 'unsaved'
  | 'unsavedCount'
>;
