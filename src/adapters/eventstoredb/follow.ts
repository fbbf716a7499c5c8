import type { Codec } from '../../events/codec.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import type { Clock } from '../../ports/clock.ts';
import { BEGINNING, type Following, StoreUnavailable } from '../../ports/event-store.ts';
import type { Log } from '../../ports/log.ts';
import { type Backoff, openBackoff } from '../../concurrency/backoff.ts';
import type { EventStoreConnection } from './connection.ts';
import { CallFailed, NoSuchPlace } from './failures.ts';
import { Looking } from './looking.ts';
import type { Places } from './places.ts';
import type { Progress } from './progress.ts';
import { subscribeToAll } from './read-requests.ts';
import type { ReadResponse } from './read-responses.ts';
import { recordedEvent } from './recorded-events.ts';
import { responsePages } from './response-pages.ts';
import type { StreamNames } from './stream-names.ts';

export type FollowOptions = Readonly<{
  connection: EventStoreConnection;
  codec: Codec;
  clock: Clock;
  log: Log;
  names: StreamNames;
  progress: Progress;
  /** The position of our newest event. */
  end: () => Promise<bigint>;
  places: Places;
  /** A subscription that says nothing for this long is checked against the end of the log. */
  silenceMilliseconds: number;
  /** The store is closed, with the error that later calls get. */
  closed: AbortSignal;
}>;

/**
 * Subscribes to our streams after a position, and again whenever the subscription breaks, for ever, from where it was:
 * each event once, in order. Ends when the signal aborts. @throws UndecodableEvent, StoreUnavailable when the store is closed
 */
export async function* follow(
  options: FollowOptions,
  after: bigint,
  signal: AbortSignal,
  { passed, isFollowed }: Following,
): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
  const { clock, log, codec, names, progress, closed } = options;
  const over = AbortSignal.any([signal, closed]);
  const backOff = openBackoff(clock);
  const seen = new Looking(after, progress.placeAfter(after));
  const begun = seen.reached();
  // Somebody of this process has looked further: whoever follows need not wait for a checkpoint, which a quiet server never sends.
  if (begun !== undefined && begun.commit > after) passed?.(begun.commit);
  let hasPlace = true;
  while (!over.aborted) {
    try {
      if (!hasPlace) seen.beginAt(await options.places.near(seen.handed()));
      hasPlace = true;
      for await (const responses of subscription(options, seen, over)) {
        isFollowed?.(true);
        backOff.reset();
        const looked = seen.reached();
        const events = seen.take(responses).map((event) => recordedEvent(event, codec, names));
        if (events.length > 0) yield events;
        const reached = seen.reached();
        if (reached === undefined) continue;
        progress.tell({ newest: seen.handed(), reached });
        if (reached !== looked && reached.commit > seen.handed()) passed?.(reached.commit);
      }
      if (!over.aborted) throw new CallFailed('the server ended the subscription', false);
    } catch (failure) {
      if (failure instanceof NoSuchPlace) {
        hasPlace = false;
        continue;
      }
      if (!(failure instanceof CallFailed) && !(failure instanceof StoreUnavailable)) throw failure;
      if (over.aborted) break;
      isFollowed?.(false);
      log.warn(
        { error: failure, after: String(seen.handed()) },
        'the subscription to the event store broke; subscribing again',
      );
      await untilWorthATry(options, backOff, over);
    }
  }
  if (!signal.aborted) closed.throwIfAborted();
}

const FIRST_MILLISECONDS = 50;

/** Once any other call has got an answer, the server is there, and there is nothing to wait for. */
async function untilWorthATry(
  { clock, connection }: FollowOptions,
  backOff: Backoff,
  over: AbortSignal,
): Promise<void> {
  const waited = new AbortController();
  const either = AbortSignal.any([over, waited.signal]);
  await clock.wait(FIRST_MILLISECONDS, over).catch(() => undefined);
  const rest = backOff.wait(either).catch(() => undefined);
  await Promise.race([rest, connection.nextAnswer()]);
  waited.abort();
  await rest;
}

function subscription(
  { connection, clock, names, end, silenceMilliseconds }: FollowOptions,
  seen: Looking,
  signal: AbortSignal,
): AsyncIterable<readonly ReadResponse[]> {
  seen.beginAgain();
  // Silence is the rule in a quiet log; it is a fault when the log has gone on without us.
  const isAlive = async (): Promise<boolean> => {
    const newest = await end();
    return newest <= seen.handed() || newest <= (seen.reached()?.commit ?? BEGINNING);
  };
  const request = subscribeToAll(seen.reached(), names.starts);
  return responsePages(request, { connection, clock, signal, silenceMilliseconds, isAlive });
}
