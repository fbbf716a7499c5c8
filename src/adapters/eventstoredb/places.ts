import { NoSuchPlace } from './failures.ts';
import { NEAR_BYTES } from './looking.ts';
import type { RetryingReads } from './passes.ts';
import type { Progress } from './progress.ts';
import { readAllBackwards, readEnd, readPlace, readRecordsBackwards } from './read-requests.ts';
import type { AllPosition } from './read-responses.ts';

/** Where records begin: the server reads `$all` from there, and refuses any other place. */
export type Places = Readonly<{
  /**
   * A place to begin at for what comes after a position at which no record begins. Who wants the event at a position asks for what comes
   * after the one before it, so that is tried first; then records are gone through backwards, from a known place that is near, or else
   * those of ours alone. `undefined`: there is none, and the beginning is the place.
   */
  near: (position: bigint) => Promise<AllPosition | undefined>;
  /** Whether a record begins there, or the log ends. */
  isPlace: (place: AllPosition) => Promise<boolean>;
}>;

/** So many places are known that were asked for lately: who looks at an event looks at what is around it next. */
const REMEMBERED_MAX = 32;

export function openPlaces(passes: RetryingReads, prefixes: readonly string[], progress: Progress): Places {
  let remembered: readonly bigint[] = [];
  return { near, isPlace };

  async function near(position: bigint): Promise<AllPosition | undefined> {
    const next = at(position + 1n);
    if (await isPlace(next)) {
      remembered = [next.commit, ...remembered].slice(0, REMEMBERED_MAX);
      return (await passes.some(readRecordsBackwards(next, 1)))[0]?.position;
    }
    const [newest] = await passes.some(readEnd());
    const ends = newest === undefined ? [] : [newest.position.commit];
    const known = [...remembered, ...ends]
      .filter((place) => place > position && place - position <= NEAR_BYTES)
      .toSorted((one, other) => Number(one - other));
    const [nearest] = known;
    if (nearest !== undefined) return newestUpTo(position, at(nearest), (before) => readRecordsBackwards(before));
    const ours = progress.farthest()?.newest ?? position;
    return newestUpTo(position, ours > position ? at(ours) : undefined, (before) => readAllBackwards(before, prefixes));
  }

  /** The newest record at a position or before it, of those that come backwards from a place. */
  async function newestUpTo(
    position: bigint,
    from: AllPosition | undefined,
    request: (before: AllPosition | undefined) => ReturnType<typeof readPlace>,
  ): Promise<AllPosition | undefined> {
    let last = from;
    for await (const page of passes.pages(() => request(last))) {
      const found = page.find(({ position: { commit } }) => commit <= position);
      if (found !== undefined) return found.position;
      last = page.at(-1)?.position;
    }
    return undefined;
  }

  async function isPlace(place: AllPosition): Promise<boolean> {
    try {
      await passes.some(readPlace(place));
      return true;
    } catch (failure) {
      if (failure instanceof NoSuchPlace) return false;
      throw failure;
    }
  }
}

function at(commit: bigint): AllPosition {
  return { commit, prepare: commit };
}
