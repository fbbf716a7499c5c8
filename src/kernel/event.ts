/** A fact that happened. Plain JSON only: instants travel as ISO 8601 text, counts above 2^53 as decimal text. */
export type Event<Type extends string = string, Data extends object = object> = Readonly<{
  type: Type;
  data: Readonly<Data>;
}>;

/** What every event says about itself. `$correlationId` and `$causationId` are the names that EventStoreDB understands. */
export type Metadata = Readonly<{
  /** `admin:<account>`, `admin:<account>+<token>`, `admin:<user>@cli`, `token:<id>` or `system:<process>`. */
  actor: string;
  /** ISO 8601 with numeric offset, milliseconds: `2026-11-27T20:50:00.123+00:00`. */
  at: string;
  schema: number;
  $correlationId: string;
  $causationId: string;
  /** SHA-256 (hex) of the previous event of the stream; empty for the first. */
  previousHash: string;
  /** SHA-256 (hex) over `previousHash` and this event's own canonical content. */
  hash: string;
}>;

/** An event ready to be appended: it has its id and its metadata, but no place in the log yet. */
export type Sealed<E extends Event = Event> = E & Readonly<{ id: string; metadata: Metadata }>;

/** An event as the store gives it back: `revision` counts within its stream from 0, `position` orders the whole log. */
export type RecordedEvent<E extends Event = Event> = Sealed<E> &
  Readonly<{ stream: string; revision: bigint; position: bigint }>;

/** Whether an event is one of these types: a fold takes only those that it cares about, and the compiler knows which. */
export function isOfTypes<const Types extends readonly string[]>(
  types: Types,
): <E extends Event>(event: E) => event is Extract<E, { type: Types[number] }> {
  const known = new Set<string>(types);
  return <E extends Event>(event: E): event is Extract<E, { type: Types[number] }> => known.has(event.type);
}

/** Narrows an event to the types that `handles` names; the codec has already checked its data. */
export function isHandled<E extends Event>(
  handles: ReadonlySet<string>,
  event: RecordedEvent,
): event is RecordedEvent<E> {
  return handles.has(event.type);
}
