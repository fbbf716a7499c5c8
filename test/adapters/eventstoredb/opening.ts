import { systemClock } from '../../../src/adapters/clock.ts';
import { type EventStoreDbOptions, openEventStoreDb } from '../../../src/adapters/eventstoredb/event-store.ts';
import { createLog } from '../../../src/adapters/log.ts';
import type { RecordedEvent } from '../../../src/kernel/event.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { sampleCodec } from '../../contracts/sample-events.ts';

/** What a test may set; the rest is as the server would have it, with less patience. */
export type Opening = Partial<EventStoreDbOptions> & Readonly<{ port?: number }>;

/** Opens the store on a stand-in at this port, without TLS. */
export function openStore({ port, ...options }: Opening): Promise<EventStore> {
  return openEventStoreDb({
    url: `esdb://127.0.0.1:${port}?tls=false`,
    codec: sampleCodec,
    clock: systemClock,
    log: createLog({ level: 'silent' }),
    categories: ['customer', 'region'],
    patienceMilliseconds: 30_000,
    answerMilliseconds: 1_000,
    ...options,
  });
}

/** Everything that an iteration gives. */
export async function all(pages: AsyncIterable<readonly RecordedEvent[]>): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const page of pages) events.push(...page);
  return events;
}

/** The texts of notes. */
export function textsOf(events: readonly RecordedEvent[]): readonly string[] {
  return events.map(({ data }) => ('text' in data ? String(data.text) : ''));
}

/** What a promise is rejected with. */
export function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** Follows a store until it has as many events as wanted, or is told to stop. */
export function following(
  store: EventStore,
  after: bigint,
  wanted = Number.POSITIVE_INFINITY,
): Readonly<{ seen: RecordedEvent[]; passed: bigint[]; followed: boolean[]; stop: () => void; ended: Promise<void> }> {
  const stop = new AbortController();
  const seen: RecordedEvent[] = [];
  const passed: bigint[] = [];
  const followed: boolean[] = [];
  const told = {
    passed: (position: bigint) => void passed.push(position),
    isFollowed: (is: boolean) => void followed.push(is),
  };
  const ended = (async () => {
    for await (const page of store.follow(after, stop.signal, told)) {
      seen.push(...page);
      if (seen.length >= wanted) stop.abort();
    }
  })();
  return { seen, passed, followed, stop: () => stop.abort(), ended };
}
