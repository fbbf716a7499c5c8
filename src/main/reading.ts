import type { Clock } from '../ports/clock.ts';
import { type EventStore, StoreUnavailable } from '../ports/event-store.ts';
import type { ReadModels } from '../ports/read-models.ts';
import { openSavedPositions } from '../projections/engine/saved-positions.ts';
import type { Leadership } from './leadership.ts';

/** What can be read, and when. */
export type Reading = Readonly<{
  /** Resolves `true` once whoever reads, on any server, finds what the log holds up to `position`; `false` after the time. */
  reached: (position: bigint, timeoutMilliseconds: number) => Promise<boolean>;
  /** The same, as an answer waits for it. @throws StoreUnavailable when it takes too long */
  shown: (position: bigint) => Promise<boolean>;
  /** Whether a reader is served at all at this moment. */
  isReadable: () => boolean;
  /** Whether what the log holds up to `position` can be read now. @throws StoreUnavailable */
  isCaughtUp: (position: bigint) => Promise<boolean>;
}>;

/** How long an answer waits until everybody can read what it says: among several servers, until another one leads. */
const SHOWN_MILLISECONDS = { alone: 5_000, amongOthers: 15_000 };
const LOOK_MILLISECONDS = 25;

/** One server on its stores: everything is read from its memory, so nothing can be read while it does not keep the views. */
export function readingAlone(leadership: Leadership, clock: Clock): Reading {
  return {
    reached,
    shown: (position) => shown(reached, position, SHOWN_MILLISECONDS.alone),
    isReadable: () => leadership.leads(),
    // It may have to open the views once more, when they were found to be damaged.
    isCaughtUp: async () => leadership.leads() && leadership.term()?.projector.isReadable() === true,
  };

  async function reached(position: bigint, timeoutMilliseconds: number): Promise<boolean> {
    const deadline = clock.monotonicMilliseconds() + timeoutMilliseconds;
    for (;;) {
      const left = deadline - clock.monotonicMilliseconds();
      const term = leadership.leads() ? leadership.term() : undefined;
      if (term !== undefined) return term.projector.reached(position, left);
      if (left <= 0) return false;
      await clock.wait(LOOK_MILLISECONDS);
    }
  }
}

/** Several servers: what is saved can be read on each of them, whichever leads. */
export function readingAmongOthers(
  projections: readonly Readonly<{ name: string; version: number }>[],
  dependencies: Readonly<{ readModels: ReadModels; store: EventStore; clock: Clock }>,
): Reading {
  const { lowest, reached } = openSavedPositions(projections, dependencies);
  return {
    reached,
    shown: (position) => shown(reached, position, SHOWN_MILLISECONDS.amongOthers),
    isReadable: () => true,
    isCaughtUp: async (position) => (await lowest()) >= position,
  };
}

async function shown(reached: Reading['reached'], position: bigint, milliseconds: number): Promise<true> {
  if (await reached(position, milliseconds)) return true;
  throw new StoreUnavailable(`what was recorded at ${position} can't be read within ${milliseconds} ms`);
}
