import type { RecordedEvent } from '../../kernel/event.ts';
import { type EventStore, NO_STREAM, WrongExpectedRevision } from '../../ports/event-store.ts';
import type { Snapshots } from '../../ports/read-models.ts';
import type { Secrets } from '../../ports/secrets.ts';

/**
 * A log for a rehearsal: what is appended follows on what the real one holds, for those who read it here, and is forgotten with it. Rules and use cases
 * that work on it say what would come of what is asked for.
 */
export function rehearsalLog(store: EventStore): EventStore {
  const added = new Map<string, RecordedEvent[]>();
  let end: bigint | undefined;
  const revisionOf = async (stream: string): Promise<bigint> =>
    added.get(stream)?.at(-1)?.revision ?? (await store.revision(stream));
  return {
    ...store,
    read: async function* (stream, after = NO_STREAM) {
      yield* store.read(stream, after);
      const more = (added.get(stream) ?? []).filter(({ revision }) => revision > after);
      if (more.length > 0) yield more;
    },
    revision: revisionOf,
    append: async (stream, expected, events) => {
      const actual = await revisionOf(stream);
      if (actual !== expected) throw new WrongExpectedRevision(stream, expected, actual);
      let [revision, position] = [actual, end ?? (await store.end())];
      const placed = events.map((event) => ({
        ...event,
        stream,
        revision: (revision += 1n),
        position: (position += 1n),
      }));
      end = position;
      added.set(stream, [...(added.get(stream) ?? []), ...placed]);
      return { revision, position };
    },
    close: () => Promise.resolve(),
  };
}

const nothing = (): Promise<void> => Promise.resolve();

/** Secrets for a rehearsal: those that are there can be read, and none is put or removed. */
export function rehearsalSecrets({ get, list }: Secrets): Secrets {
  return { get, list, put: nothing, putIfAbsent: nothing, remove: nothing };
}

/** Snapshots for a rehearsal: those that are there serve, and none is kept. */
export function rehearsalSnapshots({ load, partNames, loadParts }: Snapshots): Snapshots {
  return {
    load,
    partNames,
    loadParts,
    save: nothing,
    replace: () => Promise.resolve(false),
    saveParts: nothing,
    dropParts: nothing,
  };
}
