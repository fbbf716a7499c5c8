import { setMaxListeners } from 'node:events';
import { getHeapStatistics } from 'node:v8';
import { systemClock } from '../adapters/clock.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Lease } from '../ports/leases.ts';
import type { Log } from '../ports/log.ts';
import type { ReadModels } from '../ports/read-models.ts';
import type { AheadOfLog } from '../projections/engine/ahead-of-log.ts';
import type { ProjectionTarget } from '../projections/engine/fed-views.ts';
import { openProjector, type Projector } from '../projections/engine/projector.ts';
import type { WiredProcess } from './process-wiring.ts';

/** The time in which this server, as the only one, keeps the views and runs the processes. */
export type Term = Readonly<{
  projector: Projector;
  /** The saved views that had applied more than the log holds, or something else, when the term began; `undefined`: none. */
  ahead: AheadOfLog | undefined;
  /** Resolves when the views in memory show all that the log held when the term began; rejects when the term is over before. */
  caughtUp: Promise<void>;
  /** Rejects when a part can't go on; resolves after `stop`. */
  ended: Promise<void>;
  /** Lets duties under way end, for a while; then breaks them off. Views are saved. */
  stop: (patienceMilliseconds: number) => Promise<void>;
  /** Breaks off everything; nothing more is saved. Resolves when no duty is under way any more. */
  breakOff: (reason: Error) => Promise<void>;
}>;

export type TermParts = Readonly<{
  store: EventStore;
  readModels: ReadModels;
  log: Log;
  feeds: readonly ProjectionTarget[];
  wired: readonly WiredProcess[];
  lease: Lease;
  /** Other servers read what is saved, and wait for it. */
  areShared: boolean;
  /** Hears of views that are ahead of the log, before they are made again and before any process runs. */
  whenAhead?: (ahead: AheadOfLog) => Promise<void>;
}>;

/** Another server's reader waits for a save: it comes soon, and takes up to half of the time when it takes long. */
const PACE_FOR_OTHERS = { flushMilliseconds: 25, restFactor: 1 } as const;
const LOOK_MILLISECONDS = 1_000;

/** Opens the projections at their saved positions and starts what follows the log. @throws StoreUnavailable */
export async function startTerm(parts: TermParts): Promise<Term> {
  const { store, readModels, log, feeds, wired, lease, areShared, whenAhead } = parts;
  const clock = systemClock;
  const [stopDuties, abortDuties, stopFollowing] = [
    new AbortController(),
    new AbortController(),
    new AbortController(),
  ];
  let [isBrokenOff, isOver] = [false, false];
  // As many as there are duties under way: each has its own end, none is a leak.
  setMaxListeners(0, stopDuties.signal, abortDuties.signal, stopFollowing.signal);
  const projector = openProjector([...feeds, ...wired.map(({ viewCache }) => viewCache)], {
    store,
    readModels,
    clock,
    log,
    writes: true,
    whenAhead,
    mayStillWrite: () => lease.isHeld() && !isBrokenOff,
    hasRoom,
    ...(areShared ? PACE_FOR_OTHERS : {}),
  });
  const ahead = await projector.open();
  const end = await store.end();
  lease.lost.addEventListener('abort', () => abortDuties.abort(lease.lost.reason), { once: true });
  const running = new Map(wired.map(({ viewCache, start }) => [viewCache.name, start(projector)]));
  projector.onTouched((touched, position) => {
    for (const { viewCache, keys } of touched) running.get(viewCache)?.touched(keys, position);
  });
  const following = projector.run(stopFollowing.signal).finally(() => (isOver = true));
  const processes = [...running.values()].map((process) => process.run(stopDuties.signal, abortDuties.signal));
  // Where one can't go on, the duties of the others are still under way.
  const processing = Promise.allSettled(processes);
  const caughtUp = untilReached(end);
  const ended = Promise.all([following, ...processes]).then(() => undefined);
  // The code that ends the term knows why; no other caller need wait for these.
  for (const part of [ended, caughtUp]) part.catch(() => undefined);

  return {
    projector,
    ahead,
    caughtUp,
    ended,
    stop: async (patienceMilliseconds) => {
      stopDuties.abort();
      const patience = clock.wait(patienceMilliseconds, stopFollowing.signal).then(
        () => abortDuties.abort(new Error('the server stops')),
        () => undefined,
      );
      await processing;
      stopFollowing.abort();
      await Promise.allSettled([following, patience]);
    },
    breakOff: async (reason) => {
      isBrokenOff = true;
      abortDuties.abort(reason);
      stopDuties.abort();
      stopFollowing.abort();
      // A save under way may take long to fail, and harms nothing: what is saved is guarded by its position.
      await processing;
    },
  };

  async function untilReached(position: bigint): Promise<void> {
    while (!(await projector.reached(position, LOOK_MILLISECONDS))) {
      // Views that can't go on tell so at once, and are not asked again.
      if (isOver) await following;
      stopFollowing.signal.throwIfAborted();
    }
  }
}

/** Views that are caught up with may fill a quarter of the memory that this process may use: requests and garbage need the rest. */
function hasRoom(): boolean {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  return used < limit / 4;
}
