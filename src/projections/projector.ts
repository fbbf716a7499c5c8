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
/** Large views are saved seldom: saving takes at most one part in this many of the time. */
const REST_FACTOR = 20;
const SWEEP_MILLISECONDS = 250;
/** While catching up, views change again and again: saving them seldom saves most of the work. */
const CATCH_UP_FLUSH_MILLISECONDS = 2_000;

/** Feeds all shelves from one reading of the log. */
export function openProjector(feeds: readonly Feed[], dependencies: ProjectorDependencies): Projector {
  const { store, readModels, clock, log, writes, flushMilliseconds = 200 } = dependencies;
  const arrivals = openArrivals(clock);
  let listener: ((touched: readonly Touched[]) => void) | undefined;
  let unsavedSince: number | undefined;
  /** How long the last save took. */
  let saveMilliseconds = 0;
  let saving: Promise<void> = Promise.resolve();
  let timerRuns = false;
  let gone: CollectionGone | undefined;

  return {
    open,
    catchUp,
    run,
    position: arrivals.position,
    reached: arrivals.reached,
    onTouched: (heard) => void (listener = heard),
  };

  async function open(): Promise<void> {
    for (const feed of feeds) {
      const active = await readModels.active(feed.name);
      if (active?.version === feed.version) await feed.open(active);
      else await startGeneration(feed);
    }
  }

  /** The first build of a projection, or its rebuild for a new version. */
  async function startGeneration(feed: Feed): Promise<void> {
    if (!writes) return feed.open(undefined);
    const collection = await readModels.begin(feed.name, feed.version);
    await readModels.activate(collection);
    await feed.open(collection);
  }

  function lowest(): bigint {
    let least: bigint | undefined;
    for (const feed of feeds) if (least === undefined || feed.position() < least) least = feed.position();
    return least ?? BEGINNING;
  }

  async function catchUp(progress?: (done: bigint, end: bigint) => void): Promise<void> {
    const end = await store.end();
    for await (const page of store.readAll(lowest())) {
      await take(page);
      if (isOlder(CATCH_UP_FLUSH_MILLISECONDS)) await flush();
      progress?.(arrivals.position(), end);
    }
    await flush();
    arrivals.reach(end);
  }

  async function run(signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        try {
          for await (const page of store.follow(lowest(), signal)) {
            await take(page);
            if (isOlder(flushMilliseconds + REST_FACTOR * saveMilliseconds)) await flush();
            else saveSoon(signal);
          }
          return;
        } catch (error) {
          if (!(error instanceof CollectionGone)) throw error;
          log.info({}, 'projections were rebuilt by another process; opening them again');
          gone = undefined;
          await open();
        }
      }
    } finally {
      await flush();
    }
  }

  async function take(page: readonly Recorded[]): Promise<void> {
    if (gone !== undefined) throw gone;
    for (const feed of feeds) {
      const fetching = feed.prepare(page);
      if (fetching !== undefined) await fetching;
    }
    for (const event of page) for (const feed of feeds) feed.apply(event);
    unsavedSince ??= clock.monotonicMilliseconds();
    const touched = feeds
      .map((feed) => ({ shelf: feed.name, keys: feed.takeTouched() }))
      .filter(({ keys }) => keys.length > 0);
    const last = page.at(-1);
    if (last !== undefined) arrivals.reach(last.position);
    if (touched.length > 0) listener?.(touched);
    if (feeds.reduce((sum, feed) => sum + feed.unsavedCount(), 0) > UNSAVED_MAX) await flush();
  }

  function isOlder(milliseconds: number): boolean {
    return unsavedSince !== undefined && clock.monotonicMilliseconds() - unsavedSince >= milliseconds;
  }

  /** A quiet log must be saved as well: a timer does what the next page would have done. */
  function saveSoon(signal: AbortSignal): void {
    if (timerRuns || !writes) return;
    timerRuns = true;
    clock
      .wait(flushMilliseconds + REST_FACTOR * saveMilliseconds, signal)
      .then(flush, () => undefined)
      .catch((error: unknown) => {
        if (error instanceof CollectionGone) gone = error;
        else log.error({ error }, 'views could not be saved; they are saved with the next events');
      })
      .finally(() => void (timerRuns = false));
  }

  /** One save at a time. */
  function flush(): Promise<void> {
    if (!writes) return Promise.resolve();
    saving = saving.catch(() => undefined).then(saveWithRetry);
    return saving;
  }

  async function saveWithRetry(): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await save();
      } catch (error) {
        if (error instanceof CollectionGone || tries >= SAVE_TRIES_MAX) throw error;
        log.warn({ error }, 'views could not be saved; trying again');
        await clock.wait(100 * tries);
      }
    }
  }

  async function save(): Promise<void> {
    unsavedSince = undefined;
    const begun = clock.monotonicMilliseconds();
    const taken = feeds.flatMap((feed) => {
      const unsaved = feed.takeUnsaved();
      return unsaved === undefined ? [] : [{ feed, unsaved }];
    });
    if (taken.length === 0) return;
    try {
      await readModels.save(taken.map(({ unsaved }) => unsaved));
      for (const { feed } of taken) feed.saved();
      saveMilliseconds = clock.monotonicMilliseconds() - begun;
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
