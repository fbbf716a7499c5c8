import type { Clock } from '../ports/clock.ts';
import { BEGINNING, type EventStore } from '../ports/event-store.ts';
import type { ReadModels } from '../ports/read-models.ts';
import { openSavedPositions } from '../projections/engine/saved-positions.ts';
import type { Leadership } from './leadership.ts';

/** What can be read, and when. */
export type Reading = Readonly<{
  /** The position up to which a reader on any server finds what the log holds. @throws StoreUnavailable */
  position: () => Promise<bigint>;
  /** Resolves `true` once a reader on any server finds what the log holds up to `position`; `false` after the time. */
  reached: (position: bigint, timeoutMilliseconds: number) => Promise<boolean>;
  /** The same, as the answer to a change waits for it. `false`: the change is made all the same, and those who read wait for it. */
  shown: (position: bigint) => Promise<boolean>;
  /** Resolves when what was answered before it could be read can be, or with `false` after a while; nothing: all of it can. */
  untilShown: () => Promise<boolean> | undefined;
  /** Whether a reader is served at all at this moment. */
  isReadable: () => boolean;
  /** Whether it is not because the views are catching up with the log. */
  isCatchingUp: () => boolean;
  /** Whether the log is followed, and what it holds up to `position` can be read, if need be in a moment. @throws StoreUnavailable */
  isCaughtUp: (position: bigint) => Promise<boolean>;
}>;

/** How long an answer waits until all readers can read what it says: among several servers, until another one leads. */
const SHOWN_MILLISECONDS = { alone: 5_000, amongOthers: 15_000 };
const LOOK_MILLISECONDS = 25;
/** What has just been appended is on its way. */
const MOMENT_MILLISECONDS = 1_000;

/** One server on its stores: everything is read from its memory, so nothing can be read while it does not keep the views. */
export function readingAlone(leadership: Leadership, clock: Clock): Reading {
  let isOver = false;
  const over = (): void => void (isOver = true);
  leadership.ended.then(over, over);
  return {
    position: async () => leadership.term()?.projector.position() ?? BEGINNING,
    reached,
    ...ownWrites(reached, SHOWN_MILLISECONDS.alone),
    isReadable: () => leadership.leads(),
    isCatchingUp: () => !leadership.leads() && leadership.term() !== undefined,
    // It may have to open the views once more, when they were found to be damaged.
    isCaughtUp: async (position) => {
      const projector = leadership.leads() ? leadership.term()?.projector : undefined;
      if (projector === undefined || !projector.isReadable() || !projector.isFollowing()) return false;
      return projector.reached(position, MOMENT_MILLISECONDS);
    },
  };

  async function reached(position: bigint, timeoutMilliseconds: number): Promise<boolean> {
    const deadline = clock.monotonicMilliseconds() + timeoutMilliseconds;
    for (;;) {
      const left = deadline - clock.monotonicMilliseconds();
      const term = leadership.leads() ? leadership.term() : undefined;
      if (term !== undefined && (await term.projector.reached(position, left))) return true;
      if (left <= 0 || isOver) return false;
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
    position: lowest,
    reached,
    ...ownWrites(reached, SHOWN_MILLISECONDS.amongOthers),
    isReadable: () => true,
    isCatchingUp: () => false,
    isCaughtUp: (position) => reached(position, MOMENT_MILLISECONDS),
  };
}

/** How long who reads waits for what was answered before. */
const READ_MILLISECONDS = 5_000;

function ownWrites(reached: Reading['reached'], milliseconds: number): Pick<Reading, 'shown' | 'untilShown'> {
  /** What was answered, and could not be read by then. */
  let missing = BEGINNING;
  return {
    shown: async (position) => {
      if (await reached(position, milliseconds)) return true;
      if (position > missing) missing = position;
      return false;
    },
    untilShown: () => {
      const awaited = missing;
      if (awaited === BEGINNING) return undefined;
      return reached(awaited, READ_MILLISECONDS).then((isShown) => {
        if (isShown && missing === awaited) missing = BEGINNING;
        return isShown;
      });
    },
  };
}
