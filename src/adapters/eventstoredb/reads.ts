import type { Codec } from '../../events/codec.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { BEGINNING, type EventStore, NO_STREAM } from '../../ports/event-store.ts';
import type { RetryingReads, WireEvent } from './passes.ts';
import type { Progress } from './progress.ts';
import { readAllEnd, readAllForwards, readStreamEnd, readStreamForwards } from './read-requests.ts';
import { type AllPosition, hashOf, idOf, positionOf, recordedEvent } from './recorded-events.ts';

export type ReadsOptions = Readonly<{
  passes: RetryingReads;
  codec: Codec;
  /** What the names of our streams start with. */
  prefixes: readonly string[];
  progress: Progress;
}>;

/** Where an event is, whatever it says. */
export type Place = Readonly<{ id: string; revision: bigint; position: bigint }>;

export type Reads = Readonly<{
  stream: (stream: string, after: bigint) => AsyncIterable<readonly RecordedEvent[]>;
  revision: (stream: string) => Promise<bigint>;
  all: (after: bigint) => AsyncIterable<readonly RecordedEvent[]>;
  end: () => Promise<bigint>;
  eventAt: EventStore['eventAt'];
  /** A stretch of a stream. */
  whatIsAt: (stream: string, from: bigint, count: number) => Promise<readonly Place[]>;
}>;

/** More of ours than this since the farthest that anyone has looked: then the way back from the end is the shorter one. */
const RECENT_MAX = 64;
/** The way back from the end may lead through very many events of others before it meets one of ours. */
const SEARCH_MILLISECONDS = 30_000;

export function openReads({ passes, codec, prefixes, progress }: ReadsOptions): Reads {
  return {
    stream,
    revision: async (name) => {
      const [newest] = await passes.some(readStreamEnd(name));
      return newest === undefined ? NO_STREAM : placeOf(newest).revision;
    },
    all,
    end,
    // By its stream: at a place of `$all` where no record begins, a server fails instead of finding nothing.
    eventAt: async (name, revision) => {
      const [found] = await passes.some(readStreamForwards(name, revision, 1));
      if (found === undefined || placeOf(found).revision !== revision) return undefined;
      return { position: positionOf(found).commit, hash: hashOf(found) };
    },
    whatIsAt: async (name, from, count) => (await passes.some(readStreamForwards(name, from, count))).map(placeOf),
  };

  async function* stream(name: string, after: bigint): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
    let last = after;
    for await (const page of passes.pages(() => readStreamForwards(name, last + 1n))) {
      const events = page.map((event) => recordedEvent(event, codec));
      last = events.at(-1)?.revision ?? last;
      yield events;
    }
  }

  async function* all(after: bigint): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
    const until = await end();
    let last = after;
    if (last >= until) return;
    for await (const page of passes.pages(() => readAllForwards(placeAfter(last), prefixes))) {
      // Reading starts at its position, which we have already, and goes on beyond what was the end when it was asked for.
      const events = page
        .filter((event) => positionOf(event).commit > last && positionOf(event).commit <= until)
        .map((event) => recordedEvent(event, codec));
      last = events.at(-1)?.position ?? last;
      if (events.length > 0) yield events;
      if (last >= until) return;
    }
  }

  async function end(): Promise<bigint> {
    const known = progress.farthest();
    const recent =
      known === undefined ? undefined : await passes.some(readAllForwards(known.reached, prefixes, RECENT_MAX));
    if (known !== undefined && recent !== undefined && recent.length < RECENT_MAX) {
      const newest = recent.at(-1);
      const position = newest === undefined ? known.newest : positionOf(newest).commit;
      return position > known.newest ? position : known.newest;
    }
    const [newest] = await passes.some(readAllEnd(prefixes), SEARCH_MILLISECONDS);
    return newest === undefined ? BEGINNING : positionOf(newest).commit;
  }
}

/** The place of a position of ours; undefined: the start. */
export function placeAfter(position: bigint): AllPosition | undefined {
  return position <= BEGINNING ? undefined : { commit: position, prepare: position };
}

function placeOf(event: WireEvent): Place {
  return { id: idOf(event), revision: BigInt(event.getStreamRevision()), position: positionOf(event).commit };
}
