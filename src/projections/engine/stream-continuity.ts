import type { RecordedEvent } from '../../kernel/event.ts';
import { BEGINNING, type EventStore } from '../../ports/event-store.ts';
import type { Log } from '../../ports/log.ts';

/** Events that the log holds, and that a reading of it has left out: a later one of their stream has come. */
export class EventsLeftOut extends Error {
  override readonly name = 'EventsLeftOut';
  /** Of the first of them. */
  readonly position: bigint;
  /** Of which types they are. */
  readonly types: ReadonlySet<string> | 'any';
  constructor(message: string, position: bigint, types: ReadonlySet<string> | 'any') {
    super(message);
    this.position = position;
    this.types = types;
  }
}

/** A reading that leaves out the same events so often is not tried any more. */
const READINGS_MAX = 4;

/**
 * Whether a reading of the log has every revision of every stream. It remembers the newest revision of each stream that it has met: measured,
 * 60 to 100 bytes a stream. A stream that is met first behind a position from which the reading goes on costs one look into the log.
 */
export class StreamContinuity {
  readonly #store: Pick<EventStore, 'name' | 'read' | 'eventAt'>;
  readonly #log: Log;
  readonly #newest = new Map<string, number>();
  /** How often the same events were left out, by stream and first revision. */
  readonly #leftOut = new Map<string, number>();
  #from = BEGINNING;

  constructor(store: Pick<EventStore, 'name' | 'read' | 'eventAt'>, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  /** A reading begins: what lies up to this position was read by an earlier one. */
  begin(after: bigint): void {
    this.#newest.clear();
    this.#from = after;
  }

  /**
   * Takes the next events of the reading.
   * @throws EventsLeftOut, told in one line of the log: none of this page may be applied, and the reading begins again before them
   */
  async take(page: readonly RecordedEvent[]): Promise<void> {
    if (this.#from !== BEGINNING) await this.#meet(page);
    for (const event of page) {
      const [known, revision] = [this.#newest.get(event.stream) ?? -1, Number(event.revision)];
      if (revision > known + 1) await this.#requireHole(event, known);
      if (revision > known) this.#newest.set(event.stream, revision);
    }
  }

  /** Streams that have at least so many events, of those that this reading has met. */
  longStreams(events: number): readonly string[] {
    return [...this.#newest].flatMap(([stream, revision]) => (revision + 1 >= events ? [stream] : []));
  }

  /** Streams of which only what lies before this reading is known to be read. */
  async #meet(page: readonly RecordedEvent[]): Promise<void> {
    const first = new Map<string, RecordedEvent>();
    for (const event of page) {
      const isNew = event.revision > 0n && !this.#newest.has(event.stream) && !first.has(event.stream);
      if (isNew) first.set(event.stream, event);
    }
    await Promise.all(
      [...first].map(async ([stream, { revision }]) => {
        const read = await lastRevisionWithin(this.#store, stream, revision - 1n, this.#from);
        this.#newest.set(stream, Number(read));
      }),
    );
  }

  /** A log may have lost events itself: then there is nothing to be read, and `verify` tells of them. */
  async #requireHole({ stream, revision }: RecordedEvent, known: number): Promise<void> {
    const missing = `revision ${known + 1}${revision - 1n > known + 1 ? ` to ${revision - 1n}` : ''} of ${stream}`;
    const fields = { stream, after: known, before: String(revision) };
    const [first, types] = await this.#between(stream, BigInt(known), revision);
    if (first === undefined) {
      this.#log.error(fields, `${this.#store.name} does not hold ${missing}: edgeward verify says more`);
      return;
    }
    const place = `${stream} ${first.revision}`;
    const readings = (this.#leftOut.get(place) ?? 0) + 1;
    this.#leftOut.set(place, readings);
    const message = `reading ${this.#store.name} left out ${missing}, which it holds`;
    if (readings >= READINGS_MAX) throw new Error(`${message}, ${readings} times: its views can't be made`);
    this.#log.error({ ...fields, position: String(first.position) }, `${message}; it is read again from before that`);
    throw new EventsLeftOut(message, first.position, types);
  }

  async #between(
    stream: string,
    after: bigint,
    before: bigint,
  ): Promise<readonly [RecordedEvent | undefined, ReadonlySet<string>]> {
    let first: RecordedEvent | undefined;
    const types = new Set<string>();
    for await (const page of this.#store.read(stream, after)) {
      for (const event of page) {
        if (event.revision >= before) return [first, types];
        first ??= event;
        types.add(event.type);
      }
    }
    return [first, types];
  }
}

/** The last revision of a stream, up to one, whose event lies at a position or before it; mostly that very one. -1n: there is none. */
export async function lastRevisionWithin(
  store: Pick<EventStore, 'eventAt'>,
  stream: string,
  last: bigint,
  position: bigint,
): Promise<bigint> {
  const isWithin = async (revision: bigint): Promise<boolean> => {
    const found = await store.eventAt(stream, revision);
    return found !== undefined && found.position <= position;
  };
  if (await isWithin(last)) return last;
  let [within, behind] = [-1n, last];
  while (behind - within > 1n) {
    const middle = (within + behind) / 2n;
    if (await isWithin(middle)) within = middle;
    else behind = middle;
  }
  return within;
}
