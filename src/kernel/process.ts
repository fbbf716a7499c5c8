import type { Event, RecordedEvent } from './event.ts';

/** Something that must be done; `id` derives from the causing events, so that the same debt is never two duties. */
export type Duty<Type extends string = string, Data extends object = object> = Readonly<{
  type: Type;
  id: string;
  data: Readonly<Data>;
}>;

/** An event from which a process counts time: its place in the log, and its instant as it was recorded. */
export type Mark = Readonly<{ position: number; at: string }>;

/** Milliseconds since an event happened; a step of the wall clock does not change them while a process counts them. */
export type Since = (mark: Mark) => number;

/**
 * A to-do list folded from events, one state per key. It never acts and knows no clock: it says what is owed by now, and when to ask again.
 * A state with nothing left to watch is `undefined` and is forgotten.
 */
export type Process<E extends Event, S extends object, D extends Duty> = Readonly<{
  name: string;
  version: number;
  handles: readonly E['type'][];
  keysOf: (event: RecordedEvent<E>) => readonly string[];
  evolve: (state: S | undefined, event: RecordedEvent<E>, key: string) => S | undefined;
  owed: (state: S, since: Since) => readonly D[];
  /** Milliseconds until more is owed, should nothing happen before; `undefined`: nothing will be. */
  wakesIn: (state: S, since: Since) => number | undefined;
  /** Where a state holds more than JSON (range maps): to JSON and back. */
  stored?: Readonly<{ encode: (state: S) => unknown; decode: (json: unknown) => S }>;
}>;

/** An event as a process keeps it, to count from. */
export function markOf({ position, metadata }: RecordedEvent): Mark {
  return { position: Number(position), at: metadata.at };
}

/** Pays one duty and leaves a settling event behind. It re-reads what it needs: the event is only the doorbell. */
export type Perform<D extends Duty> = (duty: D, signal: AbortSignal) => Promise<void>;
