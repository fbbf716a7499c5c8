/** Writes whole numbers below 2^53 in as few bytes as they need: seven bits a byte, the lowest first, the upper bit set where more follow. */
export class VarintWriter {
  #bytes = new Uint8Array(1_024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Forgets all that was written. */
  begin(): void {
    this.#length = 0;
  }

  write(value: number): void {
    if (this.#length + BYTES_MAX > this.#bytes.length) this.#grow(BYTES_MAX);
    const bytes = this.#bytes;
    let rest = value;
    while (rest >= 128) {
      // The bits of a number above 2^32 are not at hand otherwise.
      bytes[this.#length++] = rest >= TWO_32 ? (rest % 128) + 128 : (rest & 127) | 128;
      rest = rest >= TWO_32 ? Math.floor(rest / 128) : rest >>> 7;
    }
    bytes[this.#length++] = rest;
  }

  writeBytes(bytes: Uint8Array): void {
    if (this.#length + bytes.length > this.#bytes.length) this.#grow(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** All that was written, until something else is. */
  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** A copy of all that was written. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #grow(more: number): void {
    const grown = new Uint8Array(2 * this.#bytes.length + more);
    grown.set(this.#bytes);
    this.#bytes = grown;
  }
}

/** Reads what a `VarintWriter` has written. */
export class VarintReader {
  readonly #bytes: Uint8Array;
  #at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get at(): number {
    return this.#at;
  }

  /** @throws PackedDamage when there is no number */
  read(): number {
    let value = 0;
    let scale = 1;
    for (let count = 0; count < BYTES_MAX; count += 1) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) break;
      value += (byte & 127) * scale;
      if (byte < 128 && value <= Number.MAX_SAFE_INTEGER) return value;
      scale *= 128;
    }
    throw new PackedDamage('a number is cut off, or too large');
  }
}

/** Thrown when bytes are not what ranges are stored as. */
export class PackedDamage extends Error {
  readonly code = 'packed-ranges-damaged';

  constructor(problem: string) {
    super(`stored ranges can't be read: ${problem}`);
    this.name = 'PackedDamage';
  }
}

const BYTES_MAX = 8;
const TWO_32 = 2 ** 32;
