const SHIFT = 8;

/** An immutable map from small whole numbers (ids handed out from 1). A change copies a few hundred slots, however many there are. */
export class PersistentMap<V> {
  readonly #chunks: readonly (readonly (V | undefined)[] | undefined)[];
  readonly size: number;

  /** An empty map; the parameters are for its own use. */
  constructor(chunks: readonly (readonly (V | undefined)[] | undefined)[] = [], size = 0) {
    this.#chunks = chunks;
    this.size = size;
  }

  get(id: number): V | undefined {
    return this.#chunks[id >>> SHIFT]?.[id & ((1 << SHIFT) - 1)];
  }

  has(id: number): boolean {
    return this.get(id) !== undefined;
  }

  with<W>(id: number, value: W): PersistentMap<V | W> {
    return this.#replaced<V | W>(id, value);
  }

  without(id: number): PersistentMap<V> {
    return this.has(id) ? this.#replaced<V>(id, undefined) : this;
  }

  *values(): IterableIterator<V> {
    for (const chunk of this.#chunks) {
      if (chunk === undefined) continue;
      for (const value of chunk) if (value !== undefined) yield value;
    }
  }

  #replaced<W>(id: number, value: W | undefined): PersistentMap<V | W> {
    const at = id >>> SHIFT;
    const chunks: (readonly (V | W | undefined)[] | undefined)[] = [...this.#chunks];
    const chunk: (V | W | undefined)[] = [...(chunks[at] ?? [])];
    chunk[id & ((1 << SHIFT) - 1)] = value;
    chunks[at] = chunk;
    return new PersistentMap<V | W>(chunks, this.size + Number(value !== undefined) - Number(this.has(id)));
  }
}
