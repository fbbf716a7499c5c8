import type { Event } from '../../kernel/event.ts';
import type { Projection } from '../../kernel/projection.ts';

/** A view with the position of the last event that changed it. */
export type PlacedView<V extends object> = Readonly<{ view: V; position: bigint }>;

/** The text of a view in the read models, and back. Only for texts that this version of the projection has written. */
export type ViewText<V extends object> = Readonly<{
  encode: (placed: PlacedView<V>) => string;
  decode: (json: string) => PlacedView<V>;
}>;

type Stored = Readonly<{ position: string; view: unknown }>;

export function viewTextOf<E extends Event, V extends object>({ stored }: Projection<E, V>): ViewText<V> {
  const { encode, decode } = stored ?? plain<V>();
  return {
    encode: ({ view, position }) => {
      const text: Stored = { position: String(position), view: encode(view) };
      return JSON.stringify(text);
    },
    // This projection's own version wrote it.
    decode: (json) => {
      const { position, view } = JSON.parse(json) as Stored;
      return { view: decode(view), position: BigInt(position) };
    },
  };
}

/** The position in a text that any projection has saved, which stands first in it. */
export function positionIn(text: string): bigint | undefined {
  const digits = /^\{"position":"(\d+)"/.exec(text)?.[1];
  return digits === undefined ? undefined : BigInt(digits);
}

/** Views that are plain JSON need no translation: they were written by this projection's own version. */
function plain<V extends object>(): { encode: (view: V) => unknown; decode: (json: unknown) => V } {
  return { encode: (view) => view, decode: (json) => json as V };
}
