import type { Clock } from '../../ports/clock.ts';
import { BEGINNING } from '../../ports/event-store.ts';
import type { Log } from '../../ports/log.ts';
import { Looking, NEAR_BYTES } from './looking.ts';
import type { RetryingReads } from './passes.ts';
import type { Places } from './places.ts';
import type { Progress } from './progress.ts';
import { readAllEnd, readAllForwards, readEnd, subscribeToAll } from './read-requests.ts';
import type { AllPosition } from './read-responses.ts';

export type EndOfLogOptions = Readonly<{
  passes: RetryingReads;
  /** What the names of our streams start with. */
  prefixes: readonly string[];
  progress: Progress;
  places: Places;
  clock: Clock;
  log: Log;
  /** The position up to which the saved views show the log: no look for events of ours need go before it. */
  lookedThrough: () => Promise<bigint | undefined>;
}>;

/** More of ours than this since the farthest that anyone has looked: then the way back from the end is the shorter one. */
const RECENT_MAX = 64;
/** The way back from the end is short where our newest event is among the last some 100,000 records, and is not gone further. */
const WAY_BACK_MILLISECONDS = 300;
/** An older server does not say that it has come to its end. */
const SILENCE_AT_END_MILLISECONDS = 1_000;
const TOLD_MILLISECONDS = 10_000;

/**
 * Where our log ends among what others write: the position of our newest event, or a later one up to which there is no more of ours. What
 * others have written is looked through once, forwards, from where somebody has looked before.
 */
export function openEndOfLog(options: EndOfLogOptions): () => Promise<bigint> {
  const { passes, prefixes, progress, clock, log } = options;
  let looking: Promise<unknown> | undefined;

  return async () => {
    for (;;) {
      const [newest] = await passes.some(readEnd());
      if (newest === undefined) return BEGINNING;
      const end = newest.position.commit;
      const known = progress.farthest();
      if (known !== undefined && known.reached.commit >= end) return known.newest;
      if (known !== undefined && end - known.reached.commit <= NEAR_BYTES) {
        const found = await since(known.newest, known.reached, end);
        if (found !== undefined) return found;
      }
      // Who asks meanwhile waits for the same look.
      looking ??= look(end).finally(() => (looking = undefined));
      await looking;
    }
  };

  /** Our newest event since a place that is near the end, if there are not too many. */
  async function since(newest: bigint, reached: AllPosition | undefined, end: bigint): Promise<bigint | undefined> {
    const recent = await passes.some(readAllForwards(reached, prefixes, RECENT_MAX));
    if (recent.length >= RECENT_MAX) return undefined;
    const last = recent.at(-1);
    const found = last?.position.commit ?? newest;
    const later = found > newest ? found : newest;
    progress.tell({
      newest: later,
      reached: { commit: later > end ? later : end, prepare: later > end ? later : end },
    });
    return later;
  }

  async function look(end: bigint): Promise<void> {
    const back = await passes.within(readAllEnd(prefixes), WAY_BACK_MILLISECONDS);
    const [newest] = back ?? [];
    if (newest !== undefined) {
      const found = newest.position.commit;
      const place = found > end ? found : end;
      return progress.tell({ newest: found, reached: { commit: place, prepare: place } });
    }
    if (back !== undefined) return progress.tell({ newest: BEGINNING, reached: { commit: end, prepare: end } });
    await lookForwards(end);
  }

  async function lookForwards(end: bigint): Promise<void> {
    const known = progress.farthest();
    const start = known?.newest ?? (await savedPlace(options, end));
    const from = known?.reached ?? progress.placeAfter(start);
    const seen = new Looking(start, from);
    const begun = from?.commit ?? 0n;
    let told = clock.monotonicMilliseconds();
    const isNear = (): boolean => end - (seen.reached()?.commit ?? 0n) <= NEAR_BYTES;
    const request = () => {
      seen.beginAgain();
      return subscribeToAll(seen.reached(), prefixes);
    };
    for await (const responses of passes.subscription(request, SILENCE_AT_END_MILLISECONDS)) {
      seen.take(responses);
      const reached = seen.reached();
      if (reached !== undefined) progress.tell({ newest: seen.handed(), reached });
      if (isNear() || seen.hasCaughtUp()) break;
      if (clock.monotonicMilliseconds() - told < TOLD_MILLISECONDS) continue;
      told = clock.monotonicMilliseconds();
      const done = ((reached?.commit ?? begun) - begun) * 100n;
      log.info(
        { position: String(reached?.commit), end: String(end) },
        `looking through what others have written to the event store: ${done / (end - begun || 1n)} %`,
      );
    }
    await since(seen.handed(), seen.reached(), end);
  }
}

/** Up to where the saved views show the log. A place behind the end, or where no record begins, is one of another log. */
async function savedPlace({ places, lookedThrough }: EndOfLogOptions, end: bigint): Promise<bigint> {
  const position = (await lookedThrough()) ?? BEGINNING;
  if (position <= BEGINNING || position > end) return BEGINNING;
  return (await places.isPlace({ commit: position, prepare: position })) ? position : BEGINNING;
}
