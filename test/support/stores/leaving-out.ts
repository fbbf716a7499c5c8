import type { RecordedEvent } from '../../../src/kernel/event.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';

export type LeavesOut = (event: RecordedEvent) => boolean;

/** A log whose followers are not given some events, as a server's that has told a checkpoint too early. */
export function leavingOut(store: EventStore, isLeftOut: LeavesOut, alsoReads = false): EventStore {
  async function* without(pages: AsyncIterable<readonly RecordedEvent[]>) {
    for await (const page of pages) {
      const left = page.filter((event) => !isLeftOut(event));
      if (left.length > 0) yield left;
    }
  }
  return {
    ...store,
    follow: (after, signal, told) => without(store.follow(after, signal, told)),
    readAll: (after) => (alsoReads ? without(store.readAll(after)) : store.readAll(after)),
  };
}

export function isAt(stream: string, ...revisions: readonly number[]): LeavesOut {
  return (event) => event.stream === stream && revisions.includes(Number(event.revision));
}
