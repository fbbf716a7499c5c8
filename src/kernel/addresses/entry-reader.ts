import type { Words } from './limbs.ts';
import type { RangeIntake } from './range-intake.ts';
import type { TextCursor } from './text-cursor.ts';

const SLASH = 47;
const DASH = 45;

/**
 * Reads one `address`, `address-address` or `address/length` at the cursor into the intake. False when there is none, the
 * range is upside down, or host bits are set; what must follow is for the caller to check.
 */
export function readEntry(cursor: TextCursor, intake: RangeIntake): boolean {
  const ipv4 = cursor.ipv4();
  if (ipv4 < 0) return readIpv6Entry(cursor, intake);
  if (cursor.takes(SLASH)) {
    const length = cursor.decimal(32);
    const size = 2 ** (32 - length);
    if (length < 0 || ipv4 % size !== 0) return false;
    intake.addIpv4(ipv4, ipv4 + size - 1);
    return true;
  }
  if (!cursor.takes(DASH)) {
    intake.addIpv4(ipv4, ipv4);
    return true;
  }
  const last = cursor.ipv4();
  if (last < ipv4) return false;
  intake.addIpv4(ipv4, last);
  return true;
}

function readIpv6Entry(cursor: TextCursor, intake: RangeIntake): boolean {
  if (!cursor.ipv6()) return false;
  const { words } = cursor;
  if (cursor.takes(SLASH)) {
    const length = cursor.decimal(128);
    if (length < 0 || !fillHostBits(words, length)) return false;
    intake.addIpv6(words, lastWords);
    return true;
  }
  if (!cursor.takes(DASH)) {
    intake.addIpv6(words, words);
    return true;
  }
  firstWords.set(words);
  if (!cursor.ipv6() || isBelow(words, firstWords)) return false;
  intake.addIpv6(firstWords, words);
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
