import type { Temporal } from '@js-temporal/polyfill';
import type { Event, Told } from './event.ts';

/** Something that must be done; `id` derives from the causing events, so that the same debt is never two duties. */
export type Duty<Type extends string = string, Data extends object = object> = Readonly<{
  type: Type;
  id: string;
  data: Readonly<Data>;
}>;

/**
 * A to-do list folded from events, one state per key. It never acts: it says what is owed now, and when to ask again.
 * A state with nothing left to watch is `undefined` and is forgotten.
 */
export type Process<E extends Event, S extends object, D extends Duty> = Readonly<{
  name: string;
  version: number;
  handles: readonly E['type'][];
  keysOf: (event: Told<E>) => readonly string[];
  evolve: (state: S | undefined, event: Told<E>, key: string) => S | undefined;
  owed: (state: S, now: Temporal.Instant) => readonly D[];
  wakeAt: (state: S) => Temporal.Instant | undefined;
}>;

/** Pays one duty and leaves a settling event behind. It re-reads what it needs: the event is only the doorbell. */
export type Perform<D extends Duty> = (duty: D, signal: AbortSignal) => Promise<void>;
