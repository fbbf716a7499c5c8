import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { CollectionGone, type ReadModels } from '../../ports/read-models.ts';
import type { ViewCache } from './view-cache.ts';

/** What a saver needs of a view cache. */
export type Saved = Pick<ViewCache<object>, 'takeUnsaved' | 'saved' | 'unsaved' | 'unsavedCount'>;

export type SaverDependencies = Readonly<{
  readModels: ReadModels;
  clock: Clock;
  log: Log;
  /** `false`: nothing is ever saved. */
  writes: boolean;
  /** Asked before each save: `false`, nothing is saved any more. */
  mayStillWrite?: () => boolean;
  /** At most this long until a change is saved (default: 200), */
  flushMilliseconds?: number;
  /** and this many times as long as the last save took (default: 100): large views are saved seldom. */
  restFactor?: number;
}>;

const UNSAVED_MAX = 20_000;
const SAVE_TRIES_MAX = 5;
const RETRY_MILLISECONDS = 100;
const FLUSH_MILLISECONDS = 200;
/** Saving takes at most one part in this many of the time. */
const REST_FACTOR = 100;

/** Saves what view caches have not saved yet: in batches, one at a time. */
export class Saver {
  readonly #viewCaches: readonly Saved[];
  readonly #with: SaverDependencies;
  readonly #whenGone: () => void;
  #unsavedSince: number | undefined;
  /** How long the last save took. */
  #saveMilliseconds = 0;
  #saving: Promise<void> = Promise.resolve();
  #timerRuns = false;
  #isStopped = false;

  /** `whenGone`: a timed save found that a generation was dropped. */
  constructor(viewCaches: readonly Saved[], dependencies: SaverDependencies, whenGone: () => void) {
    this.#viewCaches = viewCaches;
    this.#with = dependencies;
    this.#whenGone = whenGone;
  }

  /** A change was applied. Saves at once when too many wait already. */
  async applied(): Promise<void> {
    this.#unsavedSince ??= this.#with.clock.monotonicMilliseconds();
    let unsaved = 0;
    for (const viewCache of this.#viewCaches) unsaved += viewCache.unsavedCount();
    if (unsaved > UNSAVED_MAX) await this.save();
  }

  /** Whether something has not been saved for so long, or longer where saving takes long. */
  isUnsavedFor(milliseconds: number): boolean {
    const since = this.#unsavedSince;
    const rest = Math.max(milliseconds, REST_FACTOR * this.#saveMilliseconds);
    return since !== undefined && this.#with.clock.monotonicMilliseconds() - since >= rest;
  }

  /** Saves in a while, and again as long as there is something: also when the log is quiet. Ends with `signal`. */
  saveSoon(signal: AbortSignal): void {
    if (this.#timerRuns || this.#unsavedSince === undefined || signal.aborted) return;
    if (!this.#with.writes || this.#isStopped) return;
    this.#timerRuns = true;
    void this.#saveLater(signal);
  }

  /** Saves all that is unsaved now. @throws CollectionGone, or what the last of several tries failed with. */
  save(): Promise<void> {
    if (!this.#with.writes) return Promise.resolve();
    this.#saving = this.#saving.catch(() => undefined).then(() => this.#saveWithRetry());
    return this.#saving;
  }

  /** Saves before the end of the process. What can't be saved is made again from the log. */
  async saveLast(): Promise<void> {
    try {
      await this.save();
    } catch (error) {
      this.#with.log.warn({ error }, 'the newest views could not be saved; they are made again at the next start');
    }
  }

  /** Resolves when no save is under way. */
  async settled(): Promise<void> {
    await this.#saving.catch(() => undefined);
  }

  /** Saves nothing more: what is in memory can't be relied upon. */
  stop(): void {
    this.#isStopped = true;
  }

  async #saveLater(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#with;
    try {
      const { flushMilliseconds = FLUSH_MILLISECONDS, restFactor = REST_FACTOR } = this.#with;
      await clock.wait(flushMilliseconds + restFactor * this.#saveMilliseconds, signal);
      await this.save();
    } catch (error) {
      if (error instanceof CollectionGone) this.#whenGone();
      else if (!signal.aborted) log.error({ error }, 'views could not be saved; trying again');
    } finally {
      this.#timerRuns = false;
      // What came meanwhile, or what could not be saved.
      this.saveSoon(signal);
    }
  }

  async #saveWithRetry(): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#saveOnce();
      } catch (error) {
        if (error instanceof CollectionGone || tries >= SAVE_TRIES_MAX) throw error;
        this.#with.log.warn({ error }, 'views could not be saved; trying again');
        await this.#with.clock.wait(RETRY_MILLISECONDS * tries);
      }
    }
  }

  async #saveOnce(): Promise<void> {
    if (this.#isStopped || this.#with.mayStillWrite?.() === false) return;
    const { clock, readModels } = this.#with;
    const since = this.#unsavedSince;
    this.#unsavedSince = undefined;
    const begun = clock.monotonicMilliseconds();
    const taken = this.#viewCaches.flatMap((viewCache) => {
      const unsaved = viewCache.takeUnsaved();
      return unsaved === undefined ? [] : [{ viewCache, unsaved }];
    });
    if (taken.length === 0) return;
    try {
      await readModels.save(taken.map(({ unsaved }) => unsaved));
      for (const { viewCache } of taken) viewCache.saved();
      this.#saveMilliseconds = clock.monotonicMilliseconds() - begun;
    } catch (error) {
      for (const { viewCache } of taken) viewCache.unsaved();
      this.#unsavedSince ??= since;
      throw error;
    }
  }
}
