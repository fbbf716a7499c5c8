import type { Event, RecordedEvent } from './event.ts';

/**
 * One kind of view, folded from events: one document per key, no store in sight.
 * `evolve` sets state and never counts up, so that replaying any suffix changes nothing; `undefined` deletes the view.
 * Bump `version` when the shape or the meaning changes: the view is then rebuilt beside the old one.
 */
export type Projection<E extends Event, View extends object> = Readonly<{
  name: string;
  version: number;
  handles: readonly E['type'][];
  keysOf: (event: RecordedEvent<E>) => readonly string[];
  evolve: (view: View | undefined, event: RecordedEvent<E>, key: string) => View | undefined;
  /** Where applying many events at once costs less than one by one: begins to collect those that follow on a view. */
  batch?: (view: View) => Batch<E, View>;
  /** Where a view holds more than JSON (range sets, bigints): to JSON and back. */
  stored?: Readonly<{ encode: (view: View) => unknown; decode: (json: unknown) => View }>;
}>;

/** Events on their way into one view: what comes out is what `evolve` makes of them, one after the other. */
export type Batch<E extends Event, View extends object> = Readonly<{
  /** Takes the next event, if that changes the view and can wait. `false`: it is for `evolve`, after all that was taken. */
  take: (event: RecordedEvent<E>) => boolean;
  /** The view with all that was taken, which is at least one event. */
  view: () => View;
}>;
