import type { Event } from '../../kernel/event.ts';
import type { GetPart, PutPart } from '../../kernel/parts.ts';
import type { Projection } from '../../kernel/projection.ts';

/** A view with the position of the last event that changed it. */
export type PlacedView<V extends object> = Readonly<{ view: V; position: bigint }>;

/** The text of a view in the read models, and back. Only for texts that this version of the projection has written. */
export type ViewText<V extends object> = Readonly<{
  /** With a place for large parts, the text names them. */
  encode: (placed: PlacedView<V>, put?: PutPart) => string;
  decode: (json: string, get?: GetPart) => PlacedView<V>;
}>;

type Stored = Readonly<{ position: string; parts?: readonly string[]; view: unknown }>;

export function viewTextOf<E extends Event, V extends object>({ stored }: Projection<E, V>): ViewText<V> {
  const { encode, decode } = stored ?? plain<V>();
  return {
    encode: ({ view, position }, put) => {
      const names = new Set<string>();
      const encoded = encode(view, put && ((part) => noted(put(part), names)));
      const parts = names.size === 0 ? {} : { parts: [...names] };
      const text: Stored = { position: String(position), ...parts, view: encoded };
      return JSON.stringify(text);
    },
    // This projection's own version wrote it.
    decode: (json, get) => {
      const { position, view } = JSON.parse(json) as Stored;
      return { view: decode(view, get), position: BigInt(position) };
    },
  };
}

/** The position in a text that any projection has saved, which stands first in it. */
export function positionIn(text: string): bigint | undefined {
  const digits = /^\{"position":"(\d+)"/.exec(text)?.[1];
  return digits === undefined ? undefined : BigInt(digits);
}

/** The names of the parts that a saved text is made of besides: most have none. They stand behind the position. */
export function partsIn(text: string): readonly string[] {
  const names = /^\{"position":"\d+","parts":\["([^\]]*)"\]/.exec(text)?.[1];
  return names === undefined ? [] : names.split('","');
}

function noted(name: string, names: Set<string>): string {
  names.add(name);
  return name;
}

/** Views that are plain JSON need no translation: they were written by this projection's own version. */
function plain<V extends object>(): { encode: (view: V) => unknown; decode: (json: unknown) => V } {
  return { encode: (view) => view, decode: (json) => json as V };
}
