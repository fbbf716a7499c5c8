import type { Words } from './boundaries/limbs.ts';

const DOT = 46;
const COLON = 58;
const NOT_HEXADECIMAL = 255;

/** The longest text of an entry is `<IPv6 with dotted quad>-<the same>`: 91 characters. */
const SCRATCH_BYTES = 128;

const HEXADECIMAL = hexadecimalDigits();

/**
 * Reads addresses from ASCII bytes. A reading method advances `at` past what it took, or leaves `at` alone and says no;
 * what must follow is for the caller to check. The last IPv6 address is in `words`.
 */
export class TextCursor {
  bytes: Uint8Array;
  at = 0;
  end: number;
  readonly words: Words = new Uint32Array(4);
  readonly #groups = new Uint16Array(8);

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.end = bytes.length;
  }

  /** Takes a copy of a text to read from. False when it can't be an address, a CIDR or a range: too long, or not ASCII. */
  load(text: string): boolean {
    const { bytes } = this;
    const { length } = text;
    if (length >= bytes.length) return false;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 126) return false;
      bytes[i] = code;
    }
    bytes[length] = 0;
    this.at = 0;
    this.end = length;
    return true;
  }

  get isAtEnd(): boolean {
    return this.at === this.end;
  }

  /** Takes one character when it is the next one. */
  takes(code: number): boolean {
    if (this.bytes[this.at] !== code) return false;
    this.at++;
    return true;
  }

  /** A strict dotted quad as an unsigned 32-bit number, or -1. */
  ipv4(): number {
    const { bytes } = this;
    let { at } = this;
    let value = 0;
    for (let octet = 1; ; octet++) {
      let number = (bytes[at] ?? 0) - 48;
      if (number < 0 || number > 9) return -1;
      let digit = (bytes[++at] ?? 0) - 48;
      if (digit >= 0 && digit <= 9) {
        if (number === 0) return -1;
        number = number * 10 + digit;
        digit = (bytes[++at] ?? 0) - 48;
        if (digit >= 0 && digit <= 9) {
          number = number * 10 + digit;
          digit = (bytes[++at] ?? 0) - 48;
          if (number > 255 || (digit >= 0 && digit <= 9)) return -1;
        }
      }
      value = value * 256 + number;
      if (octet === 4) break;
      if (digit !== DOT - 48) return -1;
      at++;
    }
    this.at = at;
    return value;
  }

  /** Any RFC 4291 text form of an IPv6 address, into `words`; false when there is none. */
  ipv6(): boolean {
    const start = this.at;
    if (this.#ipv6Groups()) return true;
    this.at = start;
    return false;
  }

  /** A decimal number without leading zeros up to `highest`, or -1. */
  decimal(highest: number): number {
    const { bytes } = this;
    let { at } = this;
    let value = -1;
    for (; ; at++) {
      const digit = (bytes[at] ?? 0) - 48;
      if (digit < 0 || digit > 9) break;
      if (value === 0) return -1;
      value = value < 0 ? digit : value * 10 + digit;
      if (value > highest) return -1;
    }
    if (value >= 0) this.at = at;
    return value;
  }

  #ipv6Groups(): boolean {
    const groups = this.#groups;
    let count = 0;
    let gap = -1;
    let isGroupDue = true;
    if (this.bytes[this.at] === COLON) {
      if (this.bytes[this.at + 1] !== COLON) return false;
      gap = 0;
      isGroupDue = false;
      this.at += 2;
    }
    while (count < 8) {
      const groupAt = this.at;
      const group = this.#group();
      if (group < 0) {
        if (isGroupDue || this.at !== groupAt) return false;
        break;
      }
      if (this.bytes[this.at] === DOT) {
        this.at = groupAt;
        const quad = count <= 6 ? this.ipv4() : -1;
        if (quad < 0) return false;
        groups[count++] = quad >>> 16;
        groups[count++] = quad & 0xffff;
        break;
      }
      groups[count++] = group;
      if (count === 8 || this.bytes[this.at] !== COLON) break;
      isGroupDue = this.bytes[this.at + 1] !== COLON;
      if (!isGroupDue) {
        if (gap >= 0) return false;
        gap = count;
      }
      this.at += isGroupDue ? 1 : 2;
    }
    return this.#expand(count, gap);
  }

  /** One to four hexadecimal digits, or -1; a fifth one is refused with `at` moved. */
  #group(): number {
    const { bytes } = this;
    let { at } = this;
    let value = 0;
    for (; ; at++) {
      const digit = HEXADECIMAL[bytes[at] ?? 0] ?? NOT_HEXADECIMAL;
      if (digit === NOT_HEXADECIMAL) break;
      value = value * 16 + digit;
    }
    const digits = at - this.at;
    this.at = at;
    return digits >= 1 && digits <= 4 ? value : -1;
  }

  #expand(count: number, gap: number): boolean {
    const groups = this.#groups;
    if (gap < 0 ? count !== 8 : count === 8) return false;
    if (gap >= 0) {
      const missing = 8 - count;
      for (let i = 7; i >= gap + missing; i--) groups[i] = groups[i - missing] ?? 0;
      for (let i = gap; i < gap + missing; i++) groups[i] = 0;
    }
    for (let word = 0; word < 4; word++) {
      this.words[word] = ((groups[2 * word] ?? 0) << 16) | (groups[2 * word + 1] ?? 0);
    }
    return true;
  }
}

/** A cursor to `load` one text after the other into; reading is synchronous, so one serves a whole module. */
export function textCursor(): TextCursor {
  return new TextCursor(new Uint8Array(SCRATCH_BYTES));
}

function hexadecimalDigits(): Uint8Array {
  const digits = new Uint8Array(256).fill(NOT_HEXADECIMAL);
  for (let value = 0; value < 16; value++) {
    const digit = value.toString(16);
    digits[digit.charCodeAt(0)] = value;
    digits[digit.toUpperCase().charCodeAt(0)] = value;
  }
  return digits;
}

/**
 * A strict dotted quad as an unsigned 32-bit number, or -1 for any other text. Reads the text where it lies: for thousands of
 * short texts that is cheaper than copying each of them into the bytes that a `TextCursor` reads.
 */
export function ipv4OfText(text: string): number {
  const { length } = text;
  if (length > LONGEST) return -1;
  let value = 0;
  let at = 0;
  for (let octet = 1; ; octet++) {
    let number = digitAt(text, at++);
    if (number < 0) return -1;
    let digit = digitAt(text, at);
    if (digit >= 0) {
      if (number === 0) return -1;
      number = number * 10 + digit;
      digit = digitAt(text, ++at);
      if (digit >= 0) {
        number = number * 10 + digit;
        if (number > 255) return -1;
        at++;
      }
    }
    value = (value << 8) | number;
    if (octet === 4) return at === length ? value >>> 0 : -1;
    if (at >= length || text.charCodeAt(at++) !== DOT) return -1;
  }
}

/** The decimal digit at a place of a text, or -1 where there is none. */
function digitAt(text: string, at: number): number {
  if (at >= text.length) return -1;
  const digit = text.charCodeAt(at) - ZERO;
  return digit <= 9 ? digit : -1;
}

const LONGEST = '255.255.255.255'.length;
const ZERO = 48;
