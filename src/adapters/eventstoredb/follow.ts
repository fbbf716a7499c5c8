import type { Codec } from '../../events/codec.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import type { Clock } from '../../ports/clock.ts';
import { StoreUnavailable } from '../../ports/event-store.ts';
import type { Log } from '../../ports/log.ts';
import { openBackoff } from '../../concurrency/backoff.ts';
import type { EventStoreConnection } from './connection.ts';
import { CallFailed } from './failures.ts';
import { eventsIn } from './passes.ts';
import type { Progress } from './progress.ts';
import { subscribeToAll } from './read-requests.ts';
import { placeAfter } from './reads.ts';
import { type AllPosition, positionOf, recordedEvent } from './recorded-events.ts';
import { responsePages } from './response-pages.ts';
import type { streams } from './protocol.ts';

export type FollowOptions = Readonly<{
  connection: EventStoreConnection;
  codec: Codec;
  clock: Clock;
  log: Log;
  prefixes: readonly string[];
  progress: Progress;
  /** The position of our newest event. */
  end: () => Promise<bigint>;
  /** A subscription that says nothing for this long is checked against the end of the log. */
  silenceMilliseconds: number;
  /** The store is closed, with the error of whoever goes on using it. */
  closed: AbortSignal;
}>;

/** How far one follower is: the last event that it handed on, and the place that the server has looked through. */
type Mark = { handed: bigint; reached: AllPosition | undefined };

/**
 * Subscribes to our streams after a position, and again whenever the subscription breaks, for ever, from where it was:
 * each event once, in order. Ends when the signal aborts. @throws UndecodableEvent, StoreUnavailable when the store is closed
 */
export async function* follow(
  options: FollowOptions,
  after: bigint,
  signal: AbortSignal,
  passed: (position: bigint) => void,
): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
  const { clock, log, codec, progress, closed } = options;
  const over = AbortSignal.any([signal, closed]);
  const backOff = openBackoff(clock);
  const mark: Mark = { handed: after, reached: placeAfter(after) };
  while (!over.aborted) {
    try {
      for await (const responses of subscription(options, mark, over)) {
        backOff.reset();
        const events = newEvents(responses, mark, codec);
        if (events.length > 0) yield events;
        const looked = mark.reached;
        mark.reached = later(looked, lastCheckpoint(responses));
        if (mark.reached === undefined) continue;
        progress.tell({ newest: mark.handed, reached: mark.reached });
        if (mark.reached !== looked && mark.reached.commit > mark.handed) passed(mark.reached.commit);
      }
      if (!over.aborted) throw new CallFailed('the server ended the subscription', false);
    } catch (failure) {
      if (!(failure instanceof CallFailed) && !(failure instanceof StoreUnavailable)) throw failure;
      if (over.aborted) break;
      log.warn(
        { error: failure, after: String(mark.handed) },
        'the subscription to the event store broke; subscribing again',
      );
      await backOff.wait(over).catch(() => undefined);
    }
  }
  if (!signal.aborted) closed.throwIfAborted();
}

function subscription(
  { connection, clock, prefixes, end, silenceMilliseconds }: FollowOptions,
  mark: Mark,
  signal: AbortSignal,
): AsyncIterable<readonly streams.ReadResp[]> {
  // Silence is the rule in a quiet log; it is a fault when the log has gone on without us.
  const isAlive = async (): Promise<boolean> => (await end()) <= mark.handed;
  const request = subscribeToAll(mark.reached, prefixes);
  return responsePages(request, { connection, clock, signal, silenceMilliseconds, isAlive });
}

/** What comes after the mark, which moves on with it; a server may deliver an event twice. */
function newEvents(responses: readonly streams.ReadResp[], mark: Mark, codec: Codec): readonly RecordedEvent[] {
  const events: RecordedEvent[] = [];
  for (const event of eventsIn(responses)) {
    const place = positionOf(event);
    if (place.commit <= mark.handed) continue;
    events.push(recordedEvent(event, codec));
    mark.handed = place.commit;
    mark.reached = later(mark.reached, place);
  }
  return events;
}

function lastCheckpoint(responses: readonly streams.ReadResp[]): AllPosition | undefined {
  const checkpoint = responses.findLast((response) => response.hasCheckpoint())?.getCheckpoint();
  if (checkpoint === undefined) return undefined;
  return { commit: BigInt(checkpoint.getCommitPosition()), prepare: BigInt(checkpoint.getPreparePosition()) };
}

function later(one: AllPosition | undefined, other: AllPosition | undefined): AllPosition | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return other.commit > one.commit || (other.commit === one.commit && other.prepare > one.prepare) ? other : one;
}
