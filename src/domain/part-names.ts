import { createHash } from 'node:crypto';
import type { GetPart, Part } from '../kernel/parts.ts';

/** 96 bits of the SHA-256 over its bytes: parts of one name are the same, and what is damaged has another name than it should. */
const NAME_CHARACTERS = 16;

const known = new WeakMap<Part, string>();

/** The name of a part: its content's. Found out once for each part. */
export function nameOfPart(part: Part): string {
  const before = known.get(part);
  if (before !== undefined) return before;
  const bytes = part.bytes();
  const name = nameOfBytes(bytes);
  known.set(part, name);
  named = { part, bytes };
  return name;
}

/** Whether the name of a part is known already, so that asking for it costs nothing. */
export function isNamed(part: Part): boolean {
  return known.has(part);
}

/** Of the part that was named last: its text is mostly asked for next. */
let named: Readonly<{ part: Part; bytes: Uint8Array }> | undefined;

/** A part as text, for stores that keep texts. */
export function textOfPart(part: Part): string {
  const bytes = named?.part === part ? named.bytes : part.bytes();
  named = undefined;
  return bufferOf(bytes).toString('base64');
}

/** What is stored of the parts that are asked for, by name. A name stands for one part, so that what shares it in memory goes on sharing it. */
export class PartsRead {
  readonly #bytes = new Map<string, Uint8Array>();
  readonly #parts = new Map<string, Part>();

  /** Takes a text that was stored under a name. `false`: it is not what was stored. */
  take(name: string, text: string): boolean {
    const bytes = Buffer.from(text, 'base64');
    if (nameOfBytes(bytes) !== name) return false;
    this.#bytes.set(name, bytes);
    return true;
  }

  has(name: string): boolean {
    return this.#bytes.has(name);
  }

  /** The part of a name that was taken. */
  readonly get: GetPart = <P extends Part>(name: string, read: (bytes: Uint8Array) => P): P => {
    const before = this.#parts.get(name);
    // Whoever stores parts of a kind reads no others.
    if (before !== undefined) return before as P;
    const bytes = this.#bytes.get(name);
    if (bytes === undefined) throw new Error(`broken invariant: all parts that are named were read, ${name} too`);
    const part = read(bytes);
    known.set(part, name);
    this.#parts.set(name, part);
    return part;
  };
}

function nameOfBytes(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url').slice(0, NAME_CHARACTERS);
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
