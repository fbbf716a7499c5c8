import { NoSuchPlace } from './failures.ts';
import type { RetryingReads } from './passes.ts';
import { readAllBackwards, readPlace, readRecordBefore } from './read-requests.ts';
import type { AllPosition } from './read-responses.ts';

/**
 * Where to begin for what comes after a position at which no record begins: the server refuses such a one. Who wants the event at a
 * position asks for what comes after the one before it, so that is tried first; otherwise the newest event of ours before it is looked for,
 * backwards from the end of the log. `undefined`: there is none, and the beginning is the place.
 */
export async function placeNear(
  passes: RetryingReads,
  prefixes: readonly string[],
  position: bigint,
): Promise<AllPosition | undefined> {
  const next = { commit: position + 1n, prepare: position + 1n };
  if (await isPlace(passes, next)) return (await passes.some(readRecordBefore(next)))[0]?.position;
  let last: AllPosition | undefined;
  for await (const page of passes.pages(() => readAllBackwards(last, prefixes))) {
    const before = page.find(({ position: { commit } }) => commit <= position);
    if (before !== undefined) return before.position;
    last = page.at(-1)?.position;
  }
  return undefined;
}

/** Whether a record begins there, or the log ends. */
export async function isPlace(passes: RetryingReads, place: AllPosition): Promise<boolean> {
  try {
    await passes.some(readPlace(place));
    return true;
  } catch (failure) {
    if (failure instanceof NoSuchPlace) return false;
    throw failure;
  }
}
