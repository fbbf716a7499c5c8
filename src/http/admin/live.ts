import type { ServerResponse } from 'node:http';
import { epochMilliseconds } from '../../domain/instants.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Log } from '../../ports/log.ts';
import type { AdminSessionView } from '../../projections/ip-control/admin-session-view.ts';
import { topicsOf } from './topics.ts';

/** Before the first position of a log. */
const BEGINNING = -1n;

const STREAMS_MAX = 200;
const STREAMS_OF_SESSION_MAX = 4;
const TOPICS_MAX = 20;
const GATHER_MILLISECONDS = 250;
const RING_MILLISECONDS = 1_000;
/** Each page that is rung fetches its parts: all at once they would hold up customers' requests. */
const BETWEEN_RINGS_MILLISECONDS = 100;
const KEEP_ALIVE_MILLISECONDS = 20_000;
/** Of the newest events; what came shortly before the start is read again for them. */
const EVENTS_KEPT = 200;
const FOLLOW_AGAIN_MILLISECONDS = 1_000;

/** Pages that are looked at, and what is rung in them. */
export type Live = Readonly<{
  /**
   * A stream that rings when one of the topics has changed, until the page is left or the session is over; at once where it has changed after
   * `since`. Without that position the page fetches all of its parts when the stream is open, and finds in them what had happened until then.
   */
  open: (response: ServerResponse, wanted: WantedStream) => void;
  /** The position up to which whatever is read from now on shows the log. */
  position: () => Promise<bigint>;
  /** The newest events of the log that this server has seen, the newest first. */
  newestEvents: () => readonly RecordedEvent[];
  /** Follows the log until `signal` aborts; then all streams are closed. */
  run: (signal: AbortSignal) => Promise<void>;
}>;

type WantedStream = Readonly<{ topics: readonly string[]; session: AdminSessionView; since?: bigint | undefined }>;

type Stream = {
  response: ServerResponse;
  topics: ReadonlySet<string>;
  session: AdminSessionView;
  /** What the log holds up to here, the page shows: another server may have made it, that has read further than this one. */
  since: bigint | undefined;
  /** Topics that have changed, and may not be readable yet. */
  changed: Set<string>;
  /** Topics whose changes can be read, and that were not rung yet. */
  ready: Set<string>;
  rungAt: number;
};

export type LiveDependencies = Readonly<{
  store: Pick<EventStore, 'end' | 'readAll' | 'follow'>;
  /** Resolves when the views show what the log holds up to a position. */
  reached: (position: bigint) => Promise<boolean>;
  /** The position up to which the views show the log. */
  position: () => Promise<bigint>;
  clock: Clock;
  log: Log;
}>;

/**
 * One follower of the log for all pages of this server. A ring carries no data: who is rung asks for the part, and is authorized as for any
 * page. An event that the reading leaves out leaves a part as it is until the next one rings for it, or the page is loaded again; what is shown
 * then comes from the views, which notice what is missing.
 */
export function openLive(dependencies: LiveDependencies): Live {
  return new LiveStreams(dependencies);
}

class LiveStreams implements Live {
  readonly #streams = new Set<Stream>();
  readonly #dependencies: LiveDependencies;
  #isRinging = false;
  #newestPosition = BEGINNING;
  #newest: RecordedEvent[] = [];
  /** All events after this position are among the newest. */
  #newestAfter = BEGINNING;
  /** Until when the log is followed; undefined before. */
  #following: AbortSignal | undefined;

  constructor(dependencies: LiveDependencies) {
    this.#dependencies = dependencies;
  }

  newestEvents(): readonly RecordedEvent[] {
    return this.#newest.toReversed();
  }

  async position(): Promise<bigint> {
    const shown = await this.#dependencies.position();
    return shown < this.#newestPosition ? shown : this.#newestPosition;
  }

  open(response: ServerResponse, { topics, session, since }: WantedStream): void {
    const ofSession = [...this.#streams].filter((stream) => stream.session.sessionId === session.sessionId);
    const isFull = this.#streams.size >= STREAMS_MAX || ofSession.length >= STREAMS_OF_SESSION_MAX;
    if (isFull || topics.length > TOPICS_MAX || topics.some((topic) => /\s/.test(topic))) {
      // Browsers take this for the end of the stream, and the page asks again later.
      response.writeHead(204).end();
      return;
    }
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
    response.flushHeaders();
    const stream = {
      response,
      topics: new Set(topics),
      session,
      since,
      changed: new Set<string>(),
      ready: new Set<string>(),
      rungAt: 0,
    };
    this.#streams.add(stream);
    response.once('close', () => this.#streams.delete(stream));
    // The server lets clients close their side first; of a stream nothing is left to say then.
    response.socket?.once('end', () => response.destroy());
    if (this.#following !== undefined) void this.#begin(stream, this.#following);
  }

  /** A stream is open once what had happened before can be read: nobody rings for that any more. */
  async #begin(stream: Stream, signal: AbortSignal): Promise<void> {
    const { reached } = this.#dependencies;
    const position = this.#newestPosition;
    if (stream.since !== undefined) {
      for (const topic of this.#changedSince(stream.since, stream.topics)) stream.changed.add(topic);
      void this.#ringSoon(signal);
    }
    while (!signal.aborted && !stream.response.destroyed && !(await reached(position)))
      await this.#pause(GATHER_MILLISECONDS, signal);
    say(stream.response, 'event: open\ndata:\n\n');
  }

  /** Of events that are not kept any more it is not known what they were about. */
  #changedSince(since: bigint, topics: ReadonlySet<string>): ReadonlySet<string> {
    if (since < this.#newestAfter) return topics;
    const later = this.#newest.filter(({ position }) => position > since);
    return new Set(later.flatMap(topicsOf).filter((topic) => topics.has(topic)));
  }

  async run(signal: AbortSignal): Promise<void> {
    const alive = this.#keepAlive(signal);
    try {
      const start = await this.#start(signal);
      this.#following = signal;
      for (const stream of this.#streams) void this.#begin(stream, signal);
      for (let position = start; !signal.aborted;) position = await this.#follow(position, signal);
    } finally {
      for (const { response } of this.#streams) response.end();
      await alive;
    }
  }

  /** The end of the log, with the newest events before it at hand. Following begins there: others may have written millions since the last of ours. */
  async #start(signal: AbortSignal): Promise<bigint> {
    const { store, log } = this.#dependencies;
    while (!signal.aborted) {
      try {
        const end = await store.end();
        this.#newest = [];
        this.#newestPosition = end;
        const begin = end < BigInt(EVENTS_KEPT) ? BEGINNING : end - BigInt(EVENTS_KEPT);
        this.#newestAfter = begin;
        for await (const page of store.readAll(begin)) {
          this.#keep(page.filter(({ position }) => position <= end));
          if (signal.aborted) break;
        }
        return end;
      } catch (error) {
        log.debug({ error }, 'pages are not live: the log can not be read; trying again');
        await this.#pause(FOLLOW_AGAIN_MILLISECONDS, signal);
      }
    }
    return BEGINNING;
  }

  async #follow(from: bigint, signal: AbortSignal): Promise<bigint> {
    const { store, log } = this.#dependencies;
    let position = from;
    try {
      for await (const page of store.follow(position, signal)) {
        for (const event of page) this.#note(event);
        this.#keep(page);
        position = page.at(-1)?.position ?? position;
        this.#newestPosition = position;
        void this.#ringSoon(signal);
      }
    } catch (error) {
      if (signal.aborted) return position;
      log.debug({ error }, 'pages are not live: the log can not be followed; trying again');
      await this.#pause(FOLLOW_AGAIN_MILLISECONDS, signal);
    }
    return position;
  }

  #keep(page: readonly RecordedEvent[]): void {
    const all = [...this.#newest, ...page];
    this.#newest = all.slice(-EVENTS_KEPT);
    this.#newestAfter = all.at(-EVENTS_KEPT - 1)?.position ?? this.#newestAfter;
  }

  #note(event: RecordedEvent): void {
    const { type, data, position } = event;
    const topics = topicsOf(event);
    for (const stream of this.#streams) {
      const isShown = stream.since !== undefined && position <= stream.since;
      if (!isShown) for (const topic of topics) if (stream.topics.has(topic)) stream.changed.add(topic);
      const isOver = type === 'AdministratorSessionEnded' && 'sessionId' in data;
      if (isOver && data.sessionId === stream.session.sessionId) stream.response.end();
    }
  }

  /** What changes within a quarter of a second is rung once, when it can be read; each stream at most once a second, and one after the other. */
  async #ringSoon(signal: AbortSignal): Promise<void> {
    if (this.#isRinging) return;
    this.#isRinging = true;
    const { clock } = this.#dependencies;
    try {
      await this.#pause(GATHER_MILLISECONDS, signal);
      while (!signal.aborted && [...this.#streams].some(({ changed, ready }) => changed.size + ready.size > 0)) {
        const due = (await this.#makeReady()) ? this.#longestDue() : undefined;
        if (due !== undefined) ring(due, clock.monotonicMilliseconds());
        await this.#pause(due === undefined ? GATHER_MILLISECONDS : BETWEEN_RINGS_MILLISECONDS, signal);
      }
    } finally {
      this.#isRinging = false;
    }
  }

  /** Waits until what has changed by now can be read; what changes while it waits is not rung with that. `false`: it can't be read in time. */
  async #makeReady(): Promise<boolean> {
    const noted = [...this.#streams].map((stream) => ({ stream, topics: [...stream.changed] }));
    for (const { changed } of this.#streams) changed.clear();
    const isShown = await this.#dependencies.reached(this.#newestPosition);
    for (const { stream, topics } of noted)
      for (const topic of topics) (isShown ? stream.ready : stream.changed).add(topic);
    return isShown;
  }

  #longestDue(): Stream | undefined {
    const now = this.#dependencies.clock.monotonicMilliseconds();
    const due = [...this.#streams].filter((one) => one.ready.size > 0 && now - one.rungAt >= RING_MILLISECONDS);
    return due.toSorted((a, b) => a.rungAt - b.rungAt)[0];
  }

  /** Proxies close what says nothing; a session that has run out gets nothing any more. */
  async #keepAlive(signal: AbortSignal): Promise<void> {
    const { clock } = this.#dependencies;
    while (!signal.aborted) {
      await this.#pause(KEEP_ALIVE_MILLISECONDS, signal);
      const now = clock.now().epochMilliseconds;
      for (const { response, session } of this.#streams) {
        if (epochMilliseconds(session.until) <= now) response.end();
        else say(response, ':\n\n');
      }
    }
  }

  async #pause(milliseconds: number, signal: AbortSignal): Promise<void> {
    await this.#dependencies.clock.wait(milliseconds, signal).catch(() => undefined);
  }
}

/**
 * Who does not read what was said before hears nothing more: it would be kept in memory for as long as the page is open. A stream that was
 * ended is known until its last bytes are sent.
 */
function say(response: ServerResponse, text: string): void {
  if (response.writableEnded) return;
  if (response.writableNeedDrain) response.destroy();
  else response.write(text);
}

function ring(stream: Stream, now: number): void {
  stream.rungAt = now;
  for (const topic of stream.ready) say(stream.response, `event: changed\ndata: ${topic}\n\n`);
  stream.ready.clear();
}
