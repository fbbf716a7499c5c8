import { ipv6Text } from './address-text.ts';
import type { BlockSink } from './cidr-cover.ts';

/** A full IPv6 block with its line feed is 44 bytes; an address is written four bytes at a time, so a little more. */
const LONGEST_LINE = 64;
const LINE_FEED = 10;
const NOT_KEPT = -1;
const DOT = '.'.charCodeAt(0);
const SLASH = '/'.charCodeAt(0);

/** Writes blocks as lines of text into a buffer, and hands it out whenever it is full. It is filled anew after that. */
export class BlockLines implements BlockSink {
  readonly #write: (lines: Uint8Array) => void;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #full: number;
  #at = 0;
  // The start of the last IPv6 address, up to its last colon, and its number less the last group.
  readonly #kept = new Uint8Array(LONGEST_LINE);
  #keptLength = 0;
  #keptHigh = 0;
  #keptMiddle = 0;
  #keptLow = NOT_KEPT;

  constructor(bufferBytes: number, write: (lines: Uint8Array) => void) {
    this.#write = write;
    this.#bytes = new Uint8Array(bufferBytes);
    this.#view = new DataView(this.#bytes.buffer);
    this.#full = bufferBytes - LONGEST_LINE;
  }

  ipv4(network: number, length: number): void {
    const view = this.#view;
    let at = this.#at;
    let octet = network >>> 24;
    view.setUint32(at, OCTETS_DOT[octet] ?? 0, true);
    at += OCTET_BYTES[octet] ?? 0;
    octet = (network >>> 16) & 255;
    view.setUint32(at, OCTETS_DOT[octet] ?? 0, true);
    at += OCTET_BYTES[octet] ?? 0;
    octet = (network >>> 8) & 255;
    view.setUint32(at, OCTETS_DOT[octet] ?? 0, true);
    at += OCTET_BYTES[octet] ?? 0;
    octet = network & 255;
    view.setUint32(at, OCTETS_SLASH[octet] ?? 0, true);
    at += OCTET_BYTES[octet] ?? 0;
    view.setUint32(at, OCTETS_LINE_FEED[length] ?? 0, true);
    this.#at = at + (OCTET_BYTES[length] ?? 0);
    if (this.#at > this.#full) this.flush();
  }

  ipv6(high: number, middle: number, low: number, length: number): void {
    const group = low & 0xffff;
    // Neighbours differ in their last group only; as long as that isn't zero, all before it reads the same.
    if (group !== 0 && low - group === this.#keptLow && middle === this.#keptMiddle && high === this.#keptHigh) {
      this.#writeKept(group);
    } else {
      this.#writeNew(ipv6Text(high, middle, low), group);
      this.#keptHigh = high;
      this.#keptMiddle = middle;
      this.#keptLow = this.#keptLength > 0 ? low - group : NOT_KEPT;
    }
    this.#bytes[this.#at++] = SLASH;
    this.#view.setUint32(this.#at, OCTETS_LINE_FEED[length] ?? 0, true);
    this.#at += OCTET_BYTES[length] ?? 0;
    if (this.#at > this.#full) this.flush();
  }

  /** Hands out what is in the buffer. */
  flush(): void {
    if (this.#at > 0) this.#write(this.#bytes.subarray(0, this.#at));
    this.#at = 0;
  }

  /** Writes an address and keeps its text up to the last colon. */
  #writeNew(text: string, group: number): void {
    this.#keptLength = group === 0 || text.includes('.') ? 0 : text.lastIndexOf(':') + 1;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      this.#bytes[this.#at++] = code;
      if (i < this.#keptLength) this.#kept[i] = code;
    }
  }

  #writeKept(group: number): void {
    const bytes = this.#bytes;
    let at = this.#at;
    for (let i = 0; i < this.#keptLength; i++) bytes[at++] = this.#kept[i] ?? 0;
    const digits = (35 - Math.clz32(group)) >>> 2;
    for (let shift = 4 * digits - 4; shift >= 0; shift -= 4) bytes[at++] = HEXADECIMAL[(group >>> shift) & 15] ?? 0;
    this.#at = at;
  }
}

/** The digits of an octet and one more character, as the four bytes that a little-endian number writes. */
function octetsWith(end: number): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, octet) => {
    const codes = [...Array.from(String(octet), (digit) => digit.charCodeAt(0)), end];
    return codes.reduce((word, code, i) => word + code * 2 ** (8 * i), 0);
  });
}

const OCTETS_DOT = octetsWith(DOT);
const OCTETS_SLASH = octetsWith(SLASH);
const OCTETS_LINE_FEED = octetsWith(LINE_FEED);
const OCTET_BYTES = Uint8Array.from({ length: 256 }, (_, octet) => String(octet).length + 1);
const HEXADECIMAL = Uint8Array.from({ length: 16 }, (_, digit) => digit.toString(16).charCodeAt(0));
