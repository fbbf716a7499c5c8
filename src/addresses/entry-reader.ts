import type { Words } from './boundaries/limbs.ts';
import type { RangeSetBuilder } from './range-set-builder.ts';
import type { TextCursor } from './address-scanner.ts';

const SLASH = 47;
const DASH = 45;

/**
 * Reads one `address`, `address-address` or `address/length` at the cursor into the intake. False when there is none, the
 * range is upside down, or host bits are set; what must follow is for the caller to check.
 */
export function readEntry(cursor: TextCursor, intake: RangeSetBuilder): boolean {
  const ipv4 = cursor.ipv4();
  if (ipv4 >= 0) return cursor.takes(SLASH) ? addIpv4Block(ipv4, cursor, intake) : addIpv4Range(ipv4, cursor, intake);
  if (!cursor.ipv6()) return false;
  return cursor.takes(SLASH) ? addIpv6Block(cursor, intake) : addIpv6Range(cursor, intake);
}

/** Reads one `address` or `address-address` at the cursor into the intake; otherwise as `readEntry`. */
export function readRange(cursor: TextCursor, intake: RangeSetBuilder): boolean {
  const ipv4 = cursor.ipv4();
  if (ipv4 >= 0) return addIpv4Range(ipv4, cursor, intake);
  return cursor.ipv6() && addIpv6Range(cursor, intake);
}

function addIpv4Range(first: number, cursor: TextCursor, intake: RangeSetBuilder): boolean {
  const last = cursor.takes(DASH) ? cursor.ipv4() : first;
  if (last < first) return false;
  intake.addIpv4(first, last);
  return true;
}

function addIpv4Block(network: number, cursor: TextCursor, intake: RangeSetBuilder): boolean {
  const length = cursor.decimal(32);
  const size = 2 ** (32 - length);
  if (length < 0 || network % size !== 0) return false;
  intake.addIpv4(network, network + size - 1);
  return true;
}

function addIpv6Range(cursor: TextCursor, intake: RangeSetBuilder): boolean {
  const { words } = cursor;
  if (!cursor.takes(DASH)) {
    intake.addIpv6(words, words);
    return true;
  }
  firstWords.set(words);
  if (!cursor.ipv6() || isBelow(words, firstWords)) return false;
  intake.addIpv6(firstWords, words);
  return true;
}

function addIpv6Block(cursor: TextCursor, intake: RangeSetBuilder): boolean {
  const { words } = cursor;
  const length = cursor.decimal(128);
  if (length < 0 || !fillHostBits(words, length)) return false;
  intake.addIpv6(words, lastWords);
  return true;
}

/** Puts the last address of a block into `lastWords`; false when host bits are set. */
function fillHostBits(network: Words, length: number): boolean {
  for (let word = 0; word < 4; word++) {
    const hostBits = Math.min(32, Math.max(0, 32 * (word + 1) - length));
    const mask = 2 ** hostBits - 1;
    const value = network[word] ?? 0;
    if ((value & mask) !== 0) return false;
    lastWords[word] = value + mask;
  }
  return true;
}

function isBelow(a: Words, b: Words): boolean {
  for (let word = 0; word < 4; word++) {
    const difference = (a[word] ?? 0) - (b[word] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

const firstWords = new Uint32Array(4);
const lastWords = new Uint32Array(4);
