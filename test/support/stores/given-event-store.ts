import { randomUUID } from 'node:crypto';
import type { RecordedEvent } from '../../../src/kernel/event.ts';
import { AppendTooLarge, type EventStore, WrongExpectedRevision } from '../../../src/ports/event-store.ts';

/** Stream categories of one test on a server that is never empty: real names on the one side, those of the test on the other. */
export type OwnCategories = Readonly<{
  categories: readonly string[];
  /** The store as the test sees it: only its own streams, under the names that it gave them. */
  seen: (store: EventStore) => EventStore;
}>;

/** The URL of a server to test against in place of the stand-in. */
export const givenEventStoreUrl = process.env.TEST_EVENT_STORE_URL || undefined;

export function ownCategories(names: readonly string[]): OwnCategories {
  const prefix = `test${randomUUID().slice(0, 8)}`;
  const real = (stream: string): string => `${prefix}${stream}`;
  const named = <E extends RecordedEvent>(event: E): E => ({ ...event, stream: event.stream.slice(prefix.length) });
  return {
    categories: names.map(real),
    seen: (store) => ({
      ...store,
      read: (stream, after) => pagesOf(store.read(real(stream), after), named),
      revision: (stream) => store.revision(real(stream)),
      eventAt: (stream, revision) => store.eventAt(real(stream), revision),
      append: async (stream, expected, events) => {
        try {
          return await store.append(real(stream), expected, events);
        } catch (error) {
          throw failureFor(stream, error);
        }
      },
      readAll: (after) => pagesOf(store.readAll(after), named),
      follow: (after, signal, told) => pagesOf(store.follow(after, signal, told), named),
    }),
  };
}

function failureFor(stream: string, error: unknown): unknown {
  if (error instanceof WrongExpectedRevision) return new WrongExpectedRevision(stream, error.expected, error.actual);
  return error instanceof AppendTooLarge ? new AppendTooLarge(stream, error.bytes, error.limitBytes) : error;
}

async function* pagesOf<E>(
  pages: AsyncIterable<readonly E[]>,
  named: (event: E) => E,
): AsyncGenerator<readonly E[], void, undefined> {
  for await (const page of pages) yield page.map(named);
}
