import type { Codec } from '../../events/codec.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { type EventStore, NO_STREAM } from '../../ports/event-store.ts';
import { NoSuchPlace, SilentCall } from './failures.ts';
import { Looking, NEAR_BYTES } from './looking.ts';
import type { RetryingReads } from './passes.ts';
import type { Places } from './places.ts';
import type { Progress } from './progress.ts';
import { readAllForwards, readStreamEnd, readStreamForwards, subscribeToAll } from './read-requests.ts';
import type { WireEvent } from './read-responses.ts';
import type { StreamNames } from './stream-names.ts';
import { hashOf, recordedEvent } from './recorded-events.ts';

export type ReadsOptions = Readonly<{
  passes: RetryingReads;
  codec: Codec;
  names: StreamNames;
  progress: Progress;
  places: Places;
  end: () => Promise<bigint>;
  silenceMilliseconds: number;
}>;

/** Where an event is, whatever it says. */
export type Place = Readonly<{ id: string; revision: bigint; position: bigint }>;

export type Reads = Readonly<{
  stream: (stream: string, after: bigint) => AsyncIterable<readonly RecordedEvent[]>;
  revision: (stream: string) => Promise<bigint>;
  all: (after: bigint) => AsyncIterable<readonly RecordedEvent[]>;
  eventAt: EventStore['eventAt'];
  /** A stretch of a stream. */
  whatIsAt: (stream: string, from: bigint, count: number) => Promise<readonly Place[]>;
}>;

export function openReads({ passes, codec, names, progress, places, end, silenceMilliseconds }: ReadsOptions): Reads {
  const { onServer, starts: prefixes } = names;
  return {
    stream,
    revision: async (name) => {
      const [newest] = await passes.some(readStreamEnd(onServer(name)));
      return newest === undefined ? NO_STREAM : placeOf(newest).revision;
    },
    all,
    // By its stream: at a place of `$all` where no record begins, a server fails instead of finding nothing.
    eventAt: async (name, revision) => {
      const [found] = await passes.some(readStreamForwards(onServer(name), revision, 1));
      if (found === undefined || placeOf(found).revision !== revision) return undefined;
      return { position: found.position.commit, hash: hashOf(found) };
    },
    whatIsAt: async (name, from, count) =>
      (await passes.some(readStreamForwards(onServer(name), from, count))).map(placeOf),
  };

  async function* stream(name: string, after: bigint): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
    // Whoever names a stream of others, or of the server itself, finds none of ours.
    if (!prefixes.some((prefix) => onServer(name).startsWith(prefix))) return;
    let last = after;
    for await (const page of passes.pages(() => readStreamForwards(onServer(name), last + 1n))) {
      const events = page.map((event) => recordedEvent(event, codec, names));
      last = events.at(-1)?.revision ?? last;
      yield events;
    }
  }

  /** A server says nothing while it passes over what others wrote; after too much of that a subscription says how far it is. */
  async function* all(after: bigint): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
    const until = await end();
    if (after >= until) return;
    const seen = new Looking(after, progress.placeAfter(after));
    for (;;) {
      try {
        for await (const page of passes.pages(() => readAllForwards(seen.reached(), prefixes), 'ends when silent')) {
          const events = decoded(seen.takeEvents(page), until);
          if (events.length > 0) yield events;
          if (seen.handed() >= until) return;
        }
        return;
      } catch (failure) {
        if (failure instanceof NoSuchPlace) {
          seen.beginAt(await places.near(seen.handed()));
          continue;
        }
        if (!(failure instanceof SilentCall)) throw failure;
      }
      yield* nearly(seen, until);
    }
  }

  /** By a subscription up to the last stretch, or as long as it says something. */
  async function* nearly(seen: Looking, until: bigint): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
    const request = () => {
      seen.beginAgain();
      return subscribeToAll(seen.reached(), prefixes);
    };
    for await (const responses of passes.subscription(request, silenceMilliseconds)) {
      const events = decoded(seen.take(responses), until);
      if (events.length > 0) yield events;
      if (seen.hasCaughtUp() || until - (seen.reached()?.commit ?? 0n) <= NEAR_BYTES) return;
    }
  }

  /** Reading goes on beyond what was the end when it was asked for. */
  function decoded(events: readonly WireEvent[], until: bigint): readonly RecordedEvent[] {
    return events.filter(({ position }) => position.commit <= until).map((event) => recordedEvent(event, codec, names));
  }
}

function placeOf({ id, revision, position }: WireEvent): Place {
  return { id, revision, position: position.commit };
}
