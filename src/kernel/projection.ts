import type { Event, RecordedEvent } from './event.ts';
import type { GetPart, PutPart } from './parts.ts';

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
  /** Where a view holds more than JSON (range sets, bigints): to JSON and back. What is large may be kept apart from it, where there is a place for that. */
  stored?: Readonly<{
    encode: (view: View, put?: PutPart) => unknown;
    decode: (json: unknown, get?: GetPart) => View;
  }>;
}>;
