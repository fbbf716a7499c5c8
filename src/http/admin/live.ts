import type { ServerResponse } from 'node:http';
import { epochMilliseconds } from '../../domain/instants.ts';
import type { RecordedEvent } from '../../kernel/event.ts';
import { streamId } from '../../kernel/stream-name.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EventStore } from '../../ports/event-store.ts';
import type { Log } from '../../ports/log.ts';
import type { AdminSessionView } from '../../projections/ip-control/admin-session-view.ts';

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
const RETRY_MILLISECONDS = 2_000;
/** Of the newest events; what came shortly before the start is read again for them. */
const EVENTS_KEPT = 200;
const FOLLOW_AGAIN_MILLISECONDS = 1_000;

/** What parts of pages follow. Each event rings those of `topicsOf`. */
export type Topic =
  | 'accounts'
  | 'customers'
  | 'events'
  | 'pools'
  | 'review'
  | 'routers'
  | 'work'
  | `${'customer' | 'pool' | 'region'}:${string}`;

/** Pages that are looked at, and what is rung in them. */
export type Live = Readonly<{
  /** A stream that rings when one of the topics has changed, until the page is left or the session is over. */
  open: (response: ServerResponse, wanted: Readonly<{ topics: readonly string[]; session: AdminSessionView }>) => void;
  /** The newest events of the log that this server has seen, the newest first. */
  newestEvents: () => readonly RecordedEvent[];
  /** Follows the log until `signal` aborts; then all streams are closed. */
  run: (signal: AbortSignal) => Promise<void>;
}>;

type Stream = {
  response: ServerResponse;
  topics: ReadonlySet<string>;
  session: AdminSessionView;
  /** Topics that have changed and were not rung yet. */
  changed: Set<string>;
  rungAt: number;
};

export type LiveDependencies = Readonly<{
  store: Pick<EventStore, 'end' | 'readAll' | 'follow'>;
  /** Resolves when the views show what the log holds up to a position. */
  reached: (position: bigint) => Promise<boolean>;
  clock: Clock;
  log: Log;
}>;

/**
 * An event that the reading leaves out would leave a part as it is until the next one rings for it, or the page is loaded again: views,
 * which notice what is missing, are what is shown. One follower of the log for all pages of this server. A ring carries no data: who is rung asks for the part, and is authorized as for
 * any page.
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

  constructor(dependencies: LiveDependencies) {
    this.#dependencies = dependencies;
  }

  newestEvents(): readonly RecordedEvent[] {
    return this.#newest.toReversed();
  }

  open(response: ServerResponse, { topics, session }: Parameters<Live['open']>[1]): void {
    const ofSession = [...this.#streams].filter((stream) => stream.session.sessionId === session.sessionId);
    const isFull = this.#streams.size >= STREAMS_MAX || ofSession.length >= STREAMS_OF_SESSION_MAX;
    if (isFull || topics.length > TOPICS_MAX) {
      // Browsers take this for the end of the stream, and the page asks again later.
      response.writeHead(204).end();
      return;
    }
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
    response.write(`retry: ${RETRY_MILLISECONDS}\n\nevent: open\ndata:\n\n`);
    const stream = { response, topics: new Set(topics), session, changed: new Set<string>(), rungAt: 0 };
    this.#streams.add(stream);
    response.once('close', () => this.#streams.delete(stream));
    // The server lets clients close their side first; of a stream nothing is left to say then.
    response.socket?.once('end', () => response.destroy());
  }

  async run(signal: AbortSignal): Promise<void> {
    const alive = this.#keepAlive(signal);
    try {
      for (let position = await this.#start(signal); !signal.aborted;) position = await this.#follow(position, signal);
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
        const begin = end < BigInt(EVENTS_KEPT) ? BEGINNING : end - BigInt(EVENTS_KEPT);
        for await (const page of store.readAll(begin)) {
          this.#take(page.filter(({ position }) => position <= end));
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
        this.#take(page);
        position = this.#newestPosition;
        void this.#ringSoon(signal);
      }
    } catch (error) {
      if (signal.aborted) return position;
      log.debug({ error }, 'pages are not live: the log can not be followed; trying again');
      await this.#pause(FOLLOW_AGAIN_MILLISECONDS, signal);
    }
    return position;
  }

  #take(page: readonly RecordedEvent[]): void {
    for (const event of page) this.#note(event);
    this.#newest = [...this.#newest, ...page].slice(-EVENTS_KEPT);
    this.#newestPosition = page.at(-1)?.position ?? this.#newestPosition;
  }

  #note(event: RecordedEvent): void {
    const { type, data } = event;
    const topics = topicsOf(event);
    for (const stream of this.#streams) {
      for (const topic of topics) if (stream.topics.has(topic)) stream.changed.add(topic);
      const isOver = type === 'AdministratorSessionEnded' && 'sessionId' in data;
      if (isOver && data.sessionId === stream.session.sessionId) stream.response.end();
    }
  }

  /** What changes within a quarter of a second is rung once, when it can be read; each stream at most once a second, and one after the other. */
  async #ringSoon(signal: AbortSignal): Promise<void> {
    if (this.#isRinging) return;
    this.#isRinging = true;
    const { reached, clock } = this.#dependencies;
    try {
      await this.#pause(GATHER_MILLISECONDS, signal);
      while (!signal.aborted && [...this.#streams].some(({ changed }) => changed.size > 0)) {
        await reached(this.#newestPosition);
        const now = clock.monotonicMilliseconds();
        const due = this.#longestDue(now);
        if (due !== undefined) ring(due, now);
        await this.#pause(due === undefined ? GATHER_MILLISECONDS : BETWEEN_RINGS_MILLISECONDS, signal);
      }
    } finally {
      this.#isRinging = false;
    }
  }

  #longestDue(now: number): Stream | undefined {
    const due = [...this.#streams].filter((one) => one.changed.size > 0 && now - one.rungAt >= RING_MILLISECONDS);
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
  for (const topic of stream.changed) say(stream.response, `event: changed\ndata: ${topic}\n\n`);
  stream.changed.clear();
}

/** Of a customer: changes that wait for routers, commits, and what becomes of them. */
const WORK = /^(?:Addresses|Commit|SourceWhitelist(?!Rejected)|SubnetReleased$)/;

/** The regions that an event is about; a whitelist request is about several. */
function regionsOf(data: RecordedEvent['data']): readonly unknown[] {
  if ('regionId' in data) return [data.regionId];
  return 'regionIds' in data && Array.isArray(data.regionIds) ? data.regionIds : [];
}

/** What of the pages may look otherwise after an event. */
function topicsOf({ type, stream, data }: RecordedEvent): readonly Topic[] {
  const [category = ''] = stream.split('-', 1);
  const region = regionsOf(data).map((regionId) => `region:${String(regionId)}` as const);
  switch (category) {
    case 'customer': {
      const work = WORK.test(type) ? (['work', 'routers'] as const) : [];
      const review = type.startsWith('SourceWhitelist') ? (['review'] as const) : [];
      return ['events', 'customers', `customer:${streamId(stream)}`, ...work, ...review, ...region];
    }
    case 'directory':
      return ['events', 'customers'];
    case 'region':
      return ['events', 'routers', `region:${streamId(stream)}`];
    case 'webhookDelivery':
      return [
        'events',
        'work',
        'customers',
        ...('customerId' in data ? [`customer:${String(data.customerId)}` as const] : []),
      ];
    case 'administrator':
      return ['events', 'accounts'];
    case 'workerPool':
      return ['events', 'pools', `pool:${streamId(stream)}`];
    default:
      return [
        'events',
        'pools',
        ...('pool' in data && typeof data.pool === 'string' ? [`pool:${data.pool}` as const] : []),
      ];
  }
}
