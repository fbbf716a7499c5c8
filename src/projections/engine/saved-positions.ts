import type { Clock } from '../../ports/clock.ts';
import { BEGINNING, type EventStore, StoreUnavailable } from '../../ports/event-store.ts';
import type { ReadModels, Standing } from '../../ports/read-models.ts';
import { isHeld } from './ahead-of-log.ts';
import { openPositionWaiters } from '../../concurrency/position-waiters.ts';

/** How far the views are that every server can read. */
export type SavedPositions = Readonly<{
  /** The position up to which each of the projections has been saved, in this version, from this log. @throws StoreUnavailable */
  lowest: () => Promise<bigint>;
  /** Resolves `true` once everything up to `position` is saved, by whichever process, `false` after `timeoutMilliseconds`. */
  reached: (position: bigint, timeoutMilliseconds: number) => Promise<boolean>;
}>;

const LOOK_MILLISECONDS = 20;

/** Looks as long as a reader waits: one look for all readers. */
export function openSavedPositions(
  projections: readonly Readonly<{ name: string; version: number }>[],
  {
    readModels,
    store,
    clock,
  }: Readonly<{ readModels: Pick<ReadModels, 'standing'>; store: Pick<EventStore, 'end' | 'eventAt'>; clock: Clock }>,
): SavedPositions {
  /** The generation of each projection that was found to be one of this log. */
  const held = new Map<string, number>();
  const positionWaiters = openPositionWaiters(clock);
  let waiting = 0;
  let looking: Promise<void> | undefined;

  return {
    lowest,
    reached: async (position, timeoutMilliseconds) => {
      waiting += 1;
      try {
        const reached = positionWaiters.reached(position, timeoutMilliseconds);
        looking ??= look();
        // It goes on until no reader waits, unless it fails.
        return await Promise.race([reached, looking.then(() => reached)]);
      } finally {
        waiting -= 1;
      }
    },
  };

  async function lowest(): Promise<bigint> {
    const standing = await readModels.standing(projections.map(({ name }) => name));
    let least: bigint | undefined;
    for (const { name, version } of projections) {
      const position = await positionOf(standing.get(name), version);
      if (least === undefined || position < least) least = position;
    }
    return least ?? BEGINNING;
  }

  async function positionOf(standing: Standing | undefined, version: number): Promise<bigint> {
    if (standing === undefined || standing.collection.version !== version) return BEGINNING;
    const { collection, position = BEGINNING } = standing;
    if (held.get(collection.projection) === collection.generation) return position;
    if (!(await isHeld(standing, store))) return BEGINNING;
    held.set(collection.projection, collection.generation);
    return position;
  }

  async function look(): Promise<void> {
    try {
      for (;;) {
        positionWaiters.reach(await lowest().catch(beginningOrThrow));
        if (waiting === 0) return;
        await clock.wait(LOOK_MILLISECONDS);
      }
    } finally {
      // At once: who comes from here on needs another look.
      looking = undefined;
    }
  }
}

/** A store that is away may be back before those who wait give up. */
function beginningOrThrow(error: unknown): bigint {
  if (error instanceof StoreUnavailable) return BEGINNING;
  throw error;
}
